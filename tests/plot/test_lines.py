"""Plots: what is drawn is what was measured, and the same plot gives the same bytes."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from coview import LTM, LinkPLSA, StrengthPath
from coview.compare import Results, Run
from coview.compare.tasks import follow
from coview.datasets import make_views
from coview.metrics import clustering_accuracy, nmi_max

matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from coview.plot.lines import (  # noqa: E402
    ConvergenceDisplay,
    LabelShareDisplay,
    SensitivityDisplay,
    TimeDisplay,
    _apart,
)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


def sensitivity(strengths=(0.1, 1, 10, 100), **fields):
    made = [
        Run(
            "a",
            "mggm",
            "MGGM",
            {"strength": s},
            seed,
            values={"": {"accuracy": 0.5 + i / 10 + seed / 100}},
            **fields,
        )
        for i, s in enumerate(strengths)
        for seed in range(3)
    ]
    plain = [Run("a", "x", "spectral", {}, s, values={"": {"accuracy": 0.6}}) for s in range(3)]
    return Results([*made, *plain])


def test_means_and_deviations_are_those_of_the_runs():
    line = SensitivityDisplay.from_results(sensitivity()).lines["MGGM"]
    assert line.x.tolist() == [0.1, 1, 10, 100]
    assert line.mean == pytest.approx([51, 61, 71, 81])
    assert line.sd == pytest.approx([1, 1, 1, 1])


def test_the_curve_on_the_axes_is_the_line():
    display = SensitivityDisplay.from_results(sensitivity())
    curve = display.ax_.get_lines()[0]
    assert np.array_equal(curve.get_xdata(), display.lines["MGGM"].x)
    assert np.array_equal(curve.get_ydata(), display.lines["MGGM"].mean)
    assert display.ax_.get_ylabel() == "accuracy in %"


def test_a_wide_range_has_a_logarithmic_axis_and_a_narrow_one_has_not():
    assert SensitivityDisplay.from_results(sensitivity()).ax_.get_xscale() == "log"
    assert SensitivityDisplay.from_results(sensitivity((1, 2, 3))).ax_.get_xscale() == "linear"
    assert SensitivityDisplay.from_results(sensitivity((0, 1, 50))).ax_.get_xscale() == "symlog"


def test_a_model_without_the_parameter_is_drawn_across():
    display = SensitivityDisplay.from_results(sensitivity())
    assert not len(display.lines["spectral"].x)
    assert display.ax_.get_lines()[1].get_ydata() == pytest.approx([60, 60])


def test_every_line_is_named_beside_the_plot_and_oracles_are_marked():
    display = SensitivityDisplay.from_results(sensitivity(oracle=True))
    assert [text.get_text() for text in display.ax_.texts] == ["MGGM †", "spectral"]


def test_the_number_of_topics_is_an_axis_like_any_other():
    made = [
        Run("a", "m", "m", {"n_components": k}, 0, values={"": {"nmi_max": k / 100}})
        for k in (5, 10, 20)
    ]
    display = SensitivityDisplay.from_results(Results(made), x="n_components", metric="nmi_max")
    assert display.ax_.get_xlabel() == "topics"
    assert display.ax_.get_ylabel() == "NMI (max) in %"
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["5", "10", "20"]


def test_nothing_is_averaged_over_data_sets():
    two = sensitivity() + Results(
        [Run("b", "mggm", "MGGM", {"strength": 1}, 0, values={"": {"accuracy": 0.1}})]
    )
    with pytest.raises(ValueError, match="differ in more than their seeds"):
        SensitivityDisplay.from_results(two)


def test_a_parameter_that_no_run_has_is_named():
    with pytest.raises(ValueError, match="a number for 'exponent'"):
        SensitivityDisplay.from_results(sensitivity(), x="exponent")


def test_one_label_with_and_without_the_parameter_is_no_line():
    both = sensitivity() + Results([Run("a", "m", "MGGM", {}, 0, values={"": {"accuracy": 0.1}})])
    with pytest.raises(ValueError, match="Some runs of 'MGGM' have 'strength' and some have not"):
        SensitivityDisplay.from_results(both)


def test_why_nothing_could_be_drawn_is_said():
    failed = [Run("a", "m", "m", {"strength": 1}, 0, error="ValueError: no luck")]
    with pytest.raises(ValueError, match="1 run failed; the first said: ValueError: no luck"):
        SensitivityDisplay.from_results(Results(failed))


def test_shares_of_labels_are_in_per_cent():
    made = [
        Run("a", "nb", "nb", {}, 0, rate=r, values={"": {"accuracy": 0.5}}) for r in (0.01, 0.05)
    ]
    display = LabelShareDisplay.from_results(Results(made))
    assert display.lines["nb"].x == pytest.approx([1, 5])


def test_time_is_drawn_against_documents_of_different_data_sets():
    made = [
        Run(f"{n}", "m", "m", {}, 0, documents=n, seconds=n / 1000, settings={"options": {"n": n}})
        for n in (1000, 10000)
    ]
    display = TimeDisplay.from_results(Results(made))
    assert display.lines["m"].x.tolist() == [1000, 10000]
    assert display.lines["m"].mean.tolist() == [1, 10]
    assert display.ax_.get_yscale() == "log"
    display.figure_.canvas.draw()
    shown = [tick.get_text() for tick in display.ax_.get_yticklabels(which="both")]
    assert {"1", "2", "5", "10"} <= set(shown)
    assert not any("$" in text for text in shown)
    guide = display.ax_.get_lines()[-1].get_ydata()
    assert guide[1] / guide[0] == pytest.approx(10)


def test_names_of_lines_never_meet():
    places = _apart([0.5, 0.5, 0.5, 0.9, 0.1], gap=0.1)
    assert np.diff(np.sort(places)).min() >= 0.1 - 1e-12
    assert places[3:].tolist() == [0.9, 0.1]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_same_plot_gives_the_same_bytes(tmp_path, suffix):
    files = [tmp_path / f"{i}.{suffix}" for i in (1, 2)]
    for file in files:
        SensitivityDisplay.from_results(sensitivity()).save(file)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("strengths", [(0, 0.1, 1, 10), (0.1, 1, 10), (1, 2, 3)])
def test_every_point_is_within_the_axes_and_they_begin_beside_the_first(strengths):
    display = SensitivityDisplay.from_results(sensitivity(strengths), log_x=strengths != (1, 2, 3))
    place = display.ax_.transData + display.ax_.transAxes.inverted()
    first, last = (place.transform((x, 50.0))[0] for x in (strengths[0], strengths[-1]))
    assert (first, last) == pytest.approx((0.0413, 0.9587), abs=1e-3)


def test_shares_end_at_100():
    made = [Run("a", "m", "m", {"strength": s}, 0, values={"": {"accuracy": 1.0}}) for s in (1, 2)]
    top = SensitivityDisplay.from_results(Results(made)).ax_.get_ylim()[1]
    assert 100 < top < 101
    many = [replace(run, values={"": {"median_rank": 150.0}}) for run in made]
    display = SensitivityDisplay.from_results(Results(many), metric="median_rank")
    assert display.ax_.get_ylim()[1] > 150


def test_a_measure_that_clusters_have_not_is_refused_before_the_fit():
    views = make_views(30, 3, [30, 20], random_state=0)
    with pytest.raises(ValueError, match="metric must be one of accuracy, nmi_max"):
        ConvergenceDisplay.from_estimator(LinkPLSA(3), views, metric="acuracy")


def test_axes_may_be_given():
    _, ax = pyplot.subplots()
    assert SensitivityDisplay.from_results(sensitivity(), ax=ax).ax_ is ax


# -- convergence -----------------------------------------------------------------------------------

VIEWS = make_views(60, 3, {"text": 30, "image": 20}, view_noise=0.3, random_state=0)
SETTINGS = {"init": "random", "max_iter": 6, "tol": 0.0, "random_state": 0}


@pytest.mark.parametrize("assign", ["argmax", "kmeans"])
def test_the_measure_is_that_of_a_fit_that_ended_there(assign):
    model = LinkPLSA(3, assign=assign, **SETTINGS)
    fitted, values = follow(model, VIEWS, lambda found: clustering_accuracy(VIEWS.labels, found))
    assert len(values) == len(fitted.trace_) == 6
    for n_iter in (1, 3, 6):
        short = LinkPLSA(3, assign=assign, **{**SETTINGS, "max_iter": n_iter}).fit(VIEWS)
        assert values[n_iter - 1] == clustering_accuracy(VIEWS.labels, short.labels_)


def test_watching_changes_nothing():
    fitted, _ = follow(LinkPLSA(3, **SETTINGS), VIEWS, lambda found: 0.0)
    np.testing.assert_array_equal(fitted.doc_topic_, LinkPLSA(3, **SETTINGS).fit(VIEWS).doc_topic_)
    assert not hasattr(fitted, "_skl_callbacks")


def test_several_starts_cannot_be_followed():
    with pytest.raises(ValueError, match="n_init=1"):
        follow(LinkPLSA(3, n_init=2), VIEWS, lambda found: 0.0)


@pytest.mark.parametrize("n_iter", [1, 2, 3, 4, 6])
def test_iterations_are_whole_numbers(n_iter):
    ax = ConvergenceDisplay(np.arange(n_iter, dtype=float)).plot().axes_[-1]
    ticks = ax.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_many_whole_values_have_whole_ticks():
    ax = SensitivityDisplay.from_results(sensitivity(range(20, 43)), x="strength").ax_
    ticks = ax.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a"])
def test_a_plot_that_was_not_drawn_is_drawn_when_it_is_saved(tmp_path, name):
    display = ConvergenceDisplay(np.array([-3.0, -2.0]))
    display.save(tmp_path / name)
    (found,) = tmp_path.iterdir()
    assert found.name == (name if "." in name else "a.png")
    assert found.stat().st_size > 1000
    ConvergenceDisplay(np.array([-3.0, -2.0])).plot().save(tmp_path / f"b{found.suffix}")
    assert (tmp_path / f"b{found.suffix}").read_bytes() == found.read_bytes()


def test_the_objective_and_the_measure_share_the_iterations():
    display = ConvergenceDisplay.from_estimator(LinkPLSA(3, **SETTINGS), VIEWS, metric="nmi_max")
    upper, lower = (ax.get_lines()[0] for ax in display.axes_)
    assert upper.get_xdata().tolist() == lower.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    final = LinkPLSA(3, **SETTINGS).fit(VIEWS)
    assert lower.get_ydata()[-1] == pytest.approx(100 * nmi_max(VIEWS.labels, final.labels_))
    assert upper.get_ydata()[-1] == final.objective_


def test_a_fitted_model_alone_shows_its_objective():
    model = LTM(3, **SETTINGS).fit(VIEWS.select("text"))
    display = ConvergenceDisplay.from_estimator(model)
    assert len(display.axes_) == 1
    assert np.array_equal(display.axes_[0].get_lines()[0].get_ydata(), model.trace_.objective)


def test_views_without_labels_are_refused():
    with pytest.raises(ValueError, match="no labels"):
        ConvergenceDisplay.from_estimator(LinkPLSA(3, **SETTINGS), VIEWS.with_labels(None))


def test_importing_the_module_does_not_import_matplotlib():
    code = "import coview.plot, sys; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("strengths", "scale"), [((0, 0.2, 2, 20), "symlog"), ((1, 2, 3), "linear")]
)
def test_a_path_of_strengths_shows_means_deviations_and_the_choice(strengths, scale, tmp_path):
    values = np.arange(2 * len(strengths), dtype=float).reshape(-1, 2) / 10
    path = StrengthPath(np.array(strengths, float), values, strengths[1], 2.0, 100)
    display = path.plot()
    line, chosen = display.ax_.lines
    assert line.get_xdata().tolist() == list(strengths)
    assert line.get_ydata() == pytest.approx(values.mean(axis=1))
    assert display.lines[""].sd == pytest.approx(values.std(axis=1, ddof=1))
    assert set(chosen.get_xdata()) == {strengths[1]}
    assert display.ax_.get_xscale() == scale
    assert [t.get_text() for t in display.ax_.texts if t.get_text()] == ["chosen"]
    display.save(tmp_path / "path.svg")
    assert (tmp_path / "path.svg").stat().st_size > 1000


def test_a_path_is_drawn_on_axes_that_are_given():
    ax = pyplot.subplots()[1]
    path = StrengthPath(np.array([2.0]), np.array([[0.5]]), 2.0, 2.0, 10)  # one step, one split
    assert path.plot(ax).ax_ is ax
