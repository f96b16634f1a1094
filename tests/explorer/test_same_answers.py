"""The page computes what Python does: answers, their scores and reasons, mixtures of queries."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from coview import Doc, LinkPLSA, SearchIndex, Views, VotedPLSA
from coview.explorer.budget import Budget
from coview.explorer.explore import explorer_payload
from coview.reading.left_out import name_left_out
from tests.explorer.conftest import ROOT

SCORES = 1e-4
SAME = 2e-5  # scores that differ by less may change places: what terms say of topics has 16 bits
MIXTURES = 5e-3  # EM may stop one step earlier
TOP = 10


def test_the_tests_of_the_core_pass(node):
    tests = sorted((ROOT / "frontend" / "test").glob("*.test.js"))
    assert tests
    node("--test", *tests)


def compare(model, payload, page_answers, questions):
    """Compare the page with `SearchIndex`, for questions (what the page is asked, Python's query).

    Return the largest difference of scores, and how many lists of answers differ.
    """
    views = [*model.view_names_, None]
    indices = {}
    worst, others = 0.0, 0
    for (asked, query), found in zip(
        questions, page_answers(payload, [asked for asked, _ in questions]), strict=True
    ):
        in_view = views[asked["answer"] if asked["answer"] is not None else -1]
        if in_view not in indices:
            indices[in_view] = SearchIndex(model, in_view=in_view)
        if found["scores"] is None:
            with pytest.raises(ValueError, match=r"known|no term"):
                indices[in_view].query(query)
            continue
        expected = indices[in_view].query(query, payload.meta["n_docs"])
        page = np.array(found["scores"], dtype=float)
        own = expected.positions
        unasked = [] if not isinstance(query, Doc) else [query.id]
        assert set(np.flatnonzero(~np.isnan(page))) == {*own.tolist(), *unasked}
        worst = max(worst, np.abs(page[own] - expected.scores).max())
        rows = [hit["row"] for hit in found["hits"]]
        by_row = dict(zip(own.tolist(), expected.scores, strict=True))
        if rows != own[:TOP].tolist():
            others += 1
            swapped = np.abs([by_row[r] for r in rows] - expected.scores[:TOP])
            assert swapped.max() < SAME * expected.scores[0]
    return worst, others


def questions_of(model, views, n, rng, texts=None):
    """Yield one word, three words, whole documents, known documents, rows of counts in turn."""
    names, counts = list(model.view_names_), model.as_counts(views)
    while n:
        row, v = int(rng.integers(views.n_docs)), int(rng.integers(len(names)))
        name = names[v]
        own = counts[name][[row]]
        if not own.nnz:
            continue
        answer = [None, *range(len(names))][n % (len(names) + 1)]
        kind = n % 5
        n -= 1
        if kind < 2:
            terms = rng.choice(own.indices, min((1, 3)[kind], own.nnz), replace=False)
            text = " ".join(model.feature_names_[name][terms])
        elif kind == 2:
            text = texts[name][row] if texts else " ".join(model.feature_names_[name][own.indices])
        if kind < 3:
            yield {"ask": v, "query": {"text": text}, "answer": answer}, {name: text}
        elif kind == 3:
            ask = [v, None][n % 2]
            query = Doc(row, view=None if ask is None else name)
            yield {"ask": ask, "query": {"row": row}, "answer": answer}, query
        else:
            values = {"terms": own.indices.tolist(), "values": own.data.tolist()}
            yield (
                {"ask": v, "query": {"counts": values}, "answer": answer},
                {name: views.matrices[name][[row]]},
            )


@pytest.fixture(scope="module")
def kept(news_model, news):
    return news_model.keep_search(news)


def test_search_gives_the_answers_of_python(kept, news, news_texts, page_answers, rng):
    payload = explorer_payload(kept, news)
    questions = list(questions_of(kept, news, 200, rng, news_texts))
    worst, others = compare(kept, payload, page_answers, questions)
    assert worst < SCORES
    assert others <= 6  # equal documents, whose scores differ in the last digit


def test_answers_have_the_reasons_of_python(kept, news, page_answers, rng):
    payload = explorer_payload(kept, news)
    questions = [q for q in questions_of(kept, news, 60, rng) if q[0]["answer"] == 1]
    index, compared = SearchIndex(kept, in_view="de"), 0
    answers = page_answers(payload, [asked for asked, _ in questions])
    for (_, query), found in zip(questions, answers, strict=True):
        hits = {hit.position: hit for hit in index.query(query, TOP, explain=True)}
        for hit in found["hits"][:3]:
            reasons = hits[hit["row"]].explanation
            assert [r["kind"] for r in hit["why"]] == [r.kind for r in reasons]
            for mine, theirs in zip(hit["why"], reasons, strict=True):
                assert mine["topic"] == theirs.topic
                assert mine["share"] == pytest.approx(theirs.share, abs=1e-3)
                assert [c[:2] for c in mine["calls"]] == [list(c[:2]) for c in theirs.calls]
                compared += bool(mine["calls"])
    assert compared > 20


def test_texts_have_the_mixtures_of_python(news_model, news_payload, news_texts, page_answers):
    texts = [text for text in news_texts["en"] if text][:30]
    asked = [{"ask": 0, "query": {"text": text}, "answer": 1} for text in texts]
    found = [answer["mixture"] for answer in page_answers(news_payload, asked)]
    expected = news_model.transform(news_model.read({"en": texts}))
    np.testing.assert_allclose(found, expected, atol=MIXTURES)


def test_a_document_that_lacks_the_view_cannot_ask(news, news_payload, page_answers):
    row = int(np.flatnonzero(~news.present[:, 0])[0])
    (found,) = page_answers(news_payload, [{"ask": 0, "query": {"row": row}, "answer": 1}])
    assert found["scores"] is None


@pytest.mark.parametrize("left_out", [60_000, 1])
def test_words_left_out_have_the_reasons_of_python(page_answers, left_out):
    texts = ["the goal of a team", "the team", "the vote", "the vote on a Motte", "the goal vote"]
    views = Views.from_texts(
        {"en": texts}, vectorizer=CountVectorizer(min_df=2, max_df=0.9, max_features=2)
    )
    model = LinkPLSA(2, init="random", max_iter=5, tol=0, random_state=0).fit(views)
    payload = explorer_payload(model, views, budget=Budget(left_out=left_out))
    asked = ["the vote", "a Motte", "team", "straße", "of on motte team zebra the yak"]
    found = page_answers(payload, [{"ask": 0, "query": {"text": t}, "answer": 0} for t in asked])
    shown = [answer["left_out"] for answer in found]
    if left_out > 1:
        assert shown == [name_left_out(model.recipes_["en"].unknown_words(t)) for t in asked]
        assert shown[1] == "'motte' is too rare (in 1 document; min_df)"
    assert shown[0] == "'the' is too common (in 100 % of the documents; max_df)"
    assert (shown[3] == "'straße' is in no document of training") == (left_out > 1)


def test_tf_idf_and_one_view(news_texts, page_answers, rng):
    texts = [text or "nothing here" for text in news_texts["en"]]
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    views = Views.from_texts({"en": texts}, vectorizer=vectorizer)
    model = LinkPLSA(4, init="random", max_iter=20, tol=0, random_state=0).fit(views)
    model.keep_search(views)
    questions = list(questions_of(model, views, 30, rng, {"en": texts}))
    worst, others = compare(model, explorer_payload(model, views), page_answers, questions)
    assert worst < SCORES
    assert others == 0


def test_a_map_between_views_that_share_no_words(page_answers, rng):
    n, hidden = 120, rng.normal(size=(120, 6))
    numbers = {v: np.abs(hidden @ rng.normal(size=(6, 20))) for v in ("a", "b")}
    views = Views({v: np.round(3 * x) for v, x in numbers.items()})
    model = LinkPLSA(2, init="random", max_iter=5, tol=0, random_state=0).fit(views)
    model.keep_search(views)
    assert model.search_.pairs["a", "b"].weights[3] > 0
    questions = [
        ({"ask": 0, "query": {"row": row}, "answer": 1}, Doc(row, view="a")) for row in range(n)
    ]
    payload = explorer_payload(model, views)
    assert "directions.0" in payload.arrays
    worst, others = compare(model, payload, page_answers, questions)
    assert worst < SCORES
    assert others == 0


def test_a_model_whose_topics_are_of_all_views_together(news, news_texts, page_answers, rng):
    model = VotedPLSA(4, random_state=0, max_iter=10, tol=0, init="random").fit(news)
    model.keep_search(news)
    questions = list(questions_of(model, news, 30, rng, news_texts))
    worst, _ = compare(model, explorer_payload(model, news), page_answers, questions)
    assert worst < SCORES


@pytest.mark.slow
def test_search_in_the_demo_gives_the_answers_of_python(page_answers, rng):
    from coview.datasets import load_python_api

    views = load_python_api()
    model = LinkPLSA(50, init="random", max_iter=15, tol=0, random_state=0).fit(views)
    model.keep_search(views)
    questions = list(questions_of(model, views, 1000, rng))  # 200 of each kind
    worst, others = compare(model, explorer_payload(model, views), page_answers, questions)
    assert worst < SCORES
    assert others <= 10
