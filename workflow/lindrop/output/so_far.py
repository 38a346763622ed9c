"""The models of a comparison that are done so far, best first, while others are being tuned."""

from collections.abc import Sequence

import pandas as pd

from lindrop.models.tuning import chosen_text
from lindrop.output.compare import Line, cell
from lindrop.ranking.metrics import title


def text(lines: Sequence[Line], criterion: str, left: Sequence[str]) -> str:
    """Table of a dataset's models by the mean of `criterion`, and those that are still to come."""
    rows = []
    for line in lines:
        mean, error = line.summary().loc[[criterion], ["mean", "stderr"]].to_numpy()[0]
        rows.append(
            {
                "model": line.model,
                title(criterion): cell(mean, error),
                "chosen": chosen_text(line.model, line.tested),
                "mean": mean,
            }
        )
    table = pd.DataFrame(rows).sort_values("mean", ascending=False, kind="stable")
    shown = table.drop(columns="mean").to_markdown(index=False, disable_numparse=True)
    best = table["model"].iloc[0]
    still = f"; still to come: {', '.join(left)}" if left else ""
    return f"{lines[0].dataset}, so far: the best is {best}{still}\n{shown}"
