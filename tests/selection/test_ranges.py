"""Candidates."""

import pytest

from coview.selection.ranges import check_candidates, coarse_grid, parse_topics, refined_grid


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("5:8", [5, 6, 7, 8]),
        ("5:20:5", [5, 10, 15, 20]),
        ("4:4", [4]),
        (range(3, 6), [3, 4, 5]),
        ([9, 4, 4], [4, 9]),
    ],
)
def test_candidates_are_read(given, found):
    assert parse_topics(given) == found


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("40:5", "reversed.*5:40"),
        ("5:x", "looks like 5:40"),
        ("7", "looks like 5:40"),
        ("5:40:0", "LOW:HIGH:STEP"),
        ("5:40:5:1", "LOW:HIGH:STEP"),
        ("1:4", "at least 2"),
        ([], "no number"),
        ([2.5, 3], "integer"),
        (7, "several numbers"),
    ],
)
def test_what_is_no_range_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        parse_topics(given)


def test_more_topics_than_documents_are_refused():
    check_candidates([2, 30], 30, 30)
    with pytest.raises(ValueError, match=r"40 topics are more.*30 documents\. Try at most 15"):
        check_candidates([2, 40], 30, 30)
    with pytest.raises(ValueError, match="50 documents, of which 30"):
        check_candidates([2, 40], 30, 50)


def test_a_wide_range_is_looked_at_coarsely_first():
    coarse = coarse_grid(range(2, 301), extra=[77])
    assert len(coarse) <= 40
    assert {2, 3, 77, 300} <= set(coarse)
    assert refined_grid(range(2, 301), coarse, coarse[20])[0] == coarse[19]
    assert coarse_grid(range(5, 41), extra=[]) == list(range(5, 41))
