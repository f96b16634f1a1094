"""`report`: every model and every kind of documents, and what its values mean."""

import json
from dataclasses import replace

import numpy as np
import pytest

import coview
from coview import PLSA, LinkPLSA, TopicClassifier, Views
from coview.datasets import make_views
from coview.metrics import topic_coherence
from coview.reporting import Report, top_terms
from coview.reporting.search import same_label_rate
from coview.reporting.sentences import _views
from coview.reporting.terms import term_scores
from coview.reporting.topics import representatives
from tests.contracts.models import MODELS

QUICK = {"n_resamples": 1, "search_sample": 30, "n_documents": 3, "n_terms": 5}


def some_views(n_docs=60, **options):
    """Two views with names of terms; document 3 lacks one, document 4 both."""
    made = make_views(n_docs, 3, {"text": 25, "image": 15}, random_state=0, **options)
    matrices = {name: made[name].toarray() for name in made.names}
    matrices["image"][3] = matrices["text"][4] = matrices["image"][4] = 0
    features = {"text": [f"word{w}" for w in range(25)]}
    ids = [f"doc{d}" for d in range(n_docs)]
    return Views(matrices, features=features, ids=ids, labels=made.labels)


def quick_fit(views, n_topics=3, cls=LinkPLSA, **options):
    options = {"init": "random", "max_iter": 10, "tol": 0.0, "random_state": 0, **options}
    return cls(n_topics, **options).fit(views)


@pytest.fixture(scope="module")
def views():
    return some_views()


@pytest.fixture(scope="module")
def model(views):
    return quick_fit(views, n_init=2, max_iter=30)


@pytest.fixture(scope="module")
def report(model, views):
    return coview.report(model, views, **QUICK)


def strict(text):
    """JSON without NaN and infinity, which are no JSON."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


# -- every model -----------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", MODELS, ids=str)
def test_every_model_has_a_report(entry, views):
    own = views.select("text") if entry.one_view else views
    found = coview.report(entry(max_iter=4).fit(own), own, **QUICK)
    assert [view.name for view in found.views] == list(own.names)
    assert len(found.topics) == 3
    for name, mixtures in found.view_mixtures.items():
        lacking = np.isnan(mixtures).all(axis=1)
        assert np.flatnonzero(lacking).tolist() == ([3, 4] if name == "image" else [4])
        np.testing.assert_allclose(mixtures[~lacking].sum(axis=1), 1, atol=1e-5)
    beyond = np.isnan(found.disagreement.beyond)
    assert beyond.all() if entry.one_view else np.flatnonzero(beyond).tolist() == [3, 4]
    assert np.flatnonzero(np.isnan(found.fit)).tolist() == [4]
    assert sum(view.contribution for view in found.views) == pytest.approx(1)
    strict(found.to_json(documents=True))
    assert found.to_text().startswith(f"{entry.cls.__name__}: 3 topics, 60 documents")


def test_a_classifier_has_a_report_with_the_names_of_its_classes(views):
    names = np.array(["sport", "space", "food"])[views.labels]
    classifier = TopicClassifier(LinkPLSA(max_iter=5, random_state=0)).fit(views, names)
    found = coview.report(classifier, views, **QUICK)
    assert [topic.name for topic in found.topics] == ["food", "space", "sport"]
    assert found.model["class"] == "TopicClassifier"
    assert found.model["inner"] == "LinkPLSA"
    assert "TopicClassifier of LinkPLSA" in found.to_text()


def test_neighbors_do_not_speak_for_a_view(views):
    """MGGM smooths new documents over training documents: the document itself is one of them."""
    cls = next(e for e in MODELS if e.cls.__name__ == "MGGM")
    model = cls(max_iter=4, strength=50.0).fit(views)
    found = coview.report(model, views[:30], **QUICK)
    model.smooth_new = False
    alone = model.fold_in(views[:30].select("image")).doc_topic
    np.testing.assert_allclose(found.view_mixtures["image"][:3], alone[:3], rtol=1e-12)
    assert found.graphs == pytest.approx(model.graph_weights_)


# -- every kind of documents -----------------------------------------------------------------------


def test_one_topic(views):
    found = coview.report(quick_fit(views, 1), views, **QUICK)
    assert found.topics[0].size == pytest.approx(1)
    known = ~np.isnan(found.disagreement.value)
    np.testing.assert_allclose(found.disagreement.value[known], 0, atol=1e-6)
    assert "1 topic;" in found.sentences["topics"]
    strict(found.to_json())


@pytest.mark.filterwarnings("ignore:1,000 topics")
def test_a_thousand_topics():
    views = make_views(40, 3, {"text": 25, "image": 15}, random_state=0)
    found = coview.report(quick_fit(views, 1000, max_iter=2), views, **QUICK)
    assert len(found.topics) == 1000
    assert "main topics of no document" in found.sentences["topics"]
    assert "and 990 more" in found.to_text()


def test_terms_without_names_have_numbers(report):
    terms = report.topics[0].terms
    assert all(term.startswith("word") for term, _ in terms["text"])
    assert all(term.isdigit() for term, _ in terms["image"])


def test_dense_views_have_a_usual_level(views):
    rng = np.random.default_rng(0)
    dense = rng.random((60, 6)) + np.eye(3)[np.asarray(views.labels)].repeat(2, axis=1)
    both = Views({"text": views["text"], "numbers": dense})
    found = coview.report(quick_fit(both), both, **QUICK)
    assert [view.kind for view in found.views] == ["items", "numbers"]
    assert np.isnan(found.views[1].coherence)
    known = ~np.isnan(found.disagreement.beyond)
    assert np.median(found.disagreement.beyond[known]) == pytest.approx(0, abs=0.02)
    strict(found.to_json())


def test_new_documents_are_folded_in(model):
    new = some_views(30).with_labels(None)
    found = coview.report(model, new, **QUICK)
    assert not found.model["fitted_to_these"]
    np.testing.assert_allclose(found.mixtures, model.transform(new))
    assert found.labels is None
    assert found.search[0].same_label is None


def test_some_views_of_the_model(model, views):
    found = coview.report(model, views.select("text"), **QUICK)
    assert list(found.view_mixtures) == ["text"]
    assert found.search == []
    assert "agreement" not in found.sentences


def test_views_of_another_model_are_refused(model):
    with pytest.raises(ValueError, match="fitted on the views 'text', 'image'; got 'sound'"):
        coview.report(model, Views({"sound": [[1, 2]]}))
    with pytest.raises(ValueError, match="View 'image': X has 9 features"):
        coview.report(model, Views({"image": np.ones((3, 9))}))


@pytest.mark.parametrize("option", ["n_terms", "n_resamples", "search_sample"])
def test_bad_options_are_named(model, views, option):
    with pytest.raises(ValueError, match=option):
        coview.report(model, views, **{option: -1})


def test_a_model_that_is_not_fitted_is_refused(views):
    with pytest.raises(Exception, match="not fitted"):
        coview.report(PLSA(2), views)


# -- what the values mean --------------------------------------------------------------------------


def test_the_mixtures_are_those_of_the_fit(report, model, views):
    assert report.model["fitted_to_these"]
    np.testing.assert_array_equal(report.mixtures, model.doc_topic_)
    sizes = [topic.size for topic in report.topics]
    np.testing.assert_allclose(sizes, model.doc_topic_.mean(axis=0), rtol=1e-6)
    assert [topic.n_docs for topic in report.topics] == np.bincount(model.labels_).tolist()
    assert report.doc_ids == list(views.ids)
    np.testing.assert_array_equal(report.history, model.trace_.objective)
    assert report.stability == pytest.approx(model.topic_stability_.tolist())


def test_the_same_seed_gives_the_same_report(report, model, views):
    again = coview.report(model, views, **QUICK)
    assert again.to_json(documents=True) == report.to_json(documents=True)
    other = coview.report(model, views, **QUICK, random_state=1)
    assert not np.allclose(other.disagreement.chance, report.disagreement.chance, equal_nan=True)


def test_terms_are_those_of_the_model_with_the_documents_behind_them(report, model):
    wanted = top_terms(model, 5)
    for topic in report.topics:
        for view, found in topic.terms.items():
            assert [term for term, _ in found] == wanted[view][topic.index]
            for term, documents in found:
                column = int(term.removeprefix("word")) if view == "text" else int(term)
                assert documents == pytest.approx(model.term_docs_[view][topic.index, column])


def test_documents_stand_for_topics(report):
    for topic in report.topics:
        for row, name, share in topic.documents:
            assert name == f"doc{row}"
            assert share == pytest.approx(report.mixtures[row, topic.index])
    # of equal shares the longest, and none without counts
    assert representatives(np.ones(4), np.array([1.0, 0, 7, 2]), 2).tolist() == [2, 3]


def test_classes_are_shares_of_topics(report):
    for topic in report.topics:
        assert sum(topic.labels.values()) == pytest.approx(1, abs=0.03)
        for name, share in topic.labels.items():
            own = report.labels == report.label_names.index(name)
            weights = report.mixtures[:, topic.index]
            assert share == pytest.approx(weights[own].sum() / weights.sum(), rel=1e-4)


def test_coherence_is_that_of_the_documents_that_have_the_view(report, model, views):
    rows = np.flatnonzero(views.present[:, 1])
    expected = topic_coherence(term_scores(model, "image"), views["image"][rows])  # as shown
    found = [topic.coherence["image"] for topic in report.topics]
    np.testing.assert_allclose(found, expected)


def test_a_view_that_says_more_contributes_more():
    made = make_views(80, 3, {"clear": 30, "noise": 30}, random_state=0)
    noise = np.random.default_rng(0).multinomial(40, np.full(30, 1 / 30), 80)
    views = Views({"clear": made["clear"], "noise": noise})
    found = coview.report(quick_fit(views, view_weights="balanced", init="kmeans"), views, **QUICK)
    clear, blurred = found.views
    assert clear.contribution > 0.7 > blurred.contribution
    assert all(topic.view_share["clear"] > 0.6 for topic in found.topics)
    assert sum(found.topics[0].view_share.values()) == pytest.approx(1)


def test_search_goes_both_ways_and_beats_chance():
    views = make_views(80, 4, {"text": 40, "image": 30}, random_state=0)
    fitted = quick_fit(views, 4, init="kmeans")
    found = coview.report(fitted, views, search_sample=50, n_resamples=1)
    assert [(s.query, s.answer) for s in found.search] == [("text", "image"), ("image", "text")]
    for s in found.search:
        assert s.n == 50
        assert 1 / 50 < s.first < s.ten <= 1
        assert s.ten > 10 / 50
        assert s.median_rank < 25.5
        assert s.same_label > 2 * s.chance_same_label


def test_to_have_the_same_label_is_not_to_be_found():
    """Documents that cannot be told apart within their class: labels all right, few found."""
    pattern = np.kron(np.eye(2, dtype=int), np.ones((20, 5), int)) * 4
    views = Views({"text": pattern, "image": pattern[:, ::-1]}, labels=[0] * 20 + [1] * 20)
    fitted = quick_fit(views, 2, init="kmeans")
    found = coview.report(fitted, views, **QUICK | {"search_sample": 40})
    for s in found.search:
        assert s.same_label == 1
        assert s.chance_same_label == pytest.approx(19 / 39)
        assert s.first < 0.2
        assert s.median_rank > 5
    assert "by chance 49%" in found.sentences["labels"]
    assert "label" not in found.sentences["search"]


def test_the_rate_of_labels_is_that_of_a_loop():
    rng = np.random.default_rng(0)
    scores, labels = rng.random((30, 30)), rng.integers(-1, 3, 30)
    known = [d for d in range(30) if labels[d] >= 0]
    rates = []
    for d in known:
        others = sorted((e for e in known if e != d), key=lambda e: -scores[d, e])[:10]
        rates.append(np.mean([labels[e] == labels[d] for e in others]))
    measured, chance = same_label_rate(scores, labels)
    assert measured == pytest.approx(np.mean(rates))
    drawn = [same_label_rate(rng.random((30, 30)), labels)[0] for _ in range(200)]
    assert chance == pytest.approx(np.mean(drawn), abs=0.01)
    assert same_label_rate(scores, np.zeros(30, int)) == (None, None)


def test_views_agree_in_as_many_documents_as_are_not_listed(report):
    """The sentence, the list, the topics and JSON count the same documents."""
    found = report.disagreement
    n_docs, apart = int((~np.isnan(found.beyond)).sum()), int(found.noticed.sum())
    assert len(report.disagreeing(1000)) == apart
    assert f"The views of {n_docs - apart} of {n_docs} documents" in report.sentences["agreement"]
    mass = report.mixtures[~np.isnan(found.beyond)].sum(axis=0)
    agree = report.mixtures[found.beyond < 0.1].sum(axis=0) / mass
    np.testing.assert_allclose([t.agreement for t in report.topics], agree, rtol=1e-5)


def test_what_is_shown_of_a_loss_is_a_share(report):
    """Topics of another view may mislead, and so lose more than there was."""
    loss = report.disagreement.value * 50 - 1
    wild = replace(report, disagreement=replace(report.disagreement, value=loss, beyond=loss))
    shown = strict(wild.to_json())["disagreement"]
    assert 0 <= shown["value"] <= 1
    assert np.nanmax(loss) > 1
    lines = wild.to_text().split("Views disagree", 1)[1].split("\n\n")[0].splitlines()[2:]
    assert lines
    assert all(0 <= float(line.split("%")[0].split()[-1]) <= 100 for line in lines)


def test_documents_are_called_by_title_id_or_number(model, views):
    titles = [f"Title {d}" if d % 2 else None for d in range(60)]
    found = coview.report(model, views, titles=titles, **QUICK)
    assert found.title(1) == "Title 1"
    assert found.title(2) == (str(views.ids[2]) if views.ids is not None else "document 2")
    entries = strict(found.to_json())["lists"]["no_topic_fits"]
    assert [entry["title"] for entry in entries] == [found.title(e["row"]) for e in entries]
    assert found.title(found.unexplained(1)[0]) in found.to_text()
    with pytest.raises(ValueError, match="There are 2 titles for 60 documents"):
        coview.report(model, views, titles=["a", "b"], **QUICK)


# -- forms -----------------------------------------------------------------------------------------


def test_json_has_everything_that_is_asked_for(report):
    short, long = strict(report.to_json()), strict(report.to_json(documents=True))
    assert "mixtures" not in short
    assert len(long["mixtures"]) == 60
    assert long["view_mixtures"]["image"][3] == [None] * 3
    assert set(short["disagreement"]["by_pair"]) == {"text, image"}
    listed = short["lists"]["views_disagree"]
    assert [entry["row"] for entry in listed] == report.disagreeing()
    assert listed[0]["value"] == pytest.approx(np.nanmax(report.disagreement.beyond))
    assert short["lists"]["lacks_a_view"] == {"text": 1, "image": 2}
    assert report.lacking("image") == [3, 4]
    assert report.unexplained(1) == [int(np.nanargmin(report.fit))]


def test_every_question_has_a_sentence(report):
    questions = ["convergence", "topics", "stability", "coherence", "views", "coverage"]
    assert list(report.sentences) == [*questions, "agreement", "fit", "search", "labels"]
    assert all(said.endswith(".") for said in report.sentences.values())
    assert isinstance(report, Report)


def test_every_view_that_adds_nothing_is_named(report):
    shares = {"text": 1.0, "image": 0.0, "sound": 0.01}
    one = report.views[0]
    views = [replace(one, name=name, contribution=share) for name, share in shares.items()]
    said = _views(views)
    assert said.endswith("'sound' and 'image' add next to nothing.")
    assert _views(views[:2]).endswith("; 'image' adds next to nothing.")


def test_names_from_data_are_escaped(views):
    hostile = Views(
        {"\x1b[31mred": views["text"], "image": views["image"]},
        ids=[f"\x1b]0;{d}\a" for d in range(60)],
    )
    found = coview.report(quick_fit(hostile), hostile, **QUICK)
    assert "\x1b" not in found.to_text()
    assert "\x1b" not in found.to_json()


def test_a_report_of_a_sample_of_drawn_documents_says_so(model, views):
    whole = coview.report(model, views, **QUICK)
    assert whole.model["n_drawn"] == 60
    assert "sample" not in whole.sentences["agreement"]
    some = coview.report(model, views, chance_sample=20, **QUICK)
    assert some.model["n_drawn"] == 20
    assert "by a sample of 20 documents" in some.sentences["agreement"]
    np.testing.assert_array_equal(some.disagreement.value, whole.disagreement.value)
