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
from coview.wording import listing

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
    titled: bool

    @property
    def columns(self) -> list[str]:
        title = ["title"] if self.titled else []
        text = ["text"] if self.captions.texts else []
        return ["rank", "document", *title, "score", *text]


class Metric(StrEnum):
    """How documents are compared."""

    evidence = "evidence"
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
    queries: Annotated[
        Path | None,
        typer.Option(
            help="Instead of a query: a table of many, in the column of --text; --id is then the "
            "column of their ids."
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the table of --queries: COLUMN or VIEW=COLUMN. Repeatable.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of results.")] = 10,
    metric: Annotated[
        Metric | None,
        typer.Option(
            help="How documents are compared. Default: evidence, by their terms, by what terms of "
            "one view call for in another, and by topics; hellinger, by topics alone, where the "
            "model keeps no documents and --show and --among are not given."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show which words and topics made the match.")
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
            "searched."
        ),
    ] = None,
    id: options.Id = None,
    title: options.Title = None,
    index: Annotated[
        Path | None,
        typer.Option(help="File of a search index: read if it exists, written otherwise."),
    ] = None,
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Search documents in one view with a query in another.

    The score is the probability that a document is the one asked for; with other metrics, how
    similar it is. What the model keeps of its documents is searched: coview fit --title gives them
    titles, --show shows their texts.

    Examples:

      coview search news.coview --view en --in de "football match"

      coview search news.coview --view en "football match" --show news.csv --id id --explain

      coview search photos.coview --view image --in caption beach.jpg

      coview search news.coview --like d017 --in de --explain

      coview search news.coview --queries asks.csv --text en=question --in de -o hits.csv
    """
    if sum(given is not None for given in (query, like, queries)) != 1:
        # before anything large is imported or read
        raise UsageError(
            "Give either a query (a text, or the path of an image file), or --like ID, or "
            "--queries FILE."
        )
    if queries is not None and (among or show or title or explain):
        raise UsageError("--queries goes without --among, --show, --title and --explain.")
    if text and queries is None:
        raise UsageError("--text is a column of the table of --queries: give one.")
    from coview.io import load

    check_table_output(output, model, among, show, index, queries)
    if index is not None and not index.exists():
        check_output(index, model, among, show, queries)
    fitted = topic_model(load(model))
    check_view(fitted, in_view, "--in")
    if queries is not None:
        source = DataSource(queries, text=_query_columns(fitted, text, view), id=id)
        engine = _make_index(fitted, in_view, (None, None), metric, index)
        _note_topics_alone(fitted, engine, metric)
        columns = ["query", "rank", "document", "title", "score"]
        show_or_write(
            columns, _answers(fitted, engine, source, top), as_json=json, output=output, raw=raw
        )
        return
    gallery = _read_gallery(fitted, among, in_view, id)
    parsed = parse_query(fitted, query, view, like)
    captions = _read_captions(fitted, among or show, id, title)
    training = None
    if among is None and not hasattr(fitted, "search_") and metric in (None, Metric.evidence):
        training = _read_training(fitted, show, id)
    engine = _make_index(fitted, in_view, (gallery, training), metric, index)
    by_evidence = engine.metric == Metric.evidence
    results = engine.query(parsed, top=top, explain=explain or by_evidence)
    note_left_out(results.left_out)
    _note_topics_alone(fitted, engine, metric)
    if by_evidence:
        _note_no_evidence(results)
    titled = bool(captions.titles) or any(hit.title for hit in results)
    shown = _Shown(captions, engine.in_view, titled)
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


def _query_columns(model: Any, text: list[str] | None, view: str | None) -> list[str] | None:
    """Return the columns of --text as VIEW=COLUMN."""
    if not text:
        return text
    return [
        given if "=" in given else f"{next(iter(parse_query(model, '', view, None)))}={given}"
        for given in text
    ]


def _answers(model: Any, index: SearchIndex, source: DataSource, top: int) -> list[list[Any]]:
    """Return a row for each answer to the queries of a table; say which have no known term."""
    from coview.retrieval.query import known_counts

    rows: list[list[Any]] = []
    unknown: list[str] = []
    n_queries = 0
    for views in source.new_documents(model):
        names = [str(n_queries + row) for row in range(len(views))]
        names = names if views.ids is None else [str(name) for name in views.ids]
        n_queries += len(views)
        known = known_counts(model, model.as_views(views)) > 0
        unknown += [name for name, told in zip(names, known, strict=True) if not told]
        asked = [name for name, told in zip(names, known, strict=True) if told]
        for hit in index.query_rows(views[known], top) if asked else ():
            document = str(hit["position"] if hit["id"] is None else hit["id"])
            row = asked[hit["query"]], hit["rank"], document, hit["title"], hit["score"]
            rows.append(list(row))
    if not n_queries:
        raise ValueError(f"There are no queries in {source.data}.")
    if unknown:
        note(
            f"Without an answer, for want of a term that the model knows: {len(unknown):,} of "
            f"{n_queries:,} queries ({listing(unknown)})."
        )
    return rows


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
) -> SearchIndex:
    """Load the index of --index, or make one (and save it there).

    `documents` are new ones to search (--among), and those the model was fitted to (--show).
    """
    from coview.retrieval import SearchIndex
    from coview.retrieval.gallery import OtherDocuments

    gallery, training = documents
    if index is not None and index.exists():
        found = SearchIndex.load(index, model)
        _check_index(found, index, in_view, gallery, metric)
        return found
    given: dict[str, Any] = {
        "in_view": in_view,
        "views": gallery,
        "metric": None if metric is None else str(metric),
    }
    try:
        made = SearchIndex(model, training_views=training, **given)
    except OtherDocuments as error:
        if metric is not None:
            raise
        note(f"The table of --show has changed since the fit: {error}")
        made = SearchIndex(model, **given)
    if index is not None:
        made.save(index)
    return made


def note_left_out(words: Mapping[str, str]) -> None:
    """Say which words of a query are not known, and why; nothing of stop words."""
    from coview.reading.left_out import name_left_out

    if left_out := name_left_out(words, stop_words=False):
        note(f"Left out of the query: {left_out}.")


def _note_topics_alone(model: Any, index: SearchIndex, metric: Metric | None) -> None:
    """Say that nothing finer than topics was compared, where nobody asked for that."""
    if metric is None and index.metric != Metric.evidence and not hasattr(model, "search_"):
        note(
            "Ranked by topics alone: the model keeps no documents. Give the table it was fitted to "
            "with --show, or fit it again without --no-search."
        )


def _note_no_evidence(results: Any) -> None:
    """Say which answers nothing speaks for."""
    without = [hit.rank for hit in results if not hit.explanation]
    if len(without) == len(results):
        note("Nothing that is known of the query speaks for any document.")
    elif without:
        note(f"Nothing speaks for the answers of rank {listing(without)}.")


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
        "title": shown.captions.titles.get(name) or hit.title or None,
        "score": float(hit.score),
        "text": snippet(text, SNIPPET_LENGTH),
    }
    return [cells[column] for column in shown.columns]


def _reasons(hit: Any) -> list[str]:
    """Return the words and topics that contributed to a score."""
    reasons = [str(reason) for reason in hit.explanation or [] if reason.share >= MIN_SHARE]
    return reasons or ["nothing speaks for it"]


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
