"""One odd value for one parameter of a public class or function; the rest is sound."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case
from tests.campaigns.dense import not_shares

# values that are valid for some parameter and odd for most
ODD: list[Any] = [
    *(None, True, False, 0, 1, 2, 3, -1, 7, 255, 10**6, 2**31, 2**63, -(2**63), 10**400),
    *(0.0, -0.0, 0.5, 1.5, -0.5, 1e-300, 1e300, float("nan"), float("inf"), float("-inf")),
    *("", "x", "auto", "random", "2:3", "3", "\x1b[31m", "\0", b"x", "kmeans", "absolute", "mass"),
    *([], {}, (), [1], [1.0, 2.0], [0, 0], {"a": 1.0, "b": 2.0}, {"c": 1}, {"a": "x"}, [None]),
    *([float("nan"), 1.0], {("a", "b"): 1.0}, [[1, 2], [3, 4]], {0: 1}, ["a", "b"], "a", range(3)),
    *(1 + 2j, object, len, set(), np.int8(2), np.float32(0.5), np.float64("nan"), np.uint64(3)),
    *(np.array([1, 2]), np.zeros((20, 3)), np.ones((20, 3)), np.array("x"), np.bool_(True)),
    *(np.full((20, 3), np.nan), np.arange(20) % 3, np.array([]), np.datetime64("2020-01-01")),
]
# a large number is valid for these, and nobody could wait for the result
ENDLESS = {"n_init": 50, "max_iter": 1000, "n_pairs": 10**6, "pool_size": 10**6, "rank": 10**6}
SKIPPED = {"verbose", "on_iteration"}


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a call with one odd argument."""
    targets = sorted(_targets())
    name = targets[rng.integers(len(targets))]
    parameters, call = _targets()[name]
    parameter = parameters[rng.integers(len(parameters))]
    value = ODD[rng.integers(len(ODD))]
    if _is_endless(parameter, value):
        value = -value
    shown = repr(value)[:40].replace("\n", " ")
    what = f"{name}({parameter}={shown})"
    names = (parameter, parameter.removesuffix("s"), *OTHER_WORDS.get(parameter, ()))
    return Case(what, lambda: call({parameter: value}, folder), _judge, names)


# words by which an error may name a parameter's value instead
OTHER_WORDS = {
    "n_components": ("topics",),
    "n_feature_topics": ("topics",),
    "labels": ("label", "Label"),
    "graph": ("Graph", "graph"),
    "edges": ("Link", "link"),
    "graphs": ("Graph", "graph", "views"),
    "view_weights": ("view_weights", "weights"),
    "in_view": ("view",),
    "reference_view": ("view",),
    "views": ("view", "View"),
    "training_views": ("view", "View"),
    "init": ("Mixtures", "start", "Labels", "Labels of", "mixtures"),
    "seeds": ("seed",),
    "estimator": ("estimator", "model"),
    "voter": ("voter", "model"),
    "query": ("view", "text", "View"),
    "X": ("view", "View", "views"),
    "y": ("label", "Label", "class"),
    "ids": ("ids", "names"),
    "features": ("names", "Features"),
    "data": ("view", "View", "matrix"),
    "topics": ("topics",),
    "present": ("present",),
    "random_state": ("random_state", "seed"),
    "model": ("model", "fitted"),
}


def _is_endless(parameter: str, value: Any) -> bool:
    most = ENDLESS.get(parameter)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return most is not None and number and value == value and value > most


def _judge(result: Any) -> str | None:
    """Refuse mixtures that are not probabilities; other results only have to come."""
    for rows in result if isinstance(result, list) else ():
        is_mixtures = isinstance(rows, np.ndarray)  # not suggestions
        wrong = not_shares(rows, None, or_zero=True) if is_mixtures else None
        if wrong:
            return wrong
    return None


# -- what is called --------------------------------------------------------------------------------

Call = Callable[[dict[str, Any], Path], Any]


@cache
def _views() -> Any:
    from coview.datasets import make_views

    made = make_views(20, 3, [12, 10], doc_length=20, random_state=1)
    from coview import Views

    a, b = made.matrices.values()
    return Views({"a": a, "b": b}, labels=made.labels, ids=[f"d{i}" for i in range(20)])


@cache
def _fitted() -> Any:
    from coview import LinkPLSA

    return LinkPLSA(3, max_iter=3, random_state=0, init="random").fit(_views())


@cache
def _targets() -> dict[str, tuple[list[str], Call]]:
    import coview
    from coview import baselines
    from coview.models import MODEL_NAMES, ONE_VIEW, model_class

    found: dict[str, tuple[list[str], Call]] = {}
    for short in MODEL_NAMES:
        cls = model_class(short)
        found[cls.__name__] = _parameters(cls), _model_call(cls, short in ONE_VIEW)
        found[f"{cls.__name__}.fit"] = ["X", "labels", "checkpoint"], _fit_call(cls)
    for name in ("KMeansViews", "SpectralConcat", "CCAClustering", "CoRegSpectral", "MVC"):
        cls = getattr(baselines, name)
        found[name] = _parameters(cls), _baseline_call(cls)
    found["TopicClassifier"] = _parameters(coview.TopicClassifier), _classifier_call
    found["TopicClassifier.fit"] = ["X", "y"], _classifier_fit
    found["search"] = ["query", "in_view", "top", "metric", "space", "labels", "views"], _search
    found["SearchIndex"] = _parameters(coview.SearchIndex), _index
    found["Views"] = ["data", "ids", "labels", "label_names", "features", "present"], _make_views
    found["Views.split"] = ["name", "n_parts"], lambda o, _: _views().split(**{**_SPLIT, **o})
    found["transform"] = ["X"], lambda o, _: [_fitted().transform(**o)]
    found["suggest_labels"] = ["n", "labels", "views"], _suggest
    found["top_terms"] = ["n_terms"], lambda o, _: coview.top_terms(_fitted(), **o)
    found["view_reliability"] = ["n_components", "views"], _reliability
    found["edge_graph"] = ["edges", "ids", "unknown"], _edges
    found["Checkpoint"] = ["every", "seconds"], lambda o, f: coview.Checkpoint(f / "run", **o)
    return found


_SPLIT = {"name": "a", "n_parts": 2}


def _parameters(cls: Any) -> list[str]:
    return [name for name in inspect.signature(cls).parameters if name not in SKIPPED]


def _model_call(cls: Any, one_view: bool) -> Call:
    def call(options: dict[str, Any], folder: Path) -> Any:
        common = {"n_components": 3, "max_iter": 3, "random_state": 0, "init": "random"}
        views = _views().select("a") if one_view else _views()
        model = cls(**{**common, **options}).fit(views)
        mixtures = [model.doc_topic_, model.transform(views)]
        return [*mixtures, *model.view_doc_topic_.values(), *model.components_.values()]

    return call


def _fit_call(cls: Any) -> Call:
    def call(options: dict[str, Any], folder: Path) -> Any:
        model = cls(3, max_iter=3, random_state=0, init="random")
        views = _views().select("a")
        if "checkpoint" in options:
            options = {"checkpoint": _inside(options["checkpoint"], folder)}
        return [model.fit(**{"X": views, **options}).doc_topic_]

    return call


def _inside(path: Any, folder: Path) -> Any:
    """Keep files that an odd path would make within the input's own folder."""
    return str(folder / "state") if isinstance(path, str | bytes) else path


def _baseline_call(cls: Any) -> Call:
    return lambda options, folder: cls(**{"n_components": 3, **options}).fit(_views())


def _classifier_call(options: dict[str, Any], folder: Path) -> Any:
    from coview import PLSA, TopicClassifier

    model = PLSA(max_iter=3, random_state=0, init="random")
    views = _views().select("a")
    fitted = TopicClassifier(**{"estimator": model, **options}).fit(views, views.labels)
    return [fitted.predict_proba(views)]


def _classifier_fit(options: dict[str, Any], folder: Path) -> Any:
    from coview import PLSA, TopicClassifier

    views = _views().select("a")
    model = TopicClassifier(PLSA(max_iter=3, random_state=0, init="random"))
    return [model.fit(**{"X": views, "y": views.labels, **options}).predict_proba(views)]


def _search(options: dict[str, Any], folder: Path) -> Any:
    import coview

    query = {"a": _views()["a"][[0]]}
    return list(coview.search(_fitted(), **{"query": query, "in_view": "b", **options}))


def _index(options: dict[str, Any], folder: Path) -> Any:
    import coview

    return coview.SearchIndex(**{"model": _fitted(), "in_view": "b", **options})


def _make_views(options: dict[str, Any], folder: Path) -> Any:
    from coview import Views

    return Views(**{"data": {"a": np.ones((2, 2)), "b": np.eye(2)}, **options})


def _suggest(options: dict[str, Any], folder: Path) -> Any:
    import coview

    return coview.suggest_labels(_fitted(), **{"views": _views(), **options})


def _reliability(options: dict[str, Any], folder: Path) -> Any:
    import coview

    return coview.view_reliability(**{"views": _views(), "n_components": 3, **options})


def _edges(options: dict[str, Any], folder: Path) -> Any:
    import coview

    return coview.edge_graph(**{"edges": [("x", "y")], "ids": ["x", "y", "z"], **options})
