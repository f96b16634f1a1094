"""The printed form of `ShardedViews`, as that of `Views`, from the manifest alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coview.wording import plural, printable

if TYPE_CHECKING:
    from coview.shards.format import ViewInfo
    from coview.shards.sharded import ShardedViews


def describe(sharded: ShardedViews) -> str:
    """Return a few lines of text that summarize a `ShardedViews`."""
    title = (
        f"ShardedViews: {plural(sharded.n_docs, 'document')}, {plural(sharded.n_views, 'view')}, "
        f"in {plural(len(sharded.shards), 'shard')}"
    )
    rows = [_row(view, sharded.n_docs) for view in sharded.manifest.views]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"  {name:<{widths[0]}}  {terms:>{widths[1]}}  {filled:>{widths[2]}}  {documents}"
        for name, terms, filled, documents in rows
    ]
    return "\n".join([title, *lines, f"  {_notes(sharded)}"])


def _row(view: ViewInfo, n_docs: int) -> tuple[str, str, str, str]:
    share = 100 * view.nonzeros / (n_docs * view.n_terms)
    absent = n_docs - view.present
    lacking = (
        f"{plural(view.present, 'document')} ({absent:,} {'lacks' if absent == 1 else 'lack'} it)"
    )
    values = (
        f", real numbers from {view.lowest:.3g} to {view.highest:.3g}" if view.lowest < 0 else ""
    )
    return (
        printable(view.name, 30),
        plural(view.n_terms, "term"),
        f"{plural(view.nonzeros, 'non-zero')} ({share:.1f} %)",
        ("all documents" if not absent else lacking) + values,
    )


def _notes(sharded: ShardedViews) -> str:
    named = [view.name for view in sharded.manifest.views if view.features]
    features = (
        "all views"
        if len(named) == sharded.n_views
        else ", ".join(printable(name, 30) for name in named)
    )
    labels, ids = sharded.manifest.labels, "yes" if sharded.manifest.ids else "no"
    classes = "no" if labels is None else "yes"
    if labels is not None and labels.names is not None:
        count = len(labels.names)
        classes = f"{count:,} {'class' if count == 1 else 'classes'}"
    return f"labels: {classes}; ids: {ids}; feature names: {features or 'no'}"
