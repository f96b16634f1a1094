"""What a container holds, and how it is put together from what a user gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.recipes import Recipe
from coview.views.checks import (
    check_aligned,
    check_ids,
    check_known,
    check_labels,
    check_names,
    check_present,
    check_same_ids,
    check_size,
)
from coview.views.matrix_checks import check_matrix, frozen, frozen_csr
from coview.views.named_matrices import Table, read_tables
from coview.views.row_selection import common_documents, take_documents
from coview.wording import quoted


@dataclass(frozen=True, eq=False)
class Parts:
    """The checked parts of `Views`; all arrays are read-only."""

    matrices: dict[str, sp.csr_array]
    present: np.ndarray
    features: dict[str, np.ndarray | None]
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    label_names: tuple[str, ...] | None = None
    recipes: Mapping[str, Recipe] = field(default_factory=dict)  # of the views that have one

    @property
    def n_docs(self) -> int:
        return int(next(iter(self.matrices.values())).shape[0])

    def take(self, rows: np.ndarray | slice) -> Parts:
        """Some documents."""
        return replace(
            self,
            matrices={name: frozen_csr(matrix[rows]) for name, matrix in self.matrices.items()},
            present=frozen(self.present[rows]),
            ids=None if self.ids is None else frozen(self.ids[rows]),
            labels=None if self.labels is None else frozen(self.labels[rows]),
        )

    def select(self, names: Sequence[str]) -> Parts:
        """Some views."""
        columns = [list(self.matrices).index(name) for name in names]
        return replace(
            self,
            matrices={name: self.matrices[name] for name in names},
            present=frozen(self.present[:, columns]),
            features={name: self.features[name] for name in names},
            recipes={name: self.recipes[name] for name in names if name in self.recipes},
        )

    def join(self, name: str) -> Parts:
        """All views side by side in one."""
        joined = sp.hstack(list(self.matrices.values()), format="csr")
        return replace(
            self,
            matrices={name: frozen_csr(joined)},
            present=frozen(np.asarray(self.present.any(axis=1))[:, np.newaxis]),
            features={name: self._joined_features()},
            recipes={},
        )

    def split(self, name: str, columns: Sequence[np.ndarray]) -> Parts:
        """One view's terms dealt out to several views, called name_0, name_1, ..."""
        matrices: dict[str, sp.csr_array] = {}
        features: dict[str, np.ndarray | None] = {}
        mask = []
        for v, (view, matrix) in enumerate(self.matrices.items()):
            names = self.features[view]
            pieces = (
                {f"{view}_{i}": c for i, c in enumerate(columns)} if view == name else {view: None}
            )
            for piece, chosen in pieces.items():
                whole = chosen is None
                matrices[piece] = matrix if whole else frozen_csr(sp.csr_array(matrix[:, chosen]))
                features[piece] = names if whole or names is None else frozen(names[chosen])
                mask.append(self.present[:, v])
        present = frozen(np.stack(mask, axis=1))
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

    def refrozen(self) -> Parts:
        """The same with read-only arrays; pickle does not keep that flag."""
        return replace(
            self,
            matrices={name: frozen_csr(matrix) for name, matrix in self.matrices.items()},
            present=frozen(self.present),
            features={n: f if f is None else frozen(f) for n, f in self.features.items()},
            ids=None if self.ids is None else frozen(self.ids),
            labels=None if self.labels is None else frozen(self.labels),
        )

    def equals(self, other: Parts) -> bool:
        """Whether everything is the same, the order of the views included."""
        return (
            list(self.matrices) == list(other.matrices)
            and all(_same_matrix(m, other.matrices[name]) for name, m in self.matrices.items())
            and all(_same(names, other.features[name]) for name, names in self.features.items())
            and _same(self.present, other.present)
            and _same(self.ids, other.ids)
            and _same(self.labels, other.labels)
            and self.label_names == other.label_names
        )


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


def _same_matrix(a: sp.csr_array, b: sp.csr_array) -> bool:
    """Canonical arrays are equal if and only if their buffers are."""
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(a.data, b.data)
    )


# -- from what a user gives -----------------------------------------------------------------------


def read_parts(tables: Mapping[str, Table], ids: Any, features: Any) -> Parts:
    """Check matrices and their names against each other; no labels yet, and the usual mask."""
    own_ids = agreed_ids({name: table.ids for name, table in tables.items()}, tables)
    row_names = own_ids if ids is None else agreed_ids(ids, tables)
    own_features = {name: table.features for name, table in tables.items()}
    columns = own_features | named_features(features, tables)
    column_names = {name: _column_names(name, columns[name]) for name in tables}
    # before the sizes are compared: a name makes a message about a value clearer
    matrices = {
        name: check_matrix(table.matrix, name, ids=row_names, features=column_names[name])
        for name, table in tables.items()
    }
    n_docs = check_aligned({name: matrix.shape[0] for name, matrix in matrices.items()})
    check_size(row_names, n_docs, "ids")
    for name, matrix in matrices.items():
        check_size(column_names[name], matrix.shape[1], _features_of(name))
    return Parts(matrices, check_present(None, matrices), column_names, row_names)


def agreed_ids(ids: Any, views: Iterable[str]) -> np.ndarray | None:
    """Ids for all views from one sequence, or from one for each of some views."""
    if not isinstance(ids, Mapping):
        return check_ids(ids)
    check_known(ids, views, "`ids`")
    return check_same_ids({name: check_ids(i) for name, i in ids.items() if i is not None})


def named_features(features: Any, views: Iterable[str]) -> dict[str, Any]:
    """Names of columns for each view; one view needs no dict."""
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


def _column_names(name: str, names: Any) -> np.ndarray | None:
    return None if names is None else check_names(names, _features_of(name))


def rename(parts: Parts, ids: Any, features: Any) -> Parts:
    """The same with other ids and feature names, where given."""
    if ids is not None:
        ids = agreed_ids(ids, parts.matrices)
        check_size(ids, parts.n_docs, "ids")
        parts = replace(parts, ids=ids)
    given = named_features(features, parts.matrices)
    names = {name: _column_names(name, columns) for name, columns in given.items()}
    for name, columns in names.items():
        check_size(columns, parts.matrices[name].shape[1], _features_of(name))
    return replace(parts, features=parts.features | names)


def label(parts: Parts, labels: Any, label_names: Sequence[str] | None) -> Parts:
    """The same with these labels, and no others."""
    names = None
    if label_names is not None:
        names = tuple(check_names(label_names, "label_names").tolist())
    if labels is not None:
        labels = check_labels(labels, parts.n_docs, None if names is None else len(names))
        if names is not None and labels.dtype.kind not in "iu":
            raise ValueError("label_names say what integer labels stand for; these are texts.")
    return replace(parts, labels=labels, label_names=names)


def mask(parts: Parts, present: Any) -> Parts:
    """The same with another mask."""
    return replace(parts, present=check_present(present, parts.matrices, parts.ids))


def with_recipes(parts: Parts, recipes: Mapping[str, Recipe | None]) -> Parts:
    """The same with these recipes, and no others."""
    check_known(recipes, parts.matrices, "`recipes`")
    for name, recipe in recipes.items():
        if recipe is not None and not isinstance(recipe, Recipe):
            raise TypeError(f"The recipe of view {quoted(name)} must be one; got {recipe!r}.")
    return replace(parts, recipes={n: r for n, r in recipes.items() if r is not None})


def align_parts(data: Any, on: Mapping[str, Any] | None, how: str, features: Any) -> Parts:
    """Views that list different documents, brought into one order."""
    tables = read_tables(data)
    check_known(on or {}, tables, "`on`")
    each = {
        name: read_parts({name: table}, None if on is None else on.get(name), None)
        for name, table in tables.items()
    }
    unknown = next((name for name, parts in each.items() if parts.ids is None), None)
    if unknown is not None:
        raise ValueError(
            f"The rows of view {quoted(unknown)} have no ids to align by: give them in `on`, "
            "or give a pandas DataFrame with an index."
        )
    ids: dict[str, np.ndarray] = {
        n: parts.ids for n, parts in each.items() if parts.ids is not None
    }
    documents = common_documents(ids, how)
    aligned = {
        name: table._replace(matrix=take_documents(each[name].matrices[name], ids[name], documents))
        for name, table in tables.items()
    }
    return read_parts({n: t._replace(ids=None) for n, t in aligned.items()}, documents, features)
