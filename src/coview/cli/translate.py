"""The command `coview translate`: which terms of one view call for which of another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.options import UsageError
from coview.cli.output import check_table_output, note, show_or_write
from coview.cli.search import check_view

if TYPE_CHECKING:
    from coview.retrieval.dictionary import Translations

MAX_SHOWN = 50  # rows of a table on the terminal
_COLUMNS = ("term", "from", "to", "rank", "translation", "probability", "documents")


def translate(
    model: options.Model,
    term: Annotated[
        str | None, typer.Argument(help="A term of the view of --from.", show_default=False)
    ] = None,
    view: Annotated[
        str | None,
        typer.Option("--from", metavar="VIEW", help="View of the term. Needed unless --all."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="VIEW", help="View of its translations. Default: all others."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Translate all terms, of all views unless --from.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="Number of translations of each term.")] = 10,
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Show which terms of another view a term calls for, with their probabilities.

    They were learned from the documents that have both views. A term that too few of these have
    calls for what its topics call for; the column of documents says how many there are.

    Examples:

      coview translate news.coview network --from en --to de

      coview translate news.coview --all -o dictionary.csv
    """
    if (term is None) != everything:
        raise UsageError("Give either a term, or --all.")
    from coview.io import load
    from coview.models import topic_model

    check_table_output(output, model)
    fitted = topic_model(load(model))
    check_view(fitted, view, "--from")
    check_view(fitted, to, "--to")
    if view is None and not everything and len(fitted.view_names_) > 1:
        raise UsageError(f"Say which view the term is in: --from {' | '.join(fitted.view_names_)}.")
    found = list(_found(fitted, term, view, to, top))
    rows = [[row[name] for name in _COLUMNS] for one in found for row in one.to_rows()]
    few = sum(not one.learned for one in found)
    if few and not everything:
        note("Too few documents have the term to learn what it calls for: its topics say.")
    show_or_write(_COLUMNS, rows, as_json=json, output=output, raw=raw, max_shown=MAX_SHOWN)


def _found(
    model: Any, term: str | None, view: str | None, to: str | None, top: int
) -> Iterator[Translations]:
    """Yield the translations of a term, or of all, in the views that have documents in common."""
    from coview.retrieval.dictionary import dictionary, translate

    names = model.view_names_
    wanted = [p for p in permutations(names, 2) if view in (None, p[0]) and to in (None, p[1])]
    tables = getattr(getattr(model, "search_", None), "tables", {})
    # where none has any, the first says why
    pairs = [p for p in wanted if p in tables] or wanted[:1] or [(view or names[0], to or names[0])]
    for pair in pairs:
        if term is None:
            yield from dictionary(model, *pair, top)
        else:
            yield translate(model, term, *pair, top)
