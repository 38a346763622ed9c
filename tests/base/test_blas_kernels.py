"""OpenBLAS uses the kernels for AVX-512, as a log says, and gets no matrix at which they fail."""

import ast
import os
import sys

import pytest

from lindrop.base import blas_kernels
from lindrop.base.blas_kernels import AVX512, LARGEST_FACTORED, VARIABLE, has_avx512, in_use
from lindrop.base.errors import UserError
from lindrop.base.reporting import job
from lindrop.linalg import inverse
from lindrop.linalg.inverse import PIVOTS, invert_lower
from lindrop.models.catalogue import CATALOGUE
from support import processes
from support.matrices import counts
from support.models import arguments
from support.repository import REPOSITORY

LIBRARY = REPOSITORY / "workflow" / "lindrop"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx2 avx512f avx512vl\n\nprocessor\t: 1\n", True),
        ("flags\t\t: fpu avx2\n\nprocessor\t: 1\nflags\t\t: fpu avx512f\n", False),
        ("flags\t\t: fpu avx512fp16\n", False),
        ("processor\t: 0\nFeatures\t: asimd sve\n", False),
        (None, False),
    ],
)
def test_the_first_processor_says_what_it_has(text, found, tmp_path):
    file = tmp_path / "cpuinfo"
    if text is not None:
        file.write_text(text)
    assert has_avx512(file) == found


@pytest.mark.parametrize(
    ("loaded", "avx512", "variable", "said"),
    [
        (["SkylakeX", "SkylakeX"], True, None, "the kernels SkylakeX"),
        (["Haswell", "Zen"], False, None, "the kernels Haswell, Zen"),
        (["Haswell"], True, None, "this processor has, take about half the time"),
        (["Haswell"], True, "Haswell", f"take about half the time (unset {VARIABLE})"),
        ([], True, None, "the kernels of another library"),
    ],
)
def test_the_line_names_the_kernels_and_faster_ones(loaded, avx512, variable, said, monkeypatch):
    libraries = [{"user_api": "openmp"}, *({"architecture": name} for name in loaded)]
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: libraries)
    monkeypatch.setattr(blas_kernels, "has_avx512", lambda: avx512)
    if variable:
        monkeypatch.setenv(VARIABLE, variable)
    else:
        monkeypatch.delenv(VARIABLE, raising=False)
    assert in_use().endswith(said)


def test_the_log_of_a_job_ends_with_the_kernels(tmp_path):
    with job(tmp_path / "log"):
        pass
    kernels, times = (tmp_path / "log").read_text().splitlines()
    assert kernels.endswith(in_use())
    assert times.endswith(" to work")


@pytest.mark.skipif(not has_avx512(), reason="needs a processor with AVX-512")
def test_openblas_takes_them_by_itself():
    """So nothing need choose for it. If this fails, its new version does not know the processor."""
    code = "import scipy.linalg; from lindrop.base.blas_kernels import in_use; print(in_use())"
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")}
    said = processes.run([sys.executable, "-c", code], cwd=LIBRARY.parent, env=env).stdout
    assert said.removeprefix("OpenBLAS uses the kernels ").strip() in AVX512


# What may call syrk or potrf, and why its order is at most LARGEST_FACTORED. A product of a matrix
# with its own transpose is computed by syrk, and so is a covariance.
FACTORING = {"cho_factor", "cholesky", "cov", "corrcoef", "pinvh", "multi_dot", "potrf", "syrk"}
FACTORING |= {"inv", "solve"}  # SciPy's, which look for a positive definite matrix
BOUNDED = {
    "models/adam_as_published.py": {"a.T @ a", "u.T @ u", "v.T @ v"},  # rank
    "models/edlae/admm.py": {"self.v.T @ self.v"},  # rank
    "models/edlae/als.py": {"v.T @ v"},  # rank
    # rank; up to LARGEST_FACTORED
    "models/edlae/as_published.py": {"v.T @ v", "sl.cholesky", "sl.solve"},
    "models/edlae/objective.py": {"v.T @ v", "sl.cholesky"},  # rank
    "models/edlae/quasi_newton.py": {"self.v.T @ self.v", "v.T @ v"},  # rank
    "models/sampled.py": {"self.a.T @ self.a", "u.T @ u", "v.T @ v", "xu.T @ xu"},  # rank
    "models/pattern/hybrid.py": {"v.T @ v"},  # factors
    "models/wmf.py": {"y.T @ y"},  # factors
    "linalg/blas.py": {"potrf"},  # PIVOTS, by the test below
}
SMALL_NETWORKS = ("dropout", "papers")  # experiments of the papers, with some hundred units


def calls(tree):
    """Expressions of a module that may call syrk or potrf."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            sides = node.left, node.right
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("dot", "matmul")):
            sides = [*node.args, getattr(node.func, "value", None)][:2]
        else:
            name = getattr(node, "attr", getattr(node, "value", ""))
            found = name in FACTORING and not ast.unparse(node).startswith("np.linalg.")
            if found and isinstance(node, ast.Attribute | ast.Constant):
                yield ast.unparse(node).strip("'")
            continue
        one, other = [ast.unparse(side) for side in sides if side is not None] + [""] * (
            2 - len(sides)
        )
        if one in (f"{other}.T", other.removesuffix(".T")) and one != other:
            yield ast.unparse(node)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("z.T @ z", True),
        ("x.a[:n] @ x.a[:n].T", True),
        ("np.dot(z.T, z)", True),
        ("np.matmul(z, z.T)", True),
        ("z.T.dot(z)", True),
        ("scipy.linalg.inv(a)", True),
        ("sl.cholesky(a)", True),
        ("np.cov(a)", True),
        ("blas.get_blas_funcs('syrk')", True),
        ("z.T @ y", False),
        ("np.linalg.inv(a)", False),  # LU, also of a symmetric matrix
    ],
)
def test_what_calls_syrk_or_potrf_is_recognised(code, found):
    assert bool(list(calls(ast.parse(code)))) == found


def test_whatever_calls_syrk_or_potrf_is_of_a_bounded_order():
    found = {}
    for file in sorted(LIBRARY.rglob("*.py")):
        name = file.relative_to(LIBRARY)
        if name.parts[0] not in SMALL_NETWORKS and (
            here := set(calls(ast.parse(file.read_text())))
        ):
            found[str(name)] = here
    assert found == BOUNDED


def test_an_inverse_factorises_blocks_of_few_pivots(monkeypatch):
    orders, invert = [], inverse.invert_small
    monkeypatch.setattr(inverse, "invert_small", lambda a: orders.append(len(a)) or invert(a))
    invert_lower(counts(700))
    assert max(orders) == PIVOTS
    assert sum(orders) == 700


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.low_rank])
def test_a_rank_beyond_what_the_kernels_bear_is_refused(name):
    given = {key: value for key, value in arguments(name).items() if key != "rank"}
    with pytest.raises(UserError, match=f"rank {LARGEST_FACTORED + 1:,} is above"):
        next(CATALOGUE[name].fits(None, [3, LARGEST_FACTORED + 1], **given))


def test_as_many_factors_are_refused():
    with pytest.raises(UserError, match="factors is 16001"):
        next(CATALOGUE["wmf"].fits(None, [1], factors=LARGEST_FACTORED + 1))
