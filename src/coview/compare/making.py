"""From the entry of a cell to an estimator, and the views it sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coview.compare.sampling import has_label
from coview.data.show import quoted
from coview.data.views import Views
from coview.names import MODEL_NAMES, model_class

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
