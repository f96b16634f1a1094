"""Plots of topics, documents and views: they draw the report, and nothing covers anything."""

import numpy as np
import pytest

import coview
from coview import LinkPLSA, Views
from coview.datasets import make_views

matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from coview.plot import (  # noqa: E402
    AgreementDisplay,
    CoverageDisplay,
    MapDisplay,
    MatrixDisplay,
    MixturesDisplay,
    SizesDisplay,
    TermsDisplay,
)
from coview.plot.views import crossed  # noqa: E402

OF_DOCUMENTS = (
    *(TermsDisplay, SizesDisplay, MapDisplay, MatrixDisplay, AgreementDisplay, MixturesDisplay),
)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def fitted():
    views = make_views(
        90, 4, {"text": 40, "image": 30}, missing={"image": 0.2}, random_state=0, doc_length=30
    )
    return LinkPLSA(4, init="random", max_iter=60, tol=0, random_state=0).fit(views), views


@pytest.fixture(scope="module")
def report(fitted):
    return coview.report(*fitted, search_sample=0)


def texts_of(figure):
    """All texts that are seen, with their places on the figure."""
    renderer = figure.canvas.get_renderer()
    figure.canvas.draw()
    found = []
    for ax in figure.axes:
        axis = ax.axison
        texts = [ax.title, ax._left_title, *ax.texts]
        texts += [*ax.get_yticklabels(), *ax.get_xticklabels()] if axis else []
        texts += [ax.xaxis.label, ax.yaxis.label] if axis else []
        found += [t for t in texts if t.get_text() and t.get_visible()]
    return [(t.get_text(), t.get_window_extent(renderer)) for t in found]


@pytest.mark.parametrize("display", [*OF_DOCUMENTS, CoverageDisplay])
def test_no_text_covers_another(display, fitted, report):
    model, views = fitted
    figure = display.from_estimator(model, views if display is CoverageDisplay else report).figure_
    boxes = texts_of(figure)
    assert boxes
    for i, (text, box) in enumerate(boxes):
        for other, covered in boxes[i + 1 :]:
            inner = box.padded(-1)
            assert not inner.overlaps(covered.padded(-1)), (text, other)


@pytest.mark.parametrize("display", [*OF_DOCUMENTS, CoverageDisplay])
def test_axes_may_be_given(display, fitted, report):
    model, views = fitted
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 6))
    shown = views if display is CoverageDisplay else report
    made = display.from_estimator(model, shown, ax=axes[1])
    assert made.figure_ is figure


@pytest.mark.parametrize("display", [SizesDisplay, MixturesDisplay])
def test_a_report_that_is_there_gives_the_same_picture(display, fitted, report, tmp_path):
    model, views = fitted
    display.from_estimator(model, report).save(tmp_path / "a.svg")
    display.from_estimator(model, views).save(tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_bars_of_terms_are_documents(fitted, report):
    model, _ = fitted
    display = TermsDisplay.from_estimator(model, report, topics=[2], n_terms=5)
    bars = [bar.get_width() for bar in display.axes_[0, 1].patches]
    names = [t.get_text() for t in display.axes_[0, 1].get_yticklabels()]
    assert list(zip(names, bars, strict=True)) == report.topics[2].terms["image"][:5]


def test_sizes_are_counts_of_documents(fitted):
    model, views = fitted
    display = SizesDisplay.from_estimator(model, views)
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert sorted(widths) == sorted(np.bincount(model.labels_, minlength=4).tolist())
    assert all(float(t).is_integer() for t in display.ax_.get_xticks())


def test_the_matrix_crosses_mixtures_of_documents_with_both_views(fitted, report):
    _, views = fitted
    shares, n_both = np.zeros((4, 4)), 0
    for row, has in enumerate(views.present):
        if has.all():
            n_both += 1
            text, image = (report.view_mixtures[name][row] for name in ("text", "image"))
            shares += np.outer(text, image)
    assert 0 < n_both < len(views)
    assert crossed(report, "text", "image") == pytest.approx(shares / n_both, abs=1e-6)


def test_missing_views_are_hatched(fitted, report):
    model, views = fitted
    lacks = int(np.flatnonzero(~views.present[:, 1])[0])
    display = MixturesDisplay.from_estimator(model, report, rows=[lacks])
    hatched = [bar for bar in display.axes_[0].patches if bar.get_hatch() == "////"]
    assert len(hatched) == 1
    assert hatched[0].get_width() == 1


def test_coverage_counts_documents_by_their_views():
    views = Views.from_texts(
        {"en": ["rain", "sun", None, "fog"], "de": ["Regen", None, "Mond", None]}
    )
    counts = CoverageDisplay.from_views(views).counts
    assert counts == {(True, False): 2, (True, True): 1, (False, True): 1}


def test_the_band_is_the_chance_level(fitted, report):
    model, _ = fitted
    display = AgreementDisplay.from_estimator(model, report)
    found, known = report.disagreement, np.isfinite(report.disagreement.beyond)
    weights = report.mixtures[known]
    measured = weights.T @ found.value[known] / weights.sum(axis=0)
    assert sorted(display.values_) == pytest.approx(sorted(measured))


# -- bad input -------------------------------------------------------------------------------------


def test_one_view_cannot_be_crossed_nor_disagree(fitted):
    model, views = fitted
    with pytest.raises(ValueError, match="Two views are needed"):
        MatrixDisplay.from_estimator(model, views.select("text"))
    with pytest.raises(ValueError, match="Views cannot disagree"):
        AgreementDisplay.from_estimator(model, views.select("text"))


def test_unknown_topics_views_and_documents_are_named(fitted, report):
    model, _ = fitted
    with pytest.raises(ValueError, match="topics must be from 0 to 3; found 9"):
        TermsDisplay.from_estimator(model, report, topics=[9])
    with pytest.raises(ValueError, match=r"pair must be a view .*found 'sound'"):
        MatrixDisplay.from_estimator(model, report, pair=("text", "sound"))
    with pytest.raises(ValueError, match="rows must be documents from 0 to 89; found 90"):
        MixturesDisplay.from_estimator(model, report, rows=[90])
    with pytest.raises(ValueError, match="give the views"):
        SizesDisplay.from_estimator(model, None)


@pytest.mark.parametrize("n_topics", [1, 28])
def test_one_topic_and_very_many_can_be_drawn(n_topics, fitted):
    _, views = fitted
    model = LinkPLSA(n_topics, init="random", max_iter=3, tol=0, random_state=0).fit(views)
    report = coview.report(model, views, search_sample=0, n_resamples=1)
    for display in OF_DOCUMENTS:
        display.from_estimator(model, report)
        pyplot.close("all")


# -- in a notebook ---------------------------------------------------------------------------------


def test_models_and_views_show_themselves_without_script():
    features = [f"<script>alert({i})</script>" for i in range(12)]
    counts = np.random.default_rng(0).integers(0, 5, size=(30, 12)) + 1
    views = Views({"a<b": counts, "c": counts}, features={"a<b": features, "c": features})
    model = LinkPLSA(3, init="random", max_iter=5, tol=0, random_state=0)
    assert "sk-" in model._repr_html_()  # scikit-learn's diagram before the fit
    for shown in (model.fit(views)._repr_html_(), views._repr_html_()):
        assert "<script" not in shown
        assert "<svg" in shown
        assert "a&lt;b" in shown
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()
