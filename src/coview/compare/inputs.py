r"""From the data set of a cell to views, each loaded once in a process.

From the entry of a cell to an estimator, and the views it sees.

What is done to the matrices before the models see them, learned from the training documents.

Which documents are labeled, and which are for testing: drawn before anything is measured.

"uniform" is a uniform draw of n documents, given that each class has at least one. With N_c
documents of class c, the numbers n_c drawn are then distributed as

    p(n_1, ..., n_C)  ∝  prod_c  binomial(N_c, n_c),     n_c >= 1,     sum_c n_c = n

which is sampled exactly, class by class; drawing again and again until all classes are there would
be the same, and hopeless for twenty classes and twenty labels.

"stratified" gives each class its share of the n, rounded by largest remainders, and at least one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.compare.plan import as_json
from coview.models import MODEL_NAMES, model_class
from coview.params import check_choice, check_real
from coview.views.container import Views
from coview.views.folder import is_views_folder
from coview.wording import listing, plural, quoted

KEPT = 6  # data sets held in memory in one process: each comes again with every seed

Given = Mapping[str, Views | Callable[..., Views]]
_held: OrderedDict[str, tuple[Views, np.ndarray | None]] = OrderedDict()


def load(data: Mapping[str, Any], given: Given, *, split: bool = False):
    """The views of a data set, and which documents its publisher keeps for testing, or None.

    Parameters
    ----------
    data : dict
        A `Data` as a dict.
    given : dict
        Views and loaders that the caller of `run` gave, by name.
    split : bool, default=False
        Whether the publisher's split is wanted.
    """
    wanted = as_json([data["name"], data["options"], split])
    source = given.get(data["name"])
    if isinstance(source, Views):  # held by the caller, and perhaps another one next time
        return _selected(source, data), None
    if wanted not in _held:
        _held[wanted] = _read(data["name"], data["options"], source, split)
        if len(_held) > KEPT:
            _held.popitem(last=False)
    views, is_test = _held[wanted]
    return _selected(views, data), is_test


def forget() -> None:
    """Let go of what is held: the names of another run may stand for other data."""
    _held.clear()


def _selected(views, data):
    return views.select(*data["views"]) if data["views"] else views


def _read(name, options, loader, split):
    if loader is not None:
        return _with_split(loader(**options))
    if name in _built_in():
        return _built_in()[name](**options), None
    if _is_registered(name):
        from coview.datasets import load_dataset

        asked: dict[str, Any] = {**options, "return_split": True} if split else dict(options)
        return _with_split(load_dataset(name, **asked))
    if Path(name).is_dir():
        return load_folder(name, options), None
    raise FileNotFoundError(
        f"There is no data set and no folder {quoted(name)}. Data sets: {', '.join(known_names())}."
    )


def is_folder(name: str) -> bool:
    """Return whether a name stands for a views folder of the user's."""
    return name not in _built_in() and not _is_registered(name) and is_views_folder(name)


def load_folder(name: str, options: Mapping[str, Any]) -> Views:
    """A views folder; the fingerprint among the options is for the journal alone."""
    return Views.load(name, **{n: v for n, v in options.items() if n != "sha256"})


def _with_split(found):
    return found if isinstance(found, tuple) else (found, None)


def _built_in() -> dict[str, Callable[..., Views]]:
    from coview.datasets import load_digits_views, load_python_api, make_views

    return {"digits": load_digits_views, "python-api": load_python_api, "make_views": make_views}


def _is_registered(name: str) -> bool:
    from coview.datasets.registry import DATASETS

    return name in DATASETS


def known_names() -> list[str]:
    """All names that need no path."""
    from coview.datasets.registry import DATASETS

    return [*_built_in(), *DATASETS]


# -- making ----------------------------------------------------------------------------------------


Makers = Mapping[str, Callable[..., Any]]


def make(entry: Mapping[str, Any], n_components: int, seed: int, given: Makers) -> Any:
    """The estimator of an entry, on one thread: cells run beside each other.

    Parameters
    ----------
    entry : dict
        An `Entry` as a dict.
    n_components : int
        Topics where the entry names no other number, itself or among its parameters (in a grid).
    seed : int
    given : dict
        Factories that the caller of `run` gave, by name: called with n_components, random_state
        and the parameters.
    """
    params = dict(entry["params"])
    if entry["oracle"] and entry["name"].endswith("-best"):
        params["oracle"] = True
    own = params.pop("n_components", entry["n_components"])
    topics = n_components if own is None else own
    made = _maker(entry["name"], given)(topics, random_state=seed, **params)
    _limit_threads(made, params)
    return made


def _maker(name, given):
    from coview.baselines import BASELINES

    if name in given:
        return given[name]
    if name in MODEL_NAMES:
        return model_class(name)
    if name in BASELINES:
        return BASELINES[name]
    raise ValueError(
        f"There is no model {quoted(name)}. Models: {', '.join(MODEL_NAMES)}; baselines: "
        f"{', '.join(BASELINES)}."
    )


def _limit_threads(made, params):
    known = made.get_params() if hasattr(made, "get_params") else {}
    threads = [n for n in known if n == "n_jobs" or n.endswith("__n_jobs")]
    made_with = {n: 1 for n in threads if n.split("__")[-1] not in params}
    if made_with:
        made.set_params(**made_with)


def task_of(name: str) -> str:
    """What an estimator of that name needs: "clustering", "classification" or "retrieval"."""
    from coview.baselines import BASELINES

    return BASELINES[name].task if name in BASELINES else "clustering"


def visible(entry: Mapping[str, Any], views: Views) -> Views:
    """The views that a model sees."""
    seen = views.select(*entry["views"]) if entry["views"] else views
    return seen.concat() if entry["concat"] else seen


def n_classes(views: Views) -> int | None:
    """How many classes the labels have; None if there are no labels."""
    if views.labels is None:
        return None
    return len(set(views.labels[np.flatnonzero(has_label(views.labels))].tolist()))


def topics_for(entry: Mapping[str, Any], views: Views) -> int:
    """The number of topics: the entry's, or that of the classes."""
    found = entry["params"].get("n_components") or entry["n_components"] or n_classes(views)
    if not found:
        raise ValueError("n_components is needed where the data have no labels.")
    return found


# -- preparing -------------------------------------------------------------------------------------


class Preparation:
    """Steps for each view, in turn; `learn` from the training documents, then `apply` to any.

    >>> views = Views({"text": [[1, 3], [2, 0]]})
    >>> Preparation(["l1"]).learn(views).apply(views)["text"].toarray()
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """

    def __init__(self, steps: Sequence[str]):
        self._steps = steps
        self._learned: dict[str, list[Any]] = {}

    def learn(self, views: Views) -> Preparation:
        for name, matrix in views.matrices.items():
            learned = self._learned[name] = []
            for step in self._steps:
                learned.append(_LEARN.get(step, _nothing)(matrix))
                matrix = _APPLY[step](matrix, learned[-1])
        return self

    def apply(self, views: Views) -> Views:
        if not self._steps:
            return views
        return Views(
            {name: self._matrix(name, matrix) for name, matrix in views.matrices.items()},
            ids=views.ids,
            labels=views.labels,
            label_names=views.label_names,
            features={n: f for n, f in views.features.items() if f is not None} or None,
            present=views.present,
        )

    def _matrix(self, name, matrix):
        for step, learned in zip(self._steps, self._learned[name], strict=True):
            matrix = _APPLY[step](matrix, learned)
        return matrix


def _nothing(matrix):
    return None


def _idf(matrix):
    """Smoothed inverse document frequencies, as scikit-learn has them."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(norm=None).fit(sp.csr_matrix(matrix))


def _largest(matrix):
    return matrix.max() or 1.0


def _unit_rows(norm):
    def apply(matrix, learned):
        from sklearn.preprocessing import normalize

        return sp.csr_array(normalize(sp.csr_matrix(matrix, dtype=np.float64), norm=norm))

    return apply


_LEARN = {"tfidf": _idf, "max": _largest}
_APPLY = {
    "l1": _unit_rows("l1"),
    "l2": _unit_rows("l2"),
    "max": lambda matrix, largest: matrix / largest,
    "tfidf": lambda matrix, idf: sp.csr_array(idf.transform(sp.csr_matrix(matrix))),
    "binary": lambda matrix, _: sp.csr_array(matrix > 0, dtype=np.float64),
    "sqrt": lambda matrix, _: matrix.sqrt(),
}


# -- sampling --------------------------------------------------------------------------------------


def draw_labeled(
    labels: Any, rate: float, *, sampling: str = "uniform", seed: int = 0
) -> np.ndarray:
    """Documents whose class is given: `rate` of the labeled ones, at least one of each class.

    Parameters
    ----------
    labels : array-like of shape (documents,)
        The true classes, -1 or None for documents without one; those are never drawn.
    rate : float
        Share of the labeled documents to draw, rounded to the next whole number, and raised to
        the number of classes where it is less.
    sampling : {"uniform", "stratified"}, default="uniform"
        See the head of this module.
    seed : int, default=0
        The same seed and rate draw the same documents, whatever the model.

    Returns
    -------
    ndarray of int
        Row numbers, rising.

    Examples
    --------
    >>> labels = np.repeat([0, 1], [90, 10])
    >>> rows = draw_labeled(labels, 0.05)
    >>> len(rows), np.unique(labels[rows]).tolist()
    (5, [0, 1])
    """
    check_choice("sampling", sampling, ["uniform", "stratified"])
    check_real("rate", rate, 0, 1)
    classes = _rows_by_class(labels)
    sizes = np.array([len(rows) for rows in classes])
    n = max(len(classes), int(np.floor(rate * sizes.sum() + 0.5)))
    rng = np.random.default_rng([seed, round(1e6 * rate)])
    counts = _uniform_counts(sizes, n, rng) if sampling == "uniform" else _shares(sizes, n)
    drawn = [rng.choice(rows, k, replace=False) for rows, k in zip(classes, counts, strict=True)]
    return np.sort(np.concatenate(drawn))


def draw_test(n_docs: int, share: float, *, seed: int = 0) -> np.ndarray:
    """Documents for testing, as a bool array of shape (documents,), drawn uniformly.

    >>> int(draw_test(100, 0.25).sum())
    25
    """
    n = int(np.floor(share * n_docs + 0.5))
    if not 0 < n < n_docs:
        raise ValueError(
            f"A test share of {share} of {plural(n_docs, 'document')} leaves no documents for "
            "training or for testing."
        )
    is_test = np.zeros(n_docs, bool)
    is_test[np.random.default_rng(seed).choice(n_docs, n, replace=False)] = True
    return is_test


def has_label(labels: Any) -> np.ndarray:
    """Which documents have a class: not -1 and not None."""
    return np.array([label is not None and label != -1 for label in np.asarray(labels).tolist()])


def _rows_by_class(labels):
    known = np.flatnonzero(has_label(labels))
    values = np.array(np.asarray(labels)[known].tolist())
    classes = np.unique(values)
    if len(classes) < 2:
        raise ValueError(f"Labels of at least two classes are needed; found {listing(classes)}.")
    return [known[values == value] for value in classes]


def _uniform_counts(sizes, n, rng):
    """How many of each class: independent binomials, given their sum and that none is 0."""
    p = n / sizes.sum()
    weights = [_binomial(size, p, n) for size in sizes]
    tails = [np.ones(1)]  # of the sum over the classes from c on, scaled
    for weight in reversed(weights):
        tail = np.convolve(weight, tails[-1])[: n + 1]
        tails.append(tail / tail.max())
    counts, left = [], n
    for weight, tail in zip(weights, reversed(tails[:-1]), strict=True):
        k = np.arange(min(len(weight) - 1, left) + 1)
        rest = left - k
        chance = weight[k] * np.where(rest < len(tail), tail[np.minimum(rest, len(tail) - 1)], 0)
        counts.append(int(rng.choice(k, p=chance / chance.sum())))
        left -= counts[-1]
    return counts


def _binomial(size, p, most):
    """Probabilities of 0, 1, ... documents of a class; none of 0."""
    from scipy.stats import binom

    weight = binom.pmf(np.arange(min(size, most) + 1), size, p)
    weight[0] = 0
    return weight


def _shares(sizes, n):
    """n shared out by largest remainders, at least one and at most all of each class."""
    exact = n * sizes / sizes.sum()
    counts = np.clip(np.floor(exact).astype(int), 1, sizes)
    while counts.sum() != n:
        gap = exact - counts
        if counts.sum() < n:
            counts[np.argmax(np.where(counts < sizes, gap, -np.inf))] += 1
        else:
            counts[np.argmin(np.where(counts > 1, gap, np.inf))] -= 1
    return counts.tolist()
