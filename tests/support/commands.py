"""The table that tests of the command line use, and what a command prints."""

from io import StringIO

import pandas as pd

from support.models import tasteful

X = tasteful(400, 40)
QUICK = ("--models", "popularity,ease", "--grid", "ease.lambda=10,100")


def rows(text):
    return pd.read_csv(StringIO(text))
