"""Paths of strengths: what is compared, what is chosen, and what cannot be."""

import numpy as np
import pytest

from coview import (
    LTM,
    MGGM,
    DataWarning,
    DivergenceCoPLSA,
    LinkPLSA,
    PairwiseCoPLSA,
    StrengthPath,
    strength_path,
)
from coview import strength as module
from coview.datasets import make_views
from coview.graphs.neighbors import knn_graph

SEVERAL = [PairwiseCoPLSA, DivergenceCoPLSA, MGGM]


@pytest.fixture(scope="module")
def views():
    return make_views(60, 3, [40, 30], missing=0.1, random_state=0)


@pytest.fixture
def _short(monkeypatch):
    """Make paths short: what they compare is not the matter here."""
    monkeypatch.setattr(module, "SPLITS", 2)
    monkeypatch.setattr(module, "ITERATIONS", 4)


def path_with(means, strengths, usual=2.0):
    values = np.repeat(np.array(means, float)[:, None], 2, axis=1)
    chosen = module.choose(np.array(strengths), values, usual)
    return StrengthPath(np.array(strengths), values, chosen, usual, 100)


def test_the_path_has_six_steps_around_the_usual_strength(views):
    path = strength_path(MGGM(3, max_iter=5), views)
    assert path.strengths == pytest.approx([0, 0.2, 0.6, 2, 6, 20])
    assert path.values.shape == (6, module.SPLITS)
    assert (np.abs(path.values) <= 1).all()
    assert path.chosen in path.strengths
    assert (path.usual, path.n_docs) == (2.0, 60)
    np.testing.assert_allclose(path.mean, path.values.mean(axis=1))
    np.testing.assert_allclose(path.spread, path.values.std(axis=1, ddof=1))


@pytest.mark.parametrize(("helps", "chosen"), [(True, 20.0), (False, 0.0)])
def test_a_graph_that_helps_gets_strength_and_one_by_chance_gets_none(helps, chosen):
    views = make_views(150, 3, [60], doc_length=8, random_state=1)
    edges = np.triu(np.random.default_rng(0).random((150, 150)) < 0.08, 1)
    if helps:
        edges &= views.labels[:, None] == views.labels
    path = strength_path(LTM(3, graph=edges | edges.T), views, [0.0, 20.0])
    assert path.chosen == chosen
    assert np.ptp(path.mean) > 0.03


@pytest.mark.usefixtures("_short")
def test_strengths_are_sorted_and_counted_once(views):
    path = strength_path(LTM(3), views.concat(), [3, 0.5, 3.0])
    assert path.strengths.tolist() == [0.5, 3.0]
    assert strength_path(LTM(3), views.concat(), 1.5).chosen == 1.5


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("cls", SEVERAL)
def test_the_same_seed_gives_the_same_path_for_any_number_of_threads(cls, views):
    paths = [strength_path(cls(3, n_jobs=n), views, [0.5, 2], random_state=4) for n in (1, 2)]
    np.testing.assert_array_equal(paths[0].values, paths[1].values)
    other = strength_path(cls(3), views, [0.5, 2], random_state=5)
    assert not np.array_equal(other.values, paths[0].values)


@pytest.mark.usefixtures("_short")
def test_the_model_is_not_changed(views):
    model = PairwiseCoPLSA(3, strength=0.7, strength_scale="absolute")
    strength_path(model, views, [1.0])
    assert (model.strength, model.strength_scale) == (0.7, "absolute")
    assert not hasattr(model, "strength_")


def test_the_best_is_chosen_and_of_equals_the_nearest_to_the_usual():
    strengths = [0.0, 0.2, 2.0, 20.0]
    assert path_with([0.1, 0.5, 0.4, 0.2], strengths).chosen == 0.2
    assert path_with([0.5, 0.5, 0.4, 0.5], strengths).chosen == 0.2
    assert path_with([0.3, 0.3, 0.3, 0.3], strengths).chosen == 2.0
    assert path_with([0.3, 0.3, 0.3, 0.3], strengths, usual=15.0).chosen == 20.0
    assert path_with([np.nan] * 4, strengths).chosen == 2.0  # nothing was compared


@pytest.mark.parametrize(("best", "chosen"), [([0.6, 0.5, 0.55], 0.1), ([0.9, 0.3, 0.5], 1.0)])
def test_a_better_strength_is_chosen_only_if_the_splits_agree(best, chosen):
    values = np.array([best, [0.45, 0.45, 0.45]])
    assert values[0].mean() > values[1].mean()
    assert module.choose(np.array([0.1, 1.0]), values, usual=1.0) == chosen


def test_one_split_is_taken_as_it_is():
    assert module.choose(np.array([0.1, 1.0]), np.array([[0.5], [0.4]]), usual=1.0) == 0.1


def test_the_path_tells_what_it_found():
    text = repr(path_with([0.25, 0.5], [0.0, 2.0]))
    assert text == "StrengthPath(chosen=2; 0: 0.250 ± 0.000, 2: 0.500 ± 0.000)"


@pytest.mark.usefixtures("_short")
def test_a_large_collection_is_sampled(views, monkeypatch):
    monkeypatch.setattr(module, "MOST_DOCUMENTS", 25)
    seen = []
    fit = MGGM.fit
    monkeypatch.setattr(
        MGGM, "fit", lambda self, X, **k: (seen.append(len(X)), fit(self, X, **k))[1]
    )
    path = strength_path(MGGM(3), views, [1.0])
    assert path.n_docs == 25
    assert set(seen) == {25}


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("most", [2000, 30])
def test_graphs_of_the_users_own_are_dealt_like_columns(views, monkeypatch, most):
    monkeypatch.setattr(module, "MOST_DOCUMENTS", most)
    graph = knn_graph(views.concat()["all"], 8)
    taken = []
    check = LTM._given_graphs
    monkeypatch.setattr(
        LTM, "_given_graphs", lambda self, n: taken.append((n, self.graph.nnz)) or check(self, n)
    )
    fits = []
    fit = LTM.fit
    monkeypatch.setattr(
        LTM, "fit", lambda self, X, **k: fits.append(self.graph) or fit(self, X, **k)
    )
    strength_path(LTM(3, graph=graph), views.concat(), [1.0])
    n = min(most, 60)
    assert {g.shape for g in fits} == {(n, n)}
    assert taken == [(60, graph.nnz)]
    if most > 60:
        assert fits[0].nnz + fits[1].nnz == graph.nnz
    named = MGGM(3, graphs={"view_0": graph, "cites": graph})
    assert np.isfinite(strength_path(named, views, [1.0]).values).all()


@pytest.mark.usefixtures("_short")
def test_a_graph_too_small_to_be_dealt_is_no_obstacle(views):
    graph = np.zeros((60, 60))
    graph[0, 1] = graph[1, 0] = 1
    assert np.isfinite(strength_path(LTM(3, graph=graph), views.concat(), [1.0]).values).all()


@pytest.mark.usefixtures("_short")
def test_labeled_documents_are_pinned_and_not_compared(views):
    labels = np.where(np.arange(60) % 2, views.labels, -1)
    few = strength_path(DivergenceCoPLSA(3), views, [1.0], labels=labels)
    assert np.isfinite(few.values).all()
    every = strength_path(DivergenceCoPLSA(3), views, labels=views.labels)
    assert np.isnan(every.values).all()
    assert every.chosen == 1.0


def test_a_model_without_a_strength_is_refused(views):
    with pytest.raises(ValueError, match="LinkPLSA has no strength; PairwiseCoPLSA"):
        strength_path(LinkPLSA(3), views)


@pytest.mark.parametrize(
    ("strengths", "message"),
    [([], "empty"), ([1.0, -1.0], "strengths must be .* got -1.0"), (["a"], "got 'a'")],
)
def test_strengths_that_are_none_are_refused(views, strengths, message):
    with pytest.raises(ValueError, match=message):
        strength_path(MGGM(3), views, strengths)


def test_what_the_fit_refuses_is_refused_here(views):
    with pytest.raises(ValueError, match="n_components"):
        strength_path(MGGM(0), views)
    with pytest.raises(ValueError, match="LTM models one view"):
        strength_path(LTM(3), views)


@pytest.mark.usefixtures("_short")
def test_warnings_of_the_halves_are_not_repeated(views):
    empty = {**views.matrices, "none": np.zeros((60, 6))}
    with pytest.warns(DataWarning, match="No document has a count in 'none'") as caught:
        strength_path(MGGM(3), empty, [1.0])
    assert len(caught) == 1
