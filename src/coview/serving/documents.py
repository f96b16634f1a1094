"""Documents of requests as views of a model.

A document is a JSON object: for some views of the model a text, terms with their counts, a list of
terms, a row of numbers, the vector of an encoder, or a picture. A text is never taken for the path
of a file.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.scaling import real_views
from coview.extras import need
from coview.reading.image_files import picture_size
from coview.serving.errors import RequestError
from coview.views.container import Views
from coview.views.vocabulary import read_known
from coview.wording import listing, quoted

MAX_PIXELS = 25_000_000  # of a picture: 75 MB when decoded

Cell = tuple[int, Any]  # row of a document, and its value in a view


@dataclass
class _Cells:
    """What the documents of a request have in one view."""

    raw: list[Cell] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  # of counts, one for each non-zero
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    given: set[int] = field(default_factory=set)  # rows

    def add_counts(self, row: int, counts: Mapping[int, float]) -> None:
        """Add the counts of one document by column."""
        self.rows += [row] * len(counts)
        self.columns += counts.keys()
        self.values += counts.values()


class DocumentReader:
    """Reads documents of requests as views of one model.

    Parameters
    ----------
    model : fitted model

    Examples
    --------
    >>> from coview import PLSA, Views
    >>> views = Views.from_texts({"en": ["ball goal", "moon star", "goal team"]}, max_df=1.0)
    >>> reader = DocumentReader(PLSA(2, random_state=0).fit(views))
    >>> found = reader.read([{"en": "a goal"}, {"en": {"moon": 2, "mars": 1}}, {"en": ["star"]}])
    >>> found["en"].sum(axis=1).tolist()
    [1.0, 2.0, 1.0]
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._recipes = {n: r for n, r in model.recipes_.items() if r is not None}
        self.real_views = real_views(model.scaling_)
        self._widths = {name: topics.shape[1] for name, topics in model.components_.items()}

    def read(self, documents: Sequence[Mapping[str, Any]], first: int = 0) -> Views:
        """Return documents as views of the model, with its columns.

        Parameters
        ----------
        documents : sequence of dict
            By view, a value as JSON has it.
        first : int, default=0
            The number of the first document, for messages.

        Returns
        -------
        Views
        """
        cells: dict[str, _Cells] = {}
        for row, document in enumerate(documents):
            place = f"Document {first + row}"
            given = {name: value for name, value in document.items() if value is not None}
            if not given:
                raise _wrong(f"{place} has no view. Known are {listing(self._widths, 20)}.")
            for name, value in given.items():
                self._add(cells, row, name, value, place)
        matrices, present = {}, {}
        for view in [name for name in self._widths if name in cells]:
            matrices[view], present[view] = self._matrix(view, cells[view], len(documents))
        return self._views(matrices, present)

    def _views(self, matrices: dict[str, Any], present: dict[str, np.ndarray]) -> Views:
        try:
            # the columns are the model's already: names would be checked again, at half of the cost
            return self._model.as_views(read_known(matrices, self.real_views, present=present))
        except ValueError as error:  # such as counts below zero
            raise _wrong(str(error)) from error

    def _add(self, cells: dict[str, _Cells], row: int, name: str, value: Any, place: str) -> None:
        is_raw = isinstance(value, str) or is_picture(value) or self._is_vector(name, value)
        views = self._raw_views(name, value, place) if is_raw else self._counted_views(name, place)
        for view in views:
            known = cells.setdefault(view, _Cells())
            if row in known.given:
                raise _wrong(f"{place} has the view {quoted(view)} twice.")
            known.given.add(row)
            if is_raw:
                known.raw.append((row, value))
            else:
                self._check_signs(view, value, place)
                known.add_counts(row, self._counts(view, value, place))

    def _check_signs(self, view: str, value: Any, place: str) -> None:
        """Refuse numbers below 0, also of terms that are not known."""
        numbers = value.values() if isinstance(value, Mapping) else value
        below = any(not isinstance(one, str) and one < 0 for one in numbers)
        if below and view not in self.real_views:
            raise _wrong(f"{place}: counts of view {quoted(view)} must not be below 0.")

    # -- which views ---------------------------------------------------------------------------

    def _counted_views(self, name: str, place: str) -> list[str]:
        if name not in self._widths:
            raise self._unknown(name, place)
        return [name]

    def _raw_views(self, name: str, value: Any, place: str) -> list[str]:
        """Return the views that are made from a raw value: of a column, all of them."""
        views = [view for view, recipe in self._recipes.items() if recipe.source == name]
        if not views and name in self._recipes:
            views = [name]
        if not views:
            if name not in self._widths:
                raise self._unknown(name, place)
            raise _wrong(
                f"{place}: the view {quoted(name)} was not made from texts or pictures. Give its "
                "terms with counts, or a row of numbers."
            )
        kind = self._recipes[views[0]].kind
        if kind == "embedding":
            fits, wanted = isinstance(value, list), "a vector, a list of numbers"
        elif kind.startswith("image"):
            fits, wanted = is_picture(value), 'a picture, {"base64": ...}; paths are not taken'
        else:
            fits, wanted = isinstance(value, str), "a text"
        if not fits:
            raise _wrong(f"{place}: the view {quoted(name)} takes {wanted}.")
        return views

    def _is_vector(self, name: str, value: Any) -> bool:
        """Tell the vector of an encoder from a row of counts."""
        numbers = isinstance(value, list) and bool(value) and not isinstance(value[0], str)
        known = self._recipes.values()
        return numbers and any(r.kind == "embedding" and r.source == name for r in known)

    def _unknown(self, name: str, place: str) -> RequestError:
        sources = [r.source for r in self._recipes.values() if r.source not in self._widths]
        known = listing([*self._widths, *dict.fromkeys(sources)], 20)
        return _wrong(f"{place}: there is no view {quoted(name)}. Known are {known}.")

    # -- values --------------------------------------------------------------------------------

    @cached_property
    def _columns(self) -> dict[str, dict[str, int]]:
        """The column of each term, by view; without names the terms are numbers."""
        found = {}
        for view, width in self._widths.items():
            names = self._model.feature_names_[view]
            terms = map(str, range(width) if names is None else names)
            found[view] = {term: column for column, term in enumerate(terms)}
        return found

    def _counts(self, view: str, value: Any, place: str) -> dict[int, float]:
        """Return the counts of one document by column; terms that are not known are left out."""
        if isinstance(value, Mapping):
            return self._by_column(view, value.items())
        if not value or isinstance(value[0], str):
            return self._by_column(view, Counter(value).items())
        width = self._widths[view]
        if len(value) != width:
            raise _wrong(
                f"{place}: a row of numbers of view {quoted(view)} has {width:,} of them; got "
                f"{len(value):,}."
            )
        return {column: number for column, number in enumerate(value) if number}

    def _by_column(self, view: str, counts: Iterable[tuple[str, float]]) -> dict[int, float]:
        columns = self._columns[view]
        return {columns[term]: float(count) for term, count in counts if term in columns}

    def _matrix(self, view: str, cells: _Cells, n_docs: int) -> tuple[sp.csr_array, np.ndarray]:
        """Return the counts of all documents in one view, and which of them have it."""
        rows, columns, values = [cells.rows], [cells.columns], [cells.values]
        present = np.zeros(n_docs, bool)
        present[list(cells.given)] = True
        if cells.raw:
            numbers = np.array([row for row, _ in cells.raw])
            found, there = self._read_raw(view, [value for _, value in cells.raw])
            found = found.tocoo()
            rows.append(numbers[found.row])
            columns.append(found.col)
            values.append(found.data)
            present[numbers] = there
        parts = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        matrix = sp.coo_array(
            (parts[0].astype(np.float64), tuple(part.astype(np.int64) for part in parts[1])),
            shape=(n_docs, self._widths[view]),
        )
        return sp.csr_array(matrix), present

    def _read_raw(self, view: str, values: list[Any]) -> tuple[sp.csr_array, np.ndarray]:
        recipe = self._recipes[view]
        items = [decode_picture(v["base64"]) if is_picture(v) else v for v in values]
        try:
            return recipe.counts(items)
        except (TypeError, ValueError) as error:  # such as a vector of another length
            raise _wrong(str(error)) from error


def is_picture(value: Any) -> bool:
    """Tell a picture, ``{"base64": TEXT}``, from counts of terms, one of which may be "base64"."""
    return isinstance(value, Mapping) and isinstance(value.get("base64"), str)


def decode_picture(text: str) -> np.ndarray:
    """Return a picture given as base64 as RGB; `RequestError` (422) if it is none, or too large."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _wrong("A picture is not in base64.") from None
    try:
        size = picture_size(data)
    except (struct.error, IndexError):
        size = None
    if size is None:
        raise _wrong("A picture is in no format that is read (PNG, JPEG, GIF, BMP, WebP, TIFF).")
    if not 0 < size[0] * size[1] <= MAX_PIXELS:
        raise _wrong(f"A picture has {size[0]:,} x {size[1]:,} pixels; at most {MAX_PIXELS:,}.")
    cv2 = need("cv2", extra="images")
    try:
        picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        picture = None
    if picture is None:
        raise _wrong("A picture is damaged and cannot be decoded.")
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)


def _wrong(message: str) -> RequestError:
    return RequestError(422, "bad_document", message)
