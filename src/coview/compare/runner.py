"""`run`: run the cells of a plan that are not finished yet, in parallel worker processes.

A cell goes to a worker as plain data and its outcome comes back as plain data, which is added to
the journal by the parent alone.
"""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING, Any

from coview.compare.cell_inputs import clear_cache, load
from coview.compare.file_formats import Journal, read_records
from coview.compare.own_data import FINGERPRINT, is_own, load_own
from coview.compare.plan import Cell, Data, Plan
from coview.compare.results import Results
from coview.params import check_n_jobs
from coview.progress import progress_bar
from coview.runners.threads import effective_threads
from coview.views.container import Views

if TYPE_CHECKING:
    from coview.compare.tasks import Outcome

IDLE_SECONDS = 60  # after which an idle worker ends, in case its parent was killed
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
_DIED = {
    "error": "its process died (out of memory, or killed)",
    "warnings": [],
    "versions": "",
}
Cells = dict[str, dict[str, Any]]  # cells as plain data, by key
Given = tuple[Mapping[str, Any], Mapping[str, Any]]  # data and models of the caller, by name
Outcomes = Iterator[tuple[str, dict[str, Any]]]  # key and outcome of each cell


def run(
    plan: Plan,
    path: str | os.PathLike[str] | None = None,
    *,
    n_jobs: int | None = None,
    resume: bool = True,
    retry_failed: bool = True,
    data: Mapping[str, Any] | None = None,
    models: Mapping[str, Callable[..., Any]] | None = None,
    verbose: int = 0,
) -> Results:
    """Run a comparison, or the rest of one that was interrupted.

    Every finished cell is written to the journal at `path`. To resume an interrupted comparison,
    repeat the call: it runs the cells that are not in the file. A cell that fails is recorded with
    its error and does not stop the others. The outcome of a cell depends neither on `n_jobs` nor on
    the order of the cells.

    Parameters
    ----------
    plan : Plan
    path : path or None, default=None
        Journal of finished cells, usually with the suffix ``.jsonl``; None keeps them in memory.
    n_jobs : int or None, default=None
        Number of cells at a time, each in a process and on one thread. None is one for each core;
        1 runs them in this process. To measure times use 1, on an otherwise idle machine.
    resume : bool, default=True
        Whether to continue an existing file; False refuses one.
    retry_failed : bool, default=True
        Whether to run cells again that failed earlier.
    data : dict, default=None
        Data sets by their names in the plan: Views, or a function of the `options` that returns
        them (or a pair: views, and a bool array of the documents for testing).
    models : dict, default=None
        Models by their names in the plan: functions of n_components, random_state and the
        parameters that return an estimator.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Returns
    -------
    Results
        All finished cells of the plan, in its order.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
    >>> plan = Plan(["mine"], ["link", "kmeans"], seeds=range(2))
    >>> results = run(plan, n_jobs=1, data={"mine": views})
    >>> results.labels
    ('link', 'kmeans')
    """
    plan = _with_fingerprints(plan, data or {})
    if not resume and path is not None and os.path.exists(path):
        raise FileExistsError(f"{path} is there already: go on with resume=True, or remove it.")
    journal = Journal(path)
    cells = plan.cells()
    _warn_of_other_versions(cells, journal)
    n_workers = effective_threads(check_n_jobs(n_jobs))
    todo = _unfinished(cells, journal, retry_failed)
    for key, cell, outcome in _outcomes(todo, n_workers, (data or {}, models or {}), verbose):
        journal.add(key, cell, outcome)
    return Results.of(cells, journal, plan.metrics)


def finished_cells(
    plan: Plan, path: str | os.PathLike[str], data: Mapping[str, Any] | None = None
) -> tuple[int, int]:
    """Return how many cells of a plan are finished in a journal, and how many the plan has.

    The journal may hold cells of other plans as well.

    >>> finished_cells(Plan(["mfeat"], ["link"], seeds=3), "no-such-file.jsonl")
    (0, 3)
    """
    records = read_records(path)
    keys = {cell.key for cell in _with_fingerprints(plan, data or {}).cells()}
    return len(keys & set(records)), len(keys)


def _with_fingerprints(plan: Plan, given: Mapping[str, Any]) -> Plan:
    """Make the contents of the caller's views and folders part of the cell: they may change."""

    def with_fingerprint(entry: Data) -> Data:
        views = given.get(entry.name)
        if views is None and is_own(entry.name):
            views = load_own(entry.name, entry.options)
        if not isinstance(views, Views):
            return entry
        return replace(entry, options={**entry.options, FINGERPRINT: _fingerprint(views)})

    return replace(plan, datasets=[with_fingerprint(entry) for entry in plan.datasets])


def _fingerprint(views: Views) -> str:
    from coview.fingerprints import fingerprint_of

    matrices = [(m.shape, m.indptr, m.indices, m.data) for m in views.matrices.values()]
    features = [views.features[name] for name in views.names]
    parts = [views.names, matrices, features, views.present, views.labels, views.label_names]
    return fingerprint_of(parts)[:16]


def _warn_of_other_versions(cells: Iterable[Cell], journal: Journal) -> None:
    """Warn that numbers in one table may differ only because of the versions of packages."""
    from coview.views.checks import DataWarning

    found = {journal[c.key].get("versions") for c in cells if c.key in journal}
    others = sorted(v for v in found if v and v != versions())
    if others:
        warnings.warn(
            f"Some finished cells in {journal.path} are of other versions ({'; '.join(others)}) "
            f"than those in use ({versions()}). Remove the file to run them again.",
            DataWarning,
            stacklevel=3,
        )


def _unfinished(cells: Iterable[Cell], journal: Journal, retry: bool) -> Cells:
    """Return the cells to run, by key; entries that differ only in their label are run once."""
    return {
        cell.key: cell.as_dict()
        for cell in cells
        if cell.key not in journal or (retry and journal.failed(cell.key))
    }


def _outcomes(
    cells: Cells, n_workers: int, given: Given, verbose: int
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield (key, cell, outcome) as the cells finish, with a progress bar."""
    one = n_workers == 1 or len(cells) <= 1
    finished = _in_this_process(cells, given) if one else _in_workers(cells, n_workers, given)
    with progress_bar("Comparing", len(cells), show=bool(verbose and cells)) as advance:
        for done, (key, outcome) in enumerate(finished, 1):
            yield key, cells[key], outcome
            advance(done, _progress_note(cells[key], outcome))


def _progress_note(cell: Mapping[str, Any], outcome: Mapping[str, Any]) -> str:
    failed = " failed" if "error" in outcome else ""
    return f"{cell['data']['label']}, {cell['entry']['label']}{failed}"


def _in_this_process(cells: Cells, given: Given) -> Outcomes:
    set_up(*given)
    try:
        for key, cell in cells.items():
            yield key, run_cell(cell)
    finally:
        set_up({}, {})


def _in_workers(cells: Cells, n_workers: int, given: Given) -> Outcomes:
    """Run cells in worker processes; those whose process died are tried once more, alone."""
    lost = []
    with _pool(n_workers, given) as (pool, as_completed, broken):
        futures = {pool.submit(run_cell, cell): key for key, cell in cells.items()}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except broken:  # one dead process breaks the whole pool: all its cells are lost
                lost.append(futures[future])
    for key in lost:
        yield key, _in_own_worker(cells[key], given)


def _in_own_worker(cell: Mapping[str, Any], given: Given) -> dict[str, Any]:
    with _pool(1, given) as (pool, _, broken):
        try:
            return pool.submit(run_cell, cell).result()
        except broken:
            return dict(_DIED)


@contextmanager
def _pool(n_workers: int, given: Given) -> Iterator[tuple[Any, Any, type[Exception]]]:
    """Open a pool of processes, killed on any error.

    They do not import the main script, so scripts need no ``if __name__ == "__main__"``.
    """
    from joblib.externals.loky import ProcessPoolExecutor, as_completed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    pool = ProcessPoolExecutor(
        n_workers,
        timeout=IDLE_SECONDS,
        initializer=set_up_worker,
        initargs=given,
        env=_ONE_THREAD,
    )
    finished = False
    try:
        yield pool, as_completed, BrokenProcessPool
        finished = True
    finally:
        pool.shutdown(wait=True, kill_workers=not finished)


# -- one cell --------------------------------------------------------------------------------------


PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_state: dict[str, Any] = {"data": {}, "models": {}, "warm": set()}


def set_up(data: Mapping[str, Any], models: Mapping[str, Any]) -> None:
    """Set the data and models of this process that cells refer to by name."""
    clear_cache()
    _state.update(data=data, models=models)


def set_up_worker(data: Mapping[str, Any], models: Mapping[str, Any]) -> None:
    """Set up a worker process; it ignores Ctrl-C, which the parent handles."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_up(data, models)


def run_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outcome of a cell, or the error that it ended with, as plain data."""
    from coview.runners.native import one_native_thread

    with warnings.catch_warnings(record=True) as caught, one_native_thread():
        warnings.simplefilter("always")
        try:
            outcome = asdict(_outcome(cell))
        except Exception as error:  # recorded: one failing cell must not stop the others
            outcome = {"error": _first_line(error), "traceback": traceback.format_exc()}
    notes = list(dict.fromkeys(str(w.message) for w in caught))
    return {**outcome, "warnings": notes[:5], "versions": versions()}


def _outcome(cell: Mapping[str, Any]) -> Outcome:
    from coview.compare.tasks import classify, cluster, retrieve

    split = cell["settings"].get("split") == "publisher"
    views, is_test = load(cell["data"], _state["data"], split=split)
    if cell["settings"].get("warm_up"):
        _warm_up(cell, views)
    task = {"cluster": cluster, "classify": classify, "retrieve": retrieve}[cell["task"]]
    return task(cell, views, is_test, _state["models"])


def _warm_up(cell: Mapping[str, Any], views: Views) -> None:
    """Compile the kernels of a model, once in a process, by fitting a few documents."""
    import numpy as np

    from coview.compare.tasks import classify, cluster

    name = cell["entry"]["name"]
    if name in _state["warm"]:
        return
    _state["warm"].add(name)
    few = np.random.default_rng(0).choice(len(views), min(60, len(views)), replace=False)
    entry = {**cell["entry"], "n_components": 2}
    task = classify if cell["task"] == "classify" else cluster
    with suppress(Exception):  # the cell itself will report what is wrong
        task({**cell, "entry": entry, "rate": 0.5}, views[np.sort(few)], None, _state["models"])


def _first_line(error: Exception) -> str:
    """Return the type of an error and the first line of its message."""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def versions() -> str:
    """Return the versions that a result depends on, as one text."""
    from coview import __version__

    found = [f"coview {__version__}", f"python {python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:  # built from source without metadata
            continue
    return ", ".join(found)
