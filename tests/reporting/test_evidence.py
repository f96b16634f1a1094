"""No word is shown that too few documents stand behind: a table in three languages with gaps."""

import numpy as np
import pytest
import scipy.sparse as sp

import coview
from coview import LinkPLSA, Views
from coview.reporting.terms import documents_needed, documents_with_view, words_or_dash

N_DOCS, N_TOPICS = 3000, 12
OWN, COMMON, RARE = 30, 60, 2500  # words of each topic, of all topics, and of hardly any document


def language(rng, topics, has):
    """Return the counts of one language: words of the topic, common ones and rare ones."""
    n_terms = N_TOPICS * OWN + COMMON + RARE
    rows, columns = [], []
    for d in np.flatnonzero(has):
        own = topics[d] * OWN + rng.zipf(1.4, 8) % OWN
        common = N_TOPICS * OWN + rng.integers(COMMON, size=4)
        rare = N_TOPICS * OWN + COMMON + rng.integers(RARE, size=3)
        columns.append(np.concatenate([own, common, np.repeat(rare, 1 + rng.integers(4))]))
        rows.append(np.full(len(columns[-1]), d))
    at = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_array((np.ones(len(at[0])), at), shape=(N_DOCS, n_terms))


def gaps():
    """Return several thousand rows; German is missing from most topics, French from two."""
    rng = np.random.default_rng(0)
    topics = rng.integers(N_TOPICS, size=N_DOCS)
    german = rng.random(N_DOCS) < np.array([0.9, 0.6, *[0.004] * 8, 0.0, 0.02])[topics]
    french = rng.random(N_DOCS) < np.array([*[0.5] * 10, 0.0, 0.006])[topics]
    present = np.column_stack([np.ones(N_DOCS, bool), german, french])
    matrices = {
        name: language(rng, topics, has)
        for name, has in zip(("en", "de", "fr"), present.T, strict=True)
    }
    names = {
        view: np.array([f"{view}{w}" for w in range(m.shape[1])]) for view, m in matrices.items()
    }
    return Views(matrices, features=names, present=present)


@pytest.fixture(scope="module")
def table():
    """Return the table, made once."""
    return gaps()


@pytest.fixture(scope="module")
def model(table):
    """Return the topics of the table."""
    return LinkPLSA(N_TOPICS, random_state=0, n_jobs=1).fit(table)


def documents_behind(table, model, view, topic, word):
    """Count the documents of a topic that have a word, one after the other."""
    column = list(model.feature_names_[view]).index(word)
    rows = table[view][:, [column]].toarray().ravel()
    return sum(1 for d, n in enumerate(rows) if n > 0 and model.labels_[d] == topic)


@pytest.mark.parametrize("n_topics", [N_TOPICS, 3 * N_TOPICS])
def test_three_documents_stand_behind_every_word(table, n_topics):
    model = LinkPLSA(n_topics, random_state=0, n_jobs=1).fit(table)
    shown = coview.top_terms(model, 10)
    for view in ("en", "de", "fr"):
        for topic, words in enumerate(shown[view]):
            for word in words:
                assert documents_behind(table, model, view, topic, word) >= 3
    assert all(len(words) == 10 for words in shown["en"])  # nothing is missing there


def test_topics_without_the_view_have_a_dash(table, model):
    shown, having = coview.top_terms(model, 10), documents_with_view(model)
    printed = str(shown).splitlines()
    assert printed[0].split() == ["topic", "en", "de", "fr"]
    dashes = 0
    for topic, line in enumerate(printed[1:]):
        for v, view in enumerate(("en", "de", "fr")):
            of_topic = model.labels_ == topic
            counted = int((table.present[:, v] & of_topic).sum()), int(of_topic.sum())
            assert having[view][topic] == counted
            assert (words_or_dash([], *counted) in line) == (not shown[view][topic])
            if counted[0] < 3:
                assert shown[view][topic] == []
                dashes += 1
    assert dashes > 8
    assert "— (0 of " in str(shown)
    assert "— (1 of " in str(shown)


def test_every_place_says_so(table, model, tmp_path):
    from coview.explorer.payload import payload_of
    from coview.plot import TermsDisplay
    from coview.reporting import summarize_topics

    empty = next(z for z, words in enumerate(coview.top_terms(model)["de"]) if not words)
    dash = words_or_dash([], *documents_with_view(model)["de"][empty])
    plain = next(t for t in summarize_topics(model) if t["topic"] == empty)
    assert plain["terms"]["de"] == []
    assert dash.startswith(f"— ({plain['view_documents']['de']} of {plain['documents']} ")
    report = coview.report(model, table, n_resamples=1, search_sample=0)
    assert report.topics[empty].terms["de"] == []
    assert f"de: {dash}" in report.to_text(top=N_TOPICS)
    assert dash in model._repr_html_()
    figure = TermsDisplay.from_estimator(model, report, topics=[empty])
    assert [text.get_text() for text in figure.axes_[0, 1].texts] == [dash]
    page = payload_of(report, model, table)
    ends = page.arrays["words.1.indptr"]
    assert ends[empty] == ends[empty + 1]
    assert page.meta["topics"][empty]["view_documents"]["de"] == [
        plain["view_documents"]["de"],
        plain["documents"],
    ]


def test_a_small_table_shows_its_words():
    views = Views.from_texts(
        {
            "en": ["goal team ball", "team goal", "salt garlic", "garlic onion salt"],
            "de": ["tor spiel", "tor", "salz", None],
        }
    )
    model = LinkPLSA(2, random_state=0).fit(views)
    assert documents_needed(model) < 1
    assert sorted(coview.top_terms(model)["de"]) == [["salz"], ["tor", "spiel"]]
