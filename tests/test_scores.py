"""score and perplexity: smoothing, unseen words, held-out tokens."""

import numpy as np
import pytest

from coview import PLSA, DataWarning, LinkPLSA
from coview.datasets import make_views
from coview.em.prepared import prepare
from coview.scores import split_tokens
from coview.views.container import Views


def views(seed=0, n_docs=100):
    return make_views(n_docs, 3, [30, 20], doc_length=60, term_concentration=0.3, random_state=seed)


def test_the_score_is_the_smoothed_log_likelihood_per_token():
    X = np.array([[4.0, 2, 0], [1, 0, 5], [0, 3, 3]])
    model = PLSA(2, random_state=0, dtype="float64").fit(X)
    smoothing = 0.03
    topics = (1 - smoothing) * model.components_["X"] + smoothing * X.sum(axis=0) / X.sum()
    # the mixture that is best under the smoothed topics, by brute force over the simplex
    shares = np.linspace(0, 1, 20001)
    total = 0.0
    for row in X:
        p = np.outer(shares, topics[0]) + np.outer(1 - shares, topics[1])
        total += (row * np.log(np.maximum(p, 1e-300))).sum(axis=1).max()
    assert model.score(X, smoothing=smoothing) == pytest.approx(total / X.sum(), abs=5e-5)


def test_every_view_counts_by_its_tokens_whatever_its_weight():
    data = views()
    scores = [
        LinkPLSA(3, init=data.labels, random_state=0, view_weights=w, tol=1e-7)
        .fit(data)
        .score(data)
        for w in ([1, 1], [2, 2])
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)


def test_more_smoothing_comes_closer_to_the_corpus_distribution():
    data = views()
    model = LinkPLSA(3, random_state=0).fit(data)
    corpus = LinkPLSA(1, random_state=0).fit(data)
    assert model.score(data, smoothing=1.0) == pytest.approx(corpus.score(data), abs=1e-5)


def test_words_never_seen_in_training_are_left_out_and_told_if_most_are():
    train = np.array([[3, 1, 0], [1, 3, 0]])
    model = PLSA(2, random_state=0).fit(train)
    assert model.score([[2, 1, 1]]) == pytest.approx(model.score([[2, 1, 0]]), abs=1e-7)
    with pytest.warns(DataWarning, match="View 'X': more than half of the counts"):
        with_unseen = model.score([[2, 1, 4]])
    assert with_unseen == pytest.approx(model.score([[2, 1, 0]]), abs=1e-7)
    assert np.isfinite(model.perplexity(np.array([[20, 10, 0]])))


def test_scoring_nothing_is_an_error():
    model = PLSA(2, random_state=0).fit([[3, 1], [1, 3]])
    with pytest.raises(ValueError, match="nothing to score"):
        model.score([[0, 0]])


def test_the_right_number_of_topics_has_the_best_held_out_perplexity():
    train, test = views(n_docs=400)[:300], views(n_docs=400)[300:]
    found = {}
    for k in (1, 3, 15):
        model = LinkPLSA(k, random_state=0, tol=1e-4, init="kmeans").fit(train)
        found[k] = model.perplexity(test)
    assert found[3] < found[1]
    assert found[3] < found[15]


def test_a_split_keeps_every_token_once():
    data = prepare(views(), {}, np.float32)
    seen, held = split_tokens(data, 0.3, seed=0)
    for whole, a, b in zip(data.matrices, seen.matrices, held.matrices, strict=True):
        np.testing.assert_array_equal((a + b).toarray(), whole.toarray())
        assert 0.25 < b.sum() / whole.sum() < 0.35


def test_weights_that_are_not_counts_are_split_cell_by_cell():
    X = np.random.default_rng(0).random((50, 20)) * 3
    seen, held = split_tokens(prepare(Views(X), {}, np.float64), 0.5, seed=0)
    a, b = seen.matrices[0].toarray(), held.matrices[0].toarray()
    assert (a * b == 0).all()
    np.testing.assert_array_equal(a + b, X)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_shares_outside_0_to_1_are_refused(bad):
    model = PLSA(2, random_state=0).fit([[3, 1], [1, 3]])
    with pytest.raises(ValueError, match="smoothing"):
        model.score([[1, 1]], smoothing=bad)
    with pytest.raises(ValueError, match="holdout"):
        model.perplexity([[1, 1]], holdout=bad)
