"""Embeddings as counts: dense vectors of an encoder become counts of codes.

The codes are centers of k-means on the training vectors. A vector counts for the codes nearest to
it, for the nearest most: `n_counts` in all, shared by exp(-d^2 / t), where d is the distance, and t
how much farther (in squared distance) the last of the nearest codes is than the first, on average.
A document of several vectors has the sum of their counts. Vectors are made of length 1 first, so
that distances are those of the cosine; docs/embeddings.md has what these choices give.

Each document is encoded on its own, with sums in one order: its counts depend neither on the other
documents nor on the number of threads.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from coview.params import check_int, check_positive, seed_of
from coview.reading.codes import kmeans_centers, read_titles, titles_setting
from coview.reading.plain_files import load_array, read_file
from coview.reading.recipes import is_missing
from coview.runners.native import one_native_thread
from coview.views.checks import DataWarning
from coview.wording import location, plural, printable, quoted

N_COUNTS = 10  # of a vector; more would outweigh the words of a document
N_NEAREST = 4  # codes of a vector
FEWEST, MOST = 256, 1024  # codes, if their number is not given
VECTORS_OF_CODE = 10  # at least so many, between those limits
SAMPLE = 100_000  # vectors from which the codes are learned
_SEPARATORS = re.compile(r"[\s,;]+")


def embedding_views(
    vectors: Any,
    name: str = "embedding",
    *,
    n_codes: int | None = None,
    n_nearest: int = N_NEAREST,
    n_counts: int = N_COUNTS,
    normalize: bool = True,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Count the codes of vectors.

    Parameters
    ----------
    vectors : array of shape (documents, dimensions), path, or iterable
        For each document a vector, several (an array, or a list of them), a text with the numbers
        of one (a list in JSON, or separated by commas or blanks), or None; in an array a row of
        NaN is a document without a vector. A path is that of an ``.npy`` file.
    name : str, default="embedding"
        Name of the view, and of the raw column in the recipe.
    n_codes : int, optional
        Number of codes; by default a tenth of the number of vectors, but from 256 to 1,024 and at
        most a quarter of the vectors. Fewer, with a warning, if fewer vectors are different.
    n_nearest : int, default=4
        Codes that a vector counts for.
    n_counts : int, default=10
        Counts of a vector. No count weighs more than 1 where views are weighted, so it is also the
        largest number of words that a vector can outweigh.
    normalize : bool, default=True
        Whether vectors are made of length 1.
    random_state : int, Generator, RandomState or None, default=0

    Returns
    -------
    dict
        Keyword arguments of `Views`: "data", "features", "present" and "recipes", each by view.

    Examples
    --------
    >>> vectors = [[0.9, -0.1], [1.0, 0.1], [-0.2, 0.8], None]
    >>> parts = embedding_views(vectors, n_codes=2, n_nearest=1)
    >>> parts["data"]["embedding"].sum(axis=1).tolist()
    [10.0, 10.0, 10.0, 0.0]
    """
    if n_codes is not None:
        check_int("n_codes", n_codes, 1)
    check_int("n_nearest", n_nearest, 1)
    check_int("n_counts", n_counts, 1)
    where = f"View {quoted(name)}"
    items = [checked_vectors(item, where, row) for row, item in enumerate(vector_items(vectors))]
    check_widths(items, where)
    recipe = _learn(items, name, n_codes, n_nearest, bool(normalize), seed_of(random_state))
    recipe = replace(recipe, n_counts=n_counts)
    matrix, present = recipe.counts(items)
    return {
        "data": {name: matrix},
        "features": {name: recipe.features},
        "present": {name: present},
        "recipes": {name: recipe},
    }


def read_embeddings(
    vectors: Mapping[str, Any], views: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return views and vectors as keyword arguments of `Views`; see `Views.from_embeddings`."""
    keys = ("data", "features", "present", "recipes")
    arguments: dict[str, Any] = {key: {} for key in keys}
    if views is not None:
        arguments = {
            "data": dict(views.matrices),
            "features": {n: f for n, f in views.features.items() if f is not None},
            "present": dict(zip(views.names, views.present.T, strict=True)),
            "recipes": dict(views.recipes),
            "ids": views.ids,
            "labels": views.labels,
            "label_names": views.label_names,
        }
    for name, own in vectors.items():
        if name in arguments["data"]:
            raise ValueError(f"Two views would be called {quoted(name)}; rename one.")
        if sp.issparse(own):  # of a sparse encoder: weights of terms
            arguments["data"][name] = own
            continue
        made = embedding_views(own, name, **options)
        for key in keys:
            arguments[key].update(made[key])
    return arguments


# -- vectors --------------------------------------------------------------------------------------


def vector_items(vectors: Any) -> Iterable[Any]:
    """Return the vectors of the documents, one item for each; those of a file are read."""
    if isinstance(vectors, str | PurePath):
        vectors = read_file(Path(vectors), load_array)
    if sp.issparse(vectors):
        raise TypeError("Vectors of a sparse encoder are a view as they are: give them as Views.")
    if isinstance(vectors, np.ndarray):
        if vectors.ndim not in (1, 2, 3) or (vectors.ndim == 1 and vectors.dtype != object):
            raise ValueError(
                "Expected an array of shape (documents, dimensions), or (documents, vectors, "
                f"dimensions); found the shape {vectors.shape}."
            )
        return _without_blank(vectors) if vectors.ndim == 2 else vectors
    if isinstance(vectors, bytes | Mapping) or not isinstance(vectors, Iterable):
        raise TypeError(f"Expected a vector for each document, found {printable(repr(vectors))}.")
    return vectors


def _without_blank(vectors: np.ndarray) -> Iterator[np.ndarray | None]:
    """Yield the rows of an array; None for a row of NaN."""
    for row in vectors:
        blank = row.dtype.kind == "f" and row.size and np.isnan(row).all()
        yield None if blank else row


def checked_vectors(item: Any, where: str, row: int) -> np.ndarray | None:
    """Return the vectors of one document, of shape (vectors, dimensions); None if it has none."""
    try:
        return read_vectors(item)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}, {location(row)}: {error}") from error


def read_vectors(item: Any) -> np.ndarray | None:
    """Return the vectors of one cell, of shape (vectors, dimensions); None if it is missing.

    >>> read_vectors("[0.5, -1]").tolist(), read_vectors("0.5 -1").tolist(), read_vectors("")
    ([[0.5, -1.0]], [[0.5, -1.0]], None)
    """
    if not isinstance(item, np.ndarray) and is_missing(item):
        return None
    if isinstance(item, str):
        item = _numbers(item)
    if not isinstance(item, np.ndarray) and len(item) == 0:
        return None
    try:
        found = np.asarray(item)
    except ValueError as error:
        raise ValueError("the vectors of a document must have the same length.") from error
    if found.dtype.kind not in "iuf":
        raise TypeError(f"expected a vector of numbers, found {printable(repr(item))}.")
    with np.errstate(over="ignore"):  # said below
        found = np.atleast_2d(found.astype(np.float32))
    if found.ndim != 2 or not found.size:
        raise ValueError(f"expected a vector of numbers, found the shape {np.shape(item)}.")
    if not np.isfinite(found).all():
        raise ValueError("the vector has values that are NaN, infinite or too large.")
    return found


def _numbers(text: str) -> Any:
    try:
        if text.lstrip().startswith("["):
            return json.loads(text)
        return [float(part) for part in _SEPARATORS.split(text.strip().strip(",;"))]
    except (ValueError, RecursionError) as error:
        raise ValueError(
            "expected the numbers of a vector, as a list in JSON or separated by commas or blanks; "
            f"found {printable(text, 40)}."
        ) from error


def check_widths(items: Sequence[np.ndarray | None], where: str) -> None:
    """Refuse vectors of different lengths, and data without any vector."""
    widths = {row: item.shape[1] for row, item in enumerate(items) if item is not None}
    if not widths:
        raise ValueError(f"{where}: no document has a vector.")
    first = next(iter(widths))
    for row, width in widths.items():
        if width != widths[first]:
            raise ValueError(
                f"{where}: the vector of row {row:,} has {width:,} numbers, that of row {first:,} "
                f"has {widths[first]:,} (rows counted from 0). All must come from one encoder."
            )


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of length 1."""
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    if not lengths.all():
        raise ValueError(
            "a vector is zero, so it has no direction: give None for a document without a vector, "
            "or normalize=False."
        )
    return (vectors / lengths).astype(np.float32)


class VectorColumn:
    """The vectors of a column of a table, one cell after the other."""

    def __init__(self) -> None:
        self.items: list[np.ndarray | None] = []

    def add(self, cell: Any) -> None:
        """Read the cell of one more document."""
        self.items.append(read_vectors(cell))


# -- codes ----------------------------------------------------------------------------------------


def _learn(
    items: Sequence[np.ndarray | None],
    name: str,
    n_codes: int | None,
    n_nearest: int,
    normalize: bool,
    seed: int,
) -> EmbeddingRecipe:
    """Return the recipe with the centers of the vectors."""
    points = _sample(items, seed)
    points = _unit(points) if normalize else points
    different = np.unique(points, axis=0)
    wanted = _default_codes(len(different)) if n_codes is None else n_codes
    if wanted < len(different):
        centers = kmeans_centers(points, wanted, seed).astype(np.float32)
    else:
        centers = different
    if len(centers) < wanted:
        warnings.warn(
            f"View {quoted(name)} has {plural(len(different), 'different vector')}: as many codes, "
            f"instead of {wanted:,}.",
            DataWarning,
            stacklevel=4,
        )
    n_nearest = min(n_nearest, len(centers))
    return EmbeddingRecipe(name, centers, n_nearest, _width(points, centers, n_nearest), normalize)


def _default_codes(n_vectors: int) -> int:
    wanted = min(max(n_vectors // VECTORS_OF_CODE, FEWEST), MOST)
    return max(min(wanted, n_vectors // 4), 1)


def _sample(items: Sequence[np.ndarray | None], seed: int) -> np.ndarray:
    """Return the vectors of all documents, at most `SAMPLE` drawn from them."""
    vectors = np.concatenate([item for item in items if item is not None])
    if len(vectors) <= SAMPLE:
        return vectors
    drawn = np.random.default_rng(seed).choice(len(vectors), SAMPLE, replace=False)
    return vectors[np.sort(drawn)]


def _width(points: np.ndarray, centers: np.ndarray, n_nearest: int) -> float:
    """Return how much farther the last of the nearest centers is than the first, on average."""
    if n_nearest == 1:
        return 1.0
    drawn = points[np.unique(np.linspace(0, len(points) - 1, 2000).astype(np.int64))]
    with one_native_thread("blas"):
        distances = np.sort(_distances(drawn, centers), axis=1)[:, [0, n_nearest - 1]]
    mean = float(np.mean(distances[:, 1] - distances[:, 0]))
    return mean if mean > 0 else 1.0


def _distances(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return squared distances, less the squared length of each point: (points, centers)."""
    return (centers**2).sum(axis=1) - 2 * (points @ centers.T)


@dataclass(frozen=True, eq=False)
class EmbeddingRecipe:
    """Counts of the codes nearest to vectors.

    Attributes
    ----------
    source : str
        The raw column of vectors.
    centers : ndarray of float32 of shape (codes, dimensions)
    n_nearest : int
        Codes that a vector counts for.
    width : float
        Difference of squared distances at which a code counts 1/e of another.
    normalize : bool
        Whether vectors are made of length 1.
    n_counts : int
        Counts of a vector.
    titles : tuple of str
        What the codes are called, once a model was fitted: see `coview.reading.codes`.
    """

    kind: ClassVar[str] = "embedding"
    source: str
    centers: np.ndarray
    n_nearest: int
    width: float
    normalize: bool = True
    n_counts: int = N_COUNTS
    titles: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n_codes, n_dimensions = self.centers.shape
        return (
            f"<EmbeddingRecipe: {plural(n_codes, 'code')} of vectors of {n_dimensions:,} numbers "
            f"in {quoted(self.source)}>"
        )

    @property
    def features(self) -> np.ndarray:
        """Names of the codes: code_0000, code_0001, ..."""
        return np.array([f"code_{i:04d}" for i in range(len(self.centers))], dtype=object)

    def counts(self, items: Iterable[Any]) -> tuple[sp.csr_array, np.ndarray]:
        """Return counts of codes (documents, codes), and which documents have a vector."""
        where = f"In {quoted(self.source)}"
        rows = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        ends, present = [0], []
        with one_native_thread("blas"):
            for number, item in enumerate(vector_items(items)):
                vectors = checked_vectors(item, where, number)
                present.append(vectors is not None)
                if vectors is not None:
                    codes, counts = self._row(vectors, f"{where}, {location(number)}")
                    rows[0].append(codes)
                    rows[1].append(counts)
                ends.append(ends[-1] + (len(rows[0][-1]) if vectors is not None else 0))
        parts = np.concatenate(rows[1]), np.concatenate(rows[0]), np.array(ends)
        shape = (len(present), len(self.centers))
        return sp.csr_array(parts, shape=shape), np.array(present, dtype=bool)

    def _row(self, vectors: np.ndarray, where: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes of one document, and their counts."""
        n_numbers = self.centers.shape[1]
        if vectors.shape[1] != n_numbers:
            raise ValueError(
                f"{where}: the vector has {vectors.shape[1]:,} numbers, those of training had "
                f"{n_numbers:,}. Use the same encoder."
            )
        try:
            points = _unit(vectors) if self.normalize else vectors
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        total = np.zeros(len(self.centers))
        for distance in _distances(points, self.centers).astype(np.float64):
            nearest = np.argsort(distance, kind="stable")[: self.n_nearest]
            weights = np.exp((distance[nearest[0]] - distance[nearest]) / self.width)
            total[nearest] += np.rint(self.n_counts * weights / weights.sum())
        codes = np.flatnonzero(total)
        return codes, total[codes].astype(np.float32)

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON, and arrays."""
        settings = {
            "source": self.source,
            "n_nearest": self.n_nearest,
            "n_counts": self.n_counts,
            "width": self.width,
            "normalize": self.normalize,
            **titles_setting(self.titles),
        }
        return settings, {"centers": self.centers}

    @classmethod
    def from_data(
        cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], features: np.ndarray
    ) -> EmbeddingRecipe:
        """Return the recipe that `as_data` described."""
        centers = np.ascontiguousarray(arrays["centers"], dtype=np.float32)
        if centers.ndim != 2 or len(centers) != len(features) or not np.isfinite(centers).all():
            raise ValueError(
                f"The centers of codes must be finite, {len(features):,} vectors; found the shape "
                f"{centers.shape}."
            )
        n_nearest = check_int("n_nearest", settings["n_nearest"], 1)
        width = check_positive("width", settings["width"])
        if n_nearest > len(centers) or not isinstance(settings["normalize"], bool):
            raise ValueError("The settings of the codes of vectors make no sense.")
        n_counts = check_int("n_counts", settings["n_counts"], 1)
        titles = read_titles(settings, len(centers))
        source = str(settings["source"])
        return cls(source, centers, n_nearest, width, settings["normalize"], n_counts, titles)
