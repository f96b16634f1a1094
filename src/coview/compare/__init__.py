"""Comparing models: a plan as plain data, run in parallel and resumable, results as tables.

    plan = Plan(datasets=["mfeat"], models=["link", "mggm", "spectral"], seeds=range(10))
    results = run(plan, "results.jsonl", n_jobs=4)
    print(results.table("accuracy"))
    results.to_csv("results.csv")

What is where: `plan` says what is compared and cuts it into cells; `runner` runs the cells that are
not yet in the `journal`; `worker` is what happens in a cell, one file for each task (`cluster`,
`classify`, `retrieve`); `results` holds what came out, `tables` and `stats` make something to read
of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# imported on first use, so that the help of the command costs nothing
_HOMES = {
    "Data": "plan",
    "Entry": "plan",
    "Plan": "plan",
    "read_plan": "plan_files",
    "write_plan": "plan_files",
    "run": "runner",
    "Results": "results",
    "Run": "results",
    "draw_labelled": "sampling",
    "draw_test": "sampling",
    "paired_test": "stats",
    "holm": "stats",
    "bootstrap_interval": "stats",
    "evaluate": "evaluating",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from coview.compare.evaluating import evaluate as evaluate
    from coview.compare.plan import Data as Data
    from coview.compare.plan import Entry as Entry
    from coview.compare.plan import Plan as Plan
    from coview.compare.plan_files import read_plan as read_plan
    from coview.compare.plan_files import write_plan as write_plan
    from coview.compare.results import Results as Results
    from coview.compare.results import Run as Run
    from coview.compare.runner import run as run
    from coview.compare.sampling import draw_labelled as draw_labelled
    from coview.compare.sampling import draw_test as draw_test
    from coview.compare.stats import bootstrap_interval as bootstrap_interval
    from coview.compare.stats import holm as holm
    from coview.compare.stats import paired_test as paired_test


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
