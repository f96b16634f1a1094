"""The metric "topics+words": documents of the same topics are told apart by their words."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Doc, LinkPLSA, SearchIndex, Views, VotedPLSA, search
from coview.compare.tasks import _vectors
from coview.datasets import make_views
from coview.metrics import similarity
from coview.retrieval.evidence import TopicEvidence
from coview.retrieval.words import WORDS, shared_terms
from coview.store import DamagedFile, read_sealed, write_sealed
from tests.retrieval.stories import topics_of

TITLES = ["moon rocket", "moon star", "star orbit", "goal team", "ball goal", "team match"] * 4
TEXTS = ["the rocket to the moon", "a star and the moon", "orbit of a star", "goal of the team"]
TEXTS += ["the ball in the goal", "a match of the team"]


@pytest.fixture(scope="module")
def titled():
    """Two views in one language."""
    rng = np.random.default_rng(0)
    texts = [f"{text} {rng.choice(['late', 'early', 'far'])}" for text in TEXTS * 4]
    return Views.from_texts({"title": TITLES, "text": texts}, max_df=1.0, min_df=1)


@pytest.fixture(scope="module")
def titles(titled):
    return LinkPLSA(2, random_state=0).fit(titled)


def dense_scores(model, queries, gallery, view, in_view):
    """The scores in loops over dense arrays, for two views that share no words, or the same."""

    def share(x):
        return x / x.sum()

    def evidence(counts, name):
        p_w = share(model.term_counts_[name].astype(float))
        found = np.zeros(model.components_[name].shape[0])
        for z, p_w_z in enumerate(model.components_[name].astype(float)):
            for w in np.flatnonzero(counts):
                if p_w[w]:
                    gain = np.log((share(p_w_z)[w] + p_w[w]) / (2 * p_w[w]))
                    found[z] += counts[w] / counts.sum() * gain
        found -= found.mean()
        return found / np.linalg.norm(found)

    def words(counts, name):
        totals = model.term_counts_[name].astype(float)
        known = np.where(totals > 0, totals, totals.sum())
        row = np.log1p(counts) * np.log(totals.sum() / known)
        return row / np.linalg.norm(row)

    scores = np.empty((len(queries), len(gallery)))
    q_counts, g_counts = queries[view].toarray(), gallery[in_view].toarray()
    q_mix, g_mix = model.transform(queries.select(view)), model.transform(gallery.select(in_view))
    for i, a in enumerate(q_counts):
        for j, b in enumerate(g_counts):
            hellinger = np.sqrt(q_mix[i].astype(float)) @ np.sqrt(g_mix[j].astype(float))
            topics = (hellinger + evidence(a, view) @ evidence(b, in_view)) / 2
            same = view == in_view
            by_words = words(a, view) @ words(b, view) if same else 0.0
            scores[i, j] = (1 - WORDS * same) * topics + WORDS * by_words
    return scores


@pytest.mark.parametrize("in_view", ["view_0", "view_1"])
@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_scores_are_those_of_loops_over_dense_arrays(coupled, planted, in_view, method):
    queries, gallery = planted[:4].select("view_0"), planted[10:60]
    index = SearchIndex(coupled, in_view=in_view, views=gallery, method=method, probes=1.0)
    assert index.metric == "topics+words"
    expected = dense_scores(coupled, queries, gallery, "view_0", in_view)
    positions, scores = index.query_many(queries, top=50)
    np.testing.assert_allclose(scores, -np.sort(-expected, axis=1), atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(expected, positions, 1), scores, atol=1e-5)
    few, best = index.query_many(queries, top=3)
    np.testing.assert_array_equal(few, positions[:, :3])
    np.testing.assert_array_equal(best, scores[:, :3])


def test_among_documents_of_one_topic_the_one_with_the_words_comes_first(model, stories):
    index = SearchIndex(model, in_view="en", training_views=stories)
    texts = {name: stories["en"][[i]] for i, name in enumerate(stories.ids)}
    rocket = list(stories.features["en"]).index("rocket")
    found = index.query({"en": "rocket"}, top=8)
    assert topics_of(found) == {"space"}
    has = [bool(texts[name][0, rocket]) for name in found.ids]
    assert has == sorted(has, reverse=True)
    assert any(has)
    assert not all(has)
    assert len(set(found.scores)) > len(set(search(model, {"en": "rocket"}, top=8).scores))


def test_views_in_one_language_are_compared_by_their_words(titles, titled):
    found = search(titles, {"title": "rocket"}, in_view="text", training_views=titled, top=4)
    assert {TITLES[p] for p in found.positions} == {"moon rocket"}
    columns = shared_terms(titles, "title", "text")
    names = [titles.feature_names_[v][c] for v, c in zip(("title", "text"), columns, strict=True)]
    np.testing.assert_array_equal(*names)
    assert set(names[0]) == {"moon", "rocket", "star", "orbit", "goal", "team", "ball", "match"}


def test_equal_names_with_other_meanings_are_no_shared_words():
    """Columns called "0", "1", ... in two matrices have nothing to do with each other."""
    views = make_views(80, 4, [60, 60], random_state=0)
    rng = np.random.default_rng(0)
    shuffled = views["view_1"][:, rng.permutation(60)]
    numbered = [str(i) for i in range(60)]
    views = Views({"a": views["view_0"], "b": shuffled}, features={"a": numbered, "b": numbered})
    model = LinkPLSA(4, init="random", random_state=0, max_iter=30, tol=1e-4).fit(views)
    assert shared_terms(model, "a", "b").shape == (2, 0)


def test_scores_are_at_most_one_and_a_document_is_most_like_itself(titles, titled):
    for options in ({}, {"in_view": "text"}, {"in_view": "title"}):
        index = SearchIndex(titles, training_views=titled, **options)
        for row in range(6):
            scores = index.query(Doc(row, include_itself=True), top=24).scores
            assert scores.max() <= 1
            assert scores[0] == pytest.approx(1, abs=1e-5)


def test_plain_metrics_are_at_most_one_too(model):
    for metric in ("hellinger", "cosine", "correlation", "jensen-shannon"):
        index = SearchIndex(model, metric=metric)
        assert all(index.query(Doc(i, include_itself=True)).scores.max() <= 1 for i in range(24))


def test_the_default_is_by_topics_alone_where_words_are_not_known(model, stories):
    labels = [name.split("-")[0] for name in stories.ids]
    assert SearchIndex(model).metric == "hellinger"
    assert SearchIndex(model, views=stories).metric == "topics+words"
    assert SearchIndex(model, training_views=stories).metric == "topics+words"
    assert SearchIndex(model, views=stories, metric="hellinger").metric == "hellinger"
    semantic = SearchIndex(model, views=stories, space="semantic", labels=labels)
    assert semantic.metric == "correlation"


def test_what_cannot_be_compared_by_words_is_refused(model, stories):
    with pytest.raises(ValueError, match=r"training_views=\.\.\."):
        SearchIndex(model, metric="topics+words")
    with pytest.raises(ValueError, match="both given"):
        SearchIndex(model, views=stories, training_views=stories)
    labels = [name.split("-")[0] for name in stories.ids]
    with pytest.raises(ValueError, match="space='semantic'"):
        SearchIndex(model, views=stories, metric="topics+words", space="semantic", labels=labels)


def test_training_views_must_be_those_of_the_fit(model, stories):
    words = "must be the documents that the model was fitted to: "
    with pytest.raises(ValueError, match=words + "they have 23 documents, it was fitted to 24"):
        SearchIndex(model, training_views=stories[1:])
    with pytest.raises(ValueError, match=words + "their ids"):
        SearchIndex(model, training_views=stories[::-1])
    changed = {name: sp.csr_array(m * 2) for name, m in stories.matrices.items()}
    with pytest.raises(ValueError, match=words + "the counts of the terms of view 'en'"):
        SearchIndex(model, training_views=changed)


def test_training_documents_keep_the_mixtures_of_the_fit(model, stories):
    index = SearchIndex(model, in_view="de", training_views=stories)
    plain = SearchIndex(model, in_view="de")
    own = index._gallery.vectors[:, :3] ** 2
    np.testing.assert_allclose(own, plain._gallery.vectors[plain._gallery.rows], atol=1e-6)
    assert len(index) == 23
    assert "space-7" not in index.query({"en": "moon"}, top=24).ids


def test_a_mixture_is_a_query_without_words(model, stories):
    index = SearchIndex(model, in_view="de", training_views=stories)
    mixtures = model.transform(model.read({"en": ["moon star"]}))
    assert topics_of(index.query(mixtures[0], top=6)) == {"space"}
    positions, scores = index.query_many(mixtures, top=6)
    np.testing.assert_array_equal(positions[0], index.query(mixtures[0], top=6).positions)
    assert (scores <= 1).all()


def test_topics_of_several_views_together_have_evidence(planted):
    """In VotedPLSA p(w|z) sums to one over all views."""
    model = VotedPLSA(4, random_state=0, max_iter=20, tol=1e-3).fit(planted)
    gains = TopicEvidence(model).gains("view_0")
    assert np.isfinite(gains).all()
    assert gains.max() > 0
    found = SearchIndex(model, in_view="view_1", views=planted).query(planted[:1], top=3)
    assert (np.diff(found.scores) <= 0).all()


def test_reasons_are_shares_of_the_score_and_name_the_words(titles, titled):
    query = {"title": "rocket moon"}
    hit = search(titles, query, in_view="text", training_views=titled, explain=True)[0]
    by_words = next(reason for reason in hit.explanation if reason.same_words)
    assert {word for word, _ in by_words.same_words} == {"rocket", "moon"}
    assert by_words.topic is None
    assert "same words" in str(by_words)
    assert sum(weight for _, weight in by_words.same_words) == pytest.approx(by_words.contribution)
    topic = next(reason for reason in hit.explanation if reason.topic is not None)
    assert topic.answer_words["text"]
    assert [r.share * hit.score for r in hit.explanation] == pytest.approx(
        [r.contribution for r in hit.explanation]
    )


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_a_saved_index_keeps_the_words(titles, titled, tmp_path, method):
    index = SearchIndex(titles, in_view="text", training_views=titled, method=method, probes=0.5)
    index.save(tmp_path / "a.index")
    again = SearchIndex.load(tmp_path / "a.index", titles)
    assert repr(again) == repr(index)
    for query in ({"title": "rocket"}, {"text": "the goal"}, Doc(3), Doc(3, view="title")):
        assert again.query(query) == index.query(query)
    words = again.query({"title": "rocket"}, explain=True)[0].explanation
    assert any(reason.same_words for reason in words)
    alone = SearchIndex.load(tmp_path / "a.index")
    mixtures = titles.transform(titled[:3])
    for a, b in zip(alone.query_many(mixtures), index.query_many(mixtures), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(alone.query(Doc(3))) == 10
    index.save(tmp_path / "b.index")
    again.save(tmp_path / "c.index")
    assert (tmp_path / "b.index").read_bytes() == (tmp_path / "c.index").read_bytes()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vectors", lambda a: a[:, 1:]),
        ("expected", lambda a: a[1:]),
        ("expected", lambda a: a * np.nan),
        ("words.rows", lambda a: a + 1000),
        ("words.rows", lambda a: a - 1000),
        ("words.rows", lambda a: a.astype(np.int32)),
        ("words.starts", lambda a: a[:-1]),
        ("words.starts", lambda a: a[::-1].copy()),
        ("words.weights", lambda a: a[:-1]),
        ("words.weights", lambda a: a * np.nan),
        ("words.weights", lambda a: a * 100),
        ("words.weights", lambda a: a.astype(np.float64)),
        ("words.rows", np.zeros_like),
        ("vectors", lambda a: -a),
        ("vectors", lambda a: a * 2),
    ],
)
def test_words_that_do_not_fit_are_refused(titles, titled, tmp_path, name, change):
    SearchIndex(titles, in_view="text", training_views=titled).save(tmp_path / "a.index")
    header, tensors = read_sealed(tmp_path / "a.index", "search index")
    write_sealed(
        tmp_path / "b.index", "search index", header, {**tensors, name: change(tensors[name])}
    )
    with pytest.raises(DamagedFile, match="no search index that coview understands"):
        SearchIndex.load(tmp_path / "b.index", titles)


def test_words_of_other_columns_than_the_model_has_are_refused(titles, titled, tmp_path):
    SearchIndex(titles, in_view="text", training_views=titled).save(tmp_path / "a.index")
    header, tensors = read_sealed(tmp_path / "a.index", "search index")
    [[view, width]] = header["words"]
    for words in ([[view, width - 1], ["other", 1]], [["other", width]], [[view, "3"]], [], [view]):
        write_sealed(tmp_path / "b.index", "search index", {**header, "words": words}, tensors)
        with pytest.raises(DamagedFile, match="no search index that coview understands"):
            SearchIndex.load(tmp_path / "b.index", titles)


@pytest.mark.parametrize("space", ["topic", "semantic"])
def test_an_index_and_a_comparison_have_the_same_semantic_space(coupled, planted, space):
    train, test = planted, planted[:30]
    vectors, means = _vectors(
        coupled, train, test, space, "separate", {"training_mixtures": "folded"}
    )
    labels = train.labels if space == "semantic" else None
    index = SearchIndex(
        coupled,
        in_view="view_1",
        views=test,
        training_views=train,
        space=space,
        labels=labels,
        metric="correlation",
    )
    positions, scores = index.query_many(test.select("view_0"), top=30)
    center = (means["view_0"], means["view_1"])
    expected = similarity(vectors["view_0"], vectors["view_1"], metric="correlation", center=center)
    np.testing.assert_allclose(np.take_along_axis(expected, positions, 1), scores, atol=1e-5)
