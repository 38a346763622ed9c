"""The modules that need PyTorch; without it their tests skip."""

from types import SimpleNamespace

import pytest


@pytest.fixture(scope="module")
def deep():
    """PyTorch and the modules of lindrop that need it."""
    torch = pytest.importorskip("torch", reason="needs PyTorch: make .venv/ready-deep")
    from lindrop.models.torch import cdae, mult_dae, mult_vae, networks, training

    modules = {"cdae": cdae, "mult_dae": mult_dae, "mult_vae": mult_vae, "networks": networks}
    return SimpleNamespace(torch=torch, training=training, **modules)
