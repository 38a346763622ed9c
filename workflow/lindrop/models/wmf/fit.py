"""WMF trained by the alternating least squares of the package `implicit`."""

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.parallel import thread_count
from lindrop.base.reporting import Progress, logger
from lindrop.models.base import Fit, Training
from lindrop.models.wmf.factors import WeightedFactors


def fit_wmf(data: Training, factors: float, ridge: float, alpha: float, sweeps: float = 15) -> Fit:
    """Fit WMF: minimise Σ (1 + α x_ui) ([x_ui > 0] - u_u·y_i)² + λ(‖U‖² + ‖Y‖²) by `implicit`.

    Each least-squares problem is solved by three steps of conjugate gradients from the previous
    sweep's factors, the default of `implicit`: far faster than exact solutions, with the same
    limit. The result does not depend on the number of threads, as each user's or item's sums are
    computed by one thread.
    """
    from implicit.cpu.als import AlternatingLeastSquares  # imported here since it loads slowly
    from implicit.recommender_base import ModelFitError

    if not (factors >= 1 and ridge >= 0.0 and alpha >= 0.0 and sweeps >= 1):
        raise UserError(
            f"factors = {factors}, λ = {ridge}, alpha = {alpha}, sweeps = {sweeps}: "
            "factors and sweeps must be at least 1, λ and alpha at least 0"
        )
    weights = sp.csr_matrix(data.x, dtype=np.float32, copy=True)
    with np.errstate(over="ignore"):  # _overflow says what is wrong
        weights.data = 1.0 + np.float32(alpha) * weights.data
    progress = Progress("WMF", int(sweeps), unit="sweeps")
    with threadpool_limits(1, "blas"):
        model = AlternatingLeastSquares(
            int(factors),
            regularization=float(ridge),
            iterations=int(sweeps),
            num_threads=thread_count(),
            random_state=np.random.default_rng(data.seed),
        )
        try:
            model.fit(weights, show_progress=False, callback=lambda *_: progress.advance(1))
        except ModelFitError as error:
            raise _overflow(ridge, alpha) from error
    if not np.isfinite(model.item_factors).all():
        raise _overflow(ridge, alpha)
    logger.info("%s", progress)
    return Fit(WeightedFactors(model.item_factors, float(alpha), float(ridge)))


def _overflow(ridge: float, alpha: float) -> Unsolvable:
    """The error of numbers for which 32-bit factors are too small; other points may succeed."""
    return Unsolvable(
        f"λ = {ridge:g}, alpha = {alpha:g}: the factors are not finite in 32-bit numbers; choose "
        "smaller values"
    )
