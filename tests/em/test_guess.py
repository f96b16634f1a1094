"""Guesses of mixtures: their step and value against naive sums, starts, and bad input."""

from dataclasses import replace

import numpy as np
import pytest

from coview import LinkPLSA
from coview.datasets import make_views
from coview.em.loop import fold_in
from coview.em.prepared import prepare
from coview.em.prior import Prior
from coview.em.starts import starts_from
from coview.em.step import em_step
from tests.contracts.models import MODELS
from tests.planted import make_case, serial
from tests.reference import link_plsa

STRENGTH = 0.7


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


def guess_for(case, rng):
    guess = rng.random(case.theta.shape)
    return guess / guess.sum(axis=1, keepdims=True)


def counts_of(case, theta):
    """Return the expected counts n(d,z) of all views, weighted."""
    counts = link_plsa.expected_counts(case.Xs, theta, case.p_w_zs, case.present)
    return sum(w * c.sum(axis=1) for w, c in zip(case.weights, counts, strict=True))


def drawn(counts, guess, old):
    """Return (n(d,z) / n(d) + s q(z|d)) / (1 + s), the old mixture where there are no counts."""
    new = old.copy()
    for d, row in enumerate(counts):
        if row.sum() > 0:
            new[d] = (row / row.sum() + STRENGTH * guess[d]) / (1 + STRENGTH)
    return new


@pytest.mark.parametrize("nonzeros", [None, 5])
@pytest.mark.parametrize("pins", [False, True])
def test_a_step_is_drawn_to_the_guess(rng, nonzeros, pins):
    case = make_case(rng, pins=pins, absent=True)
    guess = guess_for(case, rng)
    problem = case.problem(nonzeros, prior=Prior(guess=guess, strength=STRENGTH))
    expected = drawn(counts_of(case, case.theta), guess, case.theta)
    if pins:
        expected[case.pinned] = case.theta[case.pinned]
    close(em_step(problem, serial).problem.mixtures[0], expected)


def test_the_objective_has_the_log_prior_of_the_guess(rng):
    case = make_case(rng, pins=True, absent=True)
    guess = guess_for(case, rng)
    problem = case.problem(5, prior=Prior(guess=guess, strength=STRENGTH))
    plain = em_step(replace(problem, prior=Prior()), serial, "nothing").values.objective
    found = em_step(problem, serial, "nothing").values.objective
    tokens = counts_of(case, case.theta).sum(axis=1)
    free = ~case.pinned & (tokens > 0)
    logs = (guess * np.log(case.theta))[free].sum(axis=1)
    assert found - plain == pytest.approx(STRENGTH * (tokens[free] * logs).sum(), rel=1e-9)


def test_folding_in_is_drawn_to_the_guess(rng):
    case = make_case(rng, absent=True)
    guess = guess_for(case, rng)
    theta = case.theta
    for _ in range(5):
        theta = drawn(counts_of(case, theta), guess, theta)
    problem = case.problem(6, prior=Prior(guess=guess, strength=STRENGTH))
    close(fold_in(problem, serial, max_iter=5, tol=0.0).mixtures[0], theta)


@pytest.fixture(scope="module")
def views():
    return make_views(60, 3, [30, 20], missing=0.1, random_state=1)


# VotedPLSA pins most documents to the topics of its votes, which it numbers itself
@pytest.mark.parametrize("entry", [m for m in MODELS if str(m) != "VotedPLSA"], ids=str)
def test_every_model_follows_a_strong_guess(entry, views):
    data = views.concat() if entry.one_view else views
    guess = 0.8 * np.eye(3)[views.labels] + 0.2 / 3
    model = entry(max_iter=15).fit(data, guess=guess, guess_strength=100)
    some = np.setdiff1d(np.arange(60), model.empty_rows_)
    assert (model.labels_ == views.labels)[some].mean() > 0.95


def test_the_start_is_the_guess(views):
    guess = 0.8 * np.eye(3)[views.labels] + 0.2 / 3
    data = prepare(views, {}, np.float64).with_guess((guess, 1.0))
    ((name, make),) = starts_from("auto", data, views, 3, np.random.default_rng(0))
    assert name == "guess"
    start = make().theta[~data.empty, :3]
    np.testing.assert_allclose(start, (0.9 * guess + 0.1 / 3)[~data.empty])


def test_the_objective_does_not_fall(views):
    guess = 0.8 * np.eye(3)[views.labels] + 0.2 / 3
    model = LinkPLSA(3, random_state=0, dtype="float64", max_iter=30).fit(views, guess=guess)
    steps = np.diff(model.trace_.objective)
    assert (steps > -1e-9 * np.abs(model.trace_.objective[1:])).all()


def test_no_strength_is_no_guess(views):
    guess = np.eye(3)[views.labels] + 0.1
    plain = LinkPLSA(3, random_state=0).fit(views)
    found = LinkPLSA(3, random_state=0).fit(views, guess=guess, guess_strength=0)
    np.testing.assert_array_equal(found.doc_topic_, plain.doc_topic_)


def test_a_wrong_guess_is_refused(views):
    model = LinkPLSA(3, random_state=0)
    with pytest.raises(ValueError, match=r"The guess must have the shape .*\(60, 3\)"):
        model.fit(views, guess=np.ones((60, 2)))
    with pytest.raises(ValueError, match="The guess must be finite"):
        model.fit(views, guess=np.full((60, 3), -1.0))
    with pytest.raises(ValueError, match="guess_strength"):
        model.fit(views, guess=np.ones((60, 3)), guess_strength=-1)
    with pytest.raises(ValueError, match="needs a guess"):
        LinkPLSA(3, init="guess").fit(views)
