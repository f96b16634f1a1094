"""`coview.auto`: what it chooses, what it says, and that the same can be done by hand."""

import re
import shlex
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import coview
from coview import Views
from coview.automatic import choose, look_at
from coview.datasets import make_views
from coview.models import topic_model
from tests.cli.command import working

N_DOCS = 120


@pytest.fixture(scope="module")
def planted():
    return make_views(N_DOCS, 3, [50, 40], random_state=0)


@pytest.fixture(scope="module")
def classes(planted):
    return np.array(["cat", "dog", "eel"])[planted.labels]


def auto(views, *args, **options):
    return coview.auto(views, *args, verbose=False, **options)


def assert_same_bits(one, other):
    one, other = topic_model(one), topic_model(other)
    assert type(one) is type(other)
    assert one.components_.keys() == other.components_.keys()
    for name, p_w_z in one.components_.items():
        np.testing.assert_array_equal(p_w_z, other.components_[name])
    np.testing.assert_array_equal(one.doc_topic_, other.doc_topic_)


def by_hand(model, views, labels=None):
    return eval(model.why_.python, {"coview": coview, "views": views, "labels": labels})


def said(model):
    return " ".join(model.why_.sentences)


def links_of(labels):
    """Links among documents of one class: a square, symmetric, sparse matrix."""
    rng = np.random.default_rng(0)
    same = labels[:, np.newaxis] == labels
    graph = np.triu(same & (rng.random(same.shape) < 0.1), 1)
    return (graph | graph.T).astype(float)


def measurements(labels, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 3, (labels.max() + 1, 6))
    return centers[labels] + rng.normal(0, 1, (len(labels), 6))


def noise(n_docs, seed=0):
    return np.random.default_rng(seed).poisson(0.4, (n_docs, 40))


# -- what is chosen, and that it can be repeated ---------------------------------------------------


def cases(planted):
    """Views of every kind, with the number of topics."""
    y = planted.labels
    return {
        "sparse": (planted, 3),
        "dense": (Views({"a": measurements(y), "b": measurements(y, 1)}), 3),
        "links": (Views({**planted.matrices, "cites": links_of(y)}), 3),
        "missing": (make_views(N_DOCS, 3, [50, 40], missing=0.3, random_state=1), 3),
        "noise": (Views({**planted.matrices, "noise": noise(N_DOCS)}), 3),
        "a dict": (dict(planted.matrices), 3),
        "one view": (planted.select("view_0"), 3),
        "one dense view": (measurements(y), 3),
        "one feature": (Views({"one": np.arange(1, 31)[:, np.newaxis] % 5, "b": noise(30)}), 2),
        "five documents": (Views({"a": noise(5), "b": noise(5, 1)}), None),
        "one topic": (planted, 1),
        "no number": (planted, None),
    }


@pytest.mark.filterwarnings("ignore:2 topics, but fewer terms. one has 1:coview.DataWarning")
@pytest.mark.parametrize("name", cases(make_views(N_DOCS, 3, [9, 9], random_state=0)))
def test_the_printed_line_and_command_give_the_same_bits(name, planted, tmp_path, monkeypatch):
    views, n_topics = cases(planted)[name]
    model = auto(views, n_topics)
    assert_same_bits(by_hand(model, views), model)
    command, _, comment = model.why_.command.partition("  # ")
    monkeypatch.chdir(tmp_path)
    eval(comment, {"coview": coview, "views": views})
    working(*shlex.split(command)[1:], "-o", "m.coview", "-q")
    assert_same_bits(coview.load("m.coview"), model)


def test_several_views_share_topics_with_all_defaults(planted):
    model = auto(planted, 3)
    assert isinstance(model, coview.LinkPLSA)
    assert model.why_.python == "coview.LinkPLSA(3, random_state=0).fit(views)"
    scores = [
        coview.metrics.normalized_mutual_info(
            planted.labels, auto(planted, 3, random_state=s).labels_
        )
        for s in range(3)
    ]
    assert np.mean(scores) > 0.8


def test_one_sparse_view_is_plsa(planted):
    model = auto(planted.select("view_1"), 3, random_state=5)
    assert model.why_.python == "coview.PLSA(3, random_state=5).fit(views)"


def test_one_dense_view_is_plsa_with_clusterings(planted):
    model = auto(measurements(planted.labels), 3)
    assert model.why_.python == "coview.PLSA(3, ensemble=0.2, random_state=0).fit(views)"
    assert "ensemble=0.2" in said(model)
    assert model.trace_.ensemble["share"] == 0.2


@pytest.mark.parametrize("seed", [None, np.random.RandomState(3)])
def test_a_seed_that_was_drawn_is_in_the_line(seed, planted):
    model = auto(planted, 3, random_state=seed)
    assert f"random_state={model.random_state_used_}" in model.why_.python
    assert_same_bits(by_hand(model, planted), model)


# -- labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", None, float("nan")])
def test_labels_make_a_classifier(blank, planted, classes):
    labels = [c if i % 6 == 0 else blank for i, c in enumerate(classes)]
    model = auto(planted, labels=labels)
    assert isinstance(model, coview.TopicClassifier)
    assert model.classes_.tolist() == ["cat", "dog", "eel"]
    assert (model.labels_ == classes).mean() > 0.8
    assert "20 of 120 documents have a label." in said(model)
    assert_same_bits(by_hand(model, planted, labels), model)
    assert model.why_.numbers["start"] == "guess"
    assert model.why_.numbers["views"]["view_0"]["trust"] > 0.5


def test_numbers_are_labels_too_and_the_command_does_the_same(planted, tmp_path, monkeypatch):
    labels = np.where(np.arange(N_DOCS) % 6 == 0, planted.labels, -1)
    model = auto(planted, labels=labels)
    monkeypatch.chdir(tmp_path)
    command, _, comment = model.why_.command.partition("  # ")
    eval(comment, {"coview": coview, "views": planted, "labels": labels})
    working(*shlex.split(command)[1:], "-o", "m.coview", "-q")
    assert_same_bits(coview.load("m.coview"), model)


def test_labels_of_the_views_are_not_used_unless_given(planted):
    assert planted.labels is not None
    assert "labels, which were not used" in said(auto(planted, 3))


def test_without_a_single_label_topics_are_found(planted):
    model = auto(planted, 3, labels=[None] * N_DOCS)
    assert isinstance(model, coview.LinkPLSA)
    assert "No document has a label" in said(model)


def test_another_number_of_topics_than_classes_is_refused(planted, classes):
    with pytest.raises(ValueError, match="topics are the classes, and the labels have 3"):
        auto(planted, 5, labels=classes)


def test_a_wrong_number_of_topics_is_refused(planted):
    with pytest.raises(ValueError, match="n_components"):
        auto(planted, 0)


# -- what is said ----------------------------------------------------------------------------------


def test_a_view_of_noise_is_named(planted):
    model = auto(Views({**planted.matrices, "static": noise(N_DOCS)}), 3)
    assert re.search(r"View 'static' tells next to nothing .* \(trust 0.0\d\)", said(model))
    views = model.why_.numbers["views"]
    assert views["static"]["trust"] < 0.1 < views["view_0"]["trust"]
    assert views["static"]["weight"] == model.view_weights_["static"]
    assert "View 'view_0' tells next to nothing" not in said(model)


def test_a_copy_is_named_and_other_views_are_not(planted):
    copy = planted["view_0"][:, ::-1]
    model = auto(Views({**planted.matrices, "again": copy}), 3)
    assert "Views 'view_0' and 'again' may be copies" in said(model)
    assert said(model).count("may be copies") == 1
    assert "share the weight of one view, so that they do not outvote the others" in said(model)
    trust = model.view_reliability_
    assert trust["view_0"] == trust["again"] < trust["view_1"]
    assert model.trace_.ensemble["copies"] == [["view_0", "again"]]
    assert "may be copies" not in said(auto(planted, 3))


@pytest.mark.parametrize("weights", ["balanced", [1.0, 1.0, 1.0]])
def test_copies_with_given_weights_are_said_to_count_in_full(weights, planted):
    views = Views({**planted.matrices, "again": planted["view_0"]})
    sentences = " ".join(choose(views, 3, params={"view_weights": weights}).sentences)
    assert "With the weights that you gave they can outvote the others" in sentences
    assert "share the weight" not in sentences
    for weights in ("learn", coview.view_reliability(views, 3)):
        learned = " ".join(choose(views, 3, params={"view_weights": weights}).sentences)
        assert "share the weight" in learned


def test_links_missing_views_and_views_nobody_has_are_named(planted):
    rare = noise(N_DOCS) * (np.arange(N_DOCS) < 4)[:, np.newaxis]
    given = {"links": links_of(planted.labels), "rare": rare, "empty": np.zeros((N_DOCS, 3))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", coview.DataWarning)
        model = auto(Views({**planted.matrices, **given}), 3)
    text = said(model)
    assert "Graphs of the documents (square, symmetric, sparse): 'links'." in text
    assert "'rare' 4" in text
    assert "No document has anything in view 'empty'" in text


def test_data_without_groups_are_said_to_have_none():
    model = auto(Views({"a": noise(80), "b": noise(80, 1)}), 4)
    assert "hardly better than chance" in said(model)
    assert max(model.why_.numbers["replicability"].values()) < 0.1


def test_the_number_of_topics_is_explained(planted, classes):
    assert "3 topics, as you asked." in auto(planted, 3).why_.sentences
    assert "3 topics: one for each class" in said(auto(planted, labels=classes))
    model = auto(planted)
    assert model.n_components == 3
    explained = (
        "3 topics, the number that the data support. High confidence: at 3 topics, two halves"
    )
    assert explained in said(model)


def test_at_most_six_lines_are_shown_on_standard_error(planted, capsys):
    again = Views({**planted.matrices, "again": planted["view_0"]})
    for views in (planted, again):
        model = coview.auto(views)
        out, shown = capsys.readouterr()
        lines = shown.splitlines()
        assert not out
        assert len(lines) <= 6
        assert lines[0].startswith("120 documents: 'view_0' (counts, 50 columns); ")
        assert lines[1].startswith("LinkPLSA with 3 topics")
        assert model.why_.python in shown
        assert "clustered in" not in shown
    auto(planted, 3)
    assert not capsys.readouterr().err


# -- what is kept ----------------------------------------------------------------------------------


@pytest.mark.parametrize("labeled", [False, True])
def test_files_keep_the_reasons(labeled, planted, classes, tmp_path):
    model = auto(planted, labels=classes) if labeled else auto(planted, 3)
    model.save(tmp_path / "m.coview")
    again = coview.load(tmp_path / "m.coview")
    assert again.why_ == model.why_
    assert str(again.why_) == str(model.why_)


def test_another_fit_of_the_model_forgets_the_reasons(planted, classes):
    model = auto(planted, 3)
    assert not hasattr(model.fit(planted), "why_")
    model = auto(planted, labels=classes)
    assert not hasattr(model.fit(planted, classes), "why_")


# -- what the data are -----------------------------------------------------------------------------


def kinds(**matrices):
    return {v.name: v.kind for v in look_at(Views(matrices)).views}


def test_kinds_are_told_by_the_values(rng):
    sparse = rng.poisson(0.2, (40, 30)).astype(float)
    ring = np.roll(np.eye(40), 1, axis=1)
    assert kinds(
        counts=sparse,
        weights=sparse * 0.3,
        dense_counts=rng.poisson(9, (40, 30)),
        measured=rng.random((40, 5)),
        negative=rng.normal(size=(40, 5)),
        links=ring + ring.T,
        directed=ring,
    ) == {
        "counts": "counts",
        "weights": "weights",
        "dense_counts": "counts",
        "measured": "measurements",
        "negative": "measurements",
        "links": "links",
        "directed": "counts",
    }


def test_a_dense_view_that_few_have_is_dense(rng):
    rows = rng.random((40, 5)) * (np.arange(40) < 10)[:, np.newaxis]
    (view,) = look_at(Views({"a": rows})).views
    assert (view.kind, view.n_docs, view.filled) == ("measurements", 10, 1.0)


@pytest.mark.parametrize("dense", [False, True])
def test_copies_are_found_whatever_their_order_and_unit(dense, rng):
    one = rng.random((60, 8)) if dense else rng.poisson(0.5, (60, 40)).astype(float)
    order = rng.permutation(one.shape[1])
    near = one[:, order] * 3
    near[::20] = one[1::20][:, order] * 3  # three documents differ
    other = rng.random((60, 8)) if dense else rng.poisson(0.5, (60, 40)).astype(float)
    found = look_at(Views({"a": one, "copy": one[:, order] * 3, "other": other})).copies
    assert [pair[:2] for pair in found] == [("a", "copy")]
    assert found[0][2] == pytest.approx(1, abs=1e-6)
    assert look_at(Views({"a": one, "near": near})).copies == ()


def test_copies_are_looked_for_among_documents_that_have_both(rng):
    one = rng.poisson(1.0, (90, 20)).astype(float)
    half = sp.csr_array(one * (np.arange(90) < 45)[:, np.newaxis])
    few = sp.csr_array(one * (np.arange(90) < 15)[:, np.newaxis])
    found = look_at(Views({"a": one, "half": half, "few": few})).copies
    assert [pair[:2] for pair in found] == [("a", "half")]  # 15 documents are too few to say


def test_views_that_do_not_vary_are_no_copies():
    ones = np.ones((30, 1))
    assert look_at(Views({"a": ones, "b": 2 * ones})).copies == ()
