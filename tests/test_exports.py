"""A model for other tools: shapes and sums as each of them wants them."""

import sys

import numpy as np
import pytest

from coview import LinkPLSA, Views
from coview.exports import to_anndata, to_datamapplot, to_pyldavis, to_topicwizard

TEXTS = {
    "en": ["the ball and the goal", "the goal of a match", "votes and laws", "a law", None] * 5,
    "de": ["Ball und Tor", "Tor im Spiel", "Stimmen und Gesetze", None, "Gesetze"] * 5,
}


@pytest.fixture(scope="module")
def views():
    ids = [f"d{i}" for i in range(25)]
    return Views.from_texts(TEXTS, ids=ids, languages=None, min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def model(views):
    return LinkPLSA(2, init="random", max_iter=10, tol=0, random_state=0).fit(views)


def test_pyldavis_gets_distributions(model, views, monkeypatch):
    class Package:
        @staticmethod
        def prepare(**given):
            return given

    monkeypatch.setitem(sys.modules, "pyLDAvis", Package)
    given = to_pyldavis(model, views, view="de", sort_topics=False)
    assert given.pop("sort_topics") is False
    np.testing.assert_allclose(given["topic_term_dists"].sum(axis=1), 1)
    np.testing.assert_allclose(given["doc_topic_dists"].sum(axis=1), 1)
    assert len(given["doc_topic_dists"]) == len(given["doc_lengths"]) == 20  # five lack the view
    assert given["topic_term_dists"].shape[1] == len(given["vocab"]) == len(given["term_frequency"])
    assert (given["term_frequency"] > 0).all()


def test_pyldavis_itself_takes_them(model, views):
    pyldavis = pytest.importorskip("pyLDAvis", reason="no extra installs pyLDAvis")
    found = to_pyldavis(model, views, view="en", mds="mmds", n_jobs=1)
    assert isinstance(found, pyldavis.PreparedData)


def test_datamapplot_gets_places_and_names(model, views):
    found = to_datamapplot(model, views)
    assert found.coords.shape == (25, 2)
    assert np.isfinite(found.coords).all()
    assert len(set(found.labels)) == 2
    assert found.hover_text[3] == "d3"


def test_topicwizard_gets_one_view(model, views):
    found = to_topicwizard(model, views, view="en", corpus=[t or "" for t in TEXTS["en"]])
    n, k, w = 25, 2, len(found["vocab"])
    assert found["document_term_matrix"].shape == (n, w)
    assert found["document_topic_matrix"].shape == (n, k)
    assert found["topic_term_matrix"].shape == (k, w)
    assert len(found["topic_names"]) == k
    assert found["transform"](["the ball"]).shape == (1, k)
    with pytest.raises(ValueError, match="1 texts for 25 documents"):
        to_topicwizard(model, views, view="en", corpus=["a"])


def test_anndata_has_mixtures_topics_and_labels(model, views):
    pytest.importorskip("anndata")
    found = to_anndata(model, views, view="en")
    assert found.obsm["X_coview"].shape == (25, 2)
    assert found.varm["coview_topics"].shape == (found.n_vars, 2)
    assert list(found.obs_names[:2]) == ["d0", "d1"]
    assert found.obs["coview"].nunique() == 2


def test_a_view_must_be_named(model, views):
    with pytest.raises(ValueError, match="view must be one of 'en', 'de'; got None"):
        to_topicwizard(model, views)
    one = views.select("en")
    assert to_topicwizard(model, one)["corpus"][0] == "d0"


def test_a_missing_package_is_named(model, views, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyLDAvis", None)
    with pytest.raises(ImportError, match="pip install pyLDAvis"):
        to_pyldavis(model, views, view="en")
