"""The command `coview annotate`: the words that one view of a document leads to in another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import DataSource
from coview.cli.options import UsageError
from coview.cli.output import check_table_output, show_or_write
from coview.cli.search import check_view, note_left_out, parse_query
from coview.models import topic_model

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SHOWN = 50  # rows of a table on the terminal


def annotate(
    model: options.Model,
    query: Annotated[
        str | None, typer.Argument(help="A text, or the path of an image file.", show_default=False)
    ] = None,
    in_view: Annotated[
        str | None,
        typer.Option("--in", "--in-view", help="View whose words are predicted.", metavar="VIEW"),
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="View of the query. Needed if the model reads several.")
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(help="Instead of a query: a document the model was fitted to, by its id."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Instead of a query: annotate all documents of a table, folder or .h5mu file."
        ),
    ] = None,
    id: options.Id = None,
    top: Annotated[int, typer.Option(min=1, help="Number of words of each document.")] = 10,
    keep_known: Annotated[
        bool,
        typer.Option("--keep-known", help="Also give words that a document has in the view."),
    ] = False,
    trust: Annotated[
        str,
        typer.Option(
            help="How far topics of the query are trusted, 0 to 1; the rest are frequent words. "
            "auto: as far as the view of the query is reliable."
        ),
    ] = "auto",
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Predict the words of documents in a view, with probabilities, from their other views.

    Examples:

      coview annotate photos.coview beach.jpg --view image --in caption

      coview annotate news.coview "football match" --view en --in de --top 5

      coview annotate news.coview --data new.csv --id id --in de -o words.csv
    """
    from coview.documents import unknown_words
    from coview.io import load

    check_table_output(output, model, data)
    fitted = load(model)
    inner = topic_model(fitted)
    in_view = _target(inner, in_view)
    if data is not None and not (query is like is view is None):
        raise UsageError(
            "--data has the documents to annotate: leave out the query, --view, --like."
        )
    known = {"in_view": in_view, "top": top, "skip_known": not keep_known, "trust": _trust(trust)}
    if data is None:
        asked = parse_query(inner, query, view, like)
        found = fitted.predict_terms(asked, **known)
        note_left_out(unknown_words(inner, asked, one=True))
        columns, predicted = ["rank", "term", "probability"], [found]
    else:
        columns = ["document", "rank", "term", "probability"]
        predicted = list(_of_documents(fitted, DataSource(data, id=id), known))
    rows = [[row[name] for name in columns] for terms in predicted for row in terms.to_rows()]
    show_or_write(columns, rows, as_json=json, output=output, raw=raw, max_shown=MAX_SHOWN)


def _trust(text: str) -> float | str:
    try:
        return "auto" if text == "auto" else float(text)
    except ValueError:
        raise UsageError(f"--trust is a number from 0 to 1, or auto; found {text}.") from None


def _target(model: Any, in_view: str | None) -> str:
    """Return the view whose words are predicted; a model of one view has no other."""
    if in_view is None and len(model.view_names_) > 1:
        raise UsageError(f"Say which view's words: --in {' | '.join(model.view_names_)}.")
    check_view(model, in_view, "--in")
    return in_view or model.view_names_[0]


def _of_documents(fitted: Any, source: DataSource, known: dict[str, Any]) -> Iterator[Any]:
    """Annotate the documents of a table, folder or .h5mu file, a large table in chunks."""
    n_docs = 0
    for views in source.new_documents(topic_model(fitted)):
        for row, terms in enumerate(fitted.predict_terms(views, **known)):
            if views.ids is None:
                terms.document = n_docs + row
            yield terms
        n_docs += len(views)
    if not n_docs:
        raise ValueError(f"There are no documents in {source.data}.")
