"""Times of interactions are numbers or dates, read exactly enough to keep their order."""

import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions

TABLES = {
    "numbers": ("9", "10.5", "978300760"),
    "days": ("2000-12-31", "2001-01-01", "1970-01-02"),
    "moments": ("2000-12-31 23:59:59", "2001-01-01T00:00:00", "1970-01-02 00:00:00.25"),
    "zones": ("2000-12-31T23:59:59Z", "2001-01-01T01:00:00+01:00", "1970-01-02T00:00:00Z"),
}
SECONDS = {
    "numbers": [9, 10.5, 978300760],
    "days": [978220800, 978307200, 86400],
    "moments": [978307199, 978307200, 86400.25],
    "zones": [978307199, 978307200, 86400],
}


@pytest.mark.parametrize("kind", TABLES)
def test_times_are_numbers_or_dates(kind, tmp_path):
    lines = [f"{n},i,{rating},{time}" for n, (time, rating) in
             enumerate(zip(TABLES[kind], (5, 1, 4), strict=True))]  # fmt: skip
    (tmp_path / "a.csv").write_text("\n".join(["user,item,rating,when", *lines]) + "\n")
    read = read_interactions(tmp_path / "a.csv", "csv", time="when")
    assert read.time.tolist() == SECONDS[kind]
    above = read_interactions(tmp_path / "a.csv", "csv", min_rating=3, rating="rating", time="when")
    assert above.time.tolist() == SECONDS[kind][::2]


@pytest.mark.parametrize("odd", ["", "soon", "12:30", "nan", "2001-13-01"])
def test_a_time_that_is_none_is_told_with_its_line(odd, tmp_path):
    for others in ("9", "2001-01-01"):
        text = f"user,item,when\na,x,{others}\nb,x,{odd}\nc,x,{others}\n"
        (tmp_path / "a.csv").write_text(text)
        with pytest.raises(UserError, match=r"a\.csv, line \d: the time '.*' is neither") as error:
            read_interactions(tmp_path / "a.csv", "csv", time="when")
        assert "\n" not in str(error.value)


def test_movielens_files_have_times(tmp_path):
    texts = {
        "ratings.dat": "1::10::5::978300760\n2::10::4::978300761\n",
        "u.data": "1\t10\t5\t978300760\n2\t10\t4\t978300761\n",
        "ratings.csv": "userId,movieId,rating,timestamp\n1,10,5.0,978300760\n2,10,4.0,978300761\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        for min_rating in (None, 3.5):
            read = read_interactions(
                tmp_path / name, "movielens", min_rating=min_rating, time="timestamp"
            )
            assert read.time.tolist() == [978300760, 978300761]
        assert read_interactions(tmp_path / name, "movielens").time is None


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_dates_with_nanoseconds_as_pandas_writes_them_are_read(tmp_path, zone):
    dates = pd.to_datetime(["2000-12-31 23:59:59.123456789", "1969-12-31"], format="mixed")
    table = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "when": dates.as_unit("ns")})
    table["when"] = table["when"].dt.tz_localize("UTC").dt.tz_convert(zone)
    table.to_parquet(tmp_path / "a.parquet")
    table.to_csv(tmp_path / "a.csv", index=False)
    for format in ("parquet", "csv"):
        read = read_interactions(tmp_path / f"a.{format}", format, time="when")
        assert read.time.tolist() == pytest.approx([978307199.123456789, -86400], abs=1e-6)


@pytest.mark.parametrize(
    "times",
    [
        ["1600000000000000001", "1600000000000000000"],
        ["9007199254740993", "9007199254740992"],
        ["1600000000.123456789", "1600000000.123456788"],
        ["16000000001234567.89e-7", "16000000001234567.88e-7"],
        ["9999-12-31 23:59:59.000002", "9999-12-31 23:59:59.000001"],
        ["2000-12-31T23:59:59.000000001", "2000-12-31T23:59:59.000000000"],
    ],
)
def test_times_whose_order_would_be_lost_are_refused(tmp_path, times):
    (tmp_path / "a.csv").write_text(f"user,item,when\na,x,{times[0]}\na,y,{times[1]}\n")
    with pytest.raises(UserError, match="are the same to lindrop"):
        read_interactions(tmp_path / "a.csv", "csv", time="when")


def test_many_digits_are_read_where_floating_point_tells_the_times_apart(tmp_path):
    times = ["1600000000.1234567", "1600000000.1234571", "1600000000.12345670", "-0.0", "0.00"]
    lines = [f"a,{n},{time}" for n, time in enumerate(times)]
    (tmp_path / "a.csv").write_text("\n".join(["user,item,when", *lines]) + "\n")
    read = read_interactions(tmp_path / "a.csv", "csv", time="when")
    assert read.time.tolist() == [*map(float, times)]


@pytest.mark.parametrize(("kind", "exact"), [("float16", 1 << 11), ("float32", 1 << 24)])
@pytest.mark.parametrize("folder", [False, True])
def test_times_that_were_rounded_when_they_were_written_are_refused(tmp_path, kind, exact, folder):
    times = np.array([exact, -exact, 1.5])
    file = tmp_path / "log" / "a.parquet" if folder else tmp_path / "a.parquet"
    file.parent.mkdir(exist_ok=True)
    table = pd.DataFrame({"user": ["a", "b", "c"], "item": ["x", "y", "z"]})
    table.assign(when=times.astype(kind)).to_parquet(file)
    read = read_interactions(tmp_path / "log" if folder else file, "parquet", time="when")
    assert sorted(read.time) == sorted(times)
    table.assign(when=(2 * times).astype(kind)).to_parquet(file)
    with pytest.raises(UserError, match=rf"which rounds numbers above {exact:,}; write"):
        read_interactions(tmp_path / "log" if folder else file, "parquet", time="when")
