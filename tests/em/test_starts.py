"""Starts: what can be asked for by name, and data that k-means finds hard."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from coview import PLSA, LinkPLSA, Views
from coview.em import starts
from coview.em.ensemble_view import learn_from_views
from coview.em.prepared import prepare
from coview.em.starts import deterministic_kmeans, spectral_embedding
from coview.new_documents import nearest_center, topic_centers


@pytest.mark.parametrize("init", ["spectral", "spectral_sum"])
def test_a_spectral_start_asked_for_by_name_says_what_it_takes(monkeypatch, rng, init):
    monkeypatch.setattr(starts, "SPECTRAL_DOCUMENTS", 1_200)
    few = f"init='{init}' with 3 topics takes 5 to 1,200 documents; got 4. .*'kmeans'.*'auto'"
    with pytest.raises(ValueError, match=few):
        LinkPLSA(3, init=init).fit({"a": rng.poisson(2.0, (4, 8)), "b": np.eye(4)})
    with pytest.raises(ValueError, match=r"got 1,201\."):
        PLSA(3, init=init).fit(rng.poisson(2.0, (1_201, 8)))


@pytest.mark.parametrize("n_docs", [5, 60])
def test_a_spectral_start_runs_up_to_its_limits(monkeypatch, rng, n_docs):
    monkeypatch.setattr(starts, "SPECTRAL_DOCUMENTS", 60)
    counts = rng.poisson(2.0, (n_docs, 8))
    model = PLSA(3, init="spectral", max_iter=3, tol=0.0, random_state=0).fit(counts)
    assert model.doc_topic_.shape == (n_docs, 3)


def test_trial_leaves_out_a_spectral_start_that_cannot_be_made(rng):
    model = PLSA(3, init="trial", max_iter=3, tol=0.0, random_state=0)
    model.fit(rng.poisson(2.0, (4, 8)))
    tried = dict(model.trace_.candidates)
    assert np.isnan(tried["spectral"])
    assert np.isfinite(tried["kmeans"])


@pytest.mark.parametrize("init", ["kmeans", "consensus", "auto"])
def test_fewer_distinct_documents_than_topics_are_no_matter(init):
    twice = np.repeat([[6, 1, 0, 1], [0, 1, 5, 0]], 10, axis=0)
    model = LinkPLSA(3, init=init, max_iter=5, tol=0.0, random_state=0)
    labels = model.fit({"a": twice, "b": twice}).labels_
    assert not set(labels[:10]) & set(labels[10:])


def test_mixtures_that_differ_in_their_last_digits_are_no_matter():
    theta = np.repeat([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 20, axis=0)
    theta[:, 2] = np.arange(40) * 1e-17
    centers = topic_centers(theta, seed=0)
    np.testing.assert_array_equal(nearest_center(theta, centers), np.repeat([0, 1], 20))


def test_other_warnings_of_kmeans_are_heard():
    with deterministic_kmeans(), pytest.warns(ConvergenceWarning, match="something else"):
        warnings.warn("something else", ConvergenceWarning, stacklevel=1)


def test_the_spectral_embedding_tells_the_parts_of_a_graph_apart(rng):
    """Lanczos alone finds too few of the eigenvectors that have the same eigenvalue."""
    part = np.arange(300) % 10
    same = part[:, None] == part
    half = np.triu(same & (rng.random(same.shape) < 0.3), 1)
    embedding = spectral_embedding(sp.csr_array((half | half.T).astype(np.float32)), 10, rng)
    np.testing.assert_allclose(embedding @ embedding.T, same, atol=1e-4)


@pytest.mark.parametrize(
    ("counts", "n_topics", "largest"),
    [(True, 20, 0.5 + 0.5 / 20), (True, 19, 0.9 + 0.1 / 19), (False, 20, 0.9 + 0.1 / 20)],
)
def test_many_topics_of_counts_start_softer(rng, counts, n_topics, largest):
    matrix = rng.poisson(0.3, (300, 90)) if counts else rng.random((300, 9))
    data = prepare(Views({"only": matrix}), {}, np.float64)
    ensemble, _ = learn_from_views(data, n_topics, rng, clusters=True, weights=False)
    start = starts.consensus_start(replace(data, ensemble=ensemble), n_topics, rng)
    np.testing.assert_allclose(start.theta.max(axis=1)[~data.empty], largest, rtol=1e-6)
