"""`Views`, the container of all data: named matrices over the same documents."""

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
from coview.views.checks import check_known, check_view_names, one_or_many
from coview.views.constructors import Constructors
from coview.views.contents import Contents, align, assemble, random_parts, row_index
from coview.views.folder import read_folder, write_folder
from coview.views.labels import named_labels
from coview.views.named_matrices import read_named_matrices
from coview.views.repr import describe, describe_html
from coview.wording import listing, quoted


class Views(Constructors):
    """Named matrices of counts, weights or measurements over the same documents. Immutable.

    Only a dense view of real numbers (more than half of the cells not zero, not all whole numbers)
    may be negative, such as principal components: the models' `scaling` makes it non-negative.

    Each matrix is kept as a canonical `scipy.sparse.csr_array` (sorted, no duplicates, no explicit
    zeros). What fits into float32 exactly (float32, bool, integers below 2^24) becomes float32, all
    else float64. A canonical CSR of float32 or float64 is used without a copy: do not change its
    buffers afterward.

    A document may lack a view. By default a row of zeros means that it does; `present` marks
    documents whose view is there but empty.

    Rows are selected as in an array, ``views[rows]``, so scikit-learn's splitters and searches
    accept a container. ``len`` is the number of documents. A container cannot be iterated, because
    that could mean documents or views: use ``views.names`` or ``views.matrices.items()``.

    Other data are read by constructors: `from_texts`, `from_table`, `from_dataframe`,
    `from_images`, `from_files`, `from_graph`, `from_mudata` and `load`.

    Parameters
    ----------
    data : dict, list or tuple of matrices, one matrix, texts, or Views
        ``{name: matrix}``; or several matrices, named ``view_0``, ``view_1``, ... unless `names`
        is given; or one matrix, named ``X``. A matrix is an array, a list of rows, a scipy.sparse
        array or matrix, or a pandas or polars DataFrame. The columns of a DataFrame become feature
        names; its index becomes the ids, unless it only numbers the rows. Texts may stand for a
        matrix, ``{"en": ["a text", None], "links": matrix}``: they are counted as `from_texts` does
        by default. One list of texts is the view ``text``, and a DataFrame with nothing but columns
        of prose has a view for each.
    ids : sequence of str, or dict name -> sequence of str, default=None
        Unique names of the documents. A dict gives them for each view; they must agree.
    labels : array-like of shape (n_docs,), default=None
        Integers or texts. -1, None, NaN, NA and empty texts stand for unlabeled documents.
    label_names : sequence of str, default=None
        What integer labels stand for.
    features : dict name -> sequence of str, default=None
        Unique names of the columns of some or all views; a single view needs no dict.
    present : bool array of shape (n_docs, n_views), or dict name -> bool array, default=None
        Which document has which view.
    names : sequence of str, default=None
        Names of the views if `data` is not a dict.
    recipes : dict name -> Recipe, default=None
        How raw documents become the counts of a view; set by constructors such as `from_texts`.

    See Also
    --------
    Views.align : Combine views that list different documents, or in different orders.
    Views.from_texts : Count the words of texts.
    Views.load : Read a views folder.

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
           [0., 3., 0.]], dtype=float32)
    >>> views[[1]].present
    array([[ True, False]])
    """

    __slots__ = ("_contents",)
    _contents: Contents

    # len counts documents but a mapping iterates over names: neither would suit both
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
            contents = data._contents.with_names(ids, features)
        else:
            contents = assemble(read_named_matrices(data, names), ids, features)
        if present is not None:
            contents = contents.with_present(present)
        if labels is not None or label_names is not None:
            kept = contents.labels if labels is None else labels
            contents = contents.with_labels(kept, label_names)
        if recipes is not None:
            contents = contents.with_recipes(recipes)
        self._contents = contents

    @classmethod
    def _from_contents(cls, contents: Contents) -> Views:
        views = cls.__new__(cls)
        views._contents = contents
        return views

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._contents)

    # -- contents --

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(self._contents.matrices)

    @property
    def matrices(self) -> Mapping[str, sp.csr_array]:
        """The matrix of each view, in order."""
        # shallow copies: assigning into one of them must not change the container
        return MappingProxyType(
            {name: copy(matrix) for name, matrix in self._contents.matrices.items()}
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(n_docs, number of terms of all views together)."""
        return self.n_docs, sum(self.widths)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self._contents.n_docs

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self._contents.matrices)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of terms of each view."""
        return tuple(int(matrix.shape[1]) for matrix in self._contents.matrices.values())

    @property
    def present(self) -> np.ndarray:
        """Which document has which view, bool of shape (n_docs, n_views)."""
        return self._contents.present

    @property
    def ids(self) -> np.ndarray | None:
        """Names of the documents, or None."""
        return self._contents.ids

    @property
    def features(self) -> dict[str, np.ndarray | None]:
        """Names of the terms of each view, or None where there are none."""
        return dict(self._contents.features)

    @property
    def recipes(self) -> dict[str, Recipe | None]:
        """How raw documents become the counts of each view; None for views made from matrices."""
        return {name: self._contents.recipes.get(name) for name in self.names}

    @property
    def labels(self) -> np.ndarray | None:
        """Class labels as they were given, integers or texts; None if there are none.

        -1 (for texts: None) is unlabeled. `label_names` say what integers stand for.
        """
        return self._contents.labels

    @property
    def named_labels(self) -> np.ndarray | None:
        """Class labels by name where there are `label_names`, otherwise as they are.

        An unlabeled document has None instead of a name.
        """
        return None if self.labels is None else named_labels(self.labels, self.label_names)

    @property
    def label_names(self) -> list[str] | None:
        """Names of the classes that integer labels stand for, or None."""
        names = self._contents.label_names
        return None if names is None else list(names)

    def __len__(self) -> int:
        return self.n_docs

    def __contains__(self, name: object) -> bool:
        return name in self._contents.matrices

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
        """Return whether everything is the same: matrices, mask, names, labels, order of views.

        A matrix of float32 is not that of float64, even if all values are equal.

        Examples
        --------
        >>> Views([[1, 2]]).equals(Views([[1, 2]])), Views([[1, 2]]).equals(Views([[1, 3]]))
        (True, False)
        """
        return isinstance(other, Views) and self._contents.equals(other._contents)

    # -- selection and combination --

    @overload
    def __getitem__(self, key: str) -> sp.csr_array: ...
    @overload
    def __getitem__(self, key: Any) -> Views: ...
    def __getitem__(self, key: Any) -> Any:
        """Return the matrix of one view (``views["text"]``) or some documents (``views[rows]``)."""
        if isinstance(key, str):
            if key not in self._contents.matrices:
                raise KeyError(f"no view {quoted(key)}; the views are {listing(self.names, 20)}")
            return copy(self._contents.matrices[key])
        return self._from_contents(self._contents.take(row_index(key, self.n_docs)))

    def select(self, *names: str | Sequence[str]) -> Views:
        """Return some views, in the order given; ``select("a", "b")`` or ``select(["a", "b"])``.

        Examples
        --------
        >>> Views({"en": [[1]], "fr": [[2]], "it": [[3]]}).select("it", "en").names
        ('it', 'en')
        """
        names = check_view_names(one_or_many(names))
        check_known(names, self.names, "The selection")
        return self._from_contents(self._contents.select(names))

    def drop(self, *names: str | Sequence[str]) -> Views:
        """Return all views but these; several may be one list.

        Examples
        --------
        >>> Views({"en": [[1]], "fr": [[2]], "it": [[3]]}).drop("fr").names
        ('en', 'it')
        """
        left_out = one_or_many(names)
        check_known(left_out, self.names, "The selection")
        return self.select(*(name for name in self.names if name not in left_out))

    def concat(self, name: str = "all") -> Views:
        """Return one view with the terms of all views, side by side.

        A document has it if it has any of the views. Terms are named ``view:term``, or
        ``view:column`` for a view without feature names; if no view has names, the result has
        none.

        Parameters
        ----------
        name : str, default="all"
            Name of the new view.

        Examples
        --------
        >>> views = Views({"en": [[1, 0]], "fr": [[2]]}, features={"en": ["cat", "dog"]})
        >>> views.concat()["all"].toarray()
        array([[1., 0., 2.]], dtype=float32)
        >>> views.concat().features["all"].tolist()
        ['en:cat', 'en:dog', 'fr:0']
        """
        (name,) = check_view_names([name])
        return self._from_contents(self._contents.join(name))

    def split(self, name: str, n_parts: int, *, random_state: int = 0) -> Views:
        """Distribute the terms of one view at random over several views of about the same size.

        A document that has the view has all parts of it, even those in which its row is empty.

        Parameters
        ----------
        name : str
            The view to split; its parts are named ``<name>_0``, ``<name>_1``, ...
        n_parts : int
        random_state : int, default=0

        Examples
        --------
        >>> Views({"text": [[1, 0, 2, 3]]}).split("text", 2).names
        ('text_0', 'text_1')
        """
        check_known([name], self.names, "split")
        columns = random_parts(self._contents.matrices[name].shape[1], name, n_parts, random_state)
        parts = [f"{name}_{i}" for i in range(len(columns))]
        check_view_names([*(n for n in self.names if n != name), *parts])
        return self._from_contents(self._contents.split(name, columns))

    def with_labels(self, labels: Any, label_names: Sequence[str] | None = None) -> Views:
        """Return a copy with other labels.

        Parameters
        ----------
        labels : array-like of shape (n_docs,) or None
            As in the constructor; None removes the labels.
        label_names : sequence of str, default=None

        Examples
        --------
        >>> Views([[1], [2]]).with_labels([0, 1], ["cat", "dog"]).label_names
        ['cat', 'dog']
        """
        return self._from_contents(self._contents.with_labels(labels, label_names))

    def with_present(self, present: Any) -> Views:
        """Return a copy with another mask of which document has which view.

        Parameters
        ----------
        present : bool array of shape (n_docs, n_views), dict name -> bool array, or None
            None: a document has a view if its row is not empty.

        Examples
        --------
        >>> Views([[1], [0]]).with_present([[True], [True]]).present.ravel().tolist()
        [True, True]
        """
        return self._from_contents(self._contents.with_present(present))

    # -- alignment and files --

    @classmethod
    def align(
        cls,
        data: Mapping[str, Any],
        *,
        on: Mapping[str, Iterable[str]] | None = None,
        how: str = "inner",
        features: Any = None,
    ) -> Views:
        """Combine views that list different documents, or list them in different orders.

        Parameters
        ----------
        data : dict name -> matrix
        on : dict name -> sequence of str, default=None
            Ids of the rows of each view. Not needed for a pandas DataFrame, which has an index.
        how : {"inner", "outer"}, default="inner"
            Keep the documents that all views list, or those that any view lists; these then lack
            the other views. Their order is that of first appearance.
        features : dict name -> sequence of str, default=None
            Names of the columns, as in the constructor.

        Returns
        -------
        Views

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
        return cls._from_contents(align(data, on, how, features))

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a views folder: plain files that other tools can read.

        The files are written beside the folder and moved into place when they are complete, so a
        save that fails leaves what was there before.

        Parameters
        ----------
        folder : path
        overwrite : bool, default=False
            Replace an existing views folder. A folder that holds other files is never replaced.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Views({"en": [[1, 2]]}).save(folder)
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['MANIFEST.json', 'present.npy', 'view_en.npz', 'views.txt']
        """
        write_folder(folder, self._contents, overwrite)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], views: Sequence[str] | None = None) -> Views:
        """Read a views folder; one that coview wrote must be as it was written.

        Parameters
        ----------
        folder : path
        views : sequence of str, default=None
            Names of the views to read, in this order. None reads all, in the order in which they
            were saved, or in alphabetical order if the folder has no ``views.txt``.

        Returns
        -------
        Views

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


def _restore(cls: type[Views], contents: Contents) -> Views:
    return cls._from_contents(contents.refrozen())
