"""A mistake at the command line ends in one line, and leaves the folder as it was."""

import h5py
import pytest

MISTAKES = {
    "a wrong command": (2, ["tun"], "No such command 'tun'"),
    "no data": (2, ["tune"], "Missing argument 'DATA'; see lindrop tune --help"),
    "a wrong number": (2, ["tune", "my.csv", "--rank", "x"], "'--rank': 'x' is not"),
    "no file": (1, ["tune", "none.csv"], "none.csv: no such file or folder"),
    "a device": (1, ["tune", "/dev/null"], "/dev/null: a pipe or a device, not a file"),
    "NaN for a rating": (2, ["split", "my.csv", "--min-rating", "nan"], "is not a finite number"),
    "NaN for a budget": (2, ["tune", "my.csv", "--budget", "nan"], "is not a finite number"),
    "a rank of none": (1, ["fit", "my.csv", "ease", "rank=5", "lambda=1"], "no parameter 'rank'"),
    "true for a rank": (
        *(1, ["fit", "my.csv", "edlae", "rank=true", "p=0.3", "lambda=100"]),
        "edlae needs a rank from 1 to 39, not True",
    ),
    "an output in a file": (
        *(1, ["tune", "my.csv", "-o", "my.csv/a.h5"]),
        "my.csv/a.h5: Not a directory",
    ),
    "too long a name of an output": (
        *(1, ["tune", "my.csv", "-o", f"{'a' * 250}.h5"]),
        "aaa.h5: File name too long",
    ),
    "no model": (1, ["recommend", "none.h5", "my.csv"], "none.h5: no such model"),
    "data for a model": (1, ["similar", "my.csv", "p1"], "my.csv: not a model of lindrop"),
    "a wrong column": (
        *(1, ["tune", "my.csv", "--user", "usr"]),
        "my.csv: no column named 'usr'; the columns are customer, stars, product",
    ),
    "another split's option": (1, ["split", "my.csv", "--cut", "9"], "--cut: not an option of"),
    "too many held out": (
        *(1, ["split", "my.csv", "--heldout-users", "300"]),
        "set --heldout-users to a tenth of the users",
    ),
    "a wrong metric": (1, ["tune", "my.csv", "--metrics", "ndgc@10"], "no metric 'ndgc@10'"),
    "a wrong model": (1, ["tune", "my.csv", "--models", "eas"], '--models: "eas" is not allowed'),
    "a deep model": (1, ["tune", "my.csv", "--models", "cdae"], "only `make deep` trains"),
    "no budget": (2, ["plan", "my.csv", "--budget", "0"], "'--budget': 0"),
    "a wrong grid": (2, ["tune", "my.csv", "--grid", "lambda=3"], "name the model, too"),
    "a comma within a number": (
        *(1, ["tune", "my.csv", "--grid", "ease.lambda=1,000"]),
        '--grid ease.lambda[1]: "000" is not allowed; allowed: a number (at least 0)',
    ),
    "an underscore within a number": (
        *(1, ["fit", "my.csv", "ease", "lambda=1_000"]),
        "lambda is '1_000', but must be a finite number, at least 0",
    ),
    "a grid's option": (
        *(1, ["tune", "my.csv", "--grid", "ease.lamda=3"]),
        "--grid ease.lamda: no such model or option; did you mean lambda? allowed: lambda",
    ),
    "no parameter": (1, ["fit", "my.csv", "ease"], "the parameter lambda is missing"),
    "a wrong parameter": (2, ["fit", "my.csv", "ease", "100"], "PARAMETER=VALUE, as in lambda"),
    "no metric at all": (1, ["tune", "my.csv", "--metrics", ""], "--metrics: [] is not allowed"),
    "a grid of a model that is not compared": (
        *(1, ["tune", "my.csv", "--models", "popularity", "--grid", "ease.lambda=3"]),
        "--grid ease.…: ease is not among the --models",
    ),
    "a parameter twice": (2, ["fit", "my.csv", "ease", "lambda=1", "lambda=2"], "given twice"),
    "an option twice": (
        *(2, ["tune", "my.csv", "--models", "ease", "--models=edlae"]),
        "--models is given 2 times",
    ),
    "an option twice, as the configuration writes it": (
        *(2, ["split", "my.csv", "--heldout_users", "3", "--heldout-users", "4"]),
        "--heldout-users is given 2 times",
    ),
    "a short option twice": (
        *(2, ["recommend", "m.h5", "my.csv", "-k", "3", "--k", "4"]),
        "--k is given 2 times",
    ),
    "filters that leave nothing": (
        *(1, ["fit", "my.csv", "ease", "lambda=1", "--min-item-users", "99999"]),
        "the protocol leaves no interaction",
    ),
    "a test file for no split of it": (1, ["split", "my.csv", "--test", "my.csv"], "--split given"),
    "its own input": (1, ["split", "my.csv", "-o", "my.csv"], "this file is read"),
    "times that are not there": (1, ["split", "my.csv", "--split", "time"], "--time COLUMN"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(folder, refused, mistake):
    code, arguments, message = MISTAKES[mistake]
    before = (folder / "my.csv").read_bytes()
    assert message in refused(code, *arguments)
    assert [file.name for file in folder.iterdir()] == ["my.csv"]
    assert (folder / "my.csv").read_bytes() == before


def test_mistakes_about_a_model(folder, said, refused):
    said("fit", "my.csv", "popularity", "-o", "m.h5")
    assert "does not know the item 'px'" in refused(1, "similar", "m.h5", "px")
    assert "m.h5: a file that lindrop made" in refused(1, "recommend", "m.h5", "m.h5")
    assert "has no user 'x'" in refused(1, "explain", "m.h5", "my.csv", "x")
    assert "no sum over the items" in refused(1, "explain", "m.h5", "my.csv", "7")
    assert "ends in .parquet" in refused(2, "recommend", "m.h5", "my.csv", "-o", "r.xlsx")
    (folder / "other.csv").write_text("user,item\na,zz\n")
    assert "knows none of its items" in refused(1, "recommend", "m.h5", "other.csv")
    with h5py.File(folder / "theirs.h5", "w"):
        pass
    assert "not a model of lindrop" in refused(1, "similar", "theirs.h5", "p1")


def test_a_bug_is_one_line_too(folder, refused, monkeypatch):
    monkeypatch.setattr("lindrop.cli.similar.saved_model", lambda path: 1 / 0)
    line = refused(1, "similar", "m.h5", "p1")
    assert "unexpected ZeroDivisionError: division by zero; this is a bug in lindrop" in line


def test_an_output_that_cannot_be_written_is_told_before_the_work(folder, refused, monkeypatch):
    monkeypatch.setattr("lindrop.cli.tune.divided", lambda *_: 1 / 0)
    assert "/proc/m.h5: No such file" in refused(1, "tune", "my.csv", "-o", "/proc/m.h5")


def test_models_that_nobody_tests_are_not_compared(folder, said, refused):
    """A user with fewer than five items has none held out, and no user here has as many as five."""
    rows = [f"u{user},p{(user + item) % 4}" for user in range(12) for item in range(2)]
    (folder / "few.csv").write_text("\n".join(["user,item", *rows]))
    problem = "none of the test users has an item to find"
    assert problem in refused(1, "tune", "few.csv", "--models", "popularity,ease")
    assert not (folder / "few.model.h5").exists()
    _, talk = said("split", "few.csv", "-o", "few.h5")
    rounded = "of n items, 0.2 n are held out, rounded down, and none if n is below 5"
    for kind in ("validation", "test"):
        assert f"note: none of the {kind} users has an item to find: {rounded}" in talk
    assert "has an item to find" not in said("split", "my.csv", "-o", "many.h5")[1]
    said("fit", "few.h5", "ease", "lambda=1", "-o", "ease.h5")
    assert problem in refused(1, "evaluate", "ease.h5", "few.h5")
