"""`check_plan`: what is wrong with a plan is said before the first run, not after hours of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from coview.compare.cell_inputs import load, make_estimator, n_classes
from coview.compare.own_data import (
    built_in_loader,
    check_options,
    is_own,
    is_registered,
    known_names,
)
from coview.compare.plan import Data, Entry, Plan
from coview.models import MODEL_NAMES, ONE_VIEW
from coview.views.container import Views
from coview.wording import listing, quoted, suggestion

# the `task` of baselines that can do each task; topic models can do all of them
BASELINE_TASK = {"cluster": "clustering", "classify": "classification", "retrieve": "retrieval"}


def check_plan(
    plan: Plan, data: Mapping[str, Any] | None = None, models: Mapping[str, Any] | None = None
) -> None:
    """Refuse a plan whose runs could not succeed: names, parameters, views, labels.

    Data sets are read. What only a fit can tell, such as a model that the data do not suit, is
    recorded by `run` for the cells that fail.

    Parameters
    ----------
    plan : Plan
    data, models : dict, default=None
        As in `run`.

    Raises
    ------
    ValueError, FileNotFoundError
        What is wrong, where, and what was likely meant.
    """
    for entry in plan.models:
        _check_entry(entry, plan.task, models or {})
    for each in plan.datasets:
        views = _views(each, data or {}, plan)
        _check_views(each, views, plan)


def known_models() -> list[str]:
    """Return the short names of all models and baselines."""
    from coview.baselines import BASELINES

    return [*MODEL_NAMES, *BASELINES]


def suited_models(task: str) -> list[str]:
    """Return the names of models and baselines that can do a task."""
    from coview.baselines import BASELINES

    # a model of one view concatenates them, and cannot search one with another
    own = [name for name in MODEL_NAMES if task != "retrieve" or name not in ONE_VIEW]
    return own + [name for name, made in BASELINES.items() if made.task == BASELINE_TASK[task]]


# -- models ----------------------------------------------------------------------------------------


def _check_entry(entry: Entry, task: str, given: Mapping[str, Any]) -> None:
    if entry.name in given:
        return  # a function of the caller, with parameters of its own
    if entry.name not in known_models():
        raise ValueError(
            f"There is no model {quoted(entry.name)}.{suggestion(entry.name, known_models())} "
            f"Models and baselines: {', '.join(known_models())}."
        )
    if entry.name not in suited_models(task):
        raise ValueError(
            f"The model {quoted(entry.name)} cannot do the task {task!r}, which takes "
            f"{', '.join(suited_models(task))}."
        )
    _check_parameters(entry)
    for one in entry.expanded():
        plain = {"name": one.name, "params": one.params, "oracle": one.oracle, "n_components": None}
        made = make_estimator(plain, 2, 0, {})
        if hasattr(made, "_check_parameters"):  # values, as far as they can be judged without data
            made._check_parameters()


def parameters_of(name: str) -> tuple[list[str], bool]:
    """Return the parameters of a model or baseline, and whether it passes on others."""
    from coview.baselines import BASELINES
    from coview.models import model_class

    made = model_class(name) if name in MODEL_NAMES else BASELINES[name]
    found = signature(made).parameters.values()
    others = any(p.kind is Parameter.VAR_KEYWORD for p in found)
    return [p.name for p in found if p.kind is not Parameter.VAR_KEYWORD], others


def _check_parameters(entry: Entry) -> None:
    known, others = parameters_of(entry.name)
    if others:
        return
    for where, names in (("params", entry.params), ("grid", entry.grid)):
        for name in names:
            if name not in known:
                raise ValueError(
                    f"In {where} of the model {quoted(entry.label)}: {entry.name} has no parameter "
                    f"{quoted(name)}.{suggestion(name, known)} It has {', '.join(sorted(known))}."
                )


# -- data ------------------------------------------------------------------------------------------


def _views(data: Data, given: Mapping[str, Any], plan: Plan) -> Views:
    """Return the views of a data set, or say what its name may have meant."""
    name = data.name
    if name not in given and not (name in known_names() or is_own(name)):
        raise FileNotFoundError(
            f"There is no data set and no file or folder {quoted(name)}."
            f"{suggestion(name, known_names())} Data sets: {', '.join(known_names())}."
        )
    loader = built_in_loader(name)
    if name not in given and loader is not None:
        check_options(name, data.options, loader)
    publisher = plan.task == "retrieve" and plan.split == "publisher" and is_registered(name)
    plain = {"name": name, "options": data.options, "views": ()}
    return load(plain, given, split=publisher)[0]


def _check_views(data: Data, views: Views, plan: Plan) -> None:
    where = f"the data set {quoted(data.label)}"
    _check_names(data.views, views.names, f"views of {where}")
    seen = data.views or views.names
    for entry in plan.models:
        if not entry.datasets or data.label in entry.datasets:
            _check_names(entry.views, seen, f"views of the model {quoted(entry.label)} on {where}")
            _check_topics(entry, views, plan, where)
    for pair in plan.pairs:
        _check_names(pair, seen, f"pairs on {where}")
    if plan.task != "cluster" and not n_classes(views):
        raise ValueError(
            f"The task {plan.task!r} needs classes; {where} has no labels. Name their column: "
            "options = {label = ...}."
        )


def _check_names(wanted: Sequence[str], known: Sequence[str], what: str) -> None:
    for name in wanted:
        if name not in known:
            raise ValueError(
                f"In {what}: there is no view {quoted(name)}.{suggestion(name, known)} It has "
                f"{listing(known, 20)}."
            )


def _check_topics(entry: Entry, views: Views, plan: Plan, where: str) -> None:
    """Refuse a model without a number of topics on data without classes."""
    given = entry.n_components or plan.n_components or entry.params.get("n_components")
    if not given and "n_components" not in entry.grid and not n_classes(views):
        raise ValueError(
            f"{where.capitalize()} has no labels to count the classes of: give n_components, of "
            f"the plan or of the model {quoted(entry.label)}; or the column of the labels, "
            "options = {label = ...}."
        )
