"""The ratings with which the command line is tested, and a reader of the tables it prints."""

from io import StringIO

import pandas as pd

from support.models import tasteful

X = tasteful(400, 40)
QUICK = ("--models", "popularity,ease", "--grid", "ease.lambda=10,100")


def rows(text):
    return pd.read_csv(StringIO(text))
