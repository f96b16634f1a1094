"""The plot."""

import pytest

import coview
from coview.datasets import make_views

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def selection():
    return coview.select_topics(make_views(120, 3, [60, 40], random_state=0), "2:5")


def test_bits_are_above_topics_that_come_back_on_whole_numbers(selection):
    display = selection.plot()
    display.figure_.canvas.draw()
    titles = [ax.get_ylabel() for ax in display.axes_]
    assert titles == ["bits confirmed", "topics that come back in %"]
    ticks = [tick.get_text() for tick in display.axes_[-1].get_xticklabels()]
    assert ticks
    assert all(float(text).is_integer() for text in ticks if text)


def test_both_ends_are_named(selection):
    texts = [t.get_text() for t in selection.plot().axes_[0].texts]
    assert "coarse = fine 3" in texts


def test_the_upper_part_is_drawn_on_axes_that_are_given(selection):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert selection.plot(ax).axes_[0] is ax
    assert ax.get_xlabel() == "topics"


def test_it_is_saved(selection, tmp_path):
    selection.plot().save(tmp_path / "topics.png")
    assert (tmp_path / "topics.png").stat().st_size > 1000
