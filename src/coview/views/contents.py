"""The checked arrays inside a `Views`: how they are assembled, selected, joined and aligned."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.params import check_int, seed_of
from coview.reading.recipes import Recipe
from coview.views.checks import (
    check_aligned,
    check_ids,
    check_known,
    check_names,
    check_present,
    check_same_ids,
    check_size,
    frozen,
)
from coview.views.density import DENSE, has_negatives
from coview.views.labels import check_labels
from coview.views.matrix_checks import check_matrix, frozen_csr
from coview.views.named_matrices import NamedMatrix, read_named_matrices
from coview.wording import listing, plural, quoted


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything that a `Views` holds, checked; all arrays are read-only."""

    matrices: dict[str, sp.csr_array]
    present: np.ndarray
    features: dict[str, np.ndarray | None]
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    label_names: tuple[str, ...] | None = None
    recipes: Mapping[str, Recipe] = field(default_factory=dict)  # of the views that have one

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(next(iter(self.matrices.values())).shape[0])

    def take(self, rows: np.ndarray | slice) -> Contents:
        """Return some documents."""
        return replace(
            self,
            matrices={name: frozen_csr(matrix[rows]) for name, matrix in self.matrices.items()},
            present=frozen(self.present[rows]),
            ids=None if self.ids is None else frozen(self.ids[rows]),
            labels=None if self.labels is None else frozen(self.labels[rows]),
        )

    def select(self, names: Sequence[str]) -> Contents:
        """Return some views."""
        columns = [list(self.matrices).index(name) for name in names]
        return replace(
            self,
            matrices={name: self.matrices[name] for name in names},
            present=frozen(self.present[:, columns]),
            features={name: self.features[name] for name in names},
            recipes={name: self.recipes[name] for name in names if name in self.recipes},
        )

    def join(self, name: str) -> Contents:
        """Return all views side by side in one."""
        joined = sp.csr_array(sp.hstack(list(self.matrices.values()), format="csr"))
        _check_joined(self.matrices, self.present)
        return replace(
            self,
            matrices={name: frozen_csr(joined)},
            present=frozen(np.asarray(self.present.any(axis=1))[:, np.newaxis]),
            features={name: self._joined_features()},
            recipes={},
        )

    def split(self, name: str, columns: Sequence[np.ndarray]) -> Contents:
        """Return the terms of one view distributed over several, named name_0, name_1, ..."""
        matrices: dict[str, sp.csr_array] = {}
        features: dict[str, np.ndarray | None] = {}
        masks = []
        for v, (view, matrix) in enumerate(self.matrices.items()):
            names = self.features[view]
            pieces = (
                {f"{view}_{i}": c for i, c in enumerate(columns)} if view == name else {view: None}
            )
            for piece, chosen in pieces.items():
                whole = chosen is None
                matrices[piece] = matrix if whole else frozen_csr(sp.csr_array(matrix[:, chosen]))
                features[piece] = names if whole or names is None else frozen(names[chosen])
                masks.append(self.present[:, v])
        present = frozen(np.stack(masks, axis=1))
        recipes = {view: recipe for view, recipe in self.recipes.items() if view != name}
        return replace(self, matrices=matrices, features=features, present=present, recipes=recipes)

    def _joined_features(self) -> np.ndarray | None:
        if all(names is None for names in self.features.values()):
            return None
        terms = (
            f"{view}:{term}"
            for view, names in self.features.items()
            for term in (range(self.matrices[view].shape[1]) if names is None else names)
        )
        return check_names(terms, "features of the joined view")

    # -- changes --

    def with_names(self, ids: Any, features: Any) -> Contents:
        """Return a copy with other ids and feature names, where given."""
        contents = self
        if ids is not None:
            ids = _agreed_ids(ids, self.matrices)
            check_size(ids, self.n_docs, "ids")
            contents = replace(contents, ids=ids)
        given = _features_by_view(features, self.matrices)
        names = {name: _check_features(name, columns) for name, columns in given.items()}
        for name, columns in names.items():
            check_size(columns, self.matrices[name].shape[1], _features_of(name))
        return replace(contents, features=self.features | names)

    def with_labels(self, labels: Any, label_names: Sequence[str] | None) -> Contents:
        """Return a copy with these labels instead of the old ones."""
        names = None
        if label_names is not None:
            names = tuple(check_names(label_names, "label_names").tolist())
        if labels is not None:
            labels = check_labels(labels, self.n_docs, None if names is None else len(names))
            if names is not None and labels.dtype.kind not in "iu":
                raise ValueError("label_names say what integer labels stand for; these are texts.")
        return replace(self, labels=labels, label_names=names)

    def with_present(self, present: Any) -> Contents:
        """Return a copy with another mask of which document has which view."""
        return replace(self, present=check_present(present, self.matrices, self.ids))

    def with_recipes(self, recipes: Mapping[str, Recipe | None]) -> Contents:
        """Return a copy with these recipes instead of the old ones."""
        check_known(recipes, self.matrices, "`recipes`")
        for name, recipe in recipes.items():
            if recipe is not None and not isinstance(recipe, Recipe):
                raise TypeError(f"The recipe of view {quoted(name)} must be one; got {recipe!r}.")
        return replace(self, recipes={n: r for n, r in recipes.items() if r is not None})

    def refrozen(self) -> Contents:
        """Return a copy with read-only arrays; pickle does not keep that flag."""
        return replace(
            self,
            matrices={name: frozen_csr(matrix) for name, matrix in self.matrices.items()},
            present=frozen(self.present),
            features={n: f if f is None else frozen(f) for n, f in self.features.items()},
            ids=None if self.ids is None else frozen(self.ids),
            labels=None if self.labels is None else frozen(self.labels),
        )

    def equals(self, other: Contents) -> bool:
        """Return whether everything is the same, the order of the views included."""
        return (
            list(self.matrices) == list(other.matrices)
            and all(_same_matrix(m, other.matrices[name]) for name, m in self.matrices.items())
            and all(_same(names, other.features[name]) for name, names in self.features.items())
            and _same(self.present, other.present)
            and _same(self.ids, other.ids)
            and _same(self.labels, other.labels)
            and self.label_names == other.label_names
        )


def _check_joined(matrices: Mapping[str, sp.csr_array], present: np.ndarray) -> None:
    """Refuse to mix measurements that may be negative with sparse counts: no one scale suits.

    Cells of views that a document lacks do not count.
    """
    negative = [name for name, matrix in matrices.items() if has_negatives(matrix)]
    widths = np.array([matrix.shape[1] for matrix in matrices.values()])
    share = sum(m.nnz for m in matrices.values()) / max(present.sum(axis=0) @ widths, 1)
    if negative and share <= DENSE:
        raise ValueError(
            f"{listing(negative)} {'has' if len(negative) == 1 else 'have'} negative values and "
            f"cannot be put side by side with sparse views: {100 * share:.0f} % of the cells of "
            "all views are not zero. Scale measurements first (for example with "
            "sklearn.preprocessing.MinMaxScaler), leave them out with views.drop(...), or use a "
            "model of several views such as LinkPLSA."
        )


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


def _same_matrix(a: sp.csr_array, b: sp.csr_array) -> bool:
    """Compare canonical arrays, which are equal if and only if their buffers are."""
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(a.data, b.data)
    )


# -- assembly -------------------------------------------------------------------------------------


def assemble(
    given: Mapping[str, NamedMatrix], ids: Any, features: Any, real: Collection[str] = ()
) -> Contents:
    """Check matrices and their names against each other; labels and masks are added later.

    The views in `real` are known to hold measurements: they may be negative in any case.
    """
    own_ids = _agreed_ids({name: named.ids for name, named in given.items()}, given)
    row_names = own_ids if ids is None else _agreed_ids(ids, given)
    own_features = {name: named.features for name, named in given.items()}
    columns = own_features | _features_by_view(features, given)
    column_names = {name: _check_features(name, columns[name]) for name in given}
    # values are checked before sizes: names make a message about a value clearer
    matrices = {
        name: check_matrix(
            named.matrix,
            name,
            ids=row_names,
            features=column_names[name],
            negatives="always" if name in real else "if real",
        )
        for name, named in given.items()
    }
    n_docs = check_aligned({name: matrix.shape[0] for name, matrix in matrices.items()})
    check_size(row_names, n_docs, "ids")
    for name, matrix in matrices.items():
        check_size(column_names[name], matrix.shape[1], _features_of(name))
    masks = {name: named.present for name, named in given.items() if named.present is not None}
    recipes = {name: named.recipe for name, named in given.items() if named.recipe is not None}
    present = check_present(masks or None, matrices)
    return Contents(matrices, present, column_names, row_names, recipes=recipes)


def _agreed_ids(ids: Any, views: Iterable[str]) -> np.ndarray | None:
    """Return the ids of all views from one sequence, or from one for each of some views."""
    if not isinstance(ids, Mapping):
        return check_ids(ids)
    check_known(ids, views, "`ids`")
    return check_same_ids({name: check_ids(i) for name, i in ids.items() if i is not None})


def _features_by_view(features: Any, views: Iterable[str]) -> dict[str, Any]:
    """Return the names of columns by view; a single view needs no dict."""
    views = list(views)
    if features is None:
        return {}
    if not isinstance(features, Mapping):
        if len(views) > 1:
            raise TypeError("`features` must be a dict {view: names} if there are several views.")
        features = {views[0]: features}
    check_known(features, views, "`features`")
    return {name: names for name, names in features.items() if names is not None}


def _features_of(name: str) -> str:
    return f"features of view {quoted(name)}"


def _check_features(name: str, names: Any) -> np.ndarray | None:
    return None if names is None else check_names(names, _features_of(name))


# -- parts of a view ------------------------------------------------------------------------------


def random_parts(width: int, view: str, n_parts: Any, random_state: Any) -> list[np.ndarray]:
    """Distribute the columns of a view at random over parts of about the same size."""
    if check_int("n_parts", n_parts, 1) > width:
        raise ValueError(
            f"n_parts must be between 1 and the {width} terms of view {quoted(view)}; "
            f"got {n_parts!r}."
        )
    order = np.random.default_rng(seed_of(random_state)).permutation(width)
    return [np.sort(part) for part in np.array_split(order, int(n_parts))]


# -- alignment ------------------------------------------------------------------------------------


def align(data: Any, on: Mapping[str, Any] | None, how: str, features: Any) -> Contents:
    """Bring views that list different documents into one order; see `Views.align`."""
    given = read_named_matrices(data)
    check_known(on or {}, given, "`on`")
    by_view = {
        name: assemble({name: named}, None if on is None else on.get(name), None)
        for name, named in given.items()
    }
    unknown = next((name for name, single in by_view.items() if single.ids is None), None)
    if unknown is not None:
        raise ValueError(
            f"The rows of view {quoted(unknown)} have no ids to align by: give them in `on`, "
            "or give a pandas DataFrame with an index."
        )
    ids: dict[str, np.ndarray] = {
        n: single.ids for n, single in by_view.items() if single.ids is not None
    }
    documents = common_documents(ids, how)
    aligned = {
        name: named._replace(
            matrix=take_documents(by_view[name].matrices[name], ids[name], documents), ids=None
        )
        for name, named in given.items()
    }
    real = [n for n, single in by_view.items() if has_negatives(single.matrices[n])]
    return assemble(aligned, documents, features, real)


def common_documents(ids: Mapping[str, np.ndarray], how: str) -> list[str]:
    """Return the ids that all views list ("inner") or any ("outer"), by first appearance."""
    if how not in ("inner", "outer"):
        raise ValueError(f"how must be 'inner' or 'outer', found {quoted(how)}.")
    documents = list(dict.fromkeys(chain.from_iterable(ids.values())))
    if how == "outer":
        return documents
    listed = [set(view_ids) for view_ids in ids.values()]
    common = [document for document in documents if all(document in view for view in listed)]
    if not common:
        some = "; ".join(
            f"{quoted(name)}: {listing(view_ids, 3)}" for name, view_ids in ids.items()
        )
        raise ValueError(
            f"The views have no document in common. Are the ids written alike? {some}. "
            "how='outer' keeps documents that lack some views."
        )
    return common


def take_documents(matrix: sp.csr_array, ids: np.ndarray, documents: list[str]) -> sp.csr_array:
    """Return the rows of `documents`; a row is empty if `ids` does not list the document."""
    row_of = {document: row for row, document in enumerate(ids)}
    rows = np.array([row_of.get(document, -1) for document in documents])
    if (rows >= 0).all():
        return matrix[rows]
    # the index -1 points to the empty row at the end
    nothing = sp.csr_array((1, matrix.shape[1]), dtype=matrix.dtype)
    return sp.vstack([matrix, nothing], format="csr")[rows]


# -- rows by index --------------------------------------------------------------------------------


def row_index(key: Any, n_docs: int) -> np.ndarray | slice:
    """Return the rows that a key selects as in an array: integers, a bool mask, a slice.

    Examples
    --------
    >>> row_index([True, False, True], 3)
    array([0, 2])
    >>> row_index(2, 3)
    Traceback (most recent call last):
        ...
    TypeError: Views take several rows: write views[[2]] for one document, or ...
    """
    if isinstance(key, tuple):
        key = _first_axis(key)
    if isinstance(key, slice):
        _check_some(len(range(n_docs)[key]))
        return key
    rows = np.asarray(key)
    if rows.ndim == 0:
        raise TypeError(
            f"Views take several rows: write views[[{key}]] for one document, or views['name'] "
            "for the matrix of one view."
        )
    _check_some(len(rows))
    if rows.ndim > 1 or rows.dtype.kind not in "biu":
        raise TypeError(
            "Rows are selected by a slice, integers or a bool mask, found an array of type "
            f"{rows.dtype} and shape {rows.shape}. To select views by name: views.select(...)."
        )
    return _from_mask(rows, n_docs) if rows.dtype.kind == "b" else _from_integers(rows, n_docs)


def _first_axis(key: tuple[Any, ...]) -> Any:
    # scikit-learn writes X[rows, ...]
    if len(key) == 2 and (key[1] is Ellipsis or key[1] == slice(None)):
        return key[0]
    raise TypeError(
        "Views are indexed by rows only; take columns from one matrix: views['name'][:, columns]."
    )


def _from_mask(mask: np.ndarray, n_docs: int) -> np.ndarray:
    if len(mask) != n_docs:
        raise IndexError(
            f"The bool mask has {len(mask):,} entries for {plural(n_docs, 'document')}."
        )
    rows = np.flatnonzero(mask)
    _check_some(len(rows))
    return rows


def _from_integers(rows: np.ndarray, n_docs: int) -> np.ndarray:
    outside = (rows >= n_docs) | (rows < -n_docs)
    if outside.any():
        raise IndexError(
            f"Row {rows[np.argmax(outside)]} is out of range for {plural(n_docs, 'document')}."
        )
    return rows.astype(np.intp)


def _check_some(count: int) -> None:
    if count == 0:
        raise ValueError("No row is selected; Views hold at least one document.")
