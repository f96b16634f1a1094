"""How much say the ensemble's view has: learned from what EM does to the consensus."""

from itertools import cycle

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Checkpoint, LinkPLSA, Views
from coview.datasets import make_views
from coview.em import ensemble_view
from coview.em.ensemble_view import SHARE, SHARES
from coview.em.step import em_step
from coview.metrics import normalized_mutual_info
from tests.ensemble.planted import N_CLUSTERS, N_DOCS, dense_view, sparse_views

QUICK = {"random_state": 0, "max_iter": 5, "tol": 0.0}


def learned(views, n_topics=N_CLUSTERS, **options):
    return LinkPLSA(n_topics, **{**QUICK, **options}).fit(views).trace_.ensemble["share"]


def bursts(labels, seed, n_features=80):
    """Counts around the centers of clusters, of which two in a hundred are thirtyfold."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(10 * np.exp(0.5 * rng.normal(size=(4, n_features)))[labels])
    return counts * np.where(rng.random(counts.shape) < 0.02, 30, 1)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_within_its_bounds_and_what_the_trace_tells(seed):
    views = sparse_views(seed, missing=0.1)
    model = LinkPLSA(N_CLUSTERS, **QUICK).fit(views)
    told = model.trace_.ensemble["share"]
    assert SHARES[0] <= told <= SHARES[1]
    given = LinkPLSA(N_CLUSTERS, ensemble=told, **QUICK).fit(views)
    np.testing.assert_array_equal(model.doc_topic_, given.doc_topic_)


def test_it_is_the_usual_one_where_em_does_not_move():
    labels, rng = np.arange(80) % 4, np.random.default_rng(0)
    # every cluster has words of its own: all clusterings and EM agree
    apart = np.kron(np.eye(4), np.ones((1, 12)))[labels]
    views = {name: rng.poisson(2, (80, 48)) * apart for name in "ab"}
    assert learned(views) == SHARE


def test_it_is_the_usual_one_if_em_ends_where_it_began(monkeypatch):
    monkeypatch.setattr(ensemble_view, "_topics_of_half", lambda data, kept, start, n: start)
    assert learned(sparse_views(0)) == SHARE


@pytest.mark.parametrize("seed", range(2))
def test_topics_are_held_where_em_destroys_what_comes_back(seed):
    labels = np.arange(N_DOCS) % 4
    views = Views({"a": bursts(labels, seed), "b": bursts(labels, seed + 50)})
    model = LinkPLSA(4, random_state=0).fit(views)
    assert model.trace_.ensemble["share"] > 2 * SHARE
    usual, free = (LinkPLSA(4, random_state=0, ensemble=e).fit(views) for e in (SHARE, 0))
    scores = [normalized_mutual_info(labels, m.labels_) for m in (model, usual, free)]
    assert scores[0] >= scores[1] > scores[2] + 0.2
    assert scores[0] > 0.9


def test_topics_are_free_where_em_finds_more_than_the_clusterings(monkeypatch):
    views = sparse_views(0)

    def knows(data, kept, start, n_topics):
        return views.labels  # the same by both halves: tells more than any clustering

    monkeypatch.setattr(ensemble_view, "_topics_of_half", knows)
    assert SHARES[0] <= learned(views) < SHARE


@pytest.mark.parametrize("told", [(0.5, 0.0), (-0.01, 0.5)])
def test_it_is_the_usual_one_where_either_tells_nothing(monkeypatch, told):
    alternately = cycle(told)  # of the starts, of the ends
    monkeypatch.setattr(ensemble_view, "shared_information", lambda *_: next(alternately))
    assert learned(sparse_views(0)) == SHARE


def test_a_share_that_is_given_is_not_learned(monkeypatch):
    def refuse(*_):
        raise AssertionError("learned")

    monkeypatch.setattr("coview.training_data.with_learned_share", refuse)
    assert learned(sparse_views(0), ensemble=0.3) == 0.3
    assert learned(sparse_views(0), ensemble=0) == 0
    many = make_views(100, 5, [40, 30], random_state=0)
    assert learned(many, 20) == 0  # so many topics of sparse views have no view of clusters


def test_em_of_a_half_sees_that_half_alone(monkeypatch):
    views, seen = sparse_views(0), []
    run = ensemble_view.run_em

    def spy(problem, *args, **options):
        seen.append([emission.by_term.shape[0] for emission in problem.emissions])
        return run(problem, *args, **options)

    monkeypatch.setattr(ensemble_view, "run_em", spy)
    learned(views)
    assert len(seen) == 4  # two splits, two halves
    for one, other in (seen[:2], seen[2:]):
        assert all(a + b <= width for a, b, width in zip(one, other, views.widths, strict=True))


@pytest.mark.parametrize("n_steps", [0, 1, 30])
def test_ctrl_c_meanwhile_leaves_no_model_and_a_later_fit_has_the_same_bits(
    n_steps, monkeypatch, tmp_path
):
    views, left = sparse_views(0), iter(range(n_steps))
    undisturbed = LinkPLSA(N_CLUSTERS, **QUICK).fit(views)

    def step(problem, *args):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return em_step(problem, *args)

    model = LinkPLSA(N_CLUSTERS, **QUICK)
    with monkeypatch.context() as patch:
        patch.setattr("coview.em.loop.em_step", step)
        with pytest.raises(KeyboardInterrupt) as ended:
            model.fit(views, checkpoint=Checkpoint(tmp_path / "run"))
    assert ended.type is KeyboardInterrupt  # not one that tells of a state that is kept
    assert not hasattr(model, "doc_topic_")
    model.fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True))
    np.testing.assert_array_equal(model.doc_topic_, undisturbed.doc_topic_)


# -- odd data --------------------------------------------------------------------------------------


def odd(name):
    """Views and a number of topics for which there is hardly anything to learn from."""
    rng = np.random.default_rng(0)
    views = sparse_views(0)
    alike = np.tile([1, 2, 0, 3, 1, 0], (24, 1))
    return {
        "K near N": ({"a": rng.poisson(1, (12, 30)) + 1, "b": rng.poisson(2, (12, 9)) + 1}, 11),
        "K is N": ({"a": rng.poisson(1, (8, 30)) + 1, "b": rng.random((8, 9))}, 8),
        "five documents": ({"a": rng.poisson(2, (5, 9)) + 1, "b": rng.random((5, 4))}, 2),
        "one feature": ({**views.matrices, "one": views.labels[:, None] + 1}, N_CLUSTERS),
        "two of one feature": ({"a": 1 + np.arange(30)[:, None] % 3, "b": np.ones((30, 1))}, 2),
        "all alike": ({"a": alike, "b": alike[:, :3]}, 3),
        "a view nobody has": ({**views.matrices, "none": sp.csr_array((N_DOCS, 5))}, N_CLUSTERS),
        "a view one has": ({**views.matrices, "one": np.eye(N_DOCS, 3, -7) * 2}, N_CLUSTERS),
        "noise": ({name: rng.poisson(0.4, (90, 30)) for name in "ab"}, 5),
        "copies": (dict.fromkeys("abc", views["text"]), N_CLUSTERS),
        "measured": ({name: dense_view(views.labels, 3) for name in "ab"}, N_CLUSTERS),
    }[name]


@pytest.mark.filterwarnings("ignore::coview.DataWarning")
@pytest.mark.parametrize(
    "name",
    [
        *("K near N", "K is N", "five documents", "one feature", "two of one feature"),
        *("all alike", "a view nobody has", "a view one has", "noise", "copies", "measured"),
    ],
)
def test_odd_data_are_no_error(name):
    matrices, n_topics = odd(name)
    model = LinkPLSA(n_topics, **QUICK).fit(Views(matrices))
    assert np.isfinite(model.doc_topic_).all()
    assert np.isfinite(model.objective_)
    share = model.trace_.ensemble["share"]
    assert SHARES[0] <= share <= SHARES[1]
    again = LinkPLSA(n_topics, **QUICK).fit(Views(matrices))
    np.testing.assert_array_equal(again.doc_topic_, model.doc_topic_)
