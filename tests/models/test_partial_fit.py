"""Streams: a batch against naive loops, what is remembered, new terms, and what stays."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import coview
from coview import (
    LTM,
    MVPLSA,
    PLSA,
    DataWarning,
    DivergenceCoPLSA,
    LinkPLSA,
    TopicClassifier,
    Views,
)
from coview.datasets import make_views
from coview.em.stream import StreamState, tokens_of_topics, topic_shift
from tests.contracts.models import MODELS
from tests.reference import stream as reference
from tests.reference import words

STREAMS = [PLSA, LinkPLSA, MVPLSA, DivergenceCoPLSA]
QUICK = {"random_state": 0, "init": "random", "ensemble": 0, "view_weights": "balanced"}


def make(cls, n_components=3, **params):
    params = {**QUICK, **params}
    if cls is MVPLSA:
        params = {"n_feature_topics": 5, **params}
    return cls(n_components, **params)


@pytest.fixture(scope="module")
def views():
    return make_views(240, 3, [30, 25], missing=0.2, doc_length=40, random_state=0)


def of(cls, views):
    """Return what the model takes: PLSA one view, of the documents that have it."""
    return views.select("view_0")[np.flatnonzero(views.present[:, 0])] if cls is PLSA else views


def close(a, b, atol=1e-9):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def arrays(model):
    """Everything that a batch changes, as bytes."""
    found = {}
    for name, value in vars(model).items():
        for key, array in (value if isinstance(value, dict) else {"": value}).items():
            if isinstance(array, np.ndarray) and array.dtype == object:
                found[name, key] = array.tolist()
            elif isinstance(array, np.ndarray):
                found[name, key] = array.tobytes()
            elif isinstance(array, int | float):
                found[name, key] = array
    return found


# -- one batch -------------------------------------------------------------------------------------

EXACT = {"dtype": "float64", "tol": 0.0, "fold_in_tol": 0.0, "fold_in_max_iter": 4}
BATCH = slice(150, 162)


def dense(views):
    return [m.toarray() for m in views.matrices.values()]


def begun(cls, views, **params):
    """Return a model fitted to some documents, and its memory: topics, tokens, rho."""
    model = make(cls, **EXACT, max_iter=30, **params).partial_fit(of(cls, views)[:60])
    assert model.stream_ == {"docs": 60, "batches": 1, "largest": 60, "remembered": 60.0}
    tokens = [model.topic_counts_[n] for n in model.view_names_]
    rho = ((72 + 60) / 2 - 12) / 60  # the default: forgetting=1
    return model, [n.copy() for n in tokens], rho


@pytest.mark.parametrize("cls", [PLSA, LinkPLSA])
def test_a_batch_takes_the_steps_of_the_naive_loop(cls, views):
    model, tokens, rho = begun(cls, views)
    batch, alpha = of(cls, views)[BATCH], list(model.view_weights_.values())
    p_w_zs = list(model.components_.values())
    wanted = reference.link_batch(dense(batch), p_w_zs, tokens, rho, 4, 3, alpha, batch.present)
    model.partial_fit(batch, max_iter=3)
    close(model.doc_topic_, wanted[0])
    for v, name in enumerate(model.view_names_):
        close(model.components_[name], wanted[1][v])
        close(model.topic_counts_[name], wanted[2][v], 1e-6)


@pytest.mark.parametrize("cls", [PLSA, LinkPLSA, MVPLSA, DivergenceCoPLSA])
def test_documents_behind_words_are_remembered_as_counts_are(cls, views):
    model, _, rho = begun(cls, views)
    before, batch = {n: d.copy() for n, d in model.term_docs_.items()}, of(cls, views)[BATCH]
    of_views = {n: d.copy() for n, d in model.view_docs_.items()}
    model.partial_fit(batch, max_iter=3)
    for v, (name, matrix) in enumerate(batch.matrices.items()):
        mixtures, is_dense = model.view_doc_topic_[name].tolist(), name in model.dense_views_
        more = words.term_documents(matrix.toarray().tolist(), mixtures, is_dense)
        close(model.term_docs_[name], rho * before[name] + np.array(more))
        has = words.topic_documents(batch.present[:, v], mixtures)
        close(model.view_docs_[name], rho * of_views[name] + np.array(has))


def test_a_batch_with_feature_topics_takes_the_steps_of_the_naive_loop(views):
    model, tokens, rho = begun(MVPLSA, views)
    batch, alpha = views[BATCH], list(model.view_weights_.values())
    factors = list(model.topic_links_.values()), list(model.feature_topics_.values())
    theta, p_y_zs, p_w_ys, counts = reference.mvplsa_batch(
        dense(batch), *factors, tokens, rho, 4, 3, alpha, batch.present
    )
    model.partial_fit(batch, max_iter=3)
    close(model.doc_topic_, theta)
    for v, name in enumerate(model.view_names_):
        close(model.topic_links_[name], p_y_zs[v])
        close(model.feature_topics_[name], p_w_ys[v])
        close(model.components_[name], p_y_zs[v] @ p_w_ys[v])
        close(model.topic_counts_[name], counts[v], 1e-6)


def test_a_batch_under_a_penalty_takes_the_steps_of_the_naive_loop(views):
    model, tokens, rho = begun(DivergenceCoPLSA, views, divergence="l2", strength=0.7)
    batch, alpha = views[BATCH], np.array(list(model.view_weights_.values()))
    Xs = dense(batch)
    mass = sum(a * X.sum(axis=1) for a, X in zip(alpha, Xs, strict=True))
    lam = 0.7 * mass / np.maximum(batch.present.sum(axis=1), 1)
    pairs = [value * (1 - np.eye(2)) for value in lam]
    p_w_zs = list(model.components_.values())
    thetas, topics, counts = reference.divergence_batch(
        Xs, p_w_zs, tokens, rho, 4, 3, pairs, "l2", alpha, batch.present
    )
    model.partial_fit(batch, max_iter=3)
    for v, name in enumerate(model.view_names_):
        here = batch.present[:, v]
        close(model.view_doc_topic_[name][here], thetas[v][here], 1e-6)
        close(model.components_[name], topics[v], 1e-6)
        close(model.topic_counts_[name], counts[v], 1e-3)


def test_known_topics_of_documents_are_held(views):
    model, tokens, rho = begun(LinkPLSA, views)
    batch, alpha = views[BATCH], list(model.view_weights_.values())
    labels = np.where(np.arange(12) % 3 == 0, 1, -1)
    p_w_zs = list(model.components_.values())
    wanted = reference.link_batch(
        dense(batch), p_w_zs, tokens, rho, 4, 3, alpha, batch.present, labels >= 0, labels
    )
    model.partial_fit(batch, labels=labels, max_iter=3)
    close(model.doc_topic_, wanted[0])
    assert (model.labels_[::3] == 1).all()
    close(model.components_["view_1"], wanted[1][1])


# -- what is remembered ----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", STREAMS)
def test_the_first_batch_is_a_fit(cls, views):
    fitted, streamed = (make(cls, max_iter=5) for _ in range(2))
    with pytest.warns(match="converged"):
        fitted.fit(of(cls, views)[:80])
    with pytest.warns(match="converged"):
        streamed.partial_fit(of(cls, views)[:80])
    found, wanted = arrays(streamed), arrays(fitted)
    assert {name: found[name] for name in wanted} == wanted
    assert {name for name, _ in found} - {name for name, _ in wanted} == {
        *("topic_counts_", "stream_", "n_docs_seen_", "first_docs_")
    }


def test_a_small_first_batch_does_not_learn_weights(views):
    model = make(LinkPLSA, view_weights="learn")
    with pytest.warns(DataWarning, match="240 documents are too few to learn weights"):
        model.partial_fit(views)
    assert model.view_weights == "learn"
    assert model.view_weights_ == make(LinkPLSA).fit(views).view_weights_
    assert model.view_reliability_ is None


def test_after_a_fit_the_tokens_of_topics_are_those_of_its_last_step(views):
    model = make(LinkPLSA, dtype="float64", tol=0.0, max_iter=600).fit(views)
    model._begin_stream()
    for v, name in enumerate(model.view_names_):
        X, p = views[name].toarray(), model.components_[name]
        joint = model.doc_topic_[:, None, :] * p.T
        posterior = joint / np.maximum(joint.sum(axis=2, keepdims=True), 1e-300)
        expected = (X[:, :, None] * posterior).sum(axis=(0, 1))
        np.testing.assert_allclose(model.topic_counts_[name], expected, rtol=1e-3)
        assert views.present[:, v].any()


@pytest.mark.parametrize("cls", STREAMS)
def test_fit_and_partial_fit_of_a_fit_continue_alike(cls, views):
    data = of(cls, views)
    one = make(cls).fit(data[:100]).partial_fit(data[100:200])
    other = make(cls).partial_fit(data[:100], first_docs=0).partial_fit(data[100:200])
    assert arrays(one) == arrays(other)


def test_tokens_are_discounted_as_the_step_sizes_say(views):
    sizes = [40, 40, 20, 60, 80]
    steps = reference.weight_of_batch(sizes, 1.0)
    assert steps[1] == pytest.approx(2 / 3)  # (f + 1) / (t + f) of equal batches
    ends = np.cumsum(sizes)
    model, total, before = make(LinkPLSA), 0.0, 1.0
    for size, end, step in zip(sizes, ends, steps, strict=True):
        batch = views[end - size : end]
        model.partial_fit(batch, forgetting=1, first_docs=0)
        memory = model.stream_["remembered"]
        assert size / memory == pytest.approx(step)
        total = (memory - size) / before * total + batch["view_0"].sum()
        before = memory
        assert model.topic_counts_["view_0"].sum() == pytest.approx(total, rel=1e-4)
    assert model.stream_["docs"] == model.n_docs_seen_ == 240


def test_nothing_is_forgotten_without_forgetting(views):
    model = make(LinkPLSA)
    for start in range(0, 240, 60):
        model.partial_fit(views[start : start + 60], forgetting=0, first_docs=0)
    assert model.stream_["remembered"] == 240
    for name in views.names:
        total = views[name].sum()
        assert model.topic_counts_[name].sum() == pytest.approx(total, rel=1e-4)
        np.testing.assert_allclose(model.term_counts_[name], views[name].sum(axis=0))


def test_a_half_life_halves_what_was_known():
    state = StreamState.of_fit(1000)
    later, rho = state.after(250, 1.0, half_life=250)
    assert rho == 0.5
    assert later.remembered == 750
    twice = state.after(125, 1.0, half_life=250)[0].after(125, 1.0, half_life=250)[0]
    assert twice.remembered == pytest.approx(500 + 125 * (1 + 0.5**0.5))  # in two batches


def test_steps_of_one_document_after_a_large_fit_are_small():
    state = StreamState.of_fit(1000)
    for _ in range(100):
        state, rho = state.after(1, 1.0)
        assert 0.999 < rho < 1
    assert state.remembered == pytest.approx(1050)


def drifting(n_docs, words, rng, length=60):
    """Documents of three topics; half of the words of the last one may change, from 30 on."""
    topics = np.zeros((3, 50))
    topics[0, :10] = topics[1, 10:20] = 0.1
    topics[2, 20:30] = 0.05
    topics[2, words] = 0.5 / len(words)
    z = np.arange(n_docs) % 3
    return np.array([rng.multinomial(length, 0.96 * topics[k] + 0.04 / 50) for k in z])


def test_a_stream_with_a_half_life_follows_a_drift(rng):
    early, late = range(30, 40), range(40, 50)
    first = [drifting(60, early, rng) for _ in range(6)]
    then = [drifting(60, late, rng) for _ in range(6)]
    share = {}
    for name, options in {
        "half-life": {"half_life": 120},
        "by place": {"forgetting": 1},
        "all": {"forgetting": 0},
    }.items():
        model = PLSA(3, random_state=0)
        for batch in first:
            model.partial_fit(batch, first_docs=0, **options)
        topic = model.components_["X"][:, 20:30].sum(axis=1).argmax()
        others = np.delete(np.arange(3), topic)
        before = model.components_["X"][others].copy()
        for batch in then:
            model.partial_fit(batch, **options)
        topics = model.components_["X"]
        assert topics[:, 40:].sum(axis=1).argmax() == topic  # it is still the same topic
        assert np.abs(topics[others] - before).sum(axis=1).max() < 0.2
        share[name] = topics[topic, 40:].sum() / topics[topic, 30:].sum()
    # six batches of sixty are three half-lives: an eighth is left of what was remembered
    assert share["half-life"] == pytest.approx(1 - 1 / 8, abs=0.05)
    # weights i of batches 1 to 12, of which 7 to 12 are late
    assert share["by place"] == pytest.approx(57 / 78, abs=0.05)
    assert share["all"] == pytest.approx(1 / 2, abs=0.05)


def test_a_topic_that_nobody_uses_fades_and_keeps_its_words(rng):
    three = [drifting(90, range(30, 40), rng) for _ in range(3)]
    model = PLSA(3, random_state=0)
    for batch in three:
        model.partial_fit(batch, half_life=100)
    topic = model.components_["X"][:, 20:30].sum(axis=1).argmax()
    before, words = model.topic_counts_["X"].copy(), model.components_["X"][topic]
    rows = np.arange(90) % 3 != 2
    for _ in range(4):
        model.partial_fit(drifting(90, range(30, 40), rng)[rows], half_life=100)
    assert model.topic_counts_["X"][topic] < 0.3 * before[topic]  # 240 of 100: 0.19, and strays
    assert model.components_["X"][topic, 20:40].sum() > 0.7 * words[20:40].sum()


# -- the same bits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", STREAMS)
def test_a_saved_stream_continues_to_the_same_bits(cls, views, tmp_path):
    data = of(cls, views)
    model = make(cls).partial_fit(data[:100]).partial_fit(data[100:160])
    model.save(tmp_path / "m.coview")
    again = coview.load(tmp_path / "m.coview")
    pickled = pickle.loads(pickle.dumps(model))
    assert again.stream_ == model.stream_
    for each in (model, again, pickled):
        each.partial_fit(data[160:])
    assert arrays(model) == arrays(again) == arrays(pickled)


@pytest.mark.parametrize("wrong", [{"docs": 0}, {"remembered": float("nan")}, {"largest": 1.5}])
def test_a_file_with_a_senseless_stream_is_refused(wrong, views, tmp_path):
    model = make(LinkPLSA, tol=0.0, max_iter=2).partial_fit(views[:60])
    model.stream_ = {**model.stream_, **wrong}
    model.save(tmp_path / "m.coview")
    with pytest.raises(coview.DamagedFile, match="stream_"):
        coview.load(tmp_path / "m.coview")


@pytest.mark.parametrize("cls", STREAMS)
def test_the_number_of_threads_changes_no_bit(cls, views, monkeypatch):
    from coview.views import blocks

    monkeypatch.setattr(blocks, "MIN_NONZEROS", 200)  # several blocks
    monkeypatch.setattr(blocks, "MAX_NONZEROS", 400)
    data, found = of(cls, views), []
    for n_jobs in (1, 2, 4):
        model = make(cls, n_jobs=n_jobs)
        for start in range(0, 240, 80):
            model.partial_fit(data[start : start + 80])
        state = arrays(model)
        del state["n_jobs", ""]
        found.append(state)
    assert found[0] == found[1] == found[2]


# -- terms -----------------------------------------------------------------------------------------

TEXTS = ["ball goal team", "goal team match", "star moon orbit", "moon orbit sky"] * 6
LATER = ["goal keeper team", "keeper ball goal", "comet moon orbit", "comet star sky", None]


@pytest.fixture
def reader():
    views = Views.from_texts({"en": TEXTS}, max_df=1.0)
    return PLSA(2, random_state=0).fit(views)


def test_new_words_are_left_out_or_learned(reader):
    fixed, grown = (pickle.loads(pickle.dumps(reader)) for _ in range(2))
    fixed.partial_fit({"en": LATER})
    assert "keeper" not in fixed.feature_names_["en"]
    grown.partial_fit({"en": LATER}, new_terms=True)
    names = grown.feature_names_["en"].tolist()
    assert names == [*reader.feature_names_["en"], "comet", "keeper"]
    sport = grown.predict({"en": ["goal team"]})[0]
    topics = grown.components_["en"]
    assert topics[sport, names.index("keeper")] > 10 * topics[1 - sport, names.index("keeper")]
    assert grown.predict({"en": ["keeper keeper", "comet"]}).tolist() == [sport, 1 - sport]
    assert grown.n_features_in_ == len(names) == topics.shape[1]
    assert grown.present_.ravel().tolist() == [True] * 4 + [False]


def test_a_model_that_has_grown_is_saved_with_its_words(reader, tmp_path):
    reader.partial_fit({"en": LATER}, new_terms=True).save(tmp_path / "m.coview")
    again = coview.load(tmp_path / "m.coview")
    for model in (reader, again):
        model.partial_fit({"en": ["keeper goal", "comet rocket sky"]}, new_terms=True)
    assert arrays(reader) == arrays(again)
    assert "rocket" in again.feature_names_["en"]


def test_growing_is_the_same_as_having_had_the_columns(views):
    names = [f"w{i}" for i in range(30)]
    X = sp.csr_array(views["view_0"])
    early, late = X[:100].copy().tolil(), X[100:200]
    early[:, 20:] = 0
    wide = Views({"a": sp.csr_array(early)}, features={"a": names})
    narrow = Views({"a": sp.csr_array(early)[:, :20]}, features={"a": names[:20]})
    new = Views({"a": late}, features={"a": names})
    params = {"random_state": 0, "init": np.arange(100) % 3, "max_iter": 20, "tol": 0.0}
    one = PLSA(3, **params).partial_fit(narrow).partial_fit(new, new_terms=True)
    other = PLSA(3, **params).partial_fit(wide).partial_fit(new)
    assert one.feature_names_["a"].tolist() == names
    assert len(other.unseen_terms_["a"]) < len(PLSA(3, **params).fit(wide).unseen_terms_["a"])
    np.testing.assert_array_equal(one.components_["a"], other.components_["a"])
    np.testing.assert_array_equal(one.doc_topic_, other.doc_topic_)


def test_columns_come_in_any_order_when_there_are_new_ones():
    first = Views([[4, 1, 0], [0, 1, 4]], features=["a", "b", "c"])
    model = PLSA(2, random_state=0).fit(first)
    new = Views([[3, 2, 2], [1, 4, 0]], features=["new", "c", "a"])
    model.partial_fit(new, new_terms=True)
    assert model.feature_names_["X"].tolist() == ["a", "b", "c", "new"]
    assert model.term_counts_["X"].tolist() == [6.0, 2.0, 10.0, 4.0]


def test_what_cannot_grow_says_so():
    from sklearn.feature_extraction.text import TfidfVectorizer

    weighted = Views.from_texts({"en": TEXTS}, vectorizer=TfidfVectorizer())
    model = PLSA(2, random_state=0).fit(weighted)
    with pytest.raises(ValueError, match="tf-idf"):
        model.partial_fit({"en": LATER}, new_terms=True)
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "d"]
    measured = Views({"x": rng.normal(size=(30, 3))}, features={"x": names[:3]})
    model = PLSA(2, random_state=0).fit(measured)
    new = Views({"x": rng.normal(size=(30, 4))}, features={"x": names})
    with pytest.raises(ValueError, match="'x' is scaled"):
        model.partial_fit(new, new_terms=True)
    assert model.components_["x"].shape == (2, 3)


# -- what stays, and what is of the batch ----------------------------------------------------------


def test_attributes_of_documents_are_of_the_last_batch(views):
    ids = [f"d{i}" for i in range(240)]
    named = Views(views, ids=ids)
    model = make(LinkPLSA).partial_fit(named[:100])
    model.topic_names_ = ["a", None, "c"]
    model.hidden_topics_ = np.array([1])
    weights = dict(model.view_weights_)
    model.partial_fit(named[100:130])
    assert model.doc_topic_.shape == (30, 3)
    assert model.labels_.shape == (30,)
    assert model.doc_ids_.tolist() == ids[100:130]
    assert model.present_.tolist() == views.present[100:130].tolist()
    assert model.topic_names_ == ["a", None, "c"]
    assert model.hidden_topics_.tolist() == [1]
    assert model.view_weights_ == weights
    assert model.topic_stability_ is model.doc_confidence_ is None
    assert model.n_iter_ == len(model.trace_) <= 3
    assert model.objective_ == model.trace_.objective[-1]
    steps = np.append(model.trace_.start_objective, model.trace_.objective)
    assert (np.diff(steps) >= 0).all()
    assert (model.trace_.seed_term < 0).all()
    counts = sum(views[n][:130].sum() for n in views.names)
    assert sum(c.sum() for c in model.term_counts_.values()) == pytest.approx(counts)


def test_topics_keep_their_numbers(views):
    model = make(LinkPLSA, init="auto").partial_fit(views[:120])
    before = model.predict(views[:120], unknown="guess")
    for start in range(120, 240, 40):
        model.partial_fit(views[start : start + 40])
    assert (model.predict(views[:120], unknown="guess") == before).mean() > 0.95
    shift = topic_shift(make(LinkPLSA, init="auto").fit(views[:120]).components_, model.components_)
    assert shift.shape == (3, 2)
    assert (shift < 0.3).all()


def test_a_fit_ends_the_stream(views):
    model = make(LinkPLSA).partial_fit(views[:100]).partial_fit(views[100:])
    model.fit(views[:100])
    assert not hasattr(model, "stream_")
    assert arrays(model) == arrays(make(LinkPLSA).fit(views[:100]))


def test_documents_and_batches_may_lack_views(views):
    model = make(DivergenceCoPLSA).partial_fit(views[:150])
    before = model.components_["view_1"]
    model.partial_fit(views[150:].select("view_0"))
    assert not model.present_[:, 1].any()
    np.testing.assert_allclose(model.components_["view_1"], before, atol=1e-6)
    assert np.abs(model.components_["view_0"]).sum() == pytest.approx(3, abs=1e-4)
    assert model.view_doc_topic_["view_1"].shape == (90, 3)


def test_merged_topics_learn_on(views):
    model = make(LinkPLSA).partial_fit(views[:100]).partial_fit(views[100:200])
    curation = {"coview_curation": 1, "model": model.fingerprint(), "merge": [[0, 2]]}
    merged = model.with_topics(curation)
    total = model.topic_counts_["view_0"]
    np.testing.assert_allclose(merged.topic_counts_["view_0"], [total[0] + total[2], total[1]])
    merged.partial_fit(views[200:])
    assert merged.doc_topic_.shape == (40, 2)


def test_seeds_and_priors_are_part_of_every_batch(views):
    names = [f"w{i}" for i in range(30)]
    data = Views({"a": views["view_0"]}, features={"a": names})
    plain = make(PLSA).partial_fit(data[:100]).partial_fit(data[100:200])
    seeded = make(PLSA, seeds={1: {"a": {"w3": 50.0}}}).partial_fit(data[:100])
    share = seeded.components_["a"][1, 3]
    seeded.partial_fit(data[100:200])
    assert seeded.components_["a"][1, 3] > max(0.8 * share, 3 * plain.components_["a"][1, 3])
    smooth = make(PLSA, topic_word_prior=3.0, dtype="float64").partial_fit(data[:100])
    for start in (100, 150):
        smooth.partial_fit(data[start : start + 50], forgetting=0)
    seen = smooth.term_counts_["a"] > 0
    # two pseudo-counts for each term and topic, added once and not in every batch
    total = smooth.term_counts_["a"].sum() + 3 * 2 * seen.sum()
    assert smooth.topic_counts_["a"].sum() == pytest.approx(total, rel=0.02)


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [e() for e in MODELS if e.cls not in STREAMS] + [TopicClassifier(PLSA())], ids=str
)
def test_models_without_partial_fit_have_none(model):
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'"):
        model.partial_fit([[1, 2], [2, 1]])


def test_the_reason_is_told():
    with pytest.raises(AttributeError) as raised:
        LTM().partial_fit
    assert "init=model" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([[1, 2]], {}, "2 features, but PLSA is expecting 4"),
        ([[np.nan, 1, 1, 1]], {}, "NaN"),
        ([[-1, 1, 1, 1]], {}, "negative"),
        (np.zeros((2, 4)), {}, "nothing to learn"),
        (np.zeros((0, 4)), {}, "0 sample"),
        ({"other": [[1, 2, 3, 4]]}, {}, "other"),
        ([[1, 2, 3, 4]], {"new_terms": "some"}, "new_terms"),
        ([[1, 2, 3, 4]], {"forgetting": -1}, "forgetting"),
        ([[1, 2, 3, 4]], {"half_life": 0}, "half_life"),
        ([[1, 2, 3, 4]], {"max_iter": 0}, "max_iter"),
        ([[1, 2, 3, 4]], {"labels": [7]}, "7"),
    ],
)
@pytest.mark.filterwarnings("ignore::coview.DataWarning")
def test_a_refused_batch_changes_nothing(X, options, words):
    counts = [[4, 2, 0, 0], [3, 3, 0, 1], [0, 0, 5, 2], [0, 1, 2, 4]]
    model = PLSA(2, random_state=0).partial_fit(counts)
    before = arrays(model)
    with pytest.raises((ValueError, TypeError), match=words):
        model.partial_fit(X, **options)
    assert arrays(model) == before
    assert not hasattr(model, "_fitting")


def test_another_number_of_topics_is_refused(views):
    model = make(LinkPLSA).partial_fit(views[:100]).set_params(n_components=4)
    with pytest.raises(ValueError, match="n_components is 4, and the model has 3 topics"):
        model.partial_fit(views[100:])


def test_small_batches_of_other_types_are_taken(views):
    rows = views.select("view_0")[np.flatnonzero(views.present[:, 0])]
    model, X = make(PLSA).partial_fit(rows[:100]), rows["view_0"]
    for batch in (
        X[100:101],
        X[101:102].toarray().astype(np.int8),
        X[102:104].astype(np.float32).tocsc(),
        X[104:105].toarray().tolist(),
    ):
        model.partial_fit(batch)
    assert model.components_["view_0"].dtype == np.float32
    assert model.doc_topic_.shape == (1, 3)
    assert model.n_docs_seen_ == 105


def test_a_clone_is_not_fitted(views):
    model = make(LinkPLSA).partial_fit(views[:100])
    assert not hasattr(clone(model), "stream_")


def test_tokens_of_topics_without_counts():
    found = tokens_of_topics(np.zeros((2, 3)), np.zeros(3), np.ones(2))
    assert np.isfinite(found).all()


# -- how good --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", STREAMS)
def test_many_batches_come_close_to_one_fit(cls):
    views = make_views(1200, 5, [200, 150], doc_length=60, missing=0.1, random_state=1)
    train, held = of(cls, views)[:1000], of(cls, views)[1000:]
    whole = make(cls, 5, init="kmeans").fit(train).perplexity(held)
    model = make(cls, 5, init="kmeans")
    for start in range(0, 1000, 50):
        model.partial_fit(train[start : start + 50])
    assert model.perplexity(held) < 1.02 * whole
