"""Mistakes of a user are told before any job, and numbers may be written as people write them."""

import re

import pyarrow as pa
import pyarrow.parquet
import pytest
import yaml

from lindrop.base.errors import UserError
from lindrop.configuration.command_line import typed
from lindrop.configuration.config import checked
from lindrop.configuration.config_text import check_text
from lindrop.configuration.schema import load_schema
from lindrop.data.headers import check_headers
from support.configurations import SMALL

SOURCE = {"format": "csv", "user": "user", "item": "item", "rating": None, "time": None}
MINE = """
datasets:
  mine:
    source: {format: %s, path: %s, user: user_id}
    protocol: {heldout_users: 5}
"""


def table(path, names, kind):
    path.parent.mkdir(exist_ok=True)
    if kind == "parquet":
        pyarrow.parquet.write_table(pa.table({name: [1, 2] for name in names}), path)
    else:
        separator = {"csv": ",", "tsv": "\t"}[kind]
        path.write_text("\n".join(separator.join(row) for row in (names, ["1"] * len(names))))


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("in_folder", [True, False])
def test_a_wrong_column_is_named_with_those_that_are_there(kind, in_folder, tmp_path):
    path = tmp_path / "data" if in_folder else tmp_path / f"a.{kind}"
    source = SOURCE | {"format": kind}
    if in_folder:
        table(path / f"a.{kind}", ["user", "item", "n"], kind)
    table(path / f"b.{kind}" if in_folder else path, ["userid", "item", "n"], kind)
    with pytest.raises(UserError) as caught:
        check_headers(path, source, None)
    message = str(caught.value)
    assert f"{'b' if in_folder else 'a'}.{kind}: no column named 'user'; the file has" in message
    assert "'userid', 'item', 'n'; did you mean 'userid'?" in message
    right = source if in_folder else source | {"user": "userid"}
    file = path / f"a.{kind}" if in_folder else path
    check_headers(file, right, None)
    with pytest.raises(UserError, match="no column named 'when'"):
        check_headers(file, right | {"time": "when"}, None)


def test_a_rating_column_is_needed_only_with_a_threshold(tmp_path):
    table(tmp_path / "a.csv", ["user", "item"], "csv")
    check_headers(tmp_path / "a.csv", SOURCE | {"rating": "stars"}, None)
    with pytest.raises(UserError, match="no column named 'stars'"):
        check_headers(tmp_path / "a.csv", SOURCE | {"rating": "stars"}, 3.5)


def test_what_cannot_be_read_is_told(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not at all")
    with pytest.raises(UserError, match=r"a\.parquet: not a readable parquet file"):
        check_headers(tmp_path / "a.parquet", SOURCE | {"format": "parquet"}, None)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no file named"):
        check_headers(tmp_path / "empty", SOURCE, None)
    with pytest.raises(UserError, match="no such file"):
        check_headers(tmp_path / "none.csv", SOURCE, None)


def test_a_wrong_column_ends_the_run_before_any_job(project):
    project.write("mine.csv", "userid,item\n" + "".join(f"{k},{k % 7}\n" for k in range(70)))
    project.write("config/mine.yaml", MINE % ("csv", "mine.csv"))
    output = project.fails("snakemake --cores 2 compare --configfile config/mine.yaml")
    (line,) = [line for line in output.splitlines() if line.startswith("lindrop: error")]
    assert line.startswith(
        "lindrop: error: dataset mine: mine.csv: no column named 'user_id'; the file has 'userid', "
        "'item'; did you mean 'userid'?"
    )
    assert not re.search(r"^(local)?rule ", output, re.MULTILINE)
    assert [file.name for file in project.path("results").iterdir()] == [".gitkeep"]


def test_a_mistake_in_the_configuration_stops_before_any_job(project):
    project.write("config/mine.yaml", SMALL.replace("heldout_users", "heldout_user"))
    output = project.fails("snakemake data --cores 2 --configfile config/mine.yaml")
    assert "did you mean heldout_users?" in output
    assert "Traceback" not in output
    assert [file.name for file in project.path("results").iterdir()] == [".gitkeep"]


def test_lists_and_mappings_of_the_command_line_have_numbers(project):
    project.write("mine.csv", "user_id,item\n" + "".join(f"{k},{k % 7}\n" for k in range(70)))
    project.write("config/mine.yaml", MINE % ("csv", "mine.csv"))
    project.ok(
        "snakemake -n --cores 2 data --configfile config/mine.yaml --config 'ranks=[10,20]' "
        "seed=3 'models={ease: {lambda: [1e3, 5, 0.5]}}' 'compare={models: null}'"
    )
    output = project.fails(
        "snakemake -n --cores 2 data --configfile config/mine.yaml --config 'ranks=[10,x]'"
    )
    assert 'config: ranks[1]: "x" is not allowed; allowed: a whole number' in output


def test_only_what_the_command_line_gave_is_read_as_numbers():
    given = {"ranks": ["10", "20"], "a": {"b": "1e3", "c": "010x"}, "d": "null", "e": ["true"]}
    config = {"ranks": ["10", "20"], "a": {"b": "1e3", "c": "010x", "other": "7"}, "d": None} | {
        "e": ["true"], "user": "10"}  # fmt: skip
    found = typed(config, given)
    assert found["ranks"] == [10, 20]
    assert found["a"] == {"b": "1e3", "c": "010x", "other": "7"}
    assert found["e"] == [True]
    assert found["user"] == "10", "a text of a file stays a text"
    assert typed({"cut": "2000-12-31"}, {"cut": "2000-12-31"}) == {"cut": "2000-12-31"}


@pytest.mark.parametrize(
    ("text", "number"), [("1e3", 1000), ("1E-2", 0.01), ("5e1", 50), ("-2e0", None)]
)
def test_1e3_is_a_number(text, number):
    schema = load_schema()
    config = yaml.safe_load(f"""
datasets: {{a: {{source: {{format: synthetic}}, protocol: {{heldout_users: 9}}}}}}
models: {{ease: {{lambda: [{text}, 7]}}}}
""")
    assert config["models"]["ease"]["lambda"][0] == text, "YAML 1.1 says that it is a text"
    if number is None:
        with pytest.raises(UserError, match=r"models\.ease\.lambda\[0\]: -2"):
            checked(config, schema)
    else:
        assert checked(config, schema)["models"]["ease"]["lambda"] == [number, 7]
    whole = checked(config | {"models": {}, "seed": "1e3"}, schema)["seed"]
    assert (whole, type(whole)) == (1000, int)
    with pytest.raises(UserError, match='seed: "15e-1" is not allowed; allowed: a whole number'):
        checked(config | {"models": {}, "seed": "15e-1"}, schema)


def test_a_mistake_of_yaml_has_a_line_and_a_column():
    with pytest.raises(UserError, match=r"mine\.yaml, line 2, column 7: not valid YAML \("):
        check_text("a: 1\nb: [1,: 2\n", "mine.yaml")
