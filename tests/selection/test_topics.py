"""`select_topics` as a whole."""

import json

import numpy as np
import pytest
from experiments.defaults.planted import KINDS

import coview
from coview import Views
from coview.datasets import make_views


@pytest.fixture(scope="module")
def found():
    views = make_views(240, 4, [60, 40], random_state=0)
    return coview.select_topics(views, "2:9")


def test_the_planted_number_is_suggested(found):
    assert (found.suggestion, found.confidence) == (4, "high")
    assert 4 in found.plausible


def test_every_criterion_has_its_spread(found):
    at_four = found.rows()[2]
    assert at_four["topics"] == 4
    for name in ("features", "documents", "bits", "perplexity", "stability"):
        assert at_four[name] > 0
        assert at_four[f"{name}_sd"] >= 0


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(found):
    views = make_views(240, 4, [60, 40], random_state=0)
    again = coview.select_topics(views, range(2, 10), n_jobs=2)
    assert again.to_dict() == found.to_dict()


def test_it_is_plain_data(found):
    table = json.loads(json.dumps(found.to_dict()))["table"]
    assert [row["topics"] for row in table] == list(range(2, 10))


def test_the_text_marks_the_suggestion(found):
    lines = str(found).splitlines()
    assert lines[0].split()[:3] == ["topics", "halves", "of"]
    assert [line.split()[0] for line in lines[1:9]] == ["2", "3", "*4", "5", "6", "7", "8", "9"]
    assert lines[-1].startswith("Suggestion: 4 topics (high confidence): ")


@pytest.mark.slow
def test_the_short_text_has_the_fitted_numbers_only():
    views = make_views(240, 4, [60, 40], random_state=0)
    wide = coview.select_topics(views, "2:60")
    assert len(wide.topics) <= 45
    assert wide.suggestion == 4
    assert len(wide.to_text(short=True).splitlines()) < len(wide.to_text().splitlines())


def test_a_view_of_noise_is_left_out():
    views = make_views(240, 4, 60, 3, view_noise={"view_2": 1.0}, random_state=0)
    found = coview.select_topics(views, "2:9")
    assert found.view_weights["view_2"] < 0.05
    assert found.suggestion == 4


# -- bad input -------------------------------------------------------------------------------------


def test_more_topics_than_documents_are_refused():
    with pytest.raises(ValueError, match=r"more than there are documents: .* 10 documents"):
        coview.select_topics(make_views(10, 2, [20], random_state=0), "2:40")


def test_five_documents_are_too_few_to_be_sure():
    found = coview.select_topics(make_views(5, 2, [20], random_state=0), "2:4")
    assert found.suggestion in (2, 3, 4)
    assert found.confidence != "high"
    assert not len(found.dimensions.strength)
    assert found.rows()[0]["perplexity"] is None


def test_one_feature_cannot_be_halved():
    counts = np.random.default_rng(0).integers(1, 9, size=(40, 1))
    found = coview.select_topics(Views(counts), "2:4")
    assert found.rows()[0]["features"] is None
    assert found.suggestion in (2, 3, 4)


def test_documents_that_are_all_alike_have_no_topics():
    found = coview.select_topics(Views(np.tile([3, 1, 2, 5], (30, 1))), "2:4")
    assert found.confidence == "low"
    assert "hardly agree" in found.reason


def test_empty_documents_are_left_out():
    views = make_views(120, 3, [60, 40], random_state=0)
    data = {name: m.toarray() for name, m in views.matrices.items()}
    padded = Views({name: np.vstack([m, np.zeros((9, m.shape[1]))]) for name, m in data.items()})
    assert coview.select_topics(padded, "2:6").suggestion == 3


def test_views_without_a_count_are_refused():
    with pytest.raises(ValueError, match="All documents are empty"):
        coview.select_topics(np.zeros((9, 4)), "2:4")


# -- how good --------------------------------------------------------------------------------------


@pytest.mark.slow
# all of 3, 5, 8, 12, 20, 30: experiments/defaults/topic_numbers.md
@pytest.mark.parametrize("n_topics", [3, 8, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_the_suggestion_is_within_one_of_the_planted_number(kind, n_topics):
    found = coview.select_topics(KINDS[kind](n_topics, 0), "2:40")
    assert abs(found.suggestion - n_topics) <= 1
