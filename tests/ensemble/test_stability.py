"""Stability of topics and confidence of documents."""

import json

import numpy as np
import pytest

from coview import Checkpoint, DataWarning, LinkPLSA, Views, load
from coview.datasets import make_views
from coview.ensemble.consensus import HalfClusterings
from coview.ensemble.stability import (
    UNSTABLE,
    are_like_chance,
    describe_unstable,
    document_confidence,
    stability,
    topic_stability,
    unstable_topics,
)
from tests.cli.command import inside, working

NOISE = {"concentration": 50.0, "term_concentration": 5.0}


@pytest.fixture(scope="module")
def planted():
    return make_views(400, 5, random_state=1)


@pytest.fixture(scope="module")
def model(planted):
    return LinkPLSA(5, random_state=0).fit(planted)


# -- the definitions, against loops ----------------------------------------------------------------


def naive_stability(labels, clusters, topic):
    """Jaccard overlap with the best cluster, corrected for chance, in sets of documents."""
    mine = {d for d, z in enumerate(labels) if z == topic}
    n, best = len(labels), 0.0
    for c in set(clusters):
        other = {d for d, x in enumerate(clusters) if x == c}
        by_chance = len(mine) * len(other) / n
        chance = by_chance / (len(mine) + len(other) - by_chance)
        if chance < 1:
            best = max(best, (len(mine & other) / len(mine | other) - chance) / (1 - chance))
    return best


def naive_confidence(labels, clusters, d):
    others = [e for e in range(len(labels)) if e != d]
    mates = [e for e in others if clusters[e] == clusters[d]]
    chance = np.mean([labels[e] == labels[d] for e in others])
    if not mates or chance == 1:
        return 0.0
    return (np.mean([labels[e] == labels[d] for e in mates]) - chance) / (1 - chance)


def test_definitions_equal_naive_loops(rng):
    labels, clusterings = rng.integers(4, size=60), rng.integers(5, size=(60, 3))
    clusterings[:20] = labels[:20, None]
    clusterings[0] = 7  # alone
    weights = np.array([1.0, 0.5, 0.2])
    expected = [
        sum(w * naive_stability(labels, c, z) for w, c in zip(weights, clusterings.T, strict=True))
        for z in range(4)
    ]
    found = topic_stability(labels, clusterings, weights, 4)
    np.testing.assert_allclose(found, np.array(expected) / weights.sum())
    expected = [
        sum(w * naive_confidence(labels, c, d) for w, c in zip(weights, clusterings.T, strict=True))
        for d in range(60)
    ]
    found = document_confidence(labels, clusterings, weights, 4)
    np.testing.assert_allclose(found, np.maximum(np.array(expected) / weights.sum(), 0))


def test_equal_clusters_under_other_numbers_are_certain(rng):
    labels = rng.integers(3, size=50)
    other = np.array([2, 0, 1])[labels][:, None]
    np.testing.assert_allclose(topic_stability(labels, other, np.ones(1), 3), 1)
    np.testing.assert_allclose(document_confidence(labels, other, np.ones(1), 3), 1)


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_independent_clusters_are_chance_also_for_a_large_topic(rng, share):
    labels, other = (rng.random((2, 20_000)) < share).astype(int)
    assert topic_stability(labels, other[:, None], np.ones(1), 2).max() < 0.02
    assert document_confidence(labels, other[:, None], np.ones(1), 2).mean() < 0.02


def test_what_cannot_be_compared():
    labels, other = np.array([0, 0, 2, 2, 2]), np.array([[1], [1], [0], [0], [-1]])
    found = topic_stability(labels, other, np.ones(1), 3)
    assert np.isnan(found[1])  # no document has it
    np.testing.assert_allclose(found[[0, 2]], 1)
    np.testing.assert_allclose(document_confidence(labels, other, np.ones(1), 3), [1, 1, 1, 1, 0])
    one_topic = np.zeros(4, int), np.zeros((4, 1), int), np.ones(1), 2
    assert topic_stability(*one_topic)[0] == 0
    assert not document_confidence(*one_topic).any()


def test_restarts_and_halves_the_lower_counts(model, planted):
    labels, shuffled = model.labels_, np.roll(model.labels_, 7)
    assert stability(labels, 5, None) == (None, None)
    assert stability(labels, 1, None, [labels]) == (None, None)
    alone, _ = stability(labels, 5, None, [labels])
    worse, documents = stability(labels, 5, None, [labels, shuffled])
    np.testing.assert_allclose(alone, 1)
    assert (worse < 0.7).all()
    assert documents.mean() < 0.7


def test_the_say_of_a_half_is_that_of_its_family():
    same, other = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 0, 1])
    labels = np.empty((6, 1, 2, 2), int)
    labels[:, 0, :, 0], labels[:, 0, 0, 1], labels[:, 0, 1, 1] = same[:, None], same, other
    halves = HalfClusterings(np.arange(6), ("a", "b"), labels)
    assert halves.replicability["a"] == pytest.approx(1)
    np.testing.assert_array_equal(halves.clusterings[:, 3], other)
    expected = max(halves.replicability["b"], 0) ** 4
    np.testing.assert_allclose(halves.weights, [1, expected, 1, expected])


# -- fits ------------------------------------------------------------------------------------------


def test_planted_topics_are_stable_and_one_too_many_is_not(model, planted):
    assert model.topic_stability_.min() > 0.8
    assert model.doc_confidence_.shape == (400,)
    assert model.doc_confidence_.mean() > 0.8
    more = LinkPLSA(6, random_state=0).fit(planted).topic_stability_
    assert np.sort(more)[0] < 0.6 < np.sort(more)[1]


def test_topics_of_noise_are_as_stable_as_chance_and_warned_of():
    views = make_views(400, 5, random_state=0, **NOISE)
    with pytest.warns(DataWarning, match="as unstable as in random data.*Try fewer topics"):
        model = LinkPLSA(10, random_state=0).fit(views)
    assert model.topic_stability_.max() < UNSTABLE / 2
    assert model.doc_confidence_.mean() < 0.1


def test_wrong_labels_have_little_confidence(model, planted):
    right = model.labels_ == [
        np.bincount(model.labels_[planted.labels == c]).argmax() for c in planted.labels
    ]
    assert model.doc_confidence_[~right].mean() < model.doc_confidence_[right].mean() - 0.2


def test_documents_outside_the_sample_are_like_those_inside(monkeypatch, planted):
    monkeypatch.setattr("coview.ensemble.reliability.SAMPLE", 150)
    model = LinkPLSA(5, random_state=0).fit(planted)
    assert (model.doc_confidence_ > 0).mean() > 0.95
    assert model.doc_confidence_.max() <= 1
    assert abs(model.doc_confidence_.mean() - model.topic_stability_.mean()) < 0.15


def test_restarts_alone_give_stability(planted):
    params = {"init": "random", "random_state": 0, "max_iter": 15, "tol": 0}
    assert LinkPLSA(5, **params).fit(planted).topic_stability_ is None
    model = LinkPLSA(8, n_init=3, **params).fit(planted)
    assert model.topic_stability_.shape == (8,)
    known = model.topic_stability_[np.bincount(model.labels_, minlength=8) > 0]
    assert known.min() < 0.5 < known.max() <= 1


@pytest.mark.filterwarnings("ignore:Most topics are as unstable")
def test_the_run_that_is_kept_is_not_compared_with_itself(planted, tmp_path):
    params = {"init": "random", "random_state": 0, "max_iter": 2, "n_init": 2, "tol": 0}
    model = LinkPLSA(8, **params).fit(planted, checkpoint=Checkpoint(tmp_path / "run"))
    assert model.topic_stability_.max() < 1


def test_a_model_keeps_its_stability_in_its_file(model, tmp_path):
    model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    np.testing.assert_array_equal(again.topic_stability_, model.topic_stability_)
    np.testing.assert_array_equal(again.doc_confidence_, model.doc_confidence_)


def test_empty_documents_have_no_confidence(planted):
    rows = {name: matrix.toarray() for name, matrix in planted.matrices.items()}
    for matrix in rows.values():
        matrix[:3] = 0
    model = LinkPLSA(5, random_state=0).fit(Views(rows))
    assert not model.doc_confidence_[:3].any()
    assert model.doc_confidence_[3:].mean() > 0.8


# -- in words and in commands ----------------------------------------------------------------------


def test_unstable_topics_in_words():
    found = np.array([0.9, 0.21, np.nan, 0.1])
    assert unstable_topics(found).tolist() == [3, 1]
    text = describe_unstable(found, [None, "sport", None, None])
    assert text.startswith("Topics 3 (0.10) and 1 'sport' (0.21) are unstable: ")
    assert "n_init" in text
    assert describe_unstable(np.array([0.9, 0.1])).startswith("Topic 1 (0.10) is unstable: ")
    many = describe_unstable(np.full(30, 0.2))
    assert many.startswith("30 of 30 topics are unstable, most of all 0 (0.20), 1 (0.20)")
    assert describe_unstable(np.array([0.9, np.nan])) == describe_unstable(None) == ""


def test_a_verdict_on_all_topics_needs_documents():
    assert are_like_chance(np.array([0.05, 0.02, 0.3]), 500)
    assert not are_like_chance(np.array([0.05, 0.02, 0.3]), 50)
    assert not are_like_chance(np.array([0.05, 0.2, 0.3]), 500)
    assert not are_like_chance(None, 500)


def test_commands_show_stability(tmp_path):
    make_views(400, 5, random_state=0, **NOISE).save(tmp_path / "noise")
    file = tmp_path / "noise.coview"
    code, _, said = inside("fit", tmp_path / "noise", "-k", "10", "-o", file)
    assert code == 0
    assert "10 of 10 topics are unstable, most of all" in said
    out = working("fit", tmp_path / "noise", "-k", "3", "-o", tmp_path / "three", "--json")
    assert len(json.loads(out)["stability"]) == 3
    assert "stability" in working("topics", file)
    topics = json.loads(working("topics", file, "--json"))
    assert all(0 <= topic["stability"] < UNSTABLE for topic in topics)
    assert "median" in json.loads(working("info", file, "--json"))["stability"]


def test_commands_show_no_stability_that_is_not_known(planted, tmp_path):
    planted.save(tmp_path / "views")
    file = tmp_path / "random.coview"
    random = ("-k", "5", "--set", "init=random", "--set", "ensemble=0", "-o", file)
    code, out, _ = inside("fit", tmp_path / "views", *random, "--json")
    assert code == 0
    assert json.loads(out)["stability"] is None
    assert "stability" not in working("topics", file)
    assert "stability" not in json.loads(working("info", file, "--json"))
