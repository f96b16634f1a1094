"""Loaders of the papers' data sets from views folders on this machine.

The folders are made from the publishers' archives by `python -m experiments import NAME ARCHIVE` in
a clone of coview's repository, and are looked for in the folder named by the environment variable
`COVIEW_DATA`.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from coview.datasets.folders import check_manifest, find_views, load_folder, need_folder
from coview.datasets.newsgroups import load_newsgv2, load_newsgv4
from coview.datasets.registry import DATASETS, UNIVERSITIES, dataset
from coview.params import check_choice
from coview.reading.plain_files import load_array, open_gzip, read_file
from coview.views.container import Views
from coview.wording import quoted

Home = str | os.PathLike[str] | None


def load_mfeat(
    *, data_home: Home = None, views: Sequence[str] | None = None, check: bool = False
) -> Views:
    """Load the handwritten digits of the UCI data set "multiple features": 2,000 in 10 classes.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds the folder `mfeat`; by default `$COVIEW_DATA`, else the user's data
        folder.
    views : sequence of str, or "all", optional
        Some of pix (240 columns), fou (76), fac (216), zer (47), mor (6) and kar (64), or all six.
        By default the first five, those of Wang et al. (2017), whose paper leaves out `kar`, which
        has negative values; models scale it.
    check : bool, default=False
        Whether to compare the files with their checksums first.
    """
    return load_folder("mfeat", data_home, views, check)


def load_reuters1200(
    *, data_home: Home = None, views: Sequence[str] | None = None, check: bool = False
) -> Views:
    """Load 1,200 news stories in English and in translation into four languages, six classes.

    Values are weights of the tf-idf type, 2,000 columns in each view: en, fr, gr, it, sp. Wang et
    al. (2017) use en, fr and gr. The names of the last two views and of the classes are inferred.

    Parameters
    ----------
    data_home, views, check
        As in :func:`load_mfeat`; all views by default.
    """
    return load_folder("reuters1200", data_home, views, check)


def load_reuters(
    *, data_home: Home = None, views: Sequence[str] | None = None, check: bool = False
) -> Views:
    """Load the 18,758 stories of the multilingual Reuters collection written in English.

    Parameters
    ----------
    data_home, views, check
        As in :func:`load_mfeat`; all views (en, fr, gr, it, sp) by default.
    """
    return load_folder("reuters", data_home, views, check)


@overload
def load_20newsgroups(
    *, data_home: Home = ..., check: bool = ..., return_split: Literal[False] = ...
) -> Views: ...
@overload
def load_20newsgroups(
    *, data_home: Home = ..., check: bool = ..., return_split: Literal[True]
) -> tuple[Views, np.ndarray]: ...
def load_20newsgroups(
    *, data_home: Home = None, check: bool = False, return_split: bool = False
) -> Views | tuple[Views, np.ndarray]:
    """Load 18,846 Usenet posts of 20 groups, with one view: the words of their bodies.

    Words are runs of two letters or more, in lower case, without scikit-learn's English stop
    words, in at least five posts. Quotes and signatures are kept, headers are not. 39 posts have
    no word and so lack the view. To count words in another way, use the texts of
    :func:`load_documents`.

    Parameters
    ----------
    data_home, check
        As in :func:`load_mfeat`.
    return_split : bool, default=False
        Whether to also return which posts are for testing (the later ones), bool of shape
        (n_docs,).
    """
    views = load_folder("20newsgroups", data_home, None, check)
    return (views, _is_test("20newsgroups", data_home)) if return_split else views


def load_webkb(
    university: str = "cornell",
    *,
    data_home: Home = None,
    links: str = "both",
    target: str | None = None,
    check: bool = False,
) -> Views:
    """Load web pages of a computer science department: words (0 or 1) and links, five classes.

    Parameters
    ----------
    university : {"cornell", "texas", "washington", "wisconsin"}
        195, 187, 230 or 265 pages.
    data_home, check
        As in :func:`load_mfeat`.
    links : {"both", "listed"}, default="both"
        View "cites". "listed" has a 1 in row i and column j for each line "i j" of the
        publisher's file, so that many pages have an empty row. "both" adds its transpose, which
        gives every page a link; pages that link to each other, or to themselves, count 2.
    target : str, optional
        Make two classes of the five: this one (label 1) and all others (label 0). Zhuang et al.
        (2012) use "course".
    """
    name = f"webkb_{check_choice('university', university, tuple(UNIVERSITIES))}"
    check_choice("links", links, ("both", "listed"))
    views = load_folder(name, data_home, None, check)
    if links == "both":
        cites = views["cites"]
        views = _with_matrices(views, {"content": views["content"], "cites": cites + cites.T})
    if target is None:
        return views
    classes = dataset(name).classes
    wanted = classes.index(check_choice("target", target, classes))
    is_target = np.asarray(views.labels) == wanted
    return views.with_labels(is_target.astype(int), ["other", target])


def load_cora(
    *, data_home: Home = None, views: Sequence[str] | None = None, check: bool = False
) -> Views:
    """Load 2,708 papers on machine learning: words (0 or 1) and citations, seven classes.

    This is not the version with 12,004 papers of Wang et al. (2017).

    Parameters
    ----------
    data_home, check
        As in :func:`load_mfeat`.
    views : sequence of str, optional
        Some of content, inbound (row i has a 1 in column j if paper j cites paper i), outbound (its
        transpose) and cites (the sum of both). By default content and cites; cites with inbound
        and outbound would count every citation twice.
    """
    return load_folder("cora", data_home, views, check)


@overload
def load_wikipedia(
    *,
    data_home: Home = ...,
    views: Sequence[str] | None = ...,
    check: bool = ...,
    return_split: Literal[False] = ...,
) -> Views: ...
@overload
def load_wikipedia(
    *,
    data_home: Home = ...,
    views: Sequence[str] | None = ...,
    check: bool = ...,
    return_split: Literal[True],
) -> tuple[Views, np.ndarray]: ...
def load_wikipedia(
    *,
    data_home: Home = None,
    views: Sequence[str] | None = None,
    check: bool = False,
    return_split: bool = False,
) -> Views | tuple[Views, np.ndarray]:
    """Load 2,866 sections of Wikipedia articles, each with an image, ten classes.

    Parameters
    ----------
    data_home, check
        As in :func:`load_mfeat`.
    views : sequence of str, optional
        Some of text_words (word counts), image_sift128 (frequencies of visual words), text_lda10
        (proportions of 10 topics) and text_tfidf1000. By default the first two.
    return_split : bool, default=False
        Whether to also return the publisher's split: which pairs are for testing (693; the other
        2,173 are for training), bool of shape (n_docs,).
    """
    found = load_folder("wikipedia", data_home, views, check)
    return (found, _is_test("wikipedia", data_home)) if return_split else found


def load_msrcv1(
    *, data_home: Home = None, views: Sequence[str] | None = None, check: bool = False
) -> Views:
    """Load 210 images of objects in seven classes, with five feature sets.

    Parameters
    ----------
    data_home, views, check
        As in :func:`load_mfeat`; all views (cm24, hog576, gist512, lbp256, centrist254) by
        default.
    """
    return load_folder("msrcv1", data_home, views, check)


_LOADERS: dict[str, Callable[..., Any]] = {
    "mfeat": load_mfeat,
    "reuters1200": load_reuters1200,
    "reuters": load_reuters,
    "20newsgroups": load_20newsgroups,
    "newsgv2": load_newsgv2,
    "newsgv4": load_newsgv4,
    "cora": load_cora,
    "wikipedia": load_wikipedia,
    "msrcv1": load_msrcv1,
}


def load_dataset(
    name: str, *, data_home: Home = None, check: bool = False, **options: Any
) -> Views:
    """Load any of the papers' data sets by its name, or another views folder beside them.

    Parameters
    ----------
    name : str
        A key of `DATASETS`, or the name of a views folder in `data_home`.
    data_home, check
        As in :func:`load_mfeat`.
    **options
        Further parameters of the loader of that data set; of another folder only `views`.

    Examples
    --------
    A data set is a views folder of its name; here is a toy instead of the real one.

    >>> import tempfile
    >>> toy = Views({"content": [[1, 0], [2, 1]], "cites": [[0, 1], [1, 0]]}, labels=[0, 1])
    >>> with tempfile.TemporaryDirectory() as home:
    ...     toy.save(f"{home}/cora")
    ...     load_dataset("cora", data_home=home, views=["content"]).shape
    (2, 2)
    """
    if name not in DATASETS and (folder := find_views(name, data_home)) is not None:
        if check:
            check_manifest(folder)
        return Views.load(folder, **options)
    data = dataset(name)
    if name.startswith("webkb_"):
        university = name.removeprefix("webkb_")
        return load_webkb(university, data_home=data_home, check=check, **options)
    return _LOADERS[data.name](data_home=data_home, check=check, **options)


def load_documents(name: str, *, data_home: Home = None) -> list[dict[str, str]]:
    """Load the raw documents of "20newsgroups" or "wikipedia", in the order of the rows.

    Returns
    -------
    documents : list of dict
        With the keys id, group, split ("train" or "test") and text; wikipedia has image and title
        as well. Texts of newsgroups include the headers.
    """
    path = need_folder(dataset(name), data_home) / "documents.jsonl.gz"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: {quoted(name)} has no raw documents.")
    return read_file(path, _read_json_lines)


def _read_json_lines(path: Path) -> list[dict[str, str]]:
    with path.open("rb") as raw, open_gzip(raw, path.stat().st_size) as lines:
        return [json.loads(line) for line in lines]


def _is_test(name: str, data_home: Home) -> np.ndarray:
    path = need_folder(dataset(name), data_home) / "is_test.npy"
    if not path.is_file():
        raise FileNotFoundError(f"{path}, which says which documents are for testing, is missing.")
    return read_file(path, load_array).astype(bool)


def _with_matrices(views: Views, matrices: dict[str, Any]) -> Views:
    """Return views of the same documents with other matrices."""
    return Views(matrices, ids=views.ids, labels=views.labels, label_names=views.label_names)
