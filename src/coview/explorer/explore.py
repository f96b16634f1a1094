"""`explore`: the explorer of a model and its documents, as a page in a file or in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coview.explorer.budget import Budget
from coview.explorer.container import Payload
from coview.explorer.page import ExplorerPage
from coview.explorer.payload import payload_of
from coview.models import topic_model
from coview.outputs import check_output
from coview.reading.recipes import frame_columns, is_frame
from coview.reporting import Report
from coview.reporting import report as make_report
from coview.tree import build_tree, usual_levels
from coview.views.container import Views
from coview.wording import listing, quoted

N_COLORS = 8  # that the page has for topics


def explore(
    model: Any,
    views: Any,
    path: str | PathLike[str] | None = None,
    **options: Any,
) -> ExplorerPage | Path:
    """Make the explorer of a model and its documents: see `BaseViewsModel.explore`.

    The options are those of `explorer_payload`.
    """
    if path is not None:
        check_output(path)
    page = ExplorerPage(explorer_payload(model, views, **options))
    return page if path is None else page.save(path)


def explorer_payload(
    model: Any,
    views: Any,
    *,
    texts: Any = None,
    titles: Sequence[str] | None = None,
    pictures: Mapping[str, Sequence[Any]] | None = None,
    title: str | None = None,
    umap: bool = False,
    report: Report | None = None,
    random_state: Any = 0,
    budget: Budget | None = None,
) -> Payload:
    """Return the data of the explorer: see `explore`."""
    check_is_fitted(model)
    inner = topic_model(model)
    given = inner.as_views(views)
    if isinstance(views, Views) and views.labels is not None and given.labels is None:
        given = given.with_labels(views.labels, views.label_names)
    by_view = texts_by_view(inner, texts)
    _check_lengths(given.n_docs, texts=by_view, pictures=pictures or {})
    if titles is not None and len(titles) != given.n_docs:
        raise ValueError(f"There are {len(titles):,} titles for {given.n_docs:,} documents.")
    if report is None:
        report = make_report(model, given, random_state=random_state)
    elif len(report.mixtures) != given.n_docs:
        raise ValueError(
            f"The report is of {len(report.mixtures):,} documents, the views are of "
            f"{given.n_docs:,}: give the report of these views."
        )
    tree, n_topics = report.tree, len(report.topics)
    if tree is None and n_topics > N_COLORS:  # the page colors their levels
        tree = build_tree(model, given, usual_levels(n_topics))
    return payload_of(
        report,
        model,
        given,
        tree=tree,
        texts=by_view,
        titles=titles,
        pictures=pictures,
        title=title,
        umap=umap,
        budget=budget,
    )


def _check_lengths(n_docs: int, **columns: Mapping[str, Sequence[Any]]) -> None:
    for what, by_view in columns.items():
        for view, column in by_view.items():
            if len(column) != n_docs:
                raise ValueError(
                    f"There are {len(column):,} {what} of view {quoted(view)} for {n_docs:,} "
                    "documents."
                )


def texts_by_view(model: Any, texts: Any) -> dict[str, list[str | None]]:
    """Return raw texts by view, from a dict of columns or a DataFrame.

    A column is called like the view, or as the column that the view was made from.
    """
    if texts is None:
        return {}
    sources = [recipe.source for recipe in model.recipes_.values() if recipe is not None]
    columns = frame_columns(texts, sources) if is_frame(texts) else texts
    if not isinstance(columns, Mapping):
        raise TypeError(
            f"texts must be a dict of lists of texts by view, or a DataFrame; got "
            f"{type(texts).__name__}."
        )
    found: dict[str, list[str | None]] = {}
    for view in model.view_names_:
        recipe = model.recipes_.get(view)
        source = view if view in columns else str(getattr(recipe, "source", view))
        if source in columns and getattr(recipe, "kind", "text") in ("text", "tokens"):
            found[view] = [_as_text(item) for item in columns[source]]
    known = {getattr(r, "source", None) for r in model.recipes_.values()} | set(model.view_names_)
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise ValueError(
            f"texts are of {listing(unknown)}; the model has the views "
            f"{listing(model.view_names_)}."
        )
    return found


def _as_text(item: Any) -> str | None:
    if isinstance(item, list | tuple | np.ndarray):
        return " ".join(str(token) for token in item)
    return item if isinstance(item, str) else None
