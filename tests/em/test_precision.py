"""Values beyond the working precision: refused by name, or left out where that is harmless."""

from inspect import signature

import numpy as np
import pytest
import scipy.sparse as sp

from coview import LTM, MGGM, MVPLSA, PLSA, LinkPLSA, TopicClassifier
from coview.em.precision import check_weighted, largest_value, narrowed, smallest_value
from coview.models import MODEL_NAMES, ONE_VIEW, model_class

SINGLE, DOUBLE = np.dtype("f4"), np.dtype("f8")
COMMON = {"init": "random", "random_state": 0, "max_iter": 8, "tol": 0}


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    return {"a": rng.poisson(0.3, (40, 60)).astype(float), "b": rng.poisson(0.3, (40, 50))}


def are_shares(rows):
    return np.isfinite(rows).all() and (rows >= 0).all() and np.allclose(rows.sum(axis=1), 1)


# -- matrices --------------------------------------------------------------------------------------


def test_values_within_the_range_are_cast_and_nothing_else():
    matrix = sp.csr_array([[0.1, 0, 3], [0, 1e-30, 0]])
    found = narrowed("a", matrix, SINGLE)
    np.testing.assert_array_equal(found.toarray(), matrix.toarray().astype("f4"))
    assert np.shares_memory(found.indices, matrix.indices)
    assert narrowed("a", found, SINGLE).data is found.data


def test_small_values_beside_large_ones_are_left_out():
    matrix = sp.csr_array([[1.0, 1e-40], [1e-3, 1e-200]])
    found = narrowed("a", matrix, SINGLE)
    assert found.nnz == 2
    assert matrix.nnz == 4, "the given matrix was altered"
    assert narrowed("a", matrix, DOUBLE).nnz == 4


@pytest.mark.parametrize("small", [1e-45, 1e-38, 1e-32])
def test_small_values_that_a_document_is_made_of_are_refused(small):
    with pytest.raises(ValueError, match=r"View 'a' has the value .* at row 1, column 0"):
        narrowed("a", sp.csr_array([[1.0, 0], [small, small]]), SINGLE)


def test_scaled_values_far_below_their_unit_are_rounding():
    assert narrowed("a", sp.csr_array([[1.0, 0], [1e-40, 1e-45]]), SINGLE, unit=1.0).nnz == 1


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_the_limits_themselves_are_taken(dtype):
    ends = sp.csr_array([[largest_value(dtype)], [smallest_value(dtype)]])
    assert (narrowed("a", ends, dtype).data > 0).all()


# -- models ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-46, 1e-44, 1e-36, 1e32, 1e37, 1e39, 1e300])
def test_views_beyond_the_precision_are_refused_in_fit_and_transform(counts, scale):
    model = PLSA(3, **COMMON).fit({"a": counts["a"]})
    beyond = {"a": counts["a"] * scale}
    for use in (PLSA(3, **COMMON).fit, model.transform, model.predict, model.score):
        with pytest.raises(ValueError, match=r"View 'a' has .*float32"):
            use(beyond)


@pytest.mark.parametrize("scale", [1e-28, 1e-20, 1e-5, 1e5, 1e20, 1e30])
def test_views_within_the_precision_give_the_same_mixtures(counts, scale):
    model = PLSA(3, **COMMON).fit({"a": counts["a"]})
    scaled = PLSA(3, **COMMON).fit({"a": counts["a"] * scale})
    np.testing.assert_allclose(scaled.doc_topic_, model.doc_topic_, atol=1e-4)
    found = model.transform({"a": counts["a"] * scale})
    np.testing.assert_allclose(found, model.transform({"a": counts["a"]}), atol=1e-4)


def test_double_precision_takes_what_single_precision_cannot(counts):
    for scale in (1e-46, 1e39):
        model = PLSA(3, dtype="float64", **COMMON).fit({"a": counts["a"] * scale})
        assert are_shares(model.doc_topic_)


@pytest.mark.parametrize("model", [LTM, PLSA])
@pytest.mark.parametrize("weight", [1e300, 1e36, 1e-300, 1e-45])
def test_the_weight_of_a_single_view_is_refused_by_name(model, weight, counts):
    with pytest.raises(ValueError, match=r"The weight of view 'X' is .*weighted counts"):
        model(3, view_weights=weight, **COMMON).fit(counts["a"])


@pytest.mark.parametrize("model", [LinkPLSA, MVPLSA, MGGM])
def test_the_weights_of_several_views_are_refused_by_name(model, counts):
    with pytest.raises(ValueError, match="The weight of view 'b' is"):
        model(3, view_weights={"a": 1.0, "b": 1e300}, **COMMON).fit(counts)
    fitted = model(3, view_weights={"a": 1.0, "b": 1e20}, **COMMON).fit(counts)
    with pytest.raises(ValueError, match="The weight of view 'b' is 1e\\+20"):
        fitted.transform({"b": counts["b"] * 1e20})


def test_a_view_without_counts_or_weight_may_have_any():
    empty, ones = sp.csr_array((2, 2), dtype="f4"), sp.csr_array(np.ones((2, 2), "f4"))
    check_weighted({"a": 1e300, "b": 0.0}, [empty, ones])


NUMBERS = {
    "doc_topic_prior": 1e300,
    "topic_word_prior": 1e39,
    "ensemble": 1e39,
    "seeds": {0: {"a": {0: 1e39, 1: 1.0}}},
    "strength": 1e39,
    "view_weights": {"a": 1e39, "b": 1.0},
}


@pytest.mark.parametrize(
    ("name", "number"),
    [(m, n) for m in MODEL_NAMES for n in NUMBERS if n in signature(model_class(m)).parameters],
)
def test_no_number_makes_anything_but_probabilities(name, number, counts):
    views = {"a": counts["a"]} if name in ONE_VIEW else counts
    value = NUMBERS[number]
    if number == "view_weights" and name in ONE_VIEW:
        value = {"a": 1e39}
    with pytest.raises(ValueError, match=r"at most|The weight of view 'a'"):
        model_class(name)(3, **COMMON, **{number: value}).fit(views)


def test_the_votes_of_a_guess_are_limited(counts):
    guess = np.full((40, 3), 1 / 3)
    with pytest.raises(ValueError, match=r"guess_strength must be at most 1e\+15"):
        LinkPLSA(3, **COMMON).fit(counts, guess=guess, guess_strength=1e39)
    with pytest.raises(ValueError, match=r"guess_strength must be at most 1e\+15"):
        TopicClassifier(LinkPLSA(3, **COMMON), guess_strength=1e39).fit(counts, [0, 1] * 20)


def test_measurements_whose_range_is_not_finite_are_refused():
    wide = np.random.default_rng(0).uniform(-1, 1, (20, 4))
    wide[:2, 0] = 1.7e308, -1.7e308
    with pytest.raises(ValueError, match=r"View 'm' .*range"):
        PLSA(2, **COMMON).fit({"m": wide})


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e10])
def test_measurements_of_any_size_are_scaled(scale):
    values = np.random.default_rng(0).uniform(-1, 1, (20, 4))
    model = PLSA(2, **COMMON).fit({"m": values})
    other = PLSA(2, **COMMON).fit({"m": values * scale})
    np.testing.assert_allclose(other.doc_topic_, model.doc_topic_, atol=1e-5)
    np.testing.assert_allclose(
        other.transform({"m": values * scale}), model.transform({"m": values}), atol=1e-5
    )
