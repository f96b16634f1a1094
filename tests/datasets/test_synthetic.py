"""make_views: planted topics, noise, missing views, any size."""

import tracemalloc

import numpy as np
import pytest

from coview.datasets import make_views, synthetic


def dense(views, name):
    return views[name].toarray()


def same(a, b):
    return (a != b).nnz == 0


def label_of_likeliest_topic(views, truth, name):
    """Labels by Bayes' rule with the planted p(w|z): what the view's counts know of the topic."""
    return (views[name] @ np.log(truth.p_w_z[name] + 1e-9).T).argmax(axis=1)


def agreement(views, truth, name):
    return np.mean(label_of_likeliest_topic(views, truth, name) == views.labels)


def test_shapes_and_names_follow_one_number_of_terms():
    views = make_views(n_docs=20, n_terms=30, n_views=2)
    assert {name: views[name].shape for name in views.names} == {
        "view_0": (20, 30),
        "view_1": (20, 30),
    }


def test_a_list_of_terms_makes_one_view_for_each():
    views = make_views(n_docs=20, n_terms=[30, 40])
    assert [views[name].shape[1] for name in views.names] == [30, 40]


def test_a_dict_of_terms_names_the_views():
    views = make_views(n_docs=20, n_terms={"text": 30, "image": 40})
    assert (views["text"].shape, views["image"].shape) == ((20, 30), (20, 40))


def test_names_of_many_views_are_in_alphabetical_order():
    views = make_views(n_docs=5, n_terms=list(range(1, 13)))
    assert [views[name].shape[1] for name in sorted(views.names)] == list(range(1, 13))


def test_counts_are_whole_numbers():
    counts = make_views(n_docs=50)["view_0"].data
    assert np.all(counts == np.round(counts))
    assert counts.min() >= 1


def test_mean_document_length_is_the_one_asked_for():
    views = make_views(n_docs=2000, doc_length={"view_0": 40, "view_1": 80})
    lengths = [views[name].sum() / 2000 for name in views.names]
    assert lengths == pytest.approx([40, 80, 100], rel=0.02)


def test_no_document_is_empty_even_if_short():
    views = make_views(n_docs=200, doc_length=0.5)
    assert all(views[name].sum(axis=1).min() >= 1 for name in views.names)


def test_labels_are_the_dominant_planted_topics():
    views, truth = make_views(n_docs=50, return_truth=True)
    np.testing.assert_array_equal(views.labels, truth.theta.argmax(axis=1))


def test_planted_distributions_sum_to_one():
    _, truth = make_views(n_docs=50, return_truth=True)
    for rows in (truth.theta, *truth.p_w_z.values()):
        np.testing.assert_allclose(rows.sum(axis=1), 1)


def test_counts_follow_the_planted_mixtures():
    views, truth = make_views(
        n_docs=200, n_topics=3, n_terms=20, doc_length=20_000, return_truth=True
    )
    counts = dense(views, "view_1")
    expected = truth.theta @ truth.p_w_z["view_1"]
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), expected, atol=0.02)


def test_planted_topics_can_be_told_from_every_view():
    views, truth = make_views(return_truth=True)
    assert all(agreement(views, truth, name) > 0.9 for name in views.names)


def test_a_view_of_noise_says_nothing_about_the_labels():
    views, truth = make_views(n_docs=2000, view_noise={"view_1": 1.0}, return_truth=True)
    assert agreement(views, truth, "view_0") > 0.9
    assert agreement(views, truth, "view_1") < 0.3  # chance is 0.2


def test_noise_in_one_view_leaves_the_others_as_they_were():
    clean, noisy = make_views(), make_views(view_noise={"view_1": 0.5})
    assert same(clean["view_0"], noisy["view_0"])
    assert not same(clean["view_1"], noisy["view_1"])


def test_every_document_keeps_at_least_one_view():
    views = make_views(n_docs=300, missing=1.0)
    np.testing.assert_array_equal(views.present.sum(axis=1), 1)


def test_the_share_of_missing_views_is_the_one_asked_for():
    views = make_views(n_docs=5000, n_terms={"b": 20, "a": 20}, missing={"b": 0.3})
    present = dict(zip(views.names, views.present.mean(axis=0), strict=True))
    assert present == pytest.approx({"a": 1.0, "b": 0.7}, abs=0.02)


def test_rows_of_missing_views_are_empty_and_all_others_are_not():
    views = make_views(n_docs=300, n_terms={"b": 20, "a": 20}, missing={"b": 0.5})
    for v, name in enumerate(views.names):
        np.testing.assert_array_equal(views[name].sum(axis=1) > 0, views.present[:, v])


def test_missing_views_leave_the_counts_of_the_present_ones_as_they_were():
    whole, holed = make_views(), make_views(missing=0.4)
    for v, name in enumerate(whole.names):
        kept = holed.present[:, v]
        assert same(whole[name][kept], holed[name][kept])


def test_the_same_seed_gives_the_same_counts():
    assert same(make_views(random_state=3)["view_2"], make_views(random_state=3)["view_2"])


def test_another_seed_gives_other_counts():
    assert not same(make_views(random_state=3)["view_2"], make_views(random_state=4)["view_2"])


def test_another_view_leaves_the_first_ones_as_they_were():
    assert same(make_views(n_views=2)["view_1"], make_views(n_views=3)["view_1"])


def test_a_generator_moves_on_from_call_to_call():
    rng = np.random.default_rng(0)
    assert not same(make_views(random_state=rng)["view_0"], make_views(random_state=rng)["view_0"])


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0)])
def test_other_kinds_of_random_state_are_accepted(random_state):
    assert len(make_views(n_docs=10, random_state=random_state)) == 10


def test_documents_of_all_blocks_follow_their_mixtures(monkeypatch):
    monkeypatch.setattr(synthetic, "TOKENS_PER_BLOCK", 1000)  # ten documents in each block
    views, truth = make_views(n_docs=95, return_truth=True)
    assert len(views) == 95
    assert agreement(views, truth, "view_0") > 0.9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_the_one_asked_for(dtype):
    assert make_views(n_docs=10, dtype=dtype)["view_0"].dtype == dtype


def test_memory_grows_with_the_tokens_and_not_with_documents_times_terms():
    tracemalloc.start()
    make_views(n_docs=5000, n_terms=50_000, n_views=1, doc_length=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5000 * 50_000 * 4 / 10  # a tenth of the dense matrix


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_docs": 0}, "n_docs must be an integer of at least 1; got 0"),
        ({"n_topics": 2.5}, "n_topics must be an integer"),
        ({"n_terms": {}}, "n_terms names no view"),
        ({"n_terms": [10, 0]}, "n_terms of view 'view_1' must be"),
        ({"n_views": 0}, "n_views must be"),
        ({"doc_length": 0}, "doc_length of view 'view_0' must be a finite number above 0"),
        ({"doc_length": {"text": 5}}, "doc_length names the views .'text'.; the data have"),
        ({"concentration": -1}, "concentration must be"),
        ({"term_concentration": np.nan}, "term_concentration must be"),
        (
            {"view_noise": 1.5},
            "view_noise of view 'view_0' must be a finite number",
        ),
        ({"missing": {"view_1": -0.1}}, "missing of view 'view_1' must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"dtype": np.uint8}, "dtype must be float32 or float64; got"),
    ],
)
def test_wrong_parameters_are_named_with_what_was_found(arguments, words):
    with pytest.raises(ValueError, match=words):
        make_views(**arguments)
