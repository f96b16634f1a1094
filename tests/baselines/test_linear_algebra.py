"""CCA, co-regularized spectral clustering and MVC against dense matrices and loops."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cross_decomposition import CCA

from coview import Views
from coview.baselines import MVC, SCM, CCAClustering, CoRegSpectral
from coview.baselines import spectral as coreg_module
from coview.baselines.cca import maxvar
from coview.baselines.spectral import normalized_similarity, objective
from coview.datasets import make_views
from coview.em.mvc import mapping_loss, mapping_step, one_hot
from coview.metrics import mean_average_precision, similarity
from tests.reference import baselines as naive

DIVERGENCES = ["i_divergence", "euclidean"]


@pytest.fixture
def parts(rng):
    """Three centered matrices that share two directions."""
    shared = rng.standard_normal((60, 2))
    raw = [
        shared @ rng.standard_normal((2, r)) + 0.5 * rng.standard_normal((60, r)) for r in (5, 4, 6)
    ]
    return [part - part.mean(axis=0) for part in raw]


@pytest.fixture(scope="module")
def views():
    return make_views(50, 3, {"a": 20, "b": 15, "c": 12}, doc_length=30, random_state=2)


# --- canonical correlations ------------------------------------------------------------------


def test_two_views_have_the_canonical_correlations(parts):
    A, B, expected = naive.canonical_correlations(parts[0], parts[1], 3)
    weights, found = maxvar(parts[:2], 3)
    np.testing.assert_allclose(found, expected)
    for weight, other in zip(weights, (A, B), strict=True):
        signs = np.sign((weight * other).sum(axis=0))
        np.testing.assert_allclose(weight, signs * other, atol=1e-10)
    variates = [part @ w for part, w in zip(parts, weights, strict=False)]
    np.testing.assert_allclose(variates[0].T @ variates[0] / 60, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(variates[0].T @ variates[1] / 60, np.diag(found), atol=1e-10)


def test_the_first_correlation_is_that_of_scikit_learn(parts):
    x, y = CCA(1, scale=False, max_iter=5000, tol=1e-12).fit_transform(parts[0], parts[1])
    expected = np.corrcoef(x.ravel(), y.ravel())[0, 1]
    assert maxvar(parts[:2], 1)[1][0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("regularization", [0.0, 0.3])
def test_several_views_solve_the_eigenproblem_of_the_projectors(parts, regularization):
    values, G = naive.maxvar_projector_eigenvalues(parts, 3, regularization)
    weights, correlations = maxvar(parts, 3, regularization)
    np.testing.assert_allclose(1 + 2 * correlations, values)
    joint = sum(part @ w for part, w in zip(parts, weights, strict=True))
    joint /= np.linalg.norm(joint, axis=0)
    np.testing.assert_allclose(np.abs((joint * G).sum(axis=0)), 1, atol=1e-9)


def test_directions_in_which_a_view_does_not_vary_are_left_out(parts):
    doubled = np.hstack([parts[0], parts[0][:, :1]])
    np.testing.assert_allclose(maxvar([doubled, parts[1]], 3)[1], maxvar(parts[:2], 3)[1])


def test_truncation_to_full_rank_changes_nothing(rng):
    views = Views({"a": rng.poisson(3, (80, 12)), "b": rng.poisson(3, (80, 10))})
    options = {"n_directions": 2, "random_state": 0, "features": "raw"}
    whole = CCAClustering(2, rank=12, **options).fit(views)
    # one column of zeros makes the view wide enough to be truncated
    wide = Views({"a": sp.hstack([views["a"], sp.csr_array((80, 1))]), "b": views["b"]})
    again = CCAClustering(2, rank=12, **options).fit(wide)
    # the penalty is a share of the mean variance, over the kept dimensions
    np.testing.assert_allclose(again.correlations_, whole.correlations_, atol=1e-8)


def test_too_few_complete_documents_are_refused(views):
    present = np.ones((50, 3), bool)
    present[4:, 1] = False
    matrices = {n: m.toarray() * present[:, [v]] for v, (n, m) in enumerate(views.matrices.items())}
    with pytest.raises(ValueError, match="all views, and there are 4 of these"):
        CCAClustering(4).fit(Views(matrices, present=present))


def test_semantic_vectors_find_documents_of_the_class_across_views():
    views = make_views(300, 3, {"text": 40, "image": 30}, doc_length=40, random_state=0)
    train, test = views[:200], views[200:]
    model = SCM(4, random_state=0).fit(train, train.labels)
    text = model.transform({"text": test["text"]})
    image = model.transform({"image": test["image"]})
    assert text.shape == (100, 3)
    center = model.means_["text"], model.means_["image"]
    scores = similarity(text, image, metric="correlation", center=center)
    assert mean_average_precision(scores, test.labels, test.labels) > 0.9
    np.testing.assert_allclose(model.transform(test), (text + image) / 2)


# --- co-regularized spectral clustering --------------------------------------------------------


@pytest.fixture
def sims(rng):
    centers = rng.standard_normal((3, 4)) * 2
    points = [centers[np.arange(24) % 3] + rng.standard_normal((24, 4)) for _ in range(3)]
    return [naive.gaussian_similarity(p) for p in points]


def test_the_similarity_is_gaussian_with_the_median_distance(rng):
    X = rng.random((15, 4))
    found = normalized_similarity(sp.csr_array(X), np.ones(15, bool))
    np.testing.assert_allclose(found, naive.gaussian_similarity(X))


def test_documents_that_lack_the_view_are_similar_to_none(rng):
    X = rng.random((15, 4))
    has = np.arange(15) % 4 != 1
    found = normalized_similarity(sp.csr_array(X), has)
    assert (found[~has] == 0).all()
    np.testing.assert_allclose(found[np.ix_(has, has)], naive.gaussian_similarity(X[has]))


@pytest.mark.parametrize("kind", ["pairwise", "centroid"])
def test_the_updates_are_those_of_the_dense_matrices(sims, kind, rng):
    loop = {"pairwise": naive.coreg_pairwise, "centroid": naive.coreg_centroid}[kind]
    expected = loop(sims, 3, 0.4, 4)
    model = CoRegSpectral(3, kind=kind, strength=0.4, max_iter=4, tol=0.0)
    found, objectives = model._embed(sims, rng)
    assert len(objectives) <= 5
    for U, V in zip(found, expected, strict=True):
        np.testing.assert_allclose(U @ U.T, V @ V.T, atol=1e-6)  # eigenvectors up to rotation
    assert objectives[-1] == pytest.approx(objective(sims, expected, 0.4))


@pytest.mark.parametrize("kind", ["pairwise", "centroid"])
@pytest.mark.parametrize("strength", [0.0, 0.01, 1.0])
def test_the_objective_never_falls(views, kind, strength):
    model = CoRegSpectral(3, kind=kind, strength=strength, tol=0.0, random_state=0).fit(views)
    assert np.diff(model.objectives_).min() >= -1e-9
    if strength == 1.0:
        assert model.objectives_[-1] > model.objectives_[0]
    for U in model.embeddings_.values():
        np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-8)


def test_strong_coupling_makes_the_embeddings_agree(views):
    def disagreement(strength):
        U = CoRegSpectral(3, strength=strength, random_state=0).fit(views).embeddings_
        return 3 - np.sum((U["a"].T @ U["b"]) ** 2)

    assert disagreement(10.0) < 0.1 * disagreement(0.0)


def test_too_many_documents_for_all_pairs_are_refused(views, monkeypatch):
    monkeypatch.setattr(coreg_module, "MAX_DOCUMENTS", 40)
    with pytest.raises(ValueError, match=r"at most 40; got 50 documents\..*SpectralConcat"):
        CoRegSpectral(3).fit(views)


# --- the mapping of clusterings ------------------------------------------------------------------


@pytest.fixture
def mapping(rng):
    present = np.ones((12, 2), bool)
    present[3, 0], present[7, 1] = False, False
    labels = np.where(present, rng.integers(0, 3, (12, 2)), -1)
    As = [one_hot(labels[:, v], 3) for v in range(2)]
    return As, present, [1.0, 2.5], rng.random((12, 3)) + 0.1, list(rng.random((2, 3, 3)) + 0.1)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_the_mapping_step_is_that_of_explicit_loops(mapping, divergence):
    As, present, weights, B, Ps = mapping
    A, P, mask = np.hstack(As), np.hstack(Ps), np.repeat(present * weights, 3, axis=1)
    for _ in range(3):
        expected = naive.mapping_loss(As, present, weights, B, Ps, divergence)
        assert mapping_loss(A, mask, B, P, divergence) == pytest.approx(expected)
        found = mapping_step(A, mask, B, P, divergence)
        B, Ps = naive.mapping_step(As, present, weights, B, Ps, divergence)
        P = np.hstack(Ps)
        np.testing.assert_allclose(found[0], B, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found[1], P, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_the_mapping_loss_never_rises(views, divergence):
    model = MVC(3, divergence=divergence, tol=0.0, max_iter=60, random_state=0).fit(views)
    assert np.diff(model.objectives_).max() <= 1e-9
    assert model.objectives_[-1] < model.objectives_[0]
    np.testing.assert_allclose(sum(m.sum(axis=1) for m in model.maps_.values()), 1)


def test_views_that_agree_are_mapped_without_loss(rng):
    truth = np.repeat(np.arange(3), 8)
    X = np.eye(3)[truth] * 20 + rng.poisson(0.2, (24, 3))
    model = MVC(3, random_state=0).fit({"a": X, "b": X[:, ::-1]})
    assert model.objectives_[-1] < 1e-2
    assert len(set(zip(truth, model.labels_, strict=True))) == 3


def test_a_weight_of_zero_switches_a_view_off(views):
    weights = {"a": 1.0, "b": 0.0, "c": 0.0}
    model = MVC(3, view_weights=weights, random_state=0).fit(views)
    assert len(set(zip(model.labels_, model.view_labels_["a"], strict=True))) == 3
