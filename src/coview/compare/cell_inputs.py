r"""What a cell starts from: its views, their preprocessing, its estimator, and drawn documents.

Data sets are loaded once in a process. Preprocessing is learned from the training documents. Which
documents are labeled or held out for testing depends on the seed alone, not on the model.

Labeled documents are drawn in one of two ways. "uniform" draws n documents uniformly, given that
each class has at least one. With N_c documents of class c, the numbers n_c drawn are distributed as

    p(n_1, ..., n_C)  ∝  prod_c  binomial(N_c, n_c),     n_c >= 1,     sum_c n_c = n

which is sampled exactly, class by class. Drawing until all classes are there would give the same
distribution, but would practically never end for twenty classes and twenty labels. "stratified"
gives each class its share of the n, rounded by largest remainders, and at least one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.compare.own_data import (
    built_in_loader,
    is_own,
    is_registered,
    known_names,
    load_own,
)
from coview.compare.plan import as_json
from coview.models import MODEL_NAMES, model_class
from coview.params import check_choice, check_real
from coview.views.container import Views
from coview.views.density import has_negatives
from coview.views.labels import is_unlabeled
from coview.wording import listing, plural, quoted, suggestion

CACHE_SIZE = 6  # data sets kept in memory in one process: each is used again with every seed

GivenData = Mapping[str, Views | Callable[..., Views]]
GivenModels = Mapping[str, Callable[..., Any]]
Split = np.ndarray | None  # which documents are for testing, shape (documents,)
_cache: OrderedDict[str, tuple[Views, Split]] = OrderedDict()


# -- views -----------------------------------------------------------------------------------------


def load(data: Mapping[str, Any], given: GivenData, *, split: bool = False) -> tuple[Views, Split]:
    """Return the views of a data set, and which documents are for testing if that is known.

    Parameters
    ----------
    data : dict
        A `Data` as a dict.
    given : dict
        Views and loaders by name, from the caller of `run`.
    split : bool, default=False
        Whether to load the publisher's split.
    """
    wanted = as_json([data["name"], data["options"], split])
    source = given.get(data["name"])
    if isinstance(source, Views):  # in the caller's memory already
        return _selected(source, data), None
    if wanted not in _cache:
        _cache[wanted] = _read(data["name"], data["options"], source, split)
        if len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    views, is_test = _cache[wanted]
    return _selected(views, data), is_test


def clear_cache() -> None:
    """Forget loaded data sets: in another run their names may stand for other data."""
    _cache.clear()


def _selected(views: Views, data: Mapping[str, Any]) -> Views:
    return views.select(*data["views"]) if data["views"] else views


def _read(
    name: str, options: Mapping[str, Any], loader: Callable[..., Any] | None, split: bool
) -> tuple[Views, Split]:
    if loader is not None:
        return _with_split(loader(**options))
    built_in = built_in_loader(name)
    if built_in is not None:
        return built_in(**options), None
    if is_registered(name):
        from coview.datasets import load_dataset

        wanted: dict[str, Any] = {**options, "return_split": True} if split else dict(options)
        return _with_split(load_dataset(name, **wanted))
    if is_own(name):
        return load_own(name, options), None
    raise FileNotFoundError(
        f"There is no data set and no file or folder {quoted(name)}."
        f"{suggestion(name, known_names())} Data sets: {', '.join(known_names())}."
    )


def _with_split(found: Any) -> tuple[Views, Split]:
    return found if isinstance(found, tuple) else (found, None)


def seen_views(entry: Mapping[str, Any], views: Views) -> Views:
    """Return the views that the model of an entry gets, side by side if the entry says so."""
    seen = views.select(*entry["views"]) if entry["views"] else views
    return seen.concat() if entry["concat"] else seen


# -- estimators ------------------------------------------------------------------------------------


def make_estimator(
    entry: Mapping[str, Any], n_components: int, seed: int, given: GivenModels
) -> Any:
    """Return the unfitted estimator of an entry, on one thread, since cells run in parallel.

    Parameters
    ----------
    entry : dict
        An `Entry` as a dict.
    n_components : int
        Number of topics, unless the entry has its own, itself or among its parameters (in a grid).
    seed : int
    given : dict
        Factories by name, from the caller of `run`: called with n_components, random_state and the
        parameters.
    """
    params = dict(entry["params"])
    if entry["oracle"] and entry["name"].endswith("-best"):
        params["oracle"] = True
    own = params.pop("n_components", entry["n_components"])
    topics = n_components if own is None else own
    made = _factory(entry["name"], given)(topics, random_state=seed, **params)
    _limit_threads(made, params)
    return made


def _factory(name: str, given: GivenModels) -> Callable[..., Any]:
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


def _limit_threads(made: Any, params: Mapping[str, Any]) -> None:
    """Set `n_jobs` to 1, also of nested estimators, unless the parameters say otherwise."""
    # A factory of the caller may return something that has no parameters.
    known = made.get_params() if hasattr(made, "get_params") else {}
    n_jobs = [n for n in known if n == "n_jobs" or n.endswith("__n_jobs")]
    if n_jobs and "n_jobs" not in params:
        made.set_params(**dict.fromkeys(n_jobs, 1))


def task_of(name: str) -> str:
    """Return what an estimator is made for: "clustering", "classification" or "retrieval"."""
    from coview.baselines import BASELINES

    return BASELINES[name].task if name in BASELINES else "clustering"


def n_classes(views: Views) -> int | None:
    """Return the number of classes; None if there are no labels."""
    if views.labels is None:
        return None
    return len(set(views.labels[np.flatnonzero(has_label(views.labels))].tolist()))


def n_topics_for(entry: Mapping[str, Any], views: Views) -> int:
    """Return the number of topics: that of the entry, or the number of classes."""
    found = entry["params"].get("n_components") or entry["n_components"] or n_classes(views)
    if not found:
        raise ValueError("n_components is needed where the data have no labels.")
    return found


# -- preprocessing ---------------------------------------------------------------------------------


class Preprocessing:
    """Steps applied to each view in turn: `learn` from training documents, then `apply` to any.

    >>> views = Views({"text": [[1, 3], [2, 0]]})
    >>> Preprocessing(["l1"]).learn(views).apply(views)["text"].toarray()
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """

    def __init__(self, steps: Sequence[str]):
        self._steps = steps
        self._learned: dict[str, list[Any]] = {}

    def learn(self, views: Views) -> Preprocessing:
        """Learn what the steps need, such as document frequencies."""
        for name, matrix in views.matrices.items():
            learned = self._learned[name] = []
            for step in self._steps:
                _check_step(step, name, matrix)
                learned.append(_LEARN[step](matrix) if step in _LEARN else None)
                matrix = _APPLY[step](matrix, learned[-1])
        return self

    def apply(self, views: Views) -> Views:
        """Return the views with all steps applied."""
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

    def _matrix(self, name: str, matrix: sp.csr_array) -> sp.csr_array:
        for step, learned in zip(self._steps, self._learned[name], strict=True):
            _check_step(step, name, matrix)
            matrix = _APPLY[step](matrix, learned)
        return matrix


def _check_step(step: str, view: str, matrix: sp.csr_array) -> None:
    """Refuse steps for counts on measurements."""
    if step in ("tfidf", "binary", "sqrt") and has_negatives(matrix):
        raise ValueError(
            f"The step {step!r} is for counts and weights >= 0, but view {view!r} has negative "
            "values. Leave the step out, or the view; models scale such a view themselves."
        )


def _idf(matrix: sp.csr_array) -> Any:
    """Learn smoothed inverse document frequencies, as defined in scikit-learn."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(norm=None).fit(sp.csr_matrix(matrix))


def _largest(matrix: sp.csr_array) -> float:
    return abs(matrix).max() or 1.0


def _unit_rows(norm: str) -> Callable[[sp.csr_array, Any], sp.csr_array]:
    def apply(matrix: sp.csr_array, learned: Any) -> sp.csr_array:
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


# -- labeled documents and test documents ----------------------------------------------------------


def draw_labeled(
    labels: Any, rate: float, *, sampling: str = "uniform", seed: int = 0
) -> np.ndarray:
    """Draw the documents whose class is given, at least one of each class.

    Parameters
    ----------
    labels : array-like of shape (documents,)
        True classes, -1 or None for documents without one; those are never drawn.
    rate : float
        Share of the documents with a class to draw. Their number is rounded, and raised to the
        number of classes if it is less.
    sampling : {"uniform", "stratified"}, default="uniform"
        "uniform" draws uniformly among all draws with at least one document of each class;
        "stratified" gives each class its share, rounded, and at least one.
    seed : int, default=0
        The same seed and rate draw the same documents.

    Returns
    -------
    ndarray of int
        Row numbers in rising order.

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
    """Draw documents for testing uniformly; return a bool array of shape (documents,).

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
    """Return which documents have a class; see `coview.views.labels`."""
    return ~is_unlabeled(labels)


def _rows_by_class(labels: Any) -> list[np.ndarray]:
    known = np.flatnonzero(has_label(labels))
    values = np.array(np.asarray(labels)[known].tolist())
    classes = np.unique(values)
    if len(classes) < 2:
        raise ValueError(f"Labels of at least two classes are needed; found {listing(classes)}.")
    return [known[values == value] for value in classes]


def _uniform_counts(sizes: np.ndarray, n: int, rng: np.random.Generator) -> list[int]:
    """Draw the number of each class: independent binomials, given their sum and that none is 0."""
    p = n / sizes.sum()
    weights = [_binomial(size, p, n) for size in sizes]
    tails = [np.ones(1)]  # distributions of n_c + ... + n_C, scaled to avoid underflow
    for weight in reversed(weights):
        tail = np.convolve(weight, tails[-1])[: n + 1]
        tails.append(tail / tail.max())
    counts, left = [], n
    for weight, tail in zip(weights, reversed(tails[:-1]), strict=True):
        k = np.arange(min(len(weight) - 1, left) + 1)
        rest = left - k
        # p(n_c = k | what is left), proportional to p(n_c = k) p(later classes have the rest)
        chance = weight[k] * np.where(rest < len(tail), tail[np.minimum(rest, len(tail) - 1)], 0)
        counts.append(int(rng.choice(k, p=chance / chance.sum())))
        left -= counts[-1]
    return counts


def _binomial(size: int, p: float, most: int) -> np.ndarray:
    """Return binomial probabilities of 0, 1, ... documents of a class, with that of 0 set to 0."""
    from scipy.stats import binom

    weight = binom.pmf(np.arange(min(size, most) + 1), size, p)
    weight[0] = 0
    return weight


def _shares(sizes: np.ndarray, n: int) -> list[int]:
    """Divide n by largest remainders, at least one and at most all of each class."""
    exact = n * sizes / sizes.sum()
    counts = np.clip(np.floor(exact).astype(int), 1, sizes)
    while counts.sum() != n:
        gap = exact - counts
        if counts.sum() < n:
            counts[np.argmax(np.where(counts < sizes, gap, -np.inf))] += 1
        else:
            counts[np.argmin(np.where(counts > 1, gap, np.inf))] -= 1
    return counts.tolist()
