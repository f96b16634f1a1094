"""The command `coview search`: search documents in one view with a query in another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import CHUNK_ROWS, DataSource
from coview.cli.options import UsageError
from coview.cli.output import (
    cell,
    check_output,
    check_table_output,
    console,
    note,
    print_json,
    show_or_write,
    table,
)
from coview.models import topic_model

if TYPE_CHECKING:
    from coview.captions import Captions
    from coview.retrieval import SearchIndex
    from coview.views.container import Views

SNIPPET_LENGTH = 90  # characters of a found text that are shown
MIN_SHARE = 0.01  # smallest contribution to a score that is worth naming


@dataclass(frozen=True)
class _Shown:
    """What is shown of each answer, beside its score."""

    captions: Captions
    in_view: str | None

    @property
    def columns(self) -> list[str]:
        title = ["title"] if self.captions.titles else []
        text = ["text"] if self.captions.texts else []
        return ["rank", "document", *title, "score", *text]


class Metric(StrEnum):
    """How documents are compared."""

    topics_and_words = "topics+words"
    correlation = "correlation"
    cosine = "cosine"
    hellinger = "hellinger"
    jensen_shannon = "jensen-shannon"


def search(
    model: options.Model,
    query: Annotated[
        str | None, typer.Argument(help="A text, or the path of an image file.", show_default=False)
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="View of the query. Needed if the model reads several.")
    ] = None,
    in_view: Annotated[
        str | None, typer.Option("--in", help="View to search. Default: all views together.")
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(help="Instead of a query: find documents similar to the one with this id."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of results.")] = 10,
    metric: Annotated[
        Metric | None,
        typer.Option(
            help="How documents are compared. Default: topics+words with --show or --among, which "
            "have the words of the documents; else hellinger, by topics alone."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show which topics and words made the match.")
    ] = False,
    among: Annotated[
        Path | None,
        typer.Option(
            help="Search these documents (a table, folder or .h5mu file) instead of those the "
            "model was fitted to. With a table, the texts found are shown."
        ),
    ] = None,
    show: Annotated[
        Path | None,
        typer.Option(
            help="The table the model was fitted to: show the texts found, in the view that was "
            "searched, and compare documents by their words as well."
        ),
    ] = None,
    id: options.Id = None,
    title: options.Title = None,
    index: Annotated[
        Path | None,
        typer.Option(help="File of a search index: read if it exists, written otherwise."),
    ] = None,
    approximate: Annotated[
        bool,
        typer.Option("--approximate", help="Use an approximate index, for millions of documents."),
    ] = False,
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Search documents in one view with a query in another.

    Examples:

      coview search news.coview --view en --in de "football match" --show news.csv --id id

      coview search photos.coview --view image --in caption beach.jpg

      coview search news.coview --like d017 --in de --explain
    """
    if (query is None) == (like is None):  # before anything large is imported or read
        raise UsageError("Give either a query (a text, or the path of an image file) or --like ID.")
    from coview.io import load

    check_table_output(output, model, among, show, index)
    if index is not None and not index.exists():
        check_output(index, model, among, show)
    fitted = topic_model(load(model))
    check_view(fitted, in_view, "--in")
    gallery = _read_gallery(fitted, among, in_view, id)
    parsed = parse_query(fitted, query, view, like)
    captions = _read_captions(fitted, among or show, id, title)
    training = None
    if among is None and metric in (None, Metric.topics_and_words):
        training = _read_training(fitted, show, id)
    engine = _make_index(fitted, in_view, (gallery, training), metric, index, approximate)
    results = engine.query(parsed, top=top, explain=explain)
    note_left_out(results.left_out)
    if metric is None and index is None:
        _note_ties(results, engine)
    shown = _Shown(captions, engine.in_view)
    rows, columns = [_row(hit, shown) for hit in results], shown.columns
    if explain and json:
        found = [dict(zip(columns, row, strict=True)) for row in rows]
        reasons = (row["explanation"] for row in results.to_rows())
        print_json([row | {"explanation": why} for row, why in zip(found, reasons, strict=True)])
    elif explain and output is None:
        _show_explained(results, shown)
    else:
        if explain:
            columns = [*columns, "why"]
            rows = [
                [*row, "; ".join(_reasons(hit))] for row, hit in zip(rows, results, strict=True)
            ]
        show_or_write(columns, rows, as_json=json, output=output, raw=raw)


def check_view(model: Any, name: str | None, option: str) -> None:
    """Refuse a view that the model does not have."""
    if name is not None and name not in model.view_names_:
        raise UsageError(
            f"{option} {name}: the model has the views {', '.join(model.view_names_)}."
        )


def _read_gallery(
    model: Any, among: Path | None, in_view: str | None, id: str | None
) -> Views | None:
    """Return the documents of --among; None stands for those the model was fitted to."""
    if among is None:
        return None
    chunks = list(DataSource(among, id=id).new_documents(model))
    if len(chunks) > 1:
        raise ValueError(
            f"{among} has more than {CHUNK_ROWS:,} rows, the most that --among takes: fit a model "
            "to it, and search that."
        )
    return chunks[0].select(in_view) if in_view else chunks[0]


def _read_training(model: Any, show: Path | None, id: str | None) -> Views | None:
    """Return the documents the model was fitted to from the table of --show, in its order."""
    if show is None or not any(model.recipes_.values()):
        return None
    from coview.cli.apply import all_documents

    return in_training_order(model, all_documents(DataSource(show, id=id), model)[0])


def in_training_order(model: Any, views: Views) -> Views:
    """Return documents in the order of the fit, by their ids; as they are if they are others."""
    if model.doc_ids_ is None or views.ids is None:
        return views
    row_of = {name: row for row, name in enumerate(views.ids)}
    if not all(name in row_of for name in model.doc_ids_):
        return views
    return views[[row_of[name] for name in model.doc_ids_]]


def _make_index(
    model: Any,
    in_view: str | None,
    documents: tuple[Views | None, Views | None],
    metric: Metric | None,
    index: Path | None,
    approximate: bool,
) -> SearchIndex:
    """Load the index of --index, or make one (and save it there).

    `documents` are new ones to search (--among), and those the model was fitted to (--show).
    """
    from coview.retrieval import SearchIndex

    gallery, training = documents
    if index is not None and index.exists():
        found = SearchIndex.load(index, model)
        _check_index(found, index, in_view, gallery, metric)
        return found
    options: dict[str, Any] = {
        "in_view": in_view,
        "views": gallery,
        "metric": None if metric is None else str(metric),
        "method": "approximate" if approximate else "exact",
    }
    made = _index_with_training(model, training, options)
    if index is not None:
        made.save(index)
    return made


def _index_with_training(
    model: Any, training: Views | None, options: dict[str, Any]
) -> SearchIndex:
    """Make an index; by topics alone if the table of --show has other documents by now."""
    from coview.retrieval import SearchIndex
    from coview.retrieval.gallery import OtherDocuments

    if options["metric"] == Metric.topics_and_words and options["views"] is training is None:
        raise UsageError(
            "--metric topics+words needs the words of the documents: give the table the model was "
            "fitted to with --show, or other documents with --among."
        )
    try:
        return SearchIndex(model, training_views=training, **options)
    except OtherDocuments as error:
        if options["metric"] is not None:
            raise
        note(f"Compared by topics alone: the table of --show has changed since the fit ({error})")
        return SearchIndex(model, **options)


def note_left_out(words: Mapping[str, str]) -> None:
    """Say which words of a query are not known, and why; nothing of stop words."""
    from coview.reading.left_out import name_left_out

    if left_out := name_left_out(words, stop_words=False):
        note(f"Left out of the query: {left_out}.")


def _note_ties(results: Any, index: SearchIndex) -> None:
    """Say how to tell answers apart that have the same topics."""
    scores = [round(float(hit.score), 4) for hit in results]
    if index.metric != Metric.topics_and_words and scores and scores.count(scores[0]) > 1:
        note(
            f"The first {scores.count(scores[0])} answers have the same topics. With --show, the "
            "table the model was fitted to, they are also compared by their words."
        )


def _check_index(
    found: SearchIndex,
    path: Path,
    in_view: str | None,
    gallery: Views | None,
    metric: Metric | None,
) -> None:
    """Refuse options that differ from those the index was made with: it would ignore them."""
    if gallery is not None:
        raise UsageError(f"{path} has its own documents: leave out --among, or --index.")
    given = (("--in", in_view, found.in_view), ("--metric", metric, found.metric))
    for option, wanted, has in given:
        if wanted is not None and wanted != has:
            raise UsageError(
                f"{path} was made with {option} {has}. Use that, or make another index: --index "
                "with another file."
            )


def parse_query(model: Any, query: str | None, view: str | None, like: str | None) -> Any:
    """Return the query as `SearchIndex.query` takes it."""
    from coview.retrieval import Doc

    if like is not None:
        return Doc(like)
    sources = {r.source: r.kind for r in model.recipes_.values() if r is not None}
    if not sources:
        raise UsageError(
            "The model was fitted to matrices, or to concatenated views (--concat), and cannot "
            "read texts: use --like ID."
        )
    if view is None and len(sources) > 1:
        raise UsageError(f"Say which view the query is in: --view {' | '.join(sources)}.")
    name = view or next(iter(sources))
    if name not in sources:
        raise UsageError(f"--view {name}: queries can be given for {', '.join(sources)}.")
    is_image = sources[name].startswith("image")
    return {name: Path(str(query)) if is_image else query}


def _read_captions(model: Any, path: Path | None, id: str | None, title: str | None) -> Captions:
    """Read the texts of the documents, and their titles, from the data of --among or --show."""
    from coview.captions import Captions

    if path is None:
        if title is not None:
            raise UsageError("--title is a column of the table of --show or --among: give one.")
        return Captions()
    source = DataSource(path, id=id, title=title)
    if source.is_table and id is None and model.doc_ids_ is not None:
        raise UsageError("--show needs --id, the column of document ids.")
    return source.captions(model)


def _row(hit: Any, shown: _Shown) -> list[Any]:
    name = str(hit.position if hit.id is None else hit.id)
    from coview.captions import snippet

    text = shown.captions.text(name, shown.in_view) or ""
    cells = {
        "rank": hit.rank,
        "document": name,
        "title": shown.captions.titles.get(name),
        "score": float(hit.score),
        "text": snippet(text, SNIPPET_LENGTH),
    }
    return [cells[column] for column in shown.columns]


def _reasons(hit: Any) -> list[str]:
    """Return the topics and words that contributed to a score."""
    return [str(reason) for reason in hit.explanation or [] if reason.share >= MIN_SHARE]


def _show_explained(results: Any, shown: _Shown) -> None:
    made = table("", ["rank", "document", "score", "why"], right=["rank", "score"])
    for hit in results:
        cells = dict(zip(shown.columns, _row(hit, shown), strict=True))
        what = (cells.get(name) for name in ("document", "title", "text"))
        made.add_row(
            str(cells["rank"]),
            "\n".join(cell(part) for part in what if part),
            cell(cells["score"]),
            "\n".join(map(cell, _reasons(hit))),
        )
    console().print(made)
