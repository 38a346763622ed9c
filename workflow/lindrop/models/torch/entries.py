"""The deep models as entries of a registry: apart from the other models, which need no PyTorch."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lindrop.models.base import Training
from lindrop.models.registry import Entry, Fits
from lindrop.models.torch.fit import fit_cdae, fit_mult_dae, fit_mult_vae
from lindrop.models.torch.titles import TITLES


def _entry(name: str, fit: Callable[..., Fits]) -> Entry:
    def fits(data: Training, ranks: Sequence[int], **parameters: Any) -> Fits:
        return fit(data, ranks, data.validation, data.checkpoint, **parameters)

    return Entry(TITLES[name], "baseline", False, fits, dense=False)


DEEP: Mapping[str, Entry] = {
    "cdae": _entry("cdae", fit_cdae),
    "mult_vae": _entry("mult_vae", fit_mult_vae),
    "mult_dae": _entry("mult_dae", fit_mult_dae),
}
