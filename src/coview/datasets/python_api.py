"""`load_python_api`: docstrings and code of NumPy, SciPy and scikit-learn as two views."""

import importlib.metadata
import importlib.util
import inspect
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, overload

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from coview.datasets._cache import cache_home, cached
from coview.datasets._python_source import Item, read_items
from coview.params import check_int
from coview.reading.text import TextRecipe
from coview.views.container import Views

PACKAGES = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}  # module: distribution
FORMAT = 2  # raise it whenever the same sources give another data set: it is in the cache's name
MAX_SHARE = 0.5  # a word in more than half of the items does not tell them apart

# Markup of numpydoc, which is not part of the text.
_MARKUP = re.compile(
    r"""
    ^[^\n]+\n[ \t]*-{3,}[ \t]*$  # an underlined heading
    | ^[ \t]*\.\.[ ]\w+::         # a directive
    | :\w+:(?=`)                 # a role
    | https?://\S+
    | %\(\w+\)s                  # a template to be filled in
    """,
    re.MULTILINE | re.VERBOSE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_DOCSTRING = re.compile(r'[rR]?(?P<quotes>"""|\'\'\')(?P<text>.*?)(?:(?P=quotes)|\Z)', re.DOTALL)


@overload
def load_python_api(
    *,
    data_home: str | os.PathLike[str] | None = ...,
    cache: bool = ...,
    min_words: int = ...,
    min_df: int = ...,
    return_sources: Literal[False] = ...,
) -> Views: ...
@overload
def load_python_api(
    *,
    data_home: str | os.PathLike[str] | None = ...,
    cache: bool = ...,
    min_words: int = ...,
    min_df: int = ...,
    return_sources: Literal[True],
) -> tuple[Views, list[str]]: ...
def load_python_api(
    *,
    data_home: str | os.PathLike[str] | None = None,
    cache: bool = True,
    min_words: int = 8,
    min_df: int = 5,
    return_sources: bool = False,
) -> Views | tuple[Views, list[str]]:
    """Load functions and classes of the installed NumPy, SciPy and scikit-learn, in two views.

    View "doc" holds the words of the docstring, view "code" the words of the identifiers in the
    code. Searching one with the other is code search: "which function does what this text says?"

    The source files are read as text and never imported. An item is a function or class at the
    top level of a module, public or private, with a docstring; the code of a class includes its
    methods. Tests, build scripts and copies of other packages are left out.

    Parameters
    ----------
    data_home : path, optional
        Folder to keep the built data set in. By default `$COVIEW_CACHE`, else
        `$XDG_CACHE_HOME/coview`, else `~/.cache/coview`.
    cache : bool, default=True
        Whether to read and write that folder. Building takes about ten seconds. It is not an
        error if the folder cannot be written.
    min_words : int, default=8
        Items with fewer distinct words (after `min_df`) in either view are left out.
    min_df : int, default=5
        Words in fewer items are left out, and so are those in more than half of the items.
    return_sources : bool, default=False
        Whether to also return where each item is defined.

    Returns
    -------
    views : Views
        About 3,400 items; how many depends on the installed versions. `ids` are names such as
        `scipy.stats.pearsonr`. `labels` are the subpackages, such as `scipy.stats`; some have
        one or two items only.
    sources : list of str
        Only with `return_sources=True`: a file and line for each item, such as
        `scipy/stats/_stats_py.py:4435`, relative to the folder the packages are installed in.

    Notes
    -----
    *Words of a docstring* are lower-case runs of two letters or more, without English stop words
    and numpydoc markup (section headings, directives, roles). *Words of the code* are the parts
    of names, arguments, attributes and keyword arguments: `n_components` and `NComponents` give
    "components"; digits, single letters, Python's keywords, `self` and `cls` are dropped.
    Strings and comments are not code, so no docstring is part of this view, not even a method's.

    The two views are not independent: a docstring names the arguments, and its examples often
    call the function by its own name, which is also in the code. That is how people write
    documentation, and it makes searching one view with the other easier than it would be between
    two languages.

    Examples
    --------
    >>> from coview.datasets import load_python_api
    >>> views, sources = load_python_api(return_sources=True)
    >>> sorted(views.names)
    ['code', 'doc']
    >>> len(sources) == len(views)
    True
    """

    def build() -> tuple[Views, list[str]]:
        return _build_views(_package_roots(), min_words, min_df)

    def save(built: tuple[Views, list[str]], folder: Path) -> None:
        built[0].save(folder)
        (folder / "sources.txt").write_text("\n".join(built[1]) + "\n", encoding="utf-8")

    def load(folder: Path) -> tuple[Views, list[str]]:
        sources = (folder / "sources.txt").read_text(encoding="utf-8").splitlines()
        return Views.load(folder), sources

    check_int("min_words", min_words, 1)
    check_int("min_df", min_df, 1)
    if cache:
        folder = cache_home(data_home) / _folder_name(min_words, min_df)
        views, sources = cached(folder, build, save, load)
    else:
        views, sources = build()
    views = _with_recipes(views)
    return (views, sources) if return_sources else views


def _with_recipes(views: Views) -> Views:
    """Add recipes, so that a text or a piece of code can be searched for.

    They split words nearly as the items were read.
    """
    split = CountVectorizer(token_pattern=_WORD.pattern, stop_words="english")
    recipes = {
        name: TextRecipe(name, split, terms)
        for name, terms in views.features.items()
        if terms is not None
    }
    return Views(views, recipes=recipes)


def _folder_name(min_words: int, min_df: int) -> str:
    versions = (f"{p}-{importlib.metadata.version(dist)}" for p, dist in PACKAGES.items())
    return "_".join(["python_api", f"v{FORMAT}", *versions, f"words-{min_words}", f"df-{min_df}"])


def _package_roots() -> list[Path]:
    """Return the folders of the packages; finding a top-level package does not import it."""
    specs = (importlib.util.find_spec(package) for package in PACKAGES)
    folders = (spec.submodule_search_locations for spec in specs if spec)
    return [Path(folder[0]) for folder in folders if folder]


def read_python_api_texts(sources: Sequence[str], most: int = 600) -> dict[str, list[str]]:
    """Return the beginnings of docstring and code of items, to be shown to people.

    Parameters
    ----------
    sources : list of str
        As `load_python_api(return_sources=True)` returns them.
    most : int, default=600
        Characters of each text.

    Returns
    -------
    dict of list of str
        For "doc" and "code"; empty texts where a file is not there any more.
    """
    folders = {root.name: root for root in _package_roots()}
    lines: dict[str, list[str]] = {}
    texts: dict[str, list[str]] = {"doc": [], "code": []}
    for source in sources:
        name, number = source.rsplit(":", 1)
        if name not in lines:
            package, _, rest = name.partition("/")
            lines[name] = _lines_of(folders.get(package, Path(package)) / rest)
        begin = "\n".join(lines[name][int(number) - 1 :][:300])
        quoted = _DOCSTRING.search(begin)
        texts["doc"].append(_shortened(quoted["text"] if quoted else "", most))
        rest = begin[quoted.end() :].lstrip("\n") if quoted else ""
        code = begin[: quoted.start()].rstrip(" ") + rest if quoted else begin
        texts["code"].append(_shortened(code, most))
    return texts


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _shortened(text: str, most: int) -> str:
    """Return the beginning of a text with its indentation taken off."""
    return inspect.cleandoc(text)[:most].rstrip()


# -- building --------------------------------------------------------------------------------------


def _build_views(roots: Iterable[Path], min_words: int, min_df: int) -> tuple[Views, list[str]]:
    """Build the data set of the packages in `roots`; return it and the sources of its items."""
    items = _without_copies(read_items(roots))
    if not items:
        raise ValueError(
            "Found no documented function or class to read. "
            f"Install {', '.join(PACKAGES.values())} with their source files."
        )
    counted = {
        "doc": _count([doc_words(item.doc) for item in items]),
        "code": _count([item.code for item in items]),
    }
    rows, columns = _rich_enough({view: X for view, (X, _) in counted.items()}, min_words, min_df)
    items = [items[row] for row in rows]
    label_names, labels = np.unique([item.label for item in items], return_inverse=True)
    views = Views(
        {view: X[rows][:, columns[view]] for view, (X, _) in counted.items()},
        ids=[item.name for item in items],
        labels=labels,
        label_names=label_names.tolist(),
        features={view: words[columns[view]] for view, (_, words) in counted.items()},
    )
    return views, [item.source for item in items]


def _without_copies(items: list[Item]) -> list[Item]:
    """Return the first of each group of items with the same docstring and code."""
    first: dict[tuple[str, tuple[str, ...]], Item] = {}
    for item in items:
        first.setdefault((item.doc, item.code), item)
    return list(first.values())


def _count(documents: Sequence[Sequence[str]]) -> tuple[sp.csr_array, np.ndarray]:
    """Return counts (documents x words), and the words in alphabetical order."""
    vectorizer = CountVectorizer(analyzer=lambda words: words, dtype=np.float32)
    X = sp.csr_array(vectorizer.fit_transform(documents))
    return X, vectorizer.get_feature_names_out()


def _rich_enough(
    matrices: dict[str, sp.csr_array], min_words: int, min_df: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return rows and columns such that each row has enough words and each word enough rows.

    Dropping a word can make a row too short, and dropping that row another word too rare: repeat
    until nothing changes.
    """
    seen = {view: (X > 0).astype(np.int32) for view, X in matrices.items()}
    rows = np.arange(matrices["doc"].shape[0])
    while True:
        columns = {view: _columns(X[rows], min_df) for view, X in seen.items()}
        words = [X[rows][:, columns[view]].sum(axis=1) for view, X in seen.items()]
        enough = np.min(words, axis=0) >= min_words
        if not enough.any():
            raise ValueError(
                f"No function or class has {min_words} distinct words in each view that are in "
                f"{min_df} items or more; lower min_words or min_df."
            )
        if enough.all():
            return rows, columns
        rows = rows[enough]


def _columns(seen: sp.csr_array, min_df: int) -> np.ndarray:
    items = seen.sum(axis=0)
    return np.flatnonzero((items >= min_df) & (items <= MAX_SHARE * seen.shape[0]))


# -- words -----------------------------------------------------------------------------------------


def doc_words(doc: str) -> list[str]:
    """Return the words of a docstring, without numpydoc markup and English stop words.

    >>> doc_words("The n_init sum.\\n\\nReturns\\n-------\\nout : :class:`Thing`")
    ['init', 'sum', 'thing']
    """
    words = _WORD.findall(_MARKUP.sub(" ", doc).lower())
    return [word for word in words if word.isalpha() and word not in ENGLISH_STOP_WORDS]
