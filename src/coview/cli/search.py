"""`coview search`: one view asked, another answers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from coview.cli import options
from coview.cli.output import UsageError, cell, console, deliver, print_json, table
from coview.cli.source import Source, check_not_input
from coview.models import topic_model

SNIPPET = 90


class Metric(StrEnum):
    """How mixtures are compared."""

    correlation = "correlation"
    cosine = "cosine"
    hellinger = "hellinger"
    jensen_shannon = "jensen-shannon"


def search(
    model: options.Model,
    query: Annotated[
        str | None, typer.Argument(help="A text, or the file of a picture.", show_default=False)
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="The view the query is in. Not needed if there is one.")
    ] = None,
    in_view: Annotated[
        str | None, typer.Option("--in", help="The view to search; all views together otherwise.")
    ] = None,
    like: Annotated[
        str | None, typer.Option(help="Instead of a query: the id of a document.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many answers.")] = 10,
    metric: Annotated[
        Metric | None, typer.Option(help="How mixtures are compared; hellinger by default.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell which topics and words made the match.")
    ] = False,
    among: Annotated[
        Path | None,
        typer.Option(
            help="Search these documents (a table, folder or .h5mu) instead of those the "
            "model was fitted to. A table also shows the text of what is found."
        ),
    ] = None,
    show: Annotated[
        Path | None,
        typer.Option(help="The table the model was fitted to, to show the text of what is found."),
    ] = None,
    id: options.Id = None,
    index: Annotated[
        Path | None,
        typer.Option(help="File of a search index: read if it is there, written otherwise."),
    ] = None,
    approximate: Annotated[
        bool, typer.Option("--approximate", help="An approximate index, for millions.")
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
    from coview.io import load

    fitted = load(model)
    fitted = topic_model(fitted)
    _check_view(fitted, in_view, "--in")
    gallery = _gallery(fitted, among, in_view, id)
    check_not_input(output, model, among, show, index)
    engine = _engine(fitted, in_view, gallery, metric, index, approximate)
    asked = _query(fitted, query, view, like)
    results = engine.query(asked, top=top, explain=explain)
    texts = _texts(fitted, among or show, in_view, id)
    rows = [_row(hit, texts) for hit in results]
    columns = ["rank", "document", "score", *(["text"] if texts else [])]
    if explain and json:
        found = [dict(zip(columns, row, strict=True)) for row in rows]
        reasons = (row["explanation"] for row in results.to_rows())
        print_json([row | {"explanation": why} for row, why in zip(found, reasons, strict=True)])
    elif explain and output is None:
        _explained(results, texts)
    else:
        if explain:
            columns.append("why")
            rows = [[*row, "; ".join(_why(hit))] for row, hit in zip(rows, results, strict=True)]
        deliver("", columns, rows, as_json=json, output=output, raw=raw)


def _check_view(model: Any, name: str | None, option: str) -> None:
    if name is not None and name not in model.view_names_:
        raise UsageError(
            f"{option} {name}: the model has the views {', '.join(model.view_names_)}."
        )


def _gallery(model: Any, among: Path | None, in_view: str | None, id: str | None) -> Any:
    """New documents to search, as views; None are those of the training."""
    if among is None:
        return None
    pieces = list(Source(among, id=id).new_documents(model))
    if len(pieces) > 1:
        raise ValueError(
            f"{among} has more rows than are searched without a model of their own: fit one to it, "
            "and search that."
        )
    views = pieces[0]
    return views.select(in_view) if in_view else views


def _engine(model, in_view, gallery, metric, index: Path | None, approximate: bool) -> Any:
    from coview.retrieval import SearchIndex

    if index is not None and index.exists():
        return _same_index(SearchIndex.load(index, model), index, in_view, gallery, metric)
    method = "approximate" if approximate else "exact"
    metric = str(metric or Metric.hellinger)
    made = SearchIndex(model, in_view=in_view, views=gallery, metric=metric, method=method)
    if index is not None:
        made.save(index)
    return made


def _same_index(found: Any, path: Path, in_view: str | None, gallery: Any, metric: Any) -> Any:
    """An index answers what it was made for, whatever else is asked."""
    if gallery is not None:
        raise UsageError(f"{path} holds documents of its own: leave out --among, or --index.")
    given = (("--in", in_view, found.in_view), ("--metric", metric, found.metric))
    for option, wanted, has in given:
        if wanted is not None and wanted != has:
            raise UsageError(
                f"{path} was made with {option} {has}. Ask for that, or make another with --index "
                "and another name."
            )
    return found


def _query(model: Any, query: str | None, view: str | None, like: str | None) -> Any:
    from coview.retrieval import Doc

    if (query is None) == (like is None):
        raise UsageError("Give either a query (a text, or the file of a picture) or --like ID.")
    if like is not None:
        return Doc(like)
    sources = {r.source: r.kind for r in model.recipes_.values() if r is not None}
    if not sources:
        raise UsageError(
            "The model was fitted to matrices, or to views put side by side (--concat), and cannot "
            "read texts: use --like ID."
        )
    if view is None and len(sources) > 1:
        raise UsageError(f"Say which view the query is in: --view {' | '.join(sources)}.")
    name = view or next(iter(sources))
    if name not in sources:
        raise UsageError(f"--view {name}: queries can be given for {', '.join(sources)}.")
    is_picture = sources[name].startswith("image")
    return {name: Path(str(query)) if is_picture else query}


def _texts(model: Any, path: Path | None, in_view: str | None, id: str | None) -> dict[str, str]:
    """The text of each document by its id, from a table; nothing without one."""
    if path is None or path.is_dir() or path.suffix == ".h5mu":
        return {}
    from coview.reading.tables import check_columns, open_table

    recipe = model.recipes_.get(in_view) if in_view else None
    if id is None and model.doc_ids_ is not None:
        raise UsageError("--show needs --id, the column of the names the documents have.")
    there = open_table(path).columns()
    columns = (
        [recipe.source]
        if recipe is not None
        else [r.source for r in model.recipes_.values() if r is not None and r.source in there]
    )
    wanted = [*columns, *([id] if id else [])]
    check_columns(wanted, open_table(path))
    found = {}
    for number, (_, cells) in enumerate(open_table(path).rows(wanted)):
        name = str(cells[-1]) if id else str(number)
        found[name] = next((str(c) for c in cells[: len(columns)] if c), "")
    return found


def _row(hit: Any, texts: dict[str, str]) -> list[Any]:
    name = str(hit.position if hit.id is None else hit.id)
    shown = [_snippet(texts.get(name, ""))] if texts else []
    return [hit.rank, name, float(hit.score), *shown]


def _snippet(text: str) -> str:
    """The beginning of a text, up to the end of a word."""
    text = " ".join(text.split())
    return text if len(text) <= SNIPPET else text[:SNIPPET].rsplit(" ", 1)[0] + " …"


def _why(hit: Any) -> list[str]:
    """The reasons that count for something."""
    return [str(reason) for reason in hit.explanation or [] if reason.share >= 0.01]


def _explained(results: Any, texts: dict[str, str]) -> None:
    shown = table("", ["rank", "document", "score", "why"], right=["rank", "score"])
    for hit in results:
        rank, name, score, *text = _row(hit, texts)
        what = f"{cell(name)}\n{cell(text[0])}" if text else cell(name)
        shown.add_row(
            str(rank),
            what,
            cell(score),
            cell_lines(_why(hit)),
        )
    console().print(shown)


def cell_lines(lines: list[str]) -> str:
    """Several lines of a table's cell, each escaped."""
    return "\n".join(cell(line) for line in lines)
