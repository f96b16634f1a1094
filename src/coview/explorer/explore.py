"""`explore`: the explorer of a model and its documents, as a page in a file or in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from coview.captions import check_titles, texts_by_view
from coview.explorer.budget import Budget
from coview.explorer.container import Payload
from coview.explorer.page import ExplorerPage
from coview.explorer.payload import payload_of
from coview.models import topic_model
from coview.outputs import check_output
from coview.reporting import Report
from coview.reporting import report as make_report
from coview.tree import build_tree, usual_levels
from coview.views.container import Views
from coview.wording import quoted

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
    if report is None:
        report = make_report(model, given, titles=titles, random_state=random_state)
    elif len(report.mixtures) != given.n_docs:
        raise ValueError(
            f"The report is of {len(report.mixtures):,} documents, the views are of "
            f"{given.n_docs:,}: give the report of these views."
        )
    tree, n_topics = report.tree, len(report.topics)
    if tree is None and n_topics > N_COLORS:  # the page colors their levels
        tree = build_tree(model, given, usual_levels(n_topics))
    return payload_of(
        report if titles is None else replace(report, titles=check_titles(titles, given.n_docs)),
        model,
        given,
        tree=tree,
        texts=by_view,
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
