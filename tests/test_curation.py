"""Curated topics: names, merges and hidden topics, in the model, its file and its refits."""

import json

import numpy as np
import pytest

import coview
from coview import MVPLSA, LinkPLSA, PairwiseCoPLSA, TopicClassifier, VotedPLSA
from coview.datasets import make_views
from coview.merging import tokens_by_view
from coview.reporting import summarize_topics, topic_names
from tests.cli.command import inside


@pytest.fixture(scope="module")
def views():
    return make_views(60, 4, {"text": 30, "image": 20}, random_state=0)


@pytest.fixture(scope="module")
def model(views):
    return LinkPLSA(4, init="random", max_iter=10, tol=0, random_state=0).fit(views)


def curation(model, **changes):
    return {"coview_curation": 1, "model": model.fingerprint(), **changes}


def test_names_are_given_and_the_model_itself_stays(model):
    made = model.with_topics(curation(model, names={"1": " Sports "}))
    assert topic_names(made) == [None, "Sports", None, None]
    assert topic_names(model) == [None] * 4
    assert made.with_topics(curation(made, names={"0": "a"})).topic_names_[:2] == ["a", "Sports"]
    assert {t["topic"]: t["name"] for t in summarize_topics(made)}[1] == "Sports"


def test_merged_topics_are_one(model, views):
    made = model.with_topics(curation(model, merge=[[3, 1]], names={"3": "both", "2": "other"}))
    assert made.n_components == 3
    assert made.topic_names_ == [None, "both", "other"]
    sums = model.doc_topic_[:, [0, 1, 2]].copy()
    sums[:, 1] += model.doc_topic_[:, 3]
    np.testing.assert_allclose(made.doc_topic_, sums, atol=1e-6)
    np.testing.assert_array_equal(made.labels_, sums.argmax(axis=1))
    n_z = tokens_by_view(model)["text"][[1, 3]]
    mean = n_z @ model.components_["text"][[1, 3]] / n_z.sum()
    np.testing.assert_allclose(made.components_["text"][1], mean, rtol=1e-4)
    np.testing.assert_allclose(made.components_["image"][2], model.components_["image"][2])
    assert made.view_doc_topic_["text"] is made.view_doc_topic_["image"]
    assert made.transform(views).shape == (60, 3)
    assert list(made.get_feature_names_out()) == ["topic_0", "topic_1", "topic_2"]
    assert coview.search(made, {"text": views["text"][[0]]}, in_view="image", top=2)


def test_merged_topics_have_the_documents_of_their_members(model):
    made = model.with_topics(curation(model, merge=[[0, 1]]))
    for view, before in model.term_docs_.items():
        expected = np.vstack([before[0] + before[1], before[2:]])
        np.testing.assert_allclose(made.term_docs_[view], expected, rtol=1e-6)
        whole = np.append(model.view_docs_[view][:2].sum(), model.view_docs_[view][2:])
        np.testing.assert_allclose(made.view_docs_[view], whole)


def test_groups_with_a_topic_in_common_are_one_group(model):
    made = model.with_topics(curation(model, merge=[[0, 1], [2, 1], [3]]))
    assert made.n_components == 2


def test_hidden_topics_are_left_out_of_lists(model, views):
    made = model.with_topics(curation(model, hide=[2, 0], merge=[[0, 1]]))
    assert made.hidden_topics_.tolist() == [0, 1]
    assert [t["topic"] for t in summarize_topics(made)] == [2]
    assert made.transform(views).shape == (60, 3)
    again = made.with_topics(curation(made, names={"2": "last"}))
    assert again.hidden_topics_.tolist() == [0, 1]
    meta = made.explore(views).payload.meta
    assert [topic["hidden"] for topic in meta["topics"]] == [True, True, False]


def test_the_file_and_a_refit_keep_all_of_it(model, views, tmp_path):
    changes = curation(model, names={"0": "first"}, merge=[[1, 2]], hide=[3])
    made = model.with_topics(changes)
    made.save(tmp_path / "named.coview")
    read = coview.load(tmp_path / "named.coview")
    assert read.topic_names_ == ["first", None, None]
    assert read.hidden_topics_.tolist() == [2]
    np.testing.assert_array_equal(read.transform(views), made.transform(views))
    refit = LinkPLSA(3, init=read, max_iter=3, tol=0, random_state=0).fit(views)
    assert refit.topic_names_ == ["first", None, None]
    assert refit.hidden_topics_.tolist() == [2]
    fresh = refit.set_params(init="random").fit(views)
    assert not hasattr(fresh, "hidden_topics_")


@pytest.mark.parametrize("kind", [MVPLSA, PairwiseCoPLSA, VotedPLSA])
def test_every_kind_of_model_can_be_merged(kind, views, tmp_path):
    model = kind(4, init="random", max_iter=3, tol=0, random_state=0).fit(views)
    made = model.with_topics(curation(model, merge=[[0, 3]]))
    made.save(tmp_path / "m.coview")  # what is read is checked against the number of topics
    read = coview.load(tmp_path / "m.coview")
    np.testing.assert_array_equal(read.transform(views), made.transform(views))
    assert read.transform(views).shape == (60, 3)


def test_labels_of_k_means_are_merged(views):
    model = LinkPLSA(4, init="random", max_iter=3, tol=0, assign="kmeans", random_state=0).fit(
        views
    )
    made = model.with_topics(curation(model, merge=[[1, 2]]))
    assert made.topic_centers_.shape == (3, 3)
    assert set(made.predict(views)) <= {0, 1, 2}


def test_another_model_is_refused(model, views):
    other = LinkPLSA(4, init="random", max_iter=3, tol=0, random_state=1).fit(views)
    with pytest.raises(ValueError, match="belongs to another model"):
        model.with_topics(curation(other, names={"0": "a"}))
    merged = model.with_topics(curation(model, merge=[[0, 1]]))
    with pytest.raises(ValueError, match="belongs to another model"):
        merged.with_topics(curation(model, merge=[[0, 1]]))


def test_names_that_collide_are_refused(model):
    with pytest.raises(ValueError, match="Two topics would be called 'a': 0 and 2"):
        model.with_topics(curation(model, names={"0": "a", "2": "a"}))
    named = model.with_topics(curation(model, names={"0": "a"}))
    with pytest.raises(ValueError, match="'a': 0 and 1"):
        named.with_topics(curation(named, names={"1": "a"}))
    assert (
        named.with_topics(curation(named, names={"1": "a"}, merge=[[0, 1]])).topic_names_[0] == "a"
    )
    with pytest.raises(ValueError, match="are merged, and have 2 names"):
        model.with_topics(curation(model, names={"0": "a", "1": "b"}, merge=[[0, 1]]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": {"4": "a"}}, "topic '4'"),
        ({"names": {"-1": "a"}}, "topic '-1'"),
        ({"names": {"0": " "}}, "not empty"),
        ({"names": {"0": 5}}, "not empty"),
        ({"names": []}, "'names'"),
        ({"merge": [3]}, "'merge'"),
        ({"merge": [[0, 1.5]]}, "topic '1.5'"),
        ({"hide": [True]}, "topic 'True'"),
        ({"hide": [0, 1, 2, 3]}, "hides all topics"),
        ({"coview_curation": 2}, "coview_curation"),
    ],
)
def test_what_is_wrong_is_said(model, changes, message):
    with pytest.raises(ValueError, match=message):
        model.with_topics({**curation(model), **changes})


def test_damaged_json_is_refused_or_read(model):
    rng = np.random.default_rng(0)
    whole = json.dumps(curation(model, names={"0": "a", "2": "b"}, merge=[[0, 1]], hide=[3]))
    for _ in range(300):
        text = list(whole)
        for place in rng.integers(1, len(text), rng.integers(1, 4)):
            text[place] = rng.choice(list('{}[]",:0129-.eEtrufalsn\\ x'))
        try:
            made = model.with_topics("".join(text))
        except ValueError:
            continue
        assert len(made.topic_names_) == made.doc_topic_.shape[1]
        np.testing.assert_allclose(made.doc_topic_.sum(axis=1), 1, atol=1e-5)


def test_json_and_files(model, tmp_path):
    text = json.dumps(curation(model, names={"0": "a"}))
    path = tmp_path / "curation.json"
    path.write_text(text)
    for given in (text, path, str(path)):
        assert model.with_topics(given).topic_names_[0] == "a"
    path.write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        model.with_topics(path)
    path.write_text("[1]")
    with pytest.raises(ValueError, match="must be a JSON object"):
        model.with_topics(path)
    with pytest.raises(FileNotFoundError):
        model.with_topics(tmp_path / "none.json")
    with pytest.raises(TypeError, match="got list"):
        model.with_topics([1])


def test_the_topics_of_a_classifier_are_its_classes(views):
    classifier = TopicClassifier(LinkPLSA(4, max_iter=3, tol=0, random_state=0))
    classifier.fit(views, views.labels)
    assert not hasattr(classifier, "with_topics")


def test_the_command(model, tmp_path):
    model.save(tmp_path / "m.coview")
    (tmp_path / "c.json").write_text(json.dumps(curation(model, names={"0": "a"}, hide=[1])))
    paths = [str(tmp_path / name) for name in ("m.coview", "c.json", "new.coview")]
    code, _, said = inside("curate", *paths[:2], "-o", paths[2])
    assert code == 0, said
    assert "4 topics, 1 with a name, 1 hidden" in said
    assert coview.load(paths[2]).topic_names_[0] == "a"
