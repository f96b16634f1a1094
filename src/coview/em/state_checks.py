"""The check of a state that was read from a checkpoint, before EM goes on from it.

The seal of a file says nothing about its contents (`coview.loaded`). What a state must look like
follows from the fit that resumes it: its problem at a random start has the same arrays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from coview.em.emissions import Emission, FactoredTopics
from coview.em.loop import EMRun
from coview.em.mixture_files import pieces
from coview.em.problem import Problem
from coview.em.step import Values
from coview.loaded import check_array, check_shares, check_value

if TYPE_CHECKING:
    from coview.em.checkpoint import FitState


def check_state_header(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the header of a checkpoint, if it has all its entries."""
    check_value(header["fingerprint"], "fingerprint", str)
    check_value(header["seed"], "seed", int, low=0)
    check_value(header["generation"], "generation", int, low=0)
    check_value(header["objectives"], "list of objectives", list)
    for name in ("best", "current"):
        run = check_value(header[name], f"{name} run", dict, type(None))
        if run is not None:
            check_value(run["history"], f"history of the {name} run", list)
            _check_mixture_names(run.get("mixtures"))
    return header


def _check_mixture_names(mixtures: Any) -> None:
    """Refuse names of files that are not those of a checkpoint's own mixtures."""
    if mixtures is None:
        return
    check_value(mixtures, "mixtures", dict)
    if not re.fullmatch(
        r"[0-9]{8,}-(best|current)", check_value(mixtures["folder"], "folder", str)
    ):
        raise ValueError("it names a folder that is not its own")
    for digest in check_value(mixtures["sha256"], "checksums", list):
        check_value(digest, "checksum", str)


def check_state(state: FitState, blank: Problem, n_runs: int, max_iter: int) -> FitState:
    """Return a state, if the fit can have been in it.

    Parameters
    ----------
    state : FitState
    blank : Problem
        The problem of this fit at any parameters.
    n_runs, max_iter : int
        How many runs the fit has, and how many iterations each has at most.
    """
    objectives = np.array(state.objectives, dtype=np.float64)
    check_array(objectives, "objectives")
    if len(objectives) > n_runs or (len(objectives) > 0) != (state.best is not None):
        raise ValueError(f"it has {len(objectives)} finished runs of {n_runs}")
    if state.best is not None:
        _check_run(state.best, blank, max_iter + 1)
        if state.best.objective != objectives.max():
            raise ValueError("its best run has another objective than the best of all runs")
    if state.current is not None:
        if len(objectives) == n_runs:
            raise ValueError("it has a run beyond the last")
        _check_run(state.current, blank, max_iter)
    if len(state.labels) != (len(objectives) if n_runs > 1 else 0):
        raise ValueError("it lacks the labels of finished runs")
    for labels in state.labels.values():
        shape = (len(blank.thetas[0]),)
        check_array(labels, "labels", shape, "i", dtype=np.int32, low=0, below=blank.n_topics)
    return state


def _check_run(run: EMRun, blank: Problem, longest: int) -> None:
    """Refuse a run whose arrays or values are not those of the problem."""
    problem, k = run.problem, blank.n_topics
    for theta, like in zip(problem.thetas, blank.thetas, strict=True):
        if theta.shape != like.shape:
            raise ValueError(f"its mixtures have the shape {theta.shape}; expected {like.shape}")
        for rows in pieces(theta):
            check_array(rows, "mixtures", (None, like.shape[1]), dtype=like.dtype)
            check_shares(rows[:, :k], "mixtures")
            _check_padding(rows, k, "mixtures")
    _check_emissions(problem, blank)
    parameters = np.array(problem.penalty.parameters, dtype=np.float64)
    check_array(parameters, "weights of graphs", (len(blank.penalty.parameters),), low=0)
    _check_number(problem.carried_penalty, "carried penalty", or_none=True)
    if not 1 <= len(run.history) <= longest:
        raise ValueError(f"one of its runs has {len(run.history)} values of the objective")
    for values in run.history:
        _check_values(values, len(blank.slots))
    for name, objective in run.candidates:
        check_value(name, "start", str)
        check_value(objective, "objective of a start", float) if objective == objective else None


def _check_emissions(problem: Problem, blank: Problem) -> None:
    for emission, like in zip(problem.emissions, blank.emissions, strict=True):
        for field in fields(like):  # type: ignore[arg-type]
            array, whole = getattr(emission, field.name), getattr(like, field.name)
            if isinstance(whole, np.ndarray):
                check_array(array, "topics", whole.shape, dtype=whole.dtype)
        if isinstance(emission, FactoredTopics):
            check_shares(emission.p_y_z, "links of topics")
        else:
            _check_padding(emission.by_term, blank.n_topics, "topics")
    pairs = [((e,), (b,)) for e, b in zip(problem.emissions, blank.emissions, strict=True)]
    together = [(problem.emissions, blank.emissions)]
    for parts, expected in together if blank.concatenated else pairs:
        # topics are zero in a view without any counts, and nowhere else
        check_shares(_over_terms(parts), "topics", or_zero=not _over_terms(expected).any())


def _over_terms(emissions: tuple[Emission, ...]) -> np.ndarray:
    """Return p(w|z) or p(w|y), (topics, terms), over the terms of some views together."""
    return np.concatenate([e.over_terms for e in emissions]).T


def _check_padding(array: np.ndarray, n_topics: int, what: str) -> None:
    """Refuse anything but zeros in the columns beyond the topics: kernels add them up as well."""
    if array[:, n_topics:].any():
        raise ValueError(f"its {what} have shares beyond the last topic")


def _check_values(values: Values, n_views: int) -> None:
    """Refuse values of the objective that are no numbers; a roughness may be infinite."""
    check_array(values.log_likelihoods, "log-likelihoods", (n_views,))
    check_value(values.n_floored, "number of floored words", int, low=0)
    for name in ("penalty", "log_prior", "seed_term"):
        _check_number(getattr(values, name), name)
    _check_number(values.carried_penalty, "carried penalty", or_none=True)
    if values.roughness is not None and not values.roughness >= 0:
        raise ValueError(f"its roughness is {values.roughness}")


def _check_number(value: Any, what: str, or_none: bool = False) -> None:
    if value is not None or not or_none:
        check_value(value, what, float)
