"""The kernels as plain Python: a debugger can step through them, and they say the same."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from coview.em.penalties.divergence import DivergenceAgreement
from coview.em.penalties.graph_smoothness import GraphSmoothness
from coview.em.penalties.similarity import SimilarityAgreement, sample_pairs
from coview.em.step import em_step
from tests.planted import make_case, serial

ROOT = Path(__file__).parents[2]
PENALTIES = ["none", "graph", "skl", "l2", "l1", "safe", "paper"]

pytestmark = pytest.mark.skipif(
    int(np.__version__.split(".")[0]) < 2,
    reason="before numpy 2 a Python integer and an unsigned one add up to a float",
)


def python(*arguments):
    """Another process in which nothing is compiled; its messages if it fails."""
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=plain, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def penalty_of(name, case, rng):
    n_docs = len(case.theta)
    if name == "graph":
        U = np.triu(rng.random((n_docs, n_docs)) < 0.2, 1).astype(float)
        return GraphSmoothness((sp.csr_array(U + U.T),), 3.0)
    if name in ("skl", "l2", "l1"):
        return DivergenceAgreement(name, rng.gamma(1.0, size=n_docs))
    pairs = sample_pairs(n_docs, 30, rng)
    return SimilarityAgreement(pairs, 2.0, step=name, reach=0.5)


def step_of(name, dtype):
    """A problem after two steps, and its values before: all kernels that a step of it runs."""
    rng = np.random.default_rng(5)
    case = make_case(rng, absent=True, n_topics=9)
    problem = case.problem(dtype=dtype)
    if name != "none":
        slots = (0, 0) if name == "graph" else (0, 1)
        thetas = tuple(problem.thetas[0].copy() for _ in set(slots))
        penalty = penalty_of(name, case, rng)
        problem = replace(problem, penalty=penalty, slots=slots, thetas=thetas)
    for _ in range(2):
        step = em_step(problem, serial)
        problem = step.problem
    values = step.values
    return {
        "values": [*values.log_likelihoods, values.penalty, values.roughness or 0.0],
        **{f"theta{i}": theta for i, theta in enumerate(problem.mixtures)},
        **{f"topics{v}": emission.by_term for v, emission in enumerate(problem.emissions)},
    }


def write(path):
    """All outputs of the process at hand, into a file."""
    for dtype in ("f4", "f8"):
        for name in PENALTIES:
            np.savez(Path(path) / f"{name}-{dtype}.npz", **step_of(name, dtype))


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory):
    path = tmp_path_factory.mktemp("interpreted")
    python("-c", f"from tests.kernels.test_without_jit import write; write({str(path)!r})")
    return path


@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_step_is_the_same_compiled_and_interpreted(interpreted, name, dtype):
    compiled, tol = step_of(name, dtype), 1e-4 if dtype == "f4" else 1e-9
    with np.load(interpreted / f"{name}-{dtype}.npz") as expected:
        assert set(expected) == set(compiled)
        for part, array in compiled.items():
            np.testing.assert_allclose(array, expected[part], rtol=tol, atol=tol**1.5)


def test_the_tests_of_the_sweep_pass_without_the_compiler():
    tests = str(Path(__file__).with_name("test_sweep.py"))
    python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", tests)
