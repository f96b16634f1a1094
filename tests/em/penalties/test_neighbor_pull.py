"""The pull of neighbors is a row of Eq. 15; its steps ascend, and end in one place."""

import numpy as np
import pytest

from coview.em.penalties.base import Penalty
from coview.em.penalties.neighbor_pull import NeighborPull
from tests.reference import ltm

PRESENT = np.ones((1, 1), bool)


def step(penalty, counts, theta):
    (new,) = penalty.m_step((counts.copy(),), (theta,), PRESENT, None)
    return new


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_the_step_is_the_row_of_the_dense_system(rng, lam):
    n, k = 20, 4
    mixtures, edges = rng.dirichlet(np.ones(k), n), rng.random((6, n)) * (rng.random((6, n)) < 0.3)
    counts, old = rng.gamma(0.5, size=(6, k)), rng.dirichlet(np.ones(k), 6)
    counts[0], edges[1] = 0, 0  # without counts, without neighbors
    new = step(NeighborPull(lam * edges @ mixtures), counts, old)
    for d in range(6):
        U = np.zeros((n + 1, n + 1))
        U[n, :n] = U[:n, n] = edges[d]
        all_counts = np.vstack([np.zeros((n, k)), counts[d]])
        expected = ltm.graph_solve(
            all_counts, U, lam, np.vstack([mixtures, old[d]]), np.arange(n + 1) < n
        )
        np.testing.assert_allclose(new[d], expected[n], rtol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_pull_is_no_penalty_to_the_bit(rng, dtype):
    counts = rng.gamma(0.5, size=(9, 3)).astype(dtype)
    old = rng.dirichlet(np.ones(3), 9).astype(dtype)
    new = step(NeighborPull(np.zeros((9, 3))), counts, old)
    np.testing.assert_array_equal(new, step(Penalty(), counts, old))
    assert new.dtype == dtype


def test_the_pull_of_some_documents(rng):
    penalty = NeighborPull(rng.random((9, 3)))
    np.testing.assert_array_equal(penalty.at(np.array([4, 2])).pull, penalty.pull[[4, 2]])


def test_steps_ascend_and_end_in_one_place(rng):
    x, p_w_z = rng.poisson(2.0, 30).astype(float), rng.dirichlet(np.ones(30), 4)
    penalty = NeighborPull(5 * rng.dirichlet(np.ones(4), 1))

    def objective(theta):
        return float(x @ np.log(theta[0] @ p_w_z)) - penalty.value((theta,), PRESENT)

    ends = []
    for theta in rng.dirichlet(np.ones(4), (3, 1)):
        values = [objective(theta)]
        for _ in range(3000):
            counts = theta * ((x / (theta @ p_w_z)) @ p_w_z.T)
            theta = step(penalty, counts, theta)
            values.append(objective(theta))
        assert np.diff(values).min() >= -1e-10
        ends.append(theta)
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-8)
    assert penalty.monotone
    assert penalty.row_local
