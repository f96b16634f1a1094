"""The dictionary that a search learns: which terms of one view call for which of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, overload

import numpy as np

from coview.models import topic_model
from coview.params import check_int
from coview.retrieval.evidence import SearchEvidence
from coview.retrieval.gallery import check_view
from coview.retrieval.translation import FEWEST_DOCS
from coview.wording import listing, plural, printable, quoted


class Translation(NamedTuple):
    """A term with the probability that it is called for."""

    term: str
    probability: float


class Translations(Sequence):
    """The terms of another view that one term calls for, the most probable first.

    Parameters
    ----------
    term : str
    view, to : str
    found : sequence of Translation
    n_docs : int
        Documents with both views that have the term.

    Attributes
    ----------
    learned : bool
        Whether enough documents have the term to learn what it calls for; else its topics say.

    Examples
    --------
    >>> found = Translations("network", "en", "de", [Translation("netzwerk", 0.5)], 12)
    >>> print(found)
    network (en, 12 documents)
    0.5000  netzwerk
    """

    def __init__(self, term: str, view: str, to: str, found: Sequence[Translation], n_docs: int):
        self.term = term
        self.view = view
        self.to = to
        self.n_docs = n_docs
        self._found = list(found)

    @property
    def learned(self) -> bool:
        return self.n_docs >= FEWEST_DOCS

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, at: int) -> Translation: ...
    @overload
    def __getitem__(self, at: slice) -> list[Translation]: ...
    def __getitem__(self, at: int | slice) -> Translation | list[Translation]:
        return self._found[at]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dict for each term, of values that JSON and data frames take."""
        head = {"term": self.term, "from": self.view, "to": self.to, "documents": self.n_docs}
        return [
            head | {"rank": rank, "translation": term, "probability": p}
            for rank, (term, p) in enumerate(self._found, 1)
        ]

    def __str__(self) -> str:
        how = "" if self.learned else ", too few to learn from: by topics"
        behind = f"{printable(self.view)}, {plural(self.n_docs, 'document')}{how}"
        head = f"{printable(self.term)} ({behind})"
        lines = [f"{p:.4f}  {printable(term)}" for term, p in self._found]
        return "\n".join([head, *(lines or ["nothing is called for"])])

    def __repr__(self) -> str:
        return f"<Translations in {quoted(self.to)}: {len(self)}>\n{self}"


def translate(model: Any, term: str, view: str, to: str, top: int = 10) -> Translations:
    """Return what a term calls for: see `BaseViewsModel.translate`."""
    check_int("top", top, 1)
    model = topic_model(model)
    evidence = _checked(model, view, to)
    names = _names(model, view)
    column = names.get(str(term))
    if column is None:
        near = get_close_matches(str(term), names, 3)
        hint = f" Similar terms are {listing(near)}." if near else ""
        raise ValueError(f"The model knows no term {term!r} in view {quoted(view)}.{hint}")
    return _row(model, evidence, (view, to), str(term), column, top)


def dictionary(model: Any, view: str, to: str, top: int = 10) -> Iterator[Translations]:
    """Yield what each term of a view calls for, in the order of its columns."""
    model = topic_model(model)
    evidence = _checked(model, view, to)
    for term, column in _names(model, view).items():
        found = _row(model, evidence, (view, to), term, column, top)
        if len(found):
            yield found


def _checked(model: Any, view: str, to: str) -> SearchEvidence:
    for name in (view, to):
        if name is None:
            raise ValueError(f"Name two views of {listing(model.view_names_)}.")
        check_view(model, name)
    if view == to:
        raise ValueError(f"A term is translated to another view than its own, {quoted(view)}.")
    evidence = getattr(model, "search_", None)
    if evidence is None:
        raise ValueError(
            "This model keeps no translations: fit it again without --no-search, or call "
            "model.keep_search(views) with the documents it was fitted to."
        )
    if (view, to) not in evidence.tables:
        raise ValueError(
            f"No document has both views {quoted(view)} and {quoted(to)}, so that none of their "
            "terms can be translated."
        )
    return evidence


def _names(model: Any, view: str) -> dict[str, int]:
    names = model.feature_names_[view]
    width = model.components_[view].shape[1]
    terms = range(width) if names is None else names
    return {str(term): column for column, term in enumerate(terms)}


def _row(
    model: Any,
    evidence: SearchEvidence,
    views: tuple[str, str],
    term: str,
    column: int,
    top: int,
) -> Translations:
    table = evidence.tables[views]
    part = slice(table.indptr[column], table.indptr[column + 1])
    columns, values = table.indices[part], table.data[part]
    order = np.argsort(-values, kind="stable")[:top]
    names = model.feature_names_[views[1]]
    found = [
        Translation(str(columns[i] if names is None else names[columns[i]]), float(values[i]))
        for i in order
    ]
    n_docs = int(evidence.term_docs[views][column])
    return Translations(term, *views, found, n_docs)
