"""The command `coview suggest`: which documents to label next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from coview.cli import options
from coview.cli.apply import all_documents
from coview.cli.inputs import NEW_DOCUMENT_OPTIONS, DataSource, data_options
from coview.cli.output import check_table_output, show_or_write, with_titles
from coview.models import topic_model

if TYPE_CHECKING:
    import numpy as np

    from coview.views.container import Views

COLUMNS = ("document", "score", "disagreement", "uncertainty", "reason")


@data_options(*NEW_DOCUMENT_OPTIONS, "id", "title", "label", "labels")
def suggest(
    model: options.Model,
    source: DataSource,
    top: Annotated[int, typer.Option(min=1, help="Number of documents to suggest.")] = 10,
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Suggest which documents to label next: those of which the views, or the model, are unsure.

    Documents that have a label already (--label, --labels, or those of a views folder) are left
    out. Write labels into the table, and fit again with --classify.

    Example: coview suggest news.coview news.csv --id id --label topic --top 20
    """
    from coview.guidance import suggest_labels
    from coview.io import load

    source.check_label_options()
    check_table_output(output, model, *source.files)
    fitted = load(model)
    views, in_column = all_documents(source, topic_model(fitted))
    found = suggest_labels(fitted, views, top, labels=_known_labels(views, in_column))
    rows = [
        [s.row if s.id is None else s.id, s.score, s.disagreement, s.uncertainty, s.reason]
        for s in found
    ]
    columns, rows = with_titles(COLUMNS, rows, source.titles(), [s.row for s in found])
    show_or_write(columns, rows, as_json=json, output=output, raw=raw)


def _known_labels(views: Views, in_column: np.ndarray | None) -> np.ndarray | None:
    return views.labels if in_column is None else in_column
