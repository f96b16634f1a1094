"""Where topics and documents stand."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from coview.explorer.layout import place_topics
from coview.explorer.layout_umap import umap_places


def test_topics_with_the_same_words_are_near_each_other():
    rng = np.random.default_rng(0)
    base = rng.dirichlet(np.full(50, 0.1), 2)
    topics = np.array([0.95 * base[k // 3] + 0.05 * rng.dirichlet(np.ones(50)) for k in range(6)])
    places = place_topics({"words": topics})
    assert np.abs(places).max() == pytest.approx(1)
    within = np.linalg.norm(places[0] - places[1])
    assert within < np.linalg.norm(places[0] - places[4])
    np.testing.assert_array_equal(places, place_topics({"words": topics}))


def test_few_topics_and_equal_ones_have_places():
    assert place_topics({"a": np.ones((1, 3)) / 3}).tolist() == [[0.0, 0.0]]
    assert np.isfinite(place_topics({"a": np.ones((5, 3)) / 3})).all()
    assert np.isfinite(place_topics({"a": np.zeros((3, 2))})).all()


def test_umap_is_asked_with_roots_and_skips_empty_documents(monkeypatch):
    given = {}

    class UMAP:
        def __init__(self, **options):
            given.update(options)

        def fit_transform(self, rows):
            given["rows"] = rows
            return np.arange(2.0 * len(rows)).reshape(-1, 2)

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    mixtures = np.array([[0.25, 0.75], [np.nan, np.nan], [1.0, 0.0], [0.5, 0.5]])
    places = umap_places(mixtures)
    assert given["rows"][0].tolist() == [0.5, np.sqrt(0.75)]
    assert given["n_neighbors"] == 2
    assert np.isnan(places[1]).all()
    assert np.abs(places[[0, 2, 3]]).max() == 1
    assert np.isnan(umap_places(mixtures[:2])).all()


def test_without_umap_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match="pip install umap-learn"):
        umap_places(np.ones((3, 1)))
