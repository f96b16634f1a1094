"""Importers of Reuters RCV1/RCV2 multilingual: stories written in one language, or 1,200 of them.

The collection has a folder for each language with a file for each original language;
`FR/Index_EN-FR` holds the English stories in French, one a line, in the same order as
`EN/Index_EN-EN`:

    <class> <word number>:<weight> <word number>:<weight> ...
"""

import os

import numpy as np
import scipy.sparse as sp

from coview.datasets.registry import dataset
from coview.params import check_choice, check_int, seed_of
from coview.views.container import Views
from coview.wording import quoted
from experiments.importers.archives import ArchiveError, ArchiveLimits, collect_files
from experiments.importers.matlab import labels_from_zero, read_views_and_labels
from experiments.importers.writing import check_target, write_dataset

LANGUAGES = ("en", "fr", "gr", "it", "sp")
CLASSES = dataset("reuters").classes


def import_reuters(
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    source: str = "en",
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
) -> Views:
    """Make the folder `reuters` from `rcv1rcv2aminigoutte.tar.bz2`.

    Parameters
    ----------
    archive, out, overwrite, limits
        As in :func:`experiments.importers.import_mfeat`. The zip file in which the UCI
        repository wraps the archive will do as well.
    source : {"en", "fr", "gr", "it", "sp"}, default="en"
        The language in which the stories were written.

    Returns
    -------
    views : Views
        All stories written in it, in five languages. Columns are the words that occur, in
        the order of their numbers, which are their names.
    """
    check_target(out, overwrite)
    check_choice("source", source, LANGUAGES)
    views = _read_collection(archive, limits, source)
    write_dataset(out, views, overwrite=overwrite)
    return views


def import_reuters1200(
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    docs_per_class: int = 200,
    n_words: int = 2000,
    random_state: int = 0,
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
) -> Views:
    """Make the folder `reuters1200` from the published sample, or from the whole collection.

    The published sample comes as `Reuters-1200.mat`, with a cell array `X` of five matrices (en,
    fr, gr, it, sp) and a vector `y` of classes, from 1 to 6; it is taken as it is. From anything
    else, which must be the whole collection, a sample *of the same kind* is drawn: as many stories
    of each class at random, and in each language the words that most of them have. It is not the
    sample of the papers, whose documents are not known and whose words were chosen in another way.

    Parameters
    ----------
    archive, out, overwrite, limits
        As in :func:`experiments.importers.import_mfeat`.
    docs_per_class, n_words : int
        Size of a sample that is drawn.
    random_state : int, default=0
    """
    check_target(out, overwrite)
    if os.fspath(archive).lower().endswith(".mat"):
        views = _published_sample(archive, limits)
    else:
        whole = _read_collection(archive, limits)
        views = _sample(whole, docs_per_class, n_words, random_state)
    write_dataset(out, views, overwrite=overwrite)
    return views


def _published_sample(archive: str | os.PathLike[str], limits: ArchiveLimits | None) -> Views:
    matrices, y = read_views_and_labels(archive, limits)
    if len(matrices) != len(LANGUAGES):
        raise ArchiveError(f"{archive} must have five views, one a language; got {len(matrices)}.")
    return Views(
        {name: X.astype(np.float32) for name, X in zip(LANGUAGES, matrices, strict=True)},
        labels=labels_from_zero(y, len(CLASSES), archive),
        label_names=CLASSES,
    )


def _read_collection(
    archive: str | os.PathLike[str], limits: ArchiveLimits | None, source: str = "en"
) -> Views:
    names = {view: f"Index_{source.upper()}-{view.upper()}" for view in LANGUAGES}
    files = collect_files(archive, list(names.values()), limits=limits)
    matrices, features = {}, {}
    labels: list[int] = []
    for view, name in names.items():
        matrices[view], features[view], found = _read_index(files.pop(name), name)
        if labels and found != labels:
            raise ArchiveError(f"{quoted(name)} must list the documents of {quoted(names['en'])}.")
        labels = found
    return Views(matrices, labels=labels, label_names=CLASSES, features=features)


def _read_index(text: bytes, name: str) -> tuple[sp.csr_array, list[str], list[int]]:
    labels, numbers, weights, sizes = [], [], [], [0]
    for at, line in enumerate(text.splitlines(), start=1):
        label, _, entries = line.partition(b" ")
        if not label.strip():
            continue
        try:
            pairs = np.array(entries.replace(b":", b" ").split(), dtype=np.float64).reshape(-1, 2)
            labels.append(CLASSES.index(label.decode()))
        except ValueError as error:
            raise ArchiveError(
                f"Line {at:,} of {name} must be one of {', '.join(CLASSES)} and pairs "
                f"number:weight; found {quoted(line.decode('latin-1'))}."
            ) from error
        numbers.append(pairs[:, 0].astype(np.int64))
        weights.append(pairs[:, 1].astype(np.float32))
        sizes.append(len(pairs))
    if not labels:
        raise ArchiveError(f"{name} holds no documents.")
    words, columns = np.unique(np.concatenate(numbers), return_inverse=True)
    shape = (len(labels), len(words))
    matrix = sp.csr_array((np.concatenate(weights), columns, np.cumsum(sizes)), shape=shape)
    return matrix, [str(word) for word in words], labels


def _sample(views: Views, docs_per_class: int, n_words: int, random_state: int) -> Views:
    check_int("docs_per_class", docs_per_class, 1)
    check_int("n_words", n_words, 1)
    rng = np.random.default_rng(seed_of(random_state))
    rows = np.concatenate(
        [_draw(views, number, docs_per_class, rng) for number in range(len(CLASSES))]
    )
    drawn = views[rows]
    columns = {name: _frequent(X, n_words) for name, X in drawn.matrices.items()}
    return Views(
        {name: X[:, columns[name]] for name, X in drawn.matrices.items()},
        labels=drawn.labels,
        label_names=CLASSES,
        features={name: np.asarray(drawn.features[name])[columns[name]] for name in drawn.names},
    )


def _draw(views: Views, number: int, n_docs: int, rng: np.random.Generator) -> np.ndarray:
    rows = np.flatnonzero(np.asarray(views.labels) == number)
    if len(rows) < n_docs:
        raise ValueError(
            f"docs_per_class must be at most {len(rows):,}, the stories of class "
            f"{CLASSES[number]}; got {n_docs:,}."
        )
    return np.sort(rng.permutation(rows)[:n_docs])


def _frequent(matrix: sp.csr_array, n_words: int) -> np.ndarray:
    frequency = (matrix > 0).sum(axis=0)
    # Stable, so that ties are broken by the number of the word.
    return np.sort(np.argsort(-frequency, kind="stable")[:n_words])
