"""`select_topics`: both ends, what is said, and bad input."""

import json
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from experiments.defaults.planted import KINDS

import coview
from coview import Views
from coview.datasets import make_views
from coview.selection.halves import Confirmed
from coview.selection.topics import _Search, ladder_of, parse_topics


@pytest.fixture(scope="module")
def found():
    return coview.select_topics(make_views(240, 4, [60, 40], random_state=0), "2:9")


def test_both_ends_are_the_planted_number(found):
    assert (found.coarse, found.fine, found.suggestion) == (4, 4, 4)
    assert found.confidence == "high"
    assert found.levels == ()


def test_most_bits_are_confirmed_at_the_planted_number(found):
    best = np.nanmean(found.bits, axis=0).argmax()
    assert found.topics[best] == 4
    assert np.nanmean(found.back, axis=0)[best] == 4
    assert np.nanmax(found.bits) <= 2  # four topics have no more than two bits


def test_the_same_seed_gives_the_same_answer_and_another_range_the_same_numbers(found):
    views = make_views(240, 4, [60, 40], random_state=0)
    again = coview.select_topics(views, range(2, 10))
    assert again.to_dict() == found.to_dict()


def test_it_is_plain_data(found):
    data = json.loads(json.dumps(found.to_dict()))
    assert data["fine"] == 4
    row = next(r for r in data["table"] if r["topics"] == 4)
    assert row["back"] == 4
    assert row["bits_spread"] >= 0


def test_the_text_marks_the_ends(found):
    lines = str(found).splitlines()
    assert lines[0].split() == ["topics", "bits", "spread", "come", "back"]
    assert next(line for line in lines if line.endswith("coarse, fine")).split()[0] == "4"
    assert lines[-1].startswith("4 topics, the number that the data support. Confidence: high; ")


@pytest.fixture(scope="module")
def nested():
    """Three groups of three topics: halves confirm nine, and three as well."""
    rng = np.random.default_rng(0)
    topic = np.arange(540) % 9
    own = np.eye(9).repeat(12, axis=1)[topic]
    group = np.eye(3).repeat(40, axis=1)[topic // 3]
    rate = np.hstack([0.25 * own, 0.5 * group, np.full((540, 40), 0.2)]) + 0.02
    return Views({"a": rng.poisson(rate), "b": rng.poisson(rate)})


def test_topics_in_groups_have_two_ends(nested):
    found = coview.select_topics(nested)
    assert found.coarse in (3, 9)
    assert found.fine in (9, 10)
    assert coview.select_topics(nested, detail="coarse").suggestion == found.coarse


def test_a_view_of_noise_counts_for_nothing():
    views = make_views(240, 4, 60, 3, view_noise={"view_2": 1.0}, random_state=0)
    found = coview.select_topics(views, "2:9")
    assert found.view_weights["view_2"] < 0.1
    assert found.fine == 4


# -- how sure --------------------------------------------------------------------------------------


def answer_of(curve, last=60, n_docs=800):
    """Return the answer to a curve of {topics: (bits, topics that come back)}."""
    search = object.__new__(_Search)
    search._candidates = range(2, last + 1)
    search._documents = SimpleNamespace(
        has=np.ones((n_docs, 1)), reliability=SimpleNamespace(weights={})
    )
    search._found = {k: [Confirmed(bits, np.log2(k), back)] for k, (bits, back) in curve.items()}
    return search._answer("fine")


SHARP = {2: (0.9, 2), 4: (1.9, 4), 6: (1.8, 4), 9: (1.7, 3)}


@pytest.mark.parametrize(
    ("changes", "options", "ends", "confidence"),
    [
        ({}, {}, (4, 4), "high"),
        ({}, {"n_docs": 60}, (4, 4), "medium"),  # they may agree by luck
        ({4: (1.9, 3)}, {}, (2, 4), "medium"),  # a topic does not come back
        ({2: (1.0, 2), 4: (1.45, 4), 6: (1.6, 4), 9: (1.7, 3)}, {}, (4, 4), "medium"),  # flat
        ({40: (4.5, 10)}, {}, (4, 40), "low"),  # far apart
        ({40: (5.2, 40)}, {"last": 40}, (40, 40), "low"),  # more may be better
    ],
)
def test_only_one_sharp_resolution_is_high(changes, options, ends, confidence):
    found = answer_of(SHARP | changes, **options)
    assert ((found.coarse, found.fine), found.confidence) == (ends, confidence)


def test_fine_weighs_what_is_confirmed_against_what_is_told():
    # sixteen topics tell four bits: 2.5 confirmed of them are worth less than 1.9 of two
    assert answer_of({2: (0.9, 2), 4: (1.9, 4), 16: (2.5, 12)}).fine == 4
    assert answer_of({2: (0.9, 2), 4: (1.9, 4), 16: (2.9, 12)}).fine == 16


@pytest.mark.parametrize("seed", range(3))
def test_no_structure_is_said_and_suggests_nothing(seed):
    rng = np.random.default_rng(seed)
    noise = Views({"a": rng.poisson(0.4, (300, 60)), "b": rng.poisson(0.4, (300, 50))})
    found = coview.select_topics(noise, "2:20")
    assert (found.coarse, found.fine, found.suggestion) == (None, None, None)
    assert found.confidence == "none"
    assert found.sentence.startswith("No number of topics is supported: ")
    with pytest.raises(ValueError, match=r"No number of topics is supported.*--topics 10"):
        coview.auto(noise, verbose=False)


# -- candidates ------------------------------------------------------------------------------------


def test_the_ladder_has_both_ends_and_only_candidates():
    assert ladder_of([7]) == [7]
    steps = ladder_of(range(2, 97))
    assert (steps[0], steps[-1]) == (2, 96)
    assert all(b <= max(1.4 * a, a + 2) for a, b in pairwise(steps))
    assert set(ladder_of([5, 10, 15, 40])) <= {5, 10, 15, 40}


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ("40:5", "reversed: the smaller number comes first, 5:40"),
        ("5-40", "looks like 5:40"),
        ("5:40:0", "LOW:HIGH or LOW:HIGH:STEP"),
        ([], "no number of topics to try"),
        (5, "a range such as '5:40'"),
        ([1, 3], "topics must be"),
    ],
)
def test_bad_candidates_are_refused(topics, message):
    with pytest.raises(ValueError, match=message):
        parse_topics(topics)


# -- bad input -------------------------------------------------------------------------------------


def test_more_topics_than_half_of_the_documents_are_refused():
    with pytest.raises(ValueError, match=r"at most half as many .* 10 documents.* at most 5"):
        coview.select_topics(make_views(10, 2, [20], random_state=0), "2:40")


@pytest.mark.parametrize("n_docs", [1, 2, 3])
def test_too_few_documents_for_two_halves_are_refused(n_docs):
    with pytest.raises(ValueError, match="Give the number of topics instead"):
        coview.select_topics(np.eye(n_docs, 4) + 1)


def test_few_documents_are_never_high():
    found = coview.select_topics(make_views(8, 2, [20], random_state=0), "2:4")
    assert found.confidence != "high"


def test_documents_that_are_all_alike_have_no_topics():
    found = coview.select_topics(Views(np.tile([3, 1, 2, 5], (40, 1))), "2:4")
    assert found.suggestion is None


def test_empty_documents_are_left_out():
    views = make_views(120, 3, [60, 40], random_state=0)
    data = {name: m.toarray() for name, m in views.matrices.items()}
    padded = Views({name: np.vstack([m, np.zeros((9, m.shape[1]))]) for name, m in data.items()})
    assert coview.select_topics(padded, "2:6").fine == 3


def test_views_without_a_count_are_refused():
    with pytest.raises(ValueError, match="All documents are empty"):
        coview.select_topics(np.zeros((9, 4)), "2:4")


def test_another_detail_is_refused():
    with pytest.raises(ValueError, match="detail must be"):
        coview.select_topics(np.eye(9), detail="medium")


# -- how good --------------------------------------------------------------------------------------


@pytest.mark.slow
# all of 3, 5, 8, 12, 20, 30: experiments/defaults/topic_numbers.md
@pytest.mark.parametrize("n_topics", [3, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_both_ends_are_within_one_of_the_planted_number(kind, n_topics):
    found = coview.select_topics(KINDS[kind](n_topics, 0), "2:40")
    assert abs(found.fine - n_topics) <= 1
    assert abs(found.coarse - n_topics) <= 1
