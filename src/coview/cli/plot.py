"""The command `coview plot`: pictures of a model and its documents."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import NEW_DOCUMENT_OPTIONS, DataSource, data_options
from coview.cli.options import UsageError
from coview.cli.output import check_output, note
from coview.cli.report import documents_with_classes, with_data

KINDS = ("terms", "sizes", "map", "matrix", "agreement", "mixtures", "coverage", "convergence")
Kind = StrEnum("Kind", [(name, name) for name in KINDS])  # type: ignore[misc]
SUFFIXES = (".png", ".svg", ".pdf")


@data_options(*NEW_DOCUMENT_OPTIONS, "id", "title", "label")
def plot(
    kind: Annotated[Kind, typer.Argument(help="What to draw.", show_default=False)],
    model: options.Model,
    source: DataSource,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The picture: .png, .svg or .pdf.")
    ],
    documents: Annotated[
        Path | None,
        typer.Option("--data", metavar="DATA", help="The same as DATA.", show_default=False),
    ] = None,
    topic: Annotated[
        list[int] | None, typer.Option(help="terms: a topic by number. Repeatable.")
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Only so many topics.")] = None,
    terms: Annotated[int, typer.Option(min=1, help="terms: words of each topic.")] = 8,
    pair: Annotated[
        str | None, typer.Option(help="matrix: the two views, as en,de.", metavar="A,B")
    ] = None,
    row: Annotated[
        list[int] | None, typer.Option(help="mixtures: a document by number. Repeatable.")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Draw a picture of a model and its documents.

    terms: the words of topics, a column for each view. sizes: documents of each topic. map:
    documents among their topics. matrix: topics by one view against topics by another. agreement:
    how far views disagree in each topic, with what chance explains. mixtures: documents by all
    views and by each alone. coverage: which documents have which views. convergence: the objective
    along the fit; it alone needs no DATA.

    Examples:

      coview plot terms news.coview --data news.csv -o terms.png

      coview plot matrix news.coview --data news.csv --pair en,de -o matrix.svg
    """
    source = with_data(source, documents)
    check_output(output, model, *source.files)
    if output.suffix.lower() not in SUFFIXES:
        raise UsageError(f"The suffix of {output.name} must be one of {', '.join(SUFFIXES)}.")
    wanted = {"topics": topic, "n_terms": terms, "pair": _pair(pair), "rows": row, "n_topics": top}
    _draw(kind.value, model, source, wanted).save(output)
    if not quiet:
        note(f"Wrote {output}.")


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    first, comma, second = text.partition(",")
    if not (comma and first and second):
        raise UsageError(f"--pair takes two views, as en,de; found {text}.")
    return first, second


def _draw(kind: str, path: Path, source: DataSource, wanted: dict[str, Any]) -> Any:
    """Read what a plot needs, and draw it."""
    from coview.extras import need
    from coview.io import load
    from coview.models import topic_model

    need("matplotlib", "plot").use("Agg")  # a command has no window
    from coview import plot as displays

    fitted = load(path)
    if kind == "convergence":
        return displays.ConvergenceDisplay.from_estimator(topic_model(fitted))
    views, classes = documents_with_classes(source, topic_model(fitted))
    views = views if classes is None else views.with_labels(classes)
    wanted["titles"] = source.titles()
    makers: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
        "terms": (displays.TermsDisplay.from_estimator, ("topics", "n_terms", "n_topics")),
        "sizes": (displays.SizesDisplay.from_estimator, ("n_topics",)),
        "map": (displays.MapDisplay.from_estimator, ()),
        "matrix": (displays.MatrixDisplay.from_estimator, ("pair", "n_topics")),
        "agreement": (displays.AgreementDisplay.from_estimator, ("n_topics",)),
        "mixtures": (displays.MixturesDisplay.from_estimator, ("rows", "titles")),
        "coverage": (displays.CoverageDisplay.from_estimator, ()),
    }
    make, names = makers[kind]
    return make(fitted, views, **{n: wanted[n] for n in names if wanted[n] is not None})
