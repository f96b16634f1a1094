"""Documents iterated in one kernel, against the loop that takes a step of all that still move."""

from dataclasses import replace

import numpy as np
import pytest

from coview.em.lone_documents import LoneDocuments
from coview.em.loop import _fold_in_block, fold_in
from coview.em.penalties.divergence import DivergenceAgreement
from coview.em.prior import Prior
from tests.planted import make_case, serial


def by_steps(problem, max_iter, tol):
    """The mixtures, block by block, as every penalty is folded in."""
    parts = [_fold_in_block(problem, block, max_iter, tol)[0] for block in problem.blocks]
    return np.concatenate(parts)


@pytest.mark.parametrize("widths", [(9,), (9, 7), (9, 7, 8)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("doc_topic", [0.7, 1.0, 1.5])
@pytest.mark.parametrize(("max_iter", "tol"), [(1, 0.0), (40, 1e-3), (300, 1e-7)])
def test_documents_get_the_bits_of_the_loop(rng, widths, dtype, doc_topic, max_iter, tol):
    case = make_case(rng, widths, absent=len(widths) > 1, n_topics=5)
    problem = case.problem(20, dtype, pinned=None, prior=Prior(doc_topic=doc_topic))
    assert LoneDocuments.of(problem) is not None
    found = fold_in(problem, serial, max_iter, tol).thetas[0]
    assert not np.array_equal(found, problem.thetas[0])
    np.testing.assert_array_equal(found, by_steps(problem, max_iter, tol))


def test_documents_without_counts_keep_their_mixtures(rng):
    case = make_case(rng)
    problem = case.problem(pinned=None)
    found = fold_in(problem, serial, 10, 1e-4)
    np.testing.assert_array_equal(found.thetas[0][1], problem.thetas[0][1])  # the empty document


def test_what_else_moves_documents_is_left_to_the_loop(rng):
    problem = make_case(rng).problem(pinned=None)
    n_docs, n_topics = problem.mixtures[0].shape
    guess = np.full((n_docs, n_topics), 1 / n_topics)
    pull = DivergenceAgreement("skl", np.ones(n_docs))
    two = (problem.thetas[0], problem.thetas[0].copy())
    for other in (
        replace(problem, prior=Prior(guess=guess, strength=1.0)),
        replace(problem, penalty=pull, thetas=two, slots=(0, 1)),
        replace(problem, thetas=two, slots=(0, 1)),
        replace(problem, pinned=np.zeros(n_docs, bool)),
    ):
        assert LoneDocuments.of(other) is None
