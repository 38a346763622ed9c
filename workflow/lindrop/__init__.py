"""Linear autoencoders and dropout: the numerical library behind the workflow, usable alone.

The names of `__all__` are imported when first used, so that `import lindrop` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lindrop.version import VERSION as __version__

if TYPE_CHECKING:
    from lindrop.serving.recommend import because, recommend, similar
    from lindrop.serving.recommender import Recommender, refit
    from lindrop.store.model import read_model, write_model

__all__ = [
    "Recommender",
    "__version__",
    "because",
    "read_model",
    "recommend",
    "refit",
    "similar",
    "write_model",
]

HOMES = {
    "Recommender": "serving.recommender",
    "because": "serving.recommend",
    "read_model": "store.model",
    "recommend": "serving.recommend",
    "refit": "serving.recommender",
    "similar": "serving.recommend",
    "write_model": "store.model",
}


def __getattr__(name: str) -> Any:
    """A public name from the module that defines it."""
    if name not in HOMES:
        raise AttributeError(f"module 'lindrop' has no attribute {name!r}")
    return getattr(import_module(f"lindrop.{HOMES[name]}"), name)
