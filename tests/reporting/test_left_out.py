"""Documents of the fit under topics that were learned without them, against a naive loop."""

import numpy as np
import pytest

from coview import LinkPLSA, Views
from coview.datasets import make_views
from coview.reporting.folding import SMOOTHING, fold_views, log_likelihoods
from coview.reporting.left_out import LeftOut
from tests.reference import report as naive


@pytest.fixture(scope="module")
def views():
    made = make_views(30, 3, {"text": 12, "image": 9}, random_state=0)
    text = np.column_stack([made["text"].toarray(), np.zeros(30)])
    text[4, 12] = 3  # a word that no other document has
    return Views({"text": text, "image": made["image"]})


@pytest.fixture(scope="module")
def model(views):
    # many iterations: expected counts make up the topics only where EM has converged
    options = {"init": "random", "tol": 0.0, "max_iter": 300, "ensemble": 0, "random_state": 0}
    options |= {"fold_in_tol": 0.0, "fold_in_max_iter": 30, "dtype": "float64"}
    return LinkPLSA(3, **options).fit(views)


def without(document, model, views, name):
    X, p_w_z = views[name].toarray().tolist(), model.components_[name].tolist()
    return naive.topics_without(document, X, model.view_doc_topic_[name].tolist(), p_w_z)


@pytest.mark.parametrize("document", [0, 4, 29])
@pytest.mark.parametrize("name", ["text", "image"])
def test_mixtures_and_likelihoods_are_those_of_the_naive_loop(model, views, name, document):
    left_out = LeftOut.of(model, name, model.as_counts(views)[name])
    topics = without(document, model, views, name)
    counts = views[name][[document]].toarray().ravel().tolist()
    expected = naive.mixture(counts, topics, 30)
    np.testing.assert_allclose(left_out.mixtures()[document], expected, atol=1e-3)
    given = np.random.default_rng(0).dirichlet(np.ones(3), 30)
    p_w = model.term_counts_[name] / model.term_counts_[name].sum()
    likely = naive.log_likelihood(counts, given[document], topics, p_w, SMOOTHING)
    found = left_out.log_likelihoods(given)[document]
    assert found[0] == pytest.approx(likely, rel=1e-3)
    assert found[2] == sum(counts)


def test_a_word_of_one_document_says_nothing_without_it(model, views):
    left_out = LeftOut.of(model, "text", model.as_counts(views)["text"])
    same = model.doc_topic_
    with_it = log_likelihoods(model, "text", model.as_counts(views)["text"], same)
    without_it = left_out.log_likelihoods(same)
    lost = with_it[:, 0] - without_it[:, 0]
    assert (lost > -1e-6).all()
    assert lost.argmax() == 4


def test_only_documents_of_the_fit_are_left_out(model, views):
    of_fit, new = fold_views(model, views, of_fit=True), fold_views(model, views)
    assert set(of_fit.left_out) == {"text", "image"}
    assert new.left_out == {}
    alone = model.fold_in(views.select("image")).doc_topic
    np.testing.assert_allclose(new.alone["image"], alone)
    assert not np.allclose(of_fit.alone["image"], alone)
