"""The text of a configuration is read as it looks, or one line says what is wrong with it."""

import sys

import pytest

from lindrop.base.errors import UserError
from lindrop.configuration.config_text import check_file, check_text
from support.entries import CONFIGS
from support.processes import run
from support.repository import REPOSITORY


def test_a_key_given_twice_is_refused():
    text = "datasets:\n  a: {x: 1}\n  b: [{y: 1}]\n  a: {x: 2}\n"
    with pytest.raises(UserError, match=r"mine\.yaml, line 4: the key a is given twice"):
        check_text(text, "mine.yaml")
    check_text(text.replace("a: {x: 2}", "c: {x: 1}"), "mine.yaml")
    check_text("", "mine.yaml")


@pytest.mark.parametrize(
    "name",
    [
        "010",
        "1_000",
        "12:30:45",
        "true",
        "null",
        "1.0",
        "2020-01-01",
        "8",
        "~",
        "on",
        "1.0e+3",
        ".inf",
    ],
)
def test_a_name_that_yaml_changes_must_be_quoted(name):
    text = "datasets:\n  {}: {{source: {{format: synthetic}}}}\n"
    with pytest.raises(UserError) as caught:
        check_text(text.format(name), "mine.yaml")
    assert str(caught.value).startswith(f"mine.yaml, line 2: the key {name} is read as a YAML ")
    assert str(caught.value).endswith(f"quote the name: '{name}'")
    check_text(text.format(f"'{name}'"), "mine.yaml")
    check_text(text.format(f'"{name}"'), "mine.yaml")


@pytest.mark.parametrize("number", ["010", "0x10", "0b11", "12:30", "1:30.5"])
def test_a_number_that_is_not_what_it_looks_like(number):
    with pytest.raises(UserError, match=r"mine\.yaml, line 2: .* is not read as a decimal number"):
        check_text(f"a: 1\nseed: {number}\n", "mine.yaml")
    check_text("a: [1_000, -3, +3, 0, 1.5e+3, .5, .inf, 1e3, '010', v010]\n", "mine.yaml")


MULTIPLYING = "".join(f"x{k + 1}: &x{k + 1} [{', '.join([f'*x{k}'] * 9)}]\n" for k in range(9))
CHAINED = "".join(f"x{k + 1}: &x{k + 1} [*x{k}]\n" for k in range(900))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &a {b: *a}\n", "line 1: contains itself by an alias"),
        (f"x0: &x0 [1, 1]\n{MULTIPLYING}", "line 6: more than 100,000 entries"),
        (f"x0: &x0 [1, 1]\n{CHAINED}", "line 40: more than 100,000 entries or 40 levels"),
        ("a: 1\nseed: " + "[" * 2000 + "]" * 2000, "line 2: nested more than 40 levels deep"),
        ("a: 1\nseed: " + "[" * 200_000, "line 2: nested more than 40 levels deep"),
        ("a: 1\nseed: " + "9" * 5000, "line 2: a number of 5,000 digits"),
        ("a: 1\n? [1, 2]\n: 3\n", "line 2: a key that is a list or a mapping"),
        ("a: [1\n", "not valid YAML"),
        ("\x01", "not valid YAML"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: not valid YAML"),
        ('{\n\t"a": 1,\n\t"a": 2}', "the key a is given twice"),
        ("a: *b\n", "line 1, column 4: not valid YAML"),
    ],
    ids=range(12),
)
def test_texts_that_no_reader_should_be_given(text, expected):
    with pytest.raises(UserError) as caught:
        check_text(text, "mine.yaml")
    assert str(caught.value).startswith("mine.yaml")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_aliases_merged_keys_and_json_are_as_good_as_ever():
    check_text("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\n", "mine.yaml")
    check_text('{\n\t"a": {"b": [1, 1e5]}}', "mine.json")
    for file in CONFIGS:
        check_file(file)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_a_configuration_in_another_encoding(encoding, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("seed: 1  # Zoë\n", encoding=encoding)
    with pytest.raises(UserError) as caught:
        check_file(path)
    assert str(path) in str(caught.value)
    path.write_text("seed: 1  # Zoë\n", encoding="utf-8-sig")
    check_file(path)


def test_a_file_is_checked_before_snakemake_reads_it(tmp_path):
    (tmp_path / "mine.yaml").write_text("a: &a {b: *a}\n")
    environment = {"PYTHONPATH": str(REPOSITORY / "workflow")}
    command = [
        sys.executable,
        "-m",
        "lindrop.configuration.config_text",
        str(tmp_path / "mine.yaml"),
    ]
    done = run(command, env=environment)
    assert done.returncode == 1
    assert done.stdout.startswith(f"lindrop: error: {tmp_path / 'mine.yaml'}, line 1: contains")
