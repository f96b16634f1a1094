"""Comparisons of models: a plan as plain data, run in parallel and resumable; results as tables.

    plan = Plan(datasets=["mfeat"], models=["link", "mggm", "spectral"], seeds=range(10))
    results = run(plan, "results.jsonl", n_jobs=4)
    print(results.table("accuracy"))
    results.to_csv("results.csv")

What is where:

* `plan`: `Plan`, `Data`, `Entry`, and the cells of a plan, one for each fit;
* `check`: what is wrong with a plan, before it is run; `example_plan`: a plan with all its keys;
* `own_data`: a user's own files as data sets;
* `runner`: `run` the cells that are not finished yet, in parallel;
* `cell_inputs`: what a cell starts from: views, preprocessing, estimator, labeled documents;
* `tasks`: what is done in a cell: "cluster", "classify" or "retrieve";
* `evaluation`: metrics of a fitted model, `evaluate`; `metric_info`: their titles and scales;
* `results`: `Run` and `Results`; `file_formats`: plans, journals and results as files;
* `aggregate`: runs put together over their seeds; `stats`: tests between models;
  `result_table`: the tables.
"""

from typing import TYPE_CHECKING

from coview._lazy import lazy_names

# The modules of the public names, imported on first use: the help of the command stays fast.
_HOMES = {
    "Data": "plan",
    "Entry": "plan",
    "Plan": "plan",
    "check_plan": "check",
    "read_plan": "file_formats",
    "write_plan": "file_formats",
    "run": "runner",
    "Results": "results",
    "Run": "results",
    "draw_labeled": "cell_inputs",
    "draw_test": "cell_inputs",
    "paired_test": "stats",
    "holm": "stats",
    "bootstrap_interval": "stats",
    "evaluate": "evaluation",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from coview.compare.cell_inputs import draw_labeled as draw_labeled
    from coview.compare.cell_inputs import draw_test as draw_test
    from coview.compare.check import check_plan as check_plan
    from coview.compare.evaluation import evaluate as evaluate
    from coview.compare.file_formats import read_plan as read_plan
    from coview.compare.file_formats import write_plan as write_plan
    from coview.compare.plan import Data as Data
    from coview.compare.plan import Entry as Entry
    from coview.compare.plan import Plan as Plan
    from coview.compare.results import Results as Results
    from coview.compare.results import Run as Run
    from coview.compare.runner import run as run
    from coview.compare.stats import bootstrap_interval as bootstrap_interval
    from coview.compare.stats import holm as holm
    from coview.compare.stats import paired_test as paired_test


__getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)
