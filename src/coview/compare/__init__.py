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

from typing import TYPE_CHECKING

from coview._lazy import lazy_names

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
    "draw_labeled": "inputs",
    "draw_test": "inputs",
    "paired_test": "stats",
    "holm": "stats",
    "bootstrap_interval": "stats",
    "evaluate": "evaluation",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from coview.compare.evaluation import evaluate as evaluate
    from coview.compare.inputs import draw_labeled as draw_labeled
    from coview.compare.inputs import draw_test as draw_test
    from coview.compare.plan import Data as Data
    from coview.compare.plan import Entry as Entry
    from coview.compare.plan import Plan as Plan
    from coview.compare.plan_files import read_plan as read_plan
    from coview.compare.plan_files import write_plan as write_plan
    from coview.compare.results import Results as Results
    from coview.compare.results import Run as Run
    from coview.compare.runner import run as run
    from coview.compare.stats import bootstrap_interval as bootstrap_interval
    from coview.compare.stats import holm as holm
    from coview.compare.stats import paired_test as paired_test


__getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)
