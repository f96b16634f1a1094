"""`Views`: named matrices over the same documents, and what is known about rows and columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import Any, overload

import numpy as np
import scipy.sparse as sp

from coview.reading.recipes import Recipe
from coview.views.assembly import Parts, align_parts, label, mask, read_parts, rename, with_recipes
from coview.views.checks import check_known, check_view_names
from coview.views.constructors import FromOther, FromRaw
from coview.views.folder import read_folder, write_folder
from coview.views.named_matrices import read_tables
from coview.views.repr import describe, describe_html
from coview.views.row_selection import as_rows
from coview.wording import listing, quoted


class Views(FromRaw, FromOther):
    """Named matrices of non-negative counts or weights over the same documents. Immutable.

    Each matrix is kept as a canonical `scipy.sparse.csr_array` (sorted, no duplicates, no explicit
    zeros). Types that fit into float32 exactly (float32, bool, integers of up to 16 bits) become
    float32, all others float64. A CSR of that kind is taken over without a copy: do not change its
    buffers afterwards.

    A document may lack a view. By default that is what a row of zeros means; `present` says it
    otherwise, for a document whose view is there but empty.

    Rows are selected as in an array, ``views[rows]``, so scikit-learn's splitters and searches take
    a container as it is. ``len`` is the number of documents; a container cannot be iterated, since
    that could mean documents or views: use ``views.names`` or ``views.matrices.items()``.

    Parameters
    ----------
    data : dict, list or tuple of matrices, one matrix, or Views
        ``{name: matrix}``; or matrices, called ``view_0``, ``view_1``, ... unless `names` says
        otherwise; or one matrix, called ``X``. A matrix is an array, a list of rows, a scipy.sparse
        array or matrix, or a pandas or polars DataFrame, whose columns become feature names and
        whose index (if it does more than count the rows) becomes the ids.
    ids : sequence of str, or dict name -> sequence of str, default=None
        Unique names of the documents. A dict states them for each view; they must agree.
    labels : array-like of shape (n_docs,), default=None
        Integers with -1 for unlabeled, or texts with None for unlabeled.
    label_names : sequence of str, default=None
        What integer labels stand for.
    features : dict name -> sequence of str, default=None
        Unique names of the columns of some or all views; for one view the sequence will do.
    present : bool array of shape (n_docs, n_views), or dict name -> bool array, default=None
        Which document has which view.
    names : sequence of str, default=None
        Names of the views if `data` is not a dict.
    recipes : dict name -> Recipe, default=None
        How raw documents become the counts of a view; set by `from_texts` and its kin.

    See Also
    --------
    Views.align : For views that list different documents, or in different orders.
    Views.load : From a folder.

    Examples
    --------
    >>> import numpy as np
    >>> from coview import Views
    >>> views = Views(
    ...     {"text": [[1, 0, 2], [0, 3, 0]], "image": np.array([[5, 1], [0, 0]])},
    ...     labels=[0, -1],
    ...     label_names=["cat"],
    ... )
    >>> views
    Views: 2 documents, 2 views
      text   3 terms  3 non-zeros (50.0 %)  all documents
      image  2 terms  2 non-zeros (50.0 %)  1 document (1 lacks it)
      labels: 1 class (cat), 1 unlabeled; ids: no; feature names: no
    >>> views["text"].toarray()
    array([[1., 0., 2.],
           [0., 3., 0.]])
    >>> views[[1]].present
    array([[ True, False]])
    """

    __slots__ = ("_parts",)
    _parts: Parts

    # len counts documents, a mapping iterates over names: neither would be right for both
    __iter__ = None

    def __init__(
        self,
        data: Any,
        *,
        ids: Any = None,
        labels: Any = None,
        label_names: Sequence[str] | None = None,
        features: Any = None,
        present: Any = None,
        names: Sequence[str] | None = None,
        recipes: Mapping[str, Recipe | None] | None = None,
    ) -> None:
        if isinstance(data, Views):
            if names is not None:
                raise TypeError("`names` is for matrices without names; Views have their own.")
            # the old ids are not checked again: rows drawn with replacement repeat theirs
            parts = rename(data._parts, ids, features)
        else:
            parts = read_parts(read_tables(data, names), ids, features)
        if present is not None:
            parts = mask(parts, present)
        if labels is not None or label_names is not None:
            parts = label(parts, parts.labels if labels is None else labels, label_names)
        if recipes is not None:
            parts = with_recipes(parts, recipes)
        self._parts = parts

    @classmethod
    def _of(cls, parts: Parts) -> Views:
        views = cls.__new__(cls)
        views._parts = parts
        return views

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._parts)

    # -- what is in it --

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(self._parts.matrices)

    @property
    def matrices(self) -> Mapping[str, sp.csr_array]:
        """The matrix of each view, in order."""
        # shallow copies: assigning into one of them must not change the container
        return MappingProxyType(
            {name: copy(matrix) for name, matrix in self._parts.matrices.items()}
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(n_docs, number of terms of all views together)."""
        return self.n_docs, sum(self.widths)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self._parts.n_docs

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self._parts.matrices)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of terms of each view."""
        return tuple(int(matrix.shape[1]) for matrix in self._parts.matrices.values())

    @property
    def present(self) -> np.ndarray:
        """Which document has which view, bool of shape (n_docs, n_views)."""
        return self._parts.present

    @property
    def ids(self) -> np.ndarray | None:
        """Names of the documents, or None."""
        return self._parts.ids

    @property
    def features(self) -> dict[str, np.ndarray | None]:
        """Names of the terms of each view, or None where there are none."""
        return dict(self._parts.features)

    @property
    def recipes(self) -> dict[str, Recipe | None]:
        """How raw documents become the counts of each view, or None where that is not known."""
        return {name: self._parts.recipes.get(name) for name in self.names}

    @property
    def labels(self) -> np.ndarray | None:
        """Class labels, or None. -1 (for texts: None) is unlabeled."""
        return self._parts.labels

    @property
    def label_names(self) -> list[str] | None:
        """What integer labels stand for, or None."""
        names = self._parts.label_names
        return None if names is None else list(names)

    def __len__(self) -> int:
        return self.n_docs

    def __contains__(self, name: object) -> bool:
        return name in self._parts.matrices

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return describe_html(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            "Views are not one array. Pick a view, views['name'], or join them: "
            "views.concat()['all'] is one sparse matrix."
        )

    def equals(self, other: Views) -> bool:
        """Whether everything is the same: matrices, mask, names, labels, order of the views."""
        return isinstance(other, Views) and self._parts.equals(other._parts)

    # -- parts of it --

    @overload
    def __getitem__(self, key: str) -> sp.csr_array: ...
    @overload
    def __getitem__(self, key: Any) -> Views: ...
    def __getitem__(self, key: Any) -> Any:
        """The matrix of one view (``views["text"]``) or some documents (``views[rows]``)."""
        if isinstance(key, str):
            if key not in self._parts.matrices:
                raise KeyError(f"no view {quoted(key)}; the views are {listing(self.names, 20)}")
            return copy(self._parts.matrices[key])
        return self._of(self._parts.take(as_rows(key, self.n_docs)))

    def select(self, *names: str) -> Views:
        """Some views, in the order given.

        Examples
        --------
        >>> Views({"en": [[1]], "fr": [[2]], "it": [[3]]}).select("it", "en").names
        ('it', 'en')
        """
        check_view_names(names)
        check_known(names, self.names, "The selection")
        return self._of(self._parts.select(names))

    def drop(self, *names: str) -> Views:
        """All views but these."""
        check_known(names, self.names, "The selection")
        return self.select(*(name for name in self.names if name not in names))

    def concat(self, name: str = "all") -> Views:
        """One view with the terms of all, side by side.

        A document has it if it has any of the views. Terms are called ``view:term``, with the
        number of the column where a view has no names; if none has names, neither has the result.

        Examples
        --------
        >>> views = Views({"en": [[1, 0]], "fr": [[2]]}, features={"en": ["cat", "dog"]})
        >>> views.concat()["all"].toarray()
        array([[1., 0., 2.]])
        >>> views.concat().features["all"].tolist()
        ['en:cat', 'en:dog', 'fr:0']
        """
        (name,) = check_view_names([name])
        return self._of(self._parts.join(name))

    def split(self, name: str, n_parts: int, *, random_state: int = 0) -> Views:
        """The terms of one view dealt out at random to `n_parts` views of about the same size.

        A document that has the view has all parts of it, even those in which its row is empty.

        Examples
        --------
        >>> Views({"text": [[1, 0, 2, 3]]}).split("text", 2).names
        ('text_0', 'text_1')
        """
        check_known([name], self.names, "split")
        width = self.matrices[name].shape[1]
        if not 1 <= n_parts <= width:
            raise ValueError(
                f"n_parts must be between 1 and the {width} terms of view {quoted(name)}; "
                f"got {n_parts!r}."
            )
        order = np.random.default_rng(random_state).permutation(width)
        columns = [np.sort(part) for part in np.array_split(order, n_parts)]
        names = [n for n in self.names if n != name] + [f"{name}_{i}" for i in range(n_parts)]
        check_view_names(names)
        return self._of(self._parts.split(name, columns))

    def with_labels(self, labels: Any, label_names: Sequence[str] | None = None) -> Views:
        """The same with other labels; None takes them away."""
        return self._of(label(self._parts, labels, label_names))

    def with_present(self, present: Any) -> Views:
        """The same with another mask; None: a document has a view if its row is not empty."""
        return self._of(mask(self._parts, present))

    # -- from and to other places --

    @classmethod
    def align(
        cls,
        data: Mapping[str, Any],
        *,
        on: Mapping[str, Iterable[str]] | None = None,
        how: str = "inner",
        features: Any = None,
    ) -> Views:
        """Bring views that list different documents, or in different orders, together.

        Parameters
        ----------
        data : dict name -> matrix
        on : dict name -> sequence of str, default=None
            The ids of the rows of each view. Not needed for pandas frames, which have an index.
        how : {"inner", "outer"}, default="inner"
            Keep the documents that all views list, or those that any lists; the others then lack
            a view. Their order is that of first appearance.
        features : dict name -> sequence of str, default=None
            Names of the columns, as in the constructor.

        Examples
        --------
        >>> data = {"en": [[1], [2], [3]], "fr": [[30], [10]]}
        >>> on = {"en": ["a", "b", "c"], "fr": ["c", "a"]}
        >>> views = Views.align(data, on=on)
        >>> views.ids.tolist(), views["fr"].toarray().ravel().tolist()
        (['a', 'c'], [10.0, 30.0])
        >>> Views.align(data, on=on, how="outer").present[:, 1].tolist()
        [True, False, True]
        """
        return cls._of(align_parts(data, on, how, features))

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a views folder: plain files that need no code of ours to be read.

        The files are written beside the folder and moved into place when all is written, so a
        save that fails leaves what was there before.

        Parameters
        ----------
        folder : path
        overwrite : bool, default=False
            Replace an existing views folder. A folder that holds other files is never replaced.
        """
        write_folder(folder, self._parts, overwrite)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], views: Sequence[str] | None = None) -> Views:
        """Read a views folder.

        Parameters
        ----------
        folder : path
        views : sequence of str, default=None
            Names of the views to read, in the order wanted. None reads all, in the order in which
            they were saved, or in alphabetical order if the folder does not say.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Views({"en": [[1, 2]], "fr": [[3, 0]]}).save(folder)
        ...     Views.load(folder, views=["fr"])
        Views: 1 document, 1 view
          fr  2 terms  1 non-zero (50.0 %)  all documents
          labels: no; ids: no; feature names: no
        """
        contents = read_folder(folder, views)
        try:
            return cls(**contents)
        except (ValueError, TypeError) as error:
            raise ValueError(f"In {Path(folder)}: {error}") from error


def _restore(cls: type[Views], parts: Parts) -> Views:
    return cls._of(parts.refrozen())
