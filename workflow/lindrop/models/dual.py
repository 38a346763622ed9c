"""C = (X'X + Λ̃)⁻¹ from an inverse of users × users, where that is cheaper than items × items.

By the identity of Woodbury, C = D - D X' K X D with D = Λ̃⁻¹ and K = (I + X D X')⁻¹. X'X is not
needed. K and the diagonal of C, in which most digits may cancel, are in float64.
"""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.inverse import invert_lower
from lindrop.linalg.kernels import sparse_times_dense
from lindrop.linalg.triangle import PANEL, Triangle, mirror_lower, spans, transpose
from lindrop.models.base import Training
from lindrop.models.memory import dual_columns, dual_pays


class DualInverse:
    """C by its diagonal, and the rest of it as a triangle."""

    def __init__(self, data: Training, penalty: Vector):
        self.dtype = data.dtype
        self.root = 1.0 / np.sqrt(penalty)  # D^½
        x = data.x.astype(np.float64)
        self.x = sp.csr_array(x * self.root)  # X D^½
        self.transposed = sp.csr_array(self.x.T)
        users = self.x.shape[0]
        inner = (self.x @ self.transposed).toarray()
        inner.flat[:: users + 1] += 1.0
        invert_lower(inner)
        mirror_lower(inner)
        self.k = inner
        self.shares = np.concatenate([share for _, share in self._blocks()])
        self.inverse_diagonal: Vector = (1.0 - self.shares) / penalty

    def __len__(self) -> int:
        return len(self.root)

    def _blocks(self) -> Iterator[tuple[Matrix, Vector]]:
        """D^½ X' K for blocks of items, and their part of the diagonal of D^½ X' K X D^½."""
        columns = dual_columns(len(self))
        for start, stop in (
            (start, min(start + columns, end))
            for first, end in spans(len(self))
            for start in range(first, end, columns)
        ):
            part = self.transposed[start:stop]
            product = sparse_times_dense(part, self.k)
            rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            weights = part.data * product[rows, part.indices]
            yield product, np.bincount(rows, weights, part.shape[0])

    def take_inverse(self) -> Triangle:
        """C but for its diagonal."""
        made = Triangle.empty(len(self), self.dtype)
        left = sp.csr_array((self.transposed * self.root[:, None]).astype(self.dtype))
        start = 0
        for product, share in self._blocks():
            stop = start + len(share)
            number = start // PANEL
            panel, top = made.panels[number], number * PANEL
            right = product.T * -self.root[start:stop]
            columns = sparse_times_dense(
                left[: panel.shape[1]], np.ascontiguousarray(right, self.dtype)
            )
            transpose(columns, panel[start - top : stop - top])
            start = stop
        made.mirror_blocks()  # rounding made them differ
        return made


def dual(data: Training, penalty: Vector) -> DualInverse | None:
    """C from users × users, or None where items × items is cheaper or a penalty is 0."""
    users, items = data.x.shape
    if not dual_pays(users, items, data.x.nnz) or not (penalty > 0).all():
        return None
    return DualInverse(data, penalty)
