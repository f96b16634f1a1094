"""Plots, like scikit-learn's displays: of fits and comparisons, of topics, documents and views.

    TermsDisplay.from_estimator(model).save("topics.png")
    MapDisplay.from_estimator(model, views, ax=ax)
    SensitivityDisplay.from_results(results, x="strength", metric="accuracy")

Each display keeps what it draws and the axes it was drawn on (`ax_` or `axes_`, `figure_`), so that
anything can be changed afterward. Colors are those of Okabe and Ito, which color-blind readers can
tell apart, and never the only mark. They need matplotlib (`coview[plot]`).

Displays of topics, documents and views draw a `coview.reporting.Report`; `from_report` takes one
that is there already.
"""

from coview.plot.documents import CoverageDisplay, MapDisplay, MixturesDisplay
from coview.plot.lines import (
    ConvergenceDisplay,
    LabelShareDisplay,
    LinesDisplay,
    SensitivityDisplay,
    TimeDisplay,
)
from coview.plot.topics import SizesDisplay, TermsDisplay
from coview.plot.views import AgreementDisplay, MatrixDisplay

__all__ = [
    "AgreementDisplay",
    "ConvergenceDisplay",
    "CoverageDisplay",
    "LabelShareDisplay",
    "LinesDisplay",
    "MapDisplay",
    "MatrixDisplay",
    "MixturesDisplay",
    "SensitivityDisplay",
    "SizesDisplay",
    "TermsDisplay",
    "TimeDisplay",
]
