"""How ratings.csv and the expected files beside it were made.

    PYTHONPATH=tests python tests/generated/make.py

The expected files come from the literal transcription in tests/support/reference_split.py, never
from the library.
"""

from pathlib import Path

import numpy as np

from support.reference_split import reference_split

HERE = Path(__file__).resolve().parent
PROTOCOL = {"heldout_users": 12, "min_user": 3, "min_item": 2}
MIN_RATING = 3.5


def main():
    random = np.random.default_rng(20201206)
    lines = [
        (str(user * 7), str(item), f"{random.integers(1, 11) / 2}")
        for user in random.permutation(90) + 1
        for item in random.choice(60, size=random.integers(1, 30), replace=False) + 100
    ]
    order = np.arange(len(lines))
    swap = random.random(len(lines)) < 0.1  # mostly by user, with strays, as in real files
    order[swap] = random.permutation(order[swap])
    lines = [lines[k] for k in order]
    text = "userId,movieId,rating,timestamp\n" + "".join(f"{u},{i},{r},0\n" for u, i, r in lines)
    (HERE / "ratings.csv").write_text(text)
    rows = [(u, i) for u, i, r in lines if float(r) > MIN_RATING]
    for name, content in reference_split(rows, **PROTOCOL).items():
        (HERE / "expected" / name).write_text(content)


if __name__ == "__main__":
    main()
