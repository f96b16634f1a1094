"""Small data, quick models and results with known numbers."""

import os
from pathlib import Path

from coview.compare import Entry, Plan, Results, Run
from coview.datasets import make_views

QUICK = {"init": "random", "max_iter": 3, "tol": 0.0}


def small_views(n_docs=60):
    return make_views(n_docs, 3, {"text": 30, "image": 20}, view_noise=0.3, random_state=0)


def quick_plan(seeds=2, **options):
    models = [Entry("link", params=QUICK), Entry("kmeans", params={"n_init": 1})]
    return Plan(["small"], models, seeds=seeds, **options)


def given():
    return {"small": small_views}


def dying_model(n_components, random_state, **params):
    os._exit(1)


def raising_model(n_components, random_state, **params):
    raise RuntimeError("no luck")


def runs(label, values, *, dataset="a", metric="accuracy", **fields):
    """A run for each value, seeds counting from 0."""
    return [
        Run(dataset, label, label, {}, seed, values={"": {metric: v}}, **fields)
        for seed, v in enumerate(values)
    ]


def fixed_results():
    """Ten seeds: b is 0.1 below a, c is below a in half of the seeds, d is chosen with labels."""
    a = [0.80, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.87, 0.88, 0.89]
    b = [v - 0.1 for v in a]
    c = [v + (0.01 if i % 2 else -0.02) for i, v in enumerate(a)]
    d = [v + 0.05 for v in a]
    return Results([*runs("a", a), *runs("b", b), *runs("c", c), *runs("d", d, oracle=True)])


ROOT = Path(__file__).parents[2]
