"""The page computes what Python does: mixtures of queries, and the scores of a search."""

from itertools import product

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from coview import LinkPLSA, SearchIndex, Views, VotedPLSA
from coview.explorer.explore import explorer_payload
from coview.retrieval.query import known_counts
from tests.explorer.conftest import ROOT

SCORES = 1e-3
MIXTURES = 5e-3  # EM may stop one step earlier; the scores hardly notice


def test_the_tests_of_the_core_pass(node):
    tests = sorted((ROOT / "frontend" / "test").glob("*.test.js"))
    assert tests
    node("--test", *tests)


def queries_from(texts, rng, n):
    """Return pieces of texts as queries, from single words to sentences."""
    found = []
    while len(found) < n:
        view = ("en", "de")[len(found) % 2]
        words = (texts[view][rng.integers(len(texts[view]))] or "").split()
        if len(words) < 12:
            continue
        start, size = rng.integers(len(words) - 11), (1, 2, 4, 11)[len(found) % 4]
        found.append((view, " ".join(words[start : start + size])))
    return found


def compare(model, views, queries, answers, page_answers, payload):
    """Compare the page with `SearchIndex`; return the largest error, and how many were asked."""
    names = list(model.view_names_)
    indices = {
        # documents folded in by the view alone; all views together as they were fitted
        name: SearchIndex(model, in_view=name, views=views)
        if name
        else SearchIndex(model, training_views=views)
        for name in answers
    }
    asked, expected = [], []
    for view, (answer, index) in product(names, indices.items()):
        asking = enumerate(queries)
        texts = [t for i, (v, t) in asking if v == view and answers[i % len(answers)] == answer]
        documents = model.read({view: texts}) if texts else None
        if documents is None:
            continue
        known = np.flatnonzero(known_counts(model, documents))
        rows, scores = index.query_many(documents[known], top=len(views))
        of_all = np.full((len(known), len(views)), np.nan)
        np.put_along_axis(of_all, rows, scores, axis=1)
        expected += zip(of_all, model.transform(documents[known]), strict=True)
        number = None if answer is None else names.index(answer)
        asked += [
            {"ask": names.index(view), "query": {"text": texts[i]}, "answer": number} for i in known
        ]
    worst = 0.0
    for (scores, mixture), found in zip(expected, page_answers(payload, asked), strict=True):
        page = np.array(found["scores"], dtype=float)
        assert np.array_equal(np.isnan(page), np.isnan(scores))
        worst = max(worst, np.nanmax(np.abs(page - scores)))
        np.testing.assert_allclose(found["mixture"], mixture, atol=MIXTURES)
    return worst, len(asked)


def test_search_gives_the_scores_of_python(
    news_model, news, news_texts, news_payload, page_answers, rng
):
    queries = queries_from(news_texts, rng, 300)
    answers = ["de", "en", None]
    worst, asked = compare(news_model, news, queries, answers, page_answers, news_payload)
    assert asked >= 200
    assert worst < SCORES


def test_documents_ask_as_queries_do(news_model, news, news_payload, page_answers):
    rows = np.flatnonzero(news.present.all(axis=1))[:10]
    asked = [{"ask": 0, "query": {"row": int(row)}, "answer": 1} for row in rows]
    index = SearchIndex(news_model, in_view="de", views=news)
    for row, found in zip(rows, page_answers(news_payload, asked), strict=True):
        positions, scores = index.query_many(news[[row]].select("en"), top=len(news))
        page = np.array(found["scores"], dtype=float)[positions[0]]
        np.testing.assert_allclose(page, scores[0], atol=SCORES)


def test_a_document_that_lacks_the_view_cannot_ask(news, news_payload, page_answers):
    row = int(np.flatnonzero(~news.present[:, 0])[0])
    (found,) = page_answers(news_payload, [{"ask": 0, "query": {"row": row}, "answer": 1}])
    assert found["scores"] is None


def test_tf_idf_priors_and_one_view(news_texts, page_answers):
    texts = [text or "nothing here" for text in news_texts["en"]]
    views = Views.from_texts(
        {"en": texts}, vectorizer=TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    )
    model = LinkPLSA(4, doc_topic_prior=1.05, init="random", max_iter=20, tol=0, random_state=0)
    model.fit(views)
    queries = [("en", text) for text in texts[:20]]
    payload = explorer_payload(model, views)
    worst, asked = compare(model, views, queries, ["en"], page_answers, payload)
    assert asked > 15
    assert worst < SCORES


def test_a_model_whose_topics_are_of_all_views_together(news, news_texts, page_answers, rng):
    model = VotedPLSA(4, random_state=0, max_iter=10, tol=0, init="random").fit(news)
    queries = queries_from(news_texts, rng, 20)
    payload = explorer_payload(model, news)
    worst, asked = compare(model, news, queries, ["de", "en"], page_answers, payload)
    assert asked > 10
    assert worst < SCORES


@pytest.mark.slow
def test_search_in_the_demo_gives_the_scores_of_python(page_answers, rng):
    from coview.datasets import load_python_api

    views = load_python_api()
    model = LinkPLSA(50, init="random", max_iter=15, tol=0, random_state=0).fit(views)
    queries = []
    for number in range(240):
        view = ("doc", "code")[number % 2]
        row = views.matrices[view][[int(rng.integers(len(views)))]]
        terms = rng.choice(row.indices, min((1, 2, 3, 5, 15)[number % 5], row.nnz), replace=False)
        queries.append((view, " ".join(model.feature_names_[view][terms])))
    payload = explorer_payload(model, views)
    answers = ["code", "doc", None]
    worst, asked = compare(model, views, queries, answers, page_answers, payload)
    assert asked >= 200
    assert worst < SCORES
