"""Checkpoints of the training of deep networks, written atomically."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError
from lindrop.base.reporting import logger

SOURCE = "source"
State = dict[str, Any]  # tensors, numbers and containers of them; `load` rejects everything else


def save(path: Path, state: State, source: Mapping[str, Any]) -> None:
    """Write a state; `source` identifies the training by values that JSON can hold."""
    with atomic(path) as partial, partial.open("wb") as file:
        torch.save({SOURCE: json.dumps(source), **state}, file)


def load(path: Path, source: Mapping[str, Any]) -> State | None:
    """State saved for this `source`; None if there is no checkpoint, or one of another source."""
    if not path.exists():
        return None
    try:
        with zipfile.ZipFile(path) as archive:  # PyTorch does not compare the CRC-32 of the parts
            if archive.testzip() is not None:
                raise ValueError("a part has another CRC-32")
        state: State = torch.load(path, weights_only=True)
        of = state.pop(SOURCE)
    except Exception as error:  # a damaged pickle can raise anything
        raise UserError(f"{path}: not a whole checkpoint; delete it and run again") from error
    if of != json.dumps(source):
        logger.info("%s: belongs to another training; starting over", path)
        return None
    return state
