"""Type aliases for NumPy arrays in signatures."""

from typing import Any

import numpy.typing as npt

Matrix = npt.NDArray[Any]
Vector = npt.NDArray[Any]
