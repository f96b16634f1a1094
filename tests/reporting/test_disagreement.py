"""Disagreement beyond chance: against a naive loop, on planted faults, and where views lack."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from coview import LinkPLSA, Views
from coview.datasets import make_views
from coview.reporting.disagreement import (
    C,
    divergence,
    explain,
    explain_drawn,
    mean_by_topic,
    measure_disagreement,
    measure_fit,
    most_alike,
)
from coview.reporting.folding import (
    SMOOTHING,
    draw_documents,
    drawn_blocks,
    fold_views,
    resample,
    token_lengths,
)
from tests.reference import report as naive

SIZES = {"text": 60, "image": 40}


def fitted(views, n_topics=4, **options):
    options = {"init": "random", "max_iter": 40, "tol": 1e-4, "random_state": 0, **options}
    return LinkPLSA(n_topics, **options).fit(views)


@pytest.fixture(scope="module")
def folded():
    made = make_views(120, 4, SIZES, random_state=1)
    image = made["image"].toarray()
    image[5] = 0  # this document lacks it
    views = Views({"text": made["text"], "image": image})
    return fold_views(fitted(views), views)


@pytest.fixture(scope="module")
def found(folded):
    real, drawn = explain(folded), explain_drawn(folded, 3, np.random.default_rng(0))
    return measure_disagreement(folded, folded.joint, real, drawn), real, drawn


# -- against the naive loop ------------------------------------------------------------------------


def naive_loss(folded, counts, alone, document):
    """The mean of both directions, relative to the gain of these counts."""
    losses = []
    for a, b in (("text", "image"), ("image", "text")):
        p_w = folded.model.term_counts_[b] / folded.model.term_counts_[b].sum()
        p_w_z = folded.model.components_[b].astype(float)
        x = counts[b][[document]].toarray().ravel()
        mixtures = alone[b][document], alone[a][document]
        losses.append(naive.loss(x, *mixtures, p_w_z, p_w, smoothing=SMOOTHING, constant=C))
    return np.mean(losses)


@pytest.mark.parametrize("document", [0, 17, 101])
def test_losses_are_those_of_the_naive_loop(folded, found, document):
    expected = naive_loss(folded, folded.counts, folded.alone, document)
    assert found[0].value[document] == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_the_divergence_is_that_of_the_naive_loop(folded, found):
    for d in (0, 40):
        one, other = (folded.alone[name][d] for name in ("text", "image"))
        expected = naive.jensen_shannon(one.tolist(), other.tolist())
        assert found[0].divergence[d] == pytest.approx(expected, rel=1e-4, abs=1e-6)
    rows = np.random.default_rng(0).dirichlet(np.ones(5), 8)
    expected = [naive.jensen_shannon(a, b) for a, b in zip(rows, rows[::-1], strict=True)]
    np.testing.assert_allclose(divergence(rows, rows[::-1]), expected)


def test_the_chance_level_is_that_of_documents_drawn_one_by_one(folded, found):
    """Draw some documents token by token, fold them in, and compare the mean loss."""
    rng, times = np.random.default_rng(3), 60
    model = folded.model
    many = explain_drawn(folded, 15, np.random.default_rng(9))
    exact = measure_disagreement(folded, folded.joint, found[1], many)
    for d in (2, 30):
        drawn = {}
        for name in SIZES:
            words = np.zeros((times, SIZES[name]))
            p_w_z = model.components_[name].astype(float)
            p_w_z /= p_w_z.sum(axis=1, keepdims=True)
            mixture = folded.joint[d].astype(float) / folded.joint[d].sum(dtype=float)
            for t in range(times):
                for _ in range(int(folded.counts[name][[d]].sum())):
                    z = rng.choice(len(mixture), p=mixture)
                    words[t, rng.choice(SIZES[name], p=p_w_z[z])] += 1
            drawn[name] = sp.csr_array(words)
        alone = {n: model.fold_in(Views({n: counts})).doc_topic for n, counts in drawn.items()}
        lost = []
        for a, b in (("text", "image"), ("image", "text")):
            p_w = model.term_counts_[b] / model.term_counts_[b].sum()
            options = model.components_[b].astype(float), p_w, SMOOTHING
            gain = found[1].gain(b)[d] + C
            for t in range(times):
                x = drawn[b][[t]].toarray().ravel()
                own, other = (naive.log_likelihood(x, alone[n][t], *options) for n in (b, a))
                lost.append((own - other) / gain)
        sd = np.std(lost) / np.sqrt(10)  # 15 draws against 60
        assert exact.chance[d] == pytest.approx(np.mean(lost), abs=3 * sd)
        assert np.mean(lost) > 2 * np.std(lost) / np.sqrt(len(lost))  # there is something to find


# -- documents drawn from the model ----------------------------------------------------------------


def test_drawn_documents_have_the_lengths_and_the_mixture_asked_for():
    rng = np.random.default_rng(0)
    p_w_z = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    lengths = np.array([20_000, 0, 7])
    mixtures = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    drawn = draw_documents(lengths, mixtures, p_w_z, rng).toarray()
    assert drawn.sum(axis=1).tolist() == lengths.tolist()
    np.testing.assert_allclose(drawn[0] / 20_000, mixtures[0] @ p_w_z, atol=0.015)
    assert drawn[2, 2] == 0


def test_the_memory_of_a_draw_follows_terms_not_tokens():
    rng = np.random.default_rng(0)
    p_w_z, lengths = rng.dirichlet(np.ones(8), 2), np.full(12, 300_000)
    tracemalloc.start()
    try:
        drawn = draw_documents(lengths, rng.dirichlet(np.ones(2), 12), p_w_z, rng)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert drawn.sum(axis=1).tolist() == lengths.tolist()
    assert drawn.nnz <= 12 * 8
    assert peak < 200_000  # an element for each token were 100 MB


def test_documents_are_drawn_in_parts(folded, monkeypatch):
    """Documents of many tokens are not all held at once; each is drawn as long as it is."""
    whole = explain_drawn(folded, 20, np.random.default_rng(0))
    monkeypatch.setattr("coview.reporting.folding.BLOCK", 2000)
    parts = drawn_blocks(folded, list(SIZES), np.arange(120))
    assert len(parts) > 3
    assert np.concatenate(parts).tolist() == list(range(120))
    found = explain_drawn(folded, 20, np.random.default_rng(0))
    for name in SIZES:
        assert found.sums[name][:, 2].tolist() == whole.sums[name][:, 2].tolist()
        np.testing.assert_allclose(found.sums[name].mean(0), whole.sums[name].mean(0), rtol=0.02)


def test_weights_that_are_no_counts_keep_their_sum(folded):
    counts = sp.csr_array([[0.5, 0.25, 0.25], [0.0, 0.0, 0.0], [0.1, 0.1, 0.1]])
    lengths, weights = token_lengths(counts)
    assert lengths.tolist() == [3, 0, 3]  # 1 / .375, and three equal ones
    np.testing.assert_allclose(lengths * weights, [1.0, 0.0, 0.3])
    drawn = resample(folded, "text", np.array([3, 4]), np.random.default_rng(0))
    expected = folded.counts["text"][[3, 4]].sum(axis=1)
    np.testing.assert_allclose(drawn.sum(axis=1), expected)


# -- what it is for --------------------------------------------------------------------------------


def test_a_wrong_view_comes_first():
    views = make_views(400, 8, {"text": 200, "image": 150}, random_state=0)
    rows = np.random.default_rng(0).choice(400, 20, replace=False)
    source = np.arange(400)
    source[rows] = np.roll(rows, 1)
    classes = np.asarray(views.labels)
    other = rows[classes[rows] != classes[source[rows]]]
    faulty = Views({"text": views["text"], "image": views["image"][source]})
    folded = fold_views(fitted(faulty, 8, init="kmeans"), faulty)
    real, drawn = explain(folded), explain_drawn(folded, 2, np.random.default_rng(0))
    beyond = measure_disagreement(folded, folded.joint, real, drawn).beyond
    first = np.argsort(-beyond)[: len(other)]
    assert np.isin(first, other).mean() >= 0.8
    assert np.median(beyond[other]) > 0.3 > 0.05 > abs(np.median(np.delete(beyond, rows)))


def test_chance_does_not_rank_short_documents_first():
    """Documents of the model itself: what is left beyond chance does not depend on length."""
    rng = np.random.default_rng(0)
    n, topics = 600, {name: rng.dirichlet(np.full(80, 0.1), 5) for name in ("a", "b")}
    mixtures = rng.dirichlet(np.full(5, 0.3), n)
    lengths = np.where(np.arange(n) % 2, 8, 200)
    views = Views({v: draw_documents(lengths, mixtures, p, rng) for v, p in topics.items()})
    folded = fold_views(fitted(views, 5, init=mixtures), views)
    real, drawn = explain(folded), explain_drawn(folded, 3, rng)
    found = measure_disagreement(folded, folded.joint, real, drawn)
    short = lengths < 100
    assert found.divergence[short].mean() > 2 * found.divergence[~short].mean()
    assert abs(found.beyond[short].mean()) < 0.05
    assert abs(found.beyond[~short].mean()) < 0.05
    # and documents of the model fit it
    assert abs(np.median(measure_fit(folded, real, drawn))) < 0.1


def test_two_halves_of_one_text_agree_though_topics_do_not_fit():
    """Sixty kinds of texts and twelve topics: documents drawn from the model fit it too well."""
    rng = np.random.default_rng(0)
    n = 400
    kinds = rng.dirichlet(np.full(1500, 0.05), 60)
    mixed = rng.dirichlet(np.full(60, 0.05), n)
    views = Views({v: draw_documents(np.full(n, 30), mixed, kinds, rng) for v in ("a", "b")})
    folded = fold_views(fitted(views, 12, max_iter=300), views, of_fit=True)
    real, drawn = explain(folded), explain_drawn(folded, 3, rng)
    found = measure_disagreement(folded, folded.joint, real, drawn)
    assert abs(np.median(found.beyond)) < 0.05
    assert found.noticed.mean() < 0.4
    other = Views({"a": views["a"], "b": views["b"][np.roll(np.arange(n), 1)]})
    folded = fold_views(folded.model, other)
    real, drawn = explain(folded), explain_drawn(folded, 3, rng)
    assert measure_disagreement(folded, folded.joint, real, drawn).noticed.mean() > 0.8


def test_a_document_that_no_topic_fits_is_found():
    views = make_views(200, 3, SIZES, random_state=0)
    rng = np.random.default_rng(1)
    odd = {n: views[n].toarray() for n in SIZES}
    for name, width in SIZES.items():
        odd[name][7] = rng.multinomial(odd[name][7].sum(), np.full(width, 1 / width))
    model = fitted(views, 3, init="kmeans")
    folded = fold_views(model, Views(odd))
    fit = measure_fit(folded, explain(folded), explain_drawn(folded, 2, rng))
    assert np.argmin(fit) == 7


def test_a_document_with_one_view_has_no_disagreement(found):
    disagreement = found[0]
    assert np.flatnonzero(np.isnan(disagreement.beyond)).tolist() == [5]
    assert np.isnan(disagreement.by_pair["text", "image"].value[5])
    np.testing.assert_allclose(
        disagreement.beyond, disagreement.value - disagreement.chance, equal_nan=True
    )


def test_one_wrong_view_of_three_is_not_averaged_away():
    views = make_views(240, 4, {"a": 60, "b": 60, "c": 60}, random_state=2)
    classes = np.asarray(views.labels)
    wrong = 10
    source = np.arange(240)
    source[wrong] = np.flatnonzero(classes != classes[wrong])[0]
    faulty = Views({"a": views["a"], "b": views["b"][source], "c": views["c"]})
    folded = fold_views(fitted(views, init="kmeans"), faulty)
    real, drawn = explain(folded), explain_drawn(folded, 2, np.random.default_rng(0))
    found = measure_disagreement(folded, folded.joint, real, drawn)
    assert np.argmax(found.beyond) == wrong
    own = [found.by_pair[pair].beyond[wrong] for pair in (("a", "b"), ("b", "c"))]
    assert found.beyond[wrong] == pytest.approx(np.mean(own))
    assert found.beyond[wrong] > 2 * found.by_pair["a", "c"].beyond[wrong]


def test_means_by_topic_leave_out_what_is_not_known():
    mixtures = np.repeat([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.9, 0.1]], 6, axis=0)
    values = np.repeat([0.2, 0.8, np.nan], 6)
    # fewer than three documents stand behind the last topic
    np.testing.assert_allclose(mean_by_topic(values, mixtures), [0.4, 0.8, np.nan])


# -- a sample of many documents --------------------------------------------------------------------


def test_a_sample_as_large_as_the_documents_changes_nothing(folded, found):
    again = explain_drawn(folded, 3, np.random.default_rng(0), most=120)
    for name, sums in found[2].sums.items():
        np.testing.assert_array_equal(again.sums[name], sums)


def test_the_chance_level_of_a_sample_is_about_that_of_all(folded, found):
    disagreement, real, _ = found
    some = explain_drawn(folded, 3, np.random.default_rng(1), most=40)
    by_sample = measure_disagreement(folded, folded.joint, real, some)
    np.testing.assert_array_equal(by_sample.value, disagreement.value)
    np.testing.assert_array_equal(np.isnan(by_sample.chance), np.isnan(disagreement.chance))
    apart = np.nanmean(by_sample.chance) - np.nanmean(disagreement.chance)
    assert abs(apart) < 0.03
    assert np.nanstd(by_sample.chance) > 0


def test_a_document_that_was_drawn_stands_for_itself_and_others_for_their_like(rng):
    topic, tokens = rng.integers(3, size=200), rng.integers(1, 500, size=200).astype(float)
    known = rng.random((200, 2)) < 0.8
    rows = np.sort(rng.permutation(200)[:90])
    alike = rows[most_alike(topic, known, tokens, rows)]
    np.testing.assert_array_equal(alike[rows], rows)
    for d in np.setdiff1d(np.arange(200), rows):
        same = [r for r in rows if (known[r] == known[d]).all()]
        same = [r for r in same if topic[r] == topic[d]] or same or list(rows)
        nearest = min(abs(tokens[r] - tokens[d]) for r in same)
        assert alike[d] in same
        assert abs(tokens[alike[d]] - tokens[d]) == nearest
