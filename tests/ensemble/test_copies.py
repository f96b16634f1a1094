"""Copies of views: found by what they tell, and counted as one view."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import LinkPLSA, Views, load, view_reliability
from coview.ensemble.copies import copies, near_copies
from coview.ensemble.features import placed, unit_rows, view_features
from tests.ensemble.planted import N_CLUSTERS, N_DOCS, dense_view, sparse_views
from tests.reference import ensemble as naive

kinds = pytest.mark.parametrize("kind", ["counts", "measured"])


def features_of(rng, kind, n_docs=50):
    """Values of a view."""
    if kind == "measured":
        return rng.normal(size=(n_docs, 8))
    return unit_rows(rng.poisson(0.8, (n_docs, 30)).astype(float))


def as_rows(values, kind, has=None):
    has = np.ones(len(values), bool) if has is None else has
    return placed(values, has) if kind == "measured" else sp.csr_array(unit_rows(values))


def blurred(rng, features, noise):
    return features + noise * features.std() * rng.normal(size=features.shape)


# -- which views are copies ------------------------------------------------------------------------


@kinds
def test_copies_are_those_of_the_naive_loop(rng, kind):
    one, other = features_of(rng, kind), features_of(rng, kind)
    near, far = blurred(rng, one, 0.05), blurred(rng, one, 1.0)
    views = [other, one, far, near, one[:, ::-1]]
    found = copies([as_rows(f, kind) for f in views], np.ones((50, 5), bool))
    rows = [np.asarray(as_rows(f, kind) if kind == "measured" else unit_rows(f)) for f in views]
    assert found.tolist() == naive.copies(rows) == [0, 1, 2, 1, 1]


def test_a_copy_of_a_copy_is_a_copy(rng, monkeypatch):
    def chain(features, has):
        yield from [(0, 3, 1.0), (1, 2, 1.0), (2, 3, 1.0)]  # 3 joins 0, 2 joins 1, both are one

    monkeypatch.setattr("coview.ensemble.copies.near_copies", chain)
    assert copies([np.eye(3)] * 5, np.ones((3, 5), bool)).tolist() == [0, 0, 0, 0, 4]


@kinds
def test_documents_that_lack_a_copy_do_not_hide_it(rng, kind):
    one = 3 + features_of(rng, kind, 90)  # far from the zeros of those who lack it
    has = np.column_stack([np.ones(90, bool), rng.random(90) < 0.6])
    views = [as_rows(one, kind), as_rows(one * has[:, [1]], kind, has[:, 1])]
    assert [pair[:2] for pair in near_copies(views, has)] == [(0, 1)]
    assert list(near_copies(views, has & (np.arange(90) < 19)[:, np.newaxis])) == []  # too few


def test_a_dense_view_and_its_copy_that_few_have_are_compared_alike(rng):
    one = rng.poisson(1.0, (90, 20)).astype(np.float32)
    few = one * (np.arange(90) < 45)[:, np.newaxis]  # a third of its cells are not zero
    views = [view_features(sp.csr_array(m)) for m in (one, few)]
    assert [sp.issparse(rows) for rows in views] == [False, True]
    has = np.column_stack([np.ones(90, bool), np.arange(90) < 45])
    assert copies(views, has).tolist() == [0, 0]


MAPS = {
    "other units": lambda rng, X: X * rng.uniform(0.2, 5, X.shape[1]) - 3,
    "another basis": lambda rng, X: X @ np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0] + 2,
    "any linear map": lambda rng, X: X @ rng.normal(size=(X.shape[1],) * 2) + 1,
    "columns twice": lambda rng, X: np.hstack([X, X - 1]),
    "a little noise": lambda rng, X: X + 0.05 * X.std(axis=0) * rng.normal(size=X.shape),
}


@pytest.mark.parametrize("how", MAPS)
@pytest.mark.parametrize("n_columns", [2, 6, 20])
def test_a_view_that_can_be_computed_from_another_is_a_copy(how, n_columns):
    rng = np.random.default_rng(n_columns)
    one = dense_view(np.arange(N_DOCS) % 4, 0, n_columns)
    given = {"a": one, "other": dense_view(np.arange(N_DOCS) % 4, 9), "b": MAPS[how](rng, one)}
    assert view_reliability(given, N_CLUSTERS).copies == (("a", "b"),)


def test_documents_that_are_equally_far_from_each_other_hide_no_copy():
    labels = np.arange(300) % 4
    rows = (np.eye(4)[labels], np.eye(4)[labels])
    rng = np.random.default_rng(0)
    views = [sp.csr_array(unit_rows(r + 0.001 * rng.random(r.shape))) for r in rows]
    assert copies(views, np.ones((300, 2), bool)).tolist() == [0, 0]


@pytest.mark.parametrize("seed", range(4))
def test_a_view_with_part_of_the_columns_of_another_is_no_copy(seed):
    rng = np.random.default_rng(seed)
    one = rng.normal(size=(N_DOCS, 8))
    parts = [placed(rows, np.ones(N_DOCS, bool)) for rows in (one, one[:, :4])]
    assert copies(parts, np.ones((N_DOCS, 2), bool)).tolist() == [0, 1]


def test_views_that_nobody_has_are_no_copies():
    nothing = [np.zeros((30, 3)), sp.csr_array((30, 4)), np.zeros((30, 3))]
    assert copies(nothing, np.zeros((30, 3), bool)).tolist() == [0, 1, 2]
    assert copies(nothing, np.ones((30, 3), bool)).tolist() == [0, 1, 2]  # all alike


@pytest.mark.parametrize("seed", range(4))
def test_two_views_of_the_same_clusters_are_no_copies(seed):
    views = sparse_views(seed)
    labels = views.labels
    measured = [dense_view(labels, seed), dense_view(labels, seed + 50)]
    matrices = [*views.matrices.values(), *map(sp.csr_array, measured)]
    rows = [view_features(m) for m in matrices]
    assert copies(rows, np.ones((N_DOCS, 4), bool)).tolist() == [0, 1, 2, 3]


# -- their weight ----------------------------------------------------------------------------------


def with_noise(seed):
    """Two views of counts, measurements, and a view of noise."""
    views, rng = sparse_views(seed), np.random.default_rng(seed)
    measured = dense_view(views.labels, seed)
    return {**views.matrices, "measured": measured, "noise": rng.poisson(0.3, (N_DOCS, 50))}


@pytest.mark.parametrize("name", ["text", "measured", "noise"])
@pytest.mark.parametrize("times", [2, 3])
def test_copies_share_the_weight_of_one_view_and_change_no_other(name, times):
    given = with_noise(0)
    alone = view_reliability(given, N_CLUSTERS)
    same = [name, *(f"{name} {i}" for i in range(1, times))]
    found = view_reliability(given | dict.fromkeys(same, given[name]), N_CLUSTERS)
    assert found.copies == (tuple(same),)
    stands_for = [alone.names.index(n if n in alone.names else name) for n in found.names]
    np.testing.assert_array_equal(found.matrix, alone.matrix[np.ix_(stands_for, stands_for)])
    assert len({found.weights[copy] for copy in same}) == 1
    assert sum(found.weights[n] ** 2 for n in same) == pytest.approx(alone.weights[name] ** 2)
    for other in set(alone.names) - {name}:
        assert found.weights[other] == alone.weights[other]
    assert alone.copies == ()


def test_the_order_of_a_copy_does_not_matter():
    given = with_noise(1)
    after = view_reliability(given | {"again": given["text"]}, N_CLUSTERS)
    before = view_reliability({"again": given["text"]} | given, N_CLUSTERS)
    assert before.copies == (("again", "text"),)
    assert before.weights == after.weights


def test_a_near_copy_is_dealt_apart_and_shares_the_weight(rng):
    given = with_noise(2)
    counts = given["text"].toarray()
    near = counts[:, ::-1][:, :-1] * (rng.random((N_DOCS, 59)) > 0.01)
    alone = view_reliability(given, N_CLUSTERS)
    found = view_reliability(given | {"near": near}, N_CLUSTERS)
    assert found.copies == (("text", "near"),)
    shares = found.weights["text"] ** 2 + found.weights["near"] ** 2
    assert shares == pytest.approx(alone.weights["text"] ** 2)
    np.testing.assert_array_equal(found.matrix[:4, :4], alone.matrix)


def test_copies_of_noise_do_not_vouch_for_each_other():
    given = with_noise(3)
    found = view_reliability(given | {f"{i}": given["noise"] for i in range(4)}, N_CLUSTERS)
    assert found.weights["noise"] < 0.05
    assert min(found.weights["text"], found.weights["image"], found.weights["measured"]) > 0.5


def test_copies_are_told_in_the_table_the_trace_and_the_file(tmp_path):
    given = with_noise(0)
    del given["noise"]
    known = view_reliability(given | {"again": given["text"]}, N_CLUSTERS)
    assert str(known).splitlines()[-1].endswith("share the weight of one view: text, again")
    assert "share" not in str(view_reliability(given, N_CLUSTERS))
    views = Views(given | {"again": given["text"]})
    model = LinkPLSA(N_CLUSTERS, random_state=0, max_iter=2, tol=0, view_weights=known).fit(views)
    assert model.trace_.ensemble["copies"] == [["text", "again"]]
    assert model.view_reliability_["text"] == pytest.approx(model.view_reliability_["again"])
    assert model.view_weights_["text"] == pytest.approx(model.view_weights_["again"])
    model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    assert again.view_weights.copies == known.copies
    assert again.trace_.ensemble["copies"] == [["text", "again"]]


def test_a_view_twice_at_half_its_weight_is_the_same_model():
    views = sparse_views(0, missing=0.1)
    settings = {"random_state": 0, "max_iter": 15, "tol": 0.0, "dtype": "float64", "ensemble": 0}
    weights = {"text": 0.8, "image": 0.6}
    once = LinkPLSA(N_CLUSTERS, init=views.labels, view_weights=weights, **settings).fit(views)
    twice = Views(
        {**views.matrices, "again": views["text"]},
        present=np.column_stack([views.present, views.present[:, 0]]),
    )
    halved = {"text": 0.4, "image": 0.6, "again": 0.4}
    model = LinkPLSA(N_CLUSTERS, init=views.labels, view_weights=halved, **settings).fit(twice)
    np.testing.assert_allclose(model.doc_topic_, once.doc_topic_, rtol=1e-9, atol=1e-12)
    for name in views.names:
        np.testing.assert_allclose(model.components_[name], once.components_[name], atol=1e-12)
    np.testing.assert_array_equal(model.components_["again"], model.components_["text"])
    np.testing.assert_allclose(model.trace_.objective, once.trace_.objective)
