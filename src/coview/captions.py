"""What documents are called where they are shown, and the raw texts of their views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coview.reading.recipes import frame_columns, is_frame
from coview.wording import listing

Texts = dict[str, list[str | None]]


def document_title(row: int, ids: Sequence[Any] | None, titles: Sequence[Any] | None = None) -> str:
    """Return what a document is called: its title, else its id, else its number from 0.

    >>> document_title(1, ["a", "b"], ["", "Rain"]), document_title(0, ["a", "b"], ["", "Rain"])
    ('Rain', 'a')
    >>> document_title(7, None)
    'document 7'
    """
    for names in (titles, ids):
        if names is not None and str(names[row]).strip():
            return str(names[row])
    return f"document {row}"


def check_titles(titles: Sequence[Any] | None, n_docs: int) -> list[str] | None:
    """Return the titles of documents as texts, empty where there is none."""
    if titles is None:
        return None
    found = ["" if _is_missing(title) else str(title) for title in titles]
    if len(found) != n_docs:
        raise ValueError(f"There are {len(found):,} titles for {n_docs:,} documents.")
    return found


def _is_missing(title: Any) -> bool:
    return title is None or (isinstance(title, float) and bool(np.isnan(title)))


@dataclass(frozen=True)
class Captions:
    """Titles and texts of documents by name, which is their id, or their number as a text.

    Attributes
    ----------
    titles : dict of str
    texts : dict of dict of str
        By view; a document that lacks the view is not in it.

    Examples
    --------
    >>> known = Captions({"d1": "Rain"}, {"en": {"d1": "rain all day"}, "de": {"d1": "Regen"}})
    >>> known.text("d1", "de"), known.text("d1", None), known.text("d2", "de")
    ('Regen', 'rain all day', None)
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def text(self, name: str, view: str | None) -> str | None:
        """Return the text of a document in a view; None: in the first view that it has."""
        views = self.texts.values() if view is None else [self.texts.get(view, {})]
        return next((texts[name] for texts in views if texts.get(name)), None)


def snippet(text: str, length: int) -> str:
    """Return the beginning of a text, up to the end of a word.

    >>> snippet("It will rain\\nall day", 14), snippet("rain", 14)
    ('It will rain …', 'rain')
    """
    text = " ".join(text.split())
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"


def texts_by_view(model: Any, texts: Any) -> Texts:
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
    found: Texts = {}
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
