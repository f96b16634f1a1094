"""Ranking scores: worked examples, explicit loops, scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from coview.metrics import (
    average_precisions,
    match_ranks,
    mean_average_precision,
    median_rank,
    precision_at_k,
)
from coview.metrics import retrieval as ranking
from tests.reference import metrics as naive


@pytest.fixture
def case(rng):
    return rng.random((12, 40)), rng.integers(0, 3, 12), rng.integers(0, 3, 40)


def test_average_precision_by_hand():
    # relevant at ranks 1, 3, 6: precisions 1, 2/3, 1/2
    scores = np.array([[9.0, 8, 7, 6, 5, 4]])
    gallery = ["a", "b", "a", "b", "b", "a"]
    expected = (1 + 2 / 3 + 1 / 2) / 3
    assert average_precisions(scores, ["a"], gallery)[0] == pytest.approx(expected)
    assert precision_at_k(scores, ["a"], gallery, k=4) == 0.5


def test_the_first_ten_relevant_hits_by_hand():
    # relevant at every second rank, 12 of them: the first ten have precisions 1/1, 2/3, ... 10/19
    gallery = ["a", "b"] * 12
    scores = -np.arange(24.0)[None]
    at = [(i + 1) / (2 * i + 1) for i in range(12)]
    first = mean_average_precision(scores, ["a"], gallery, kind="first_ten")
    assert first == pytest.approx(np.mean(at[:10]))
    assert mean_average_precision(scores, ["a"], gallery) == pytest.approx(np.mean(at))


def test_the_first_ten_ranks_by_hand():
    gallery = ["b", "a", "b", "a"] + ["b"] * 6 + ["a"]  # relevant at 2, 4 and, too late, at 11
    scores = -np.arange(11.0)[None]
    found = mean_average_precision(scores, ["a"], gallery, kind="top_ten")
    assert found == pytest.approx((1 / 2 + 2 / 4) / 2)


def test_scores_without_a_sign_are_ordered_like_others():
    scores = np.array([[3, 0, 2]], np.uint8)
    assert average_precisions(scores, ["a"], ["b", "b", "a"]).tolist() == [1 / 2]
    assert average_precisions(scores > 1, ["a"], ["b", "b", "a"]).tolist() == [1 / 2]


def test_neither_kind_is_always_the_larger():
    good = np.array(["a"] * 10 + ["b"] * 20 + ["a"])  # ten hits at once, one far behind
    bad = np.array(["b"] * 10 + ["a"] * 30)  # misses first, then nothing but hits
    for gallery, larger in ((good, "first_ten"), (bad, "standard")):
        scores = -np.arange(float(len(gallery)))[None]
        found = {
            kind: mean_average_precision(scores, ["a"], gallery, kind=kind)
            for kind in ("first_ten", "standard")
        }
        assert max(found, key=found.get) == larger


def test_scores_are_those_of_explicit_loops(case):
    readings = {"standard": "full", "first_ten": "first", "top_ten": "within"}
    for kind, reading in readings.items():
        expected = naive.mean_average_precision(*case, reading=reading)
        assert mean_average_precision(*case, kind=kind) == pytest.approx(expected)
    expected = naive.mean_average_precision(*case, reading="precision", top=7)
    assert precision_at_k(*case, k=7) == pytest.approx(expected)


def test_the_standard_kind_is_that_of_scikit_learn(case):
    scores, queries, gallery = case
    expected = [
        average_precision_score(gallery == q, s) for q, s in zip(queries, scores, strict=True)
    ]
    np.testing.assert_allclose(average_precisions(*case), expected)


def test_blocks_of_queries_change_nothing(case, monkeypatch):
    whole = average_precisions(*case)
    monkeypatch.setattr(ranking, "BLOCK", 90)
    np.testing.assert_array_equal(average_precisions(*case), whole)


def test_a_query_without_a_relevant_item_scores_zero():
    assert average_precisions(np.ones((1, 3)), ["c"], ["a", "b", "a"]).tolist() == [0.0]


def test_equal_scores_are_ranked_by_index():
    assert average_precisions(np.ones((1, 3)), ["a"], ["b", "b", "a"]).tolist() == [1 / 3]


def test_median_rank_of_own_and_of_given_partners(case):
    scores = case[0]
    assert median_rank(scores) == np.median(match_ranks(scores))
    partners = np.arange(12)[::-1]
    assert median_rank(scores, partners) == naive.median_rank(scores, partners)


def test_wrong_shapes_and_missing_numbers_are_refused(case):
    scores, queries, gallery = case
    with pytest.raises(ValueError, match=r"shape \(12, 40\), but there are labels for 40 queries"):
        mean_average_precision(scores, gallery, queries)
    with pytest.raises(ValueError, match="kind must be one of 'standard', 'first_ten', 'top_ten'"):
        mean_average_precision(*case, kind="map")
    with pytest.raises(ValueError, match="at least one of each"):
        mean_average_precision(np.ones((0, 3)), [], [0, 1, 2])
    scores[2, 5] = np.nan
    with pytest.raises(ValueError, match="NaN at row 2, column 5"):
        median_rank(scores)
    with pytest.raises(ValueError, match="belongs to each query"):
        median_rank(np.ones((3, 2)))
    with pytest.raises(ValueError, match="an integer"):
        median_rank(np.ones((2, 2)), [0.0, np.nan])
