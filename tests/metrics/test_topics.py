"""Coherence and diversity of topics: worked by hand, and against explicit loops."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Views
from coview.metrics import topic_coherence, topic_diversity, topic_quality


def test_coherence_by_hand():
    # of four documents, w0 is in 3, w1 in 2, w2 in 2; w0,w1 in 2; w0,w2 in 1; w1,w2 in 0
    counts = [[1, 2, 0], [4, 1, 0], [1, 0, 1], [0, 0, 5]]
    first = np.log((2 / 4) / (3 / 4 * 2 / 4)) / -np.log(2 / 4)  # 0.415
    second = np.log((1 / 4) / (3 / 4 * 2 / 4)) / -np.log(1 / 4)  # -0.292
    topics = np.array([[0.5, 0.3, 0.2], [0.5, 0.5, 0.0]])
    found = topic_coherence(topics, counts)
    np.testing.assert_allclose(found, [(first + second - 1) / 3, first])


def naive_coherence(topic, X, top):
    words = [w for w in sorted(range(len(topic)), key=lambda w: (-topic[w], w))[:top] if topic[w]]
    values = []
    for a, v in enumerate(words):
        for w in words[a + 1 :]:
            joint = np.mean([(row[v] > 0 and row[w] > 0) for row in X])
            one, other = np.mean(X[:, v] > 0), np.mean(X[:, w] > 0)
            if joint in (0, 1):
                values.append(-1 if joint == 0 else 0)
            else:
                values.append(np.log(joint / (one * other)) / -np.log(joint))
    return np.mean(values)


def test_coherence_is_that_of_explicit_loops(rng):
    X = rng.poisson(0.6, (30, 12))
    topics = rng.dirichlet(np.full(12, 0.3), 4)
    expected = [naive_coherence(t, X, 5) for t in topics]
    np.testing.assert_allclose(topic_coherence(topics, sp.csr_array(X), top=5), expected)


def test_words_of_every_document_say_nothing():
    assert topic_coherence(np.array([[0.5, 0.5]]), np.ones((3, 2))).tolist() == [0.0]


def test_a_topic_of_one_word_has_no_coherence():
    assert np.isnan(topic_coherence(np.array([[1.0, 0.0]]), np.ones((3, 2)))).all()


def test_topics_and_counts_of_different_widths_are_refused():
    with pytest.raises(ValueError, match="topics have 2 terms"):
        topic_coherence(np.array([[0.5, 0.5]]), np.ones((3, 4)))


def test_diversity_by_hand():
    topics = np.array([[0.4, 0.3, 0.2, 0.1], [0.4, 0.1, 0.2, 0.3], [0.1, 0.4, 0.2, 0.3]])
    assert topic_diversity(topics, top=1) == pytest.approx(2 / 3)
    assert topic_diversity(topics, top=2) == pytest.approx(3 / 6)


def test_quality_leaves_out_documents_that_lack_the_view():
    counts = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    views = Views({"a": counts, "b": np.ones((4, 1))})
    topics = {"a": np.array([[0.5, 0.5]])}
    found = topic_quality(SimpleNamespace(components_=topics), views)
    assert found["a"]["coherence"] == topic_coherence(topics["a"], counts[:3])[0]
    assert found["a"]["coherence"] != topic_coherence(topics["a"], counts)[0]
    assert found["a"]["diversity"] == 1


def test_a_view_that_no_document_has_has_no_coherence():
    views = Views({"a": np.zeros((3, 2)), "b": np.ones((3, 1))})
    found = topic_quality(SimpleNamespace(components_={"a": np.array([[0.5, 0.5]])}), views)
    assert np.isnan(found["a"]["coherence"])
    assert found["a"]["diversity"] == 1


def test_topics_of_a_view_that_is_not_there_are_named():
    model = SimpleNamespace(components_={"c": np.array([[0.5, 0.5]])})
    with pytest.raises(ValueError, match=r"the views \['c'\]; the data have \['a'\]"):
        topic_quality(model, Views({"a": np.ones((3, 2))}))


def test_topics_must_be_a_matrix_of_numbers():
    assert topic_coherence([[0.5, 0.5]], [[1, 1], [0, 1]]).tolist() == [0.0]
    for bad in ([0.5, 0.5], [[0.5, np.nan]], np.ones((0, 2))):
        with pytest.raises(ValueError, match=r"matrix \(topics, terms\) of finite numbers"):
            topic_diversity(bad)


def test_topics_without_words_have_no_diversity():
    assert np.isnan(topic_diversity(np.zeros((2, 2))))
