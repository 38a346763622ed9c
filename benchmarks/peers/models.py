"""The compared models: what each is called, and with which options all libraries fit it."""

from typing import Any, NamedTuple


class Model(NamedTuple):
    """A model; `like` names the model whose reference it is compared with, itself by default."""

    title: str
    options: dict[str, Any]
    like: str = ""


SLIM = {"l1": 2.0, "l2": 100.0}  # as tuned on the demo set, like those of EDLAE: table1_demo.csv
MODELS = {
    "ease": Model("EASE", {"ridge": 500.0}),  # RecTools' and Cornac's default
    "edlae": Model("EDLAE", {"p": 0.35, "ridge": 100.0}),
    "slim": Model("SLIM", SLIM),
    "slim_shipped": Model("SLIM, stopped as shipped", SLIM, like="slim"),
}
