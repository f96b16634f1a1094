"""The printed form of `Views`: as text, and as a table in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coview.escaping import for_html
from coview.wording import plural, printable

if TYPE_CHECKING:
    from coview.views.container import Views


def describe(views: Views) -> str:
    """Return a few lines of text that summarize a `Views`."""
    title = f"Views: {plural(views.n_docs, 'document')}, {plural(views.n_views, 'view')}"
    rows = _rows(views)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    # names are left-aligned, numbers right-aligned, and the last column is free text
    lines = [
        f"  {name:<{widths[0]}}  {terms:>{widths[1]}}  {filled:>{widths[2]}}  {documents}"
        for name, terms, filled, documents in rows
    ]
    return "\n".join([title, *lines, f"  {_notes(views)}"])


def describe_html(views: Views) -> str:
    """Return the same summary as an HTML table; everything that comes from data is escaped."""
    title, *_, notes = describe(views).splitlines()
    shares = views.present.mean(axis=0) if views.n_docs else [0.0] * views.n_views
    body = "".join(
        f"<tr>{''.join(f'<td>{for_html(cell)}</td>' for cell in row)}<td>{_bar(share)}</td></tr>"
        for row, share in zip(_rows(views), shares, strict=True)
    )
    return f"<p>{for_html(title)}</p><table>{body}</table><p>{for_html(notes.strip())}</p>"


def _bar(share: float, width: int = 80) -> str:
    """Return the share of documents that have a view as a bar, inline SVG without a script."""
    return (
        f'<svg width="{width}" height="12" role="img"><title>{100 * share:.0f} % of the documents'
        f'</title><rect width="{width}" height="10" y="1" fill="#d9d9d9"/>'
        f'<rect width="{width * share:.0f}" height="10" y="1" fill="#0072B2"/></svg>'
    )


def _rows(views: Views) -> list[tuple[str, str, str, str]]:
    present = views.present.sum(axis=0)
    return [
        (
            printable(name, 30),
            plural(matrix.shape[1], "term"),
            f"{plural(matrix.nnz, 'non-zero')} ({_share(matrix)})",
            _documents(int(count), views.n_docs) + _range(matrix) + _stop_words(views, name),
        )
        for (name, matrix), count in zip(views.matrices.items(), present, strict=True)
    ]


def _share(matrix: Any) -> str:
    return f"{100 * matrix.nnz / (matrix.shape[0] * matrix.shape[1]):.1f} %"


def _documents(present: int, total: int) -> str:
    absent = total - present
    if absent == 0:
        return "all documents"
    return f"{plural(present, 'document')} ({absent:,} {'lacks' if absent == 1 else 'lack'} it)"


def _range(matrix: Any) -> str:
    """Return the range of a view that has negative values."""
    # not at the top: the command line describes views, and starts without numpy
    from coview.views.density import has_negatives

    if not has_negatives(matrix):
        return ""
    return f", real numbers from {matrix.data.min():.3g} to {matrix.data.max():.3g}"


def _stop_words(views: Views, name: str) -> str:
    """Return whose stop words were left out of a view of texts."""
    whose = getattr(views.recipes[name], "stop_words", None)
    return "" if whose is None else f", stop words: {whose}"


def _notes(views: Views) -> str:
    named = [name for name, features in views.features.items() if features is not None]
    features = (
        "all views" if len(named) == views.n_views else ", ".join(printable(n, 30) for n in named)
    )
    ids = "no" if views.ids is None else "yes"
    return f"labels: {_labels(views)}; ids: {ids}; feature names: {features or 'no'}"


def _labels(views: Views) -> str:
    if views.labels is None:
        return "no"
    # not at the top, as above
    from coview.views.labels import is_unlabeled

    unlabeled = is_unlabeled(views.labels)
    classes = set(views.labels[~unlabeled].tolist())
    names = views.label_names
    shown = [label if names is None else names[label] for label in sorted(classes)]
    some = ", ".join(printable(name, 20) for name in shown[:3]) + (
        ", ..." if len(shown) > 3 else ""
    )
    count = f"{len(classes):,} {'class' if len(classes) == 1 else 'classes'}"
    return f"{count}{f' ({some})' if some else ''}, {unlabeled.sum():,} unlabeled"
