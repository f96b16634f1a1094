"""Running the cells of a plan that are not finished yet, several at a time.

One cell, from plain data to plain data. This is what runs in the worker processes.
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
from typing import Any

from coview.compare.inputs import is_folder, load_folder
from coview.compare.plan import Cell, Plan
from coview.compare.result_files import Journal, read_records
from coview.compare.results import Results
from coview.params import check_n_jobs
from coview.progress import progress_bar

IDLE_SECONDS = 60  # after which a worker without work ends, should its parent have been killed
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
_DIED = {
    "error": "its process died (out of memory, or killed)",
    "warnings": [],
    "versions": "",
}


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
    """Run a comparison, or what is left of it.

    Every cell is kept in the file at `path` when it is finished. An interrupted comparison goes on
    from there: the same call runs the cells that are not in the file. A cell that fails is kept
    with its error and does not stop the others. What comes out of a cell depends neither on
    `n_jobs` nor on the order of the cells.

    Parameters
    ----------
    plan : Plan
    path : path or None, default=None
        File of finished cells, by custom with the suffix ``.jsonl``; None keeps them in memory.
    n_jobs : int or None, default=None
        Cells at a time, each in a process and on one thread. None is one for each core; 1 runs
        them in this process. For figures of time use 1, on a machine with nothing else to do.
    resume : bool, default=True
        Whether to go on from what is in the file; False refuses a file that is there.
    retry_failed : bool, default=True
        Whether cells that failed earlier are run again.
    data : dict, default=None
        What names of data sets in the plan stand for: Views, or a function that returns them
        (or a pair: views, and a bool array of the documents for testing). Its arguments are the
        `options`.
    models : dict, default=None
        What names of models stand for: functions of n_components, random_state and the parameters
        that return an estimator.
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
    for key, cell, outcome in _outcomes(
        _open_cells(cells, journal, retry_failed), _workers(n_jobs), data, models, verbose
    ):
        journal.add(key, cell, outcome)
    return Results.of(cells, journal, plan.metrics)


def finished_cells(
    plan: Plan, path: str | os.PathLike[str], data: Mapping[str, Any] | None = None
) -> tuple[int, int]:
    """How many cells of a plan are finished in a file, and how many it has.

    The file may hold cells of other plans as well.

    >>> finished_cells(Plan(["mfeat"], ["link"], seeds=3), "no-such-file.jsonl")
    (0, 3)
    """
    records = read_records(path)
    keys = {cell.key for cell in _with_fingerprints(plan, data or {}).cells()}
    return len(keys & set(records)), len(keys)


def _with_fingerprints(plan: Plan, given: Mapping[str, Any]) -> Plan:
    """Views and folders of the caller may change: their contents are part of the cell."""
    from coview.views.container import Views

    def sealed(entry):
        views = given.get(entry.name)
        if views is None and is_folder(entry.name):
            views = load_folder(entry.name, entry.options)
        if not isinstance(views, Views):
            return entry
        return replace(entry, options={**entry.options, "sha256": _fingerprint(views)})

    return replace(plan, datasets=[sealed(entry) for entry in plan.datasets])


def _fingerprint(views) -> str:
    import numpy as np

    from coview.store import fingerprint

    arrays = [a for m in views.matrices.values() for a in (m.indptr, m.indices, m.data)]
    labels = [] if views.labels is None else np.asarray(views.labels).tolist()
    return fingerprint([*arrays, views.present], repr(labels), *views.names)[:16]


def _warn_of_other_versions(cells: Iterable[Cell], journal: Journal) -> None:
    """Figures of two versions in one table may differ for no other reason."""
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


def _open_cells(cells: Iterable[Cell], journal: Journal, retry: bool) -> dict[str, dict]:
    """Cells to run, by key; entries that differ in their label alone are run once."""
    return {
        cell.key: cell.as_dict()
        for cell in cells
        if cell.key not in journal or (retry and journal.failed(cell.key))
    }


def _workers(n_jobs: int | None) -> int:
    n_jobs = check_n_jobs(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if n_jobs is None or n_jobs < 0:
        return max(1, (cores or 1) + 1 + (n_jobs or -1))
    return n_jobs


def _outcomes(cells, n_workers, data, models, verbose) -> Iterator[tuple[str, dict, dict]]:
    """(key, cell, outcome) of each cell, as they finish, with a progress bar."""
    given = data or {}, models or {}
    one = n_workers == 1 or len(cells) <= 1
    finished = _here(cells, given) if one else _in_processes(cells, n_workers, given)
    with progress_bar("Comparing", len(cells), show=bool(verbose and cells)) as advance:
        for done, (key, outcome) in enumerate(finished, 1):
            yield key, cells[key], outcome
            advance(done, _note(cells[key], outcome))


def _note(cell, outcome):
    failed = " failed" if "error" in outcome else ""
    return f"{cell['data']['label']}, {cell['entry']['label']}{failed}"


def _here(cells, given):
    set_up(*given)
    try:
        for key, cell in cells.items():
            yield key, run_cell(cell)
    finally:
        set_up({}, {})


def _in_processes(cells, n_workers, given):
    """In worker processes; cells whose process died are tried once more, alone."""
    lost = []
    with _pool(n_workers, given) as (pool, as_completed, broken):
        futures = {pool.submit(run_cell, cell): key for key, cell in cells.items()}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except broken:  # takes all others of this pool along
                lost.append(futures[future])
    for key in lost:
        yield key, _alone(cells[key], given)


def _alone(cell, given):
    with _pool(1, given) as (pool, _, broken):
        try:
            return pool.submit(run_cell, cell).result()
        except broken:
            return dict(_DIED)


@contextmanager
def _pool(n_workers, given):
    """Processes that import what they need, so scripts need no guard; killed on any error."""
    from joblib.externals.loky import ProcessPoolExecutor, as_completed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    pool = ProcessPoolExecutor(
        n_workers,
        timeout=IDLE_SECONDS,
        initializer=ignore_interrupts,
        initargs=given,
        env=_ONE_THREAD,
    )
    finished = False
    try:
        yield pool, as_completed, BrokenProcessPool
        finished = True
    finally:
        pool.shutdown(wait=True, kill_workers=not finished)


# -- worker ----------------------------------------------------------------------------------------


PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_state: dict[str, Any] = {"data": {}, "models": {}, "warm": set()}


def set_up(data: Mapping[str, Any], models: Mapping[str, Any]) -> None:
    """What the caller of `run` gave by name; once in each process."""
    from coview.compare.inputs import forget

    forget()
    _state.update(data=data, models=models)


def ignore_interrupts(data: Mapping[str, Any], models: Mapping[str, Any]) -> None:
    """As `set_up`, in a worker process: Ctrl-C is the business of the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_up(data, models)


def run_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """What came out of a cell, or the error that it ended with."""
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            outcome = asdict(_measured(cell))
        except Exception as error:
            outcome = {"error": _short(error), "traceback": traceback.format_exc()}
    notes = list(dict.fromkeys(str(w.message) for w in caught))
    return {**outcome, "warnings": notes[:5], "versions": versions()}


def _measured(cell):
    from coview.compare.inputs import load
    from coview.compare.tasks import classify, cluster, retrieve

    split = cell["settings"].get("split") == "publisher"
    views, is_test = load(cell["data"], _state["data"], split=split)
    if cell["settings"].get("warm_up"):
        _warm_up(cell, views)
    task = {"cluster": cluster, "classify": classify, "retrieve": retrieve}[cell["task"]]
    return task(cell, views, is_test, _state["models"])


def _warm_up(cell, views):
    """Compile what the model compiles, once in a process, on a few of the documents."""
    import numpy as np

    from coview.compare.tasks import classify, cluster

    name = cell["entry"]["name"]
    if name in _state["warm"]:
        return
    _state["warm"].add(name)
    few = np.random.default_rng(0).choice(len(views), min(60, len(views)), replace=False)
    entry = {**cell["entry"], "n_components": 2}
    task = classify if cell["task"] == "classify" else cluster
    with suppress(Exception):  # what fails here has only not been warmed up
        task({**cell, "entry": entry, "rate": 0.5}, views[np.sort(few)], None, _state["models"])


def _short(error: Exception) -> str:
    """The kind of the error and the first line of what it says."""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def versions() -> str:
    """The versions that a result depends on, as one text."""
    from coview import __version__

    found = [f"coview {__version__}", f"python {python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:  # built from source without metadata
            continue
    return ", ".join(found)
