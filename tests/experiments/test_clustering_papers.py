"""Papers 000, 001 and 002: what their folders add to coview, and that no published row is lost."""

from importlib import import_module

import numpy as np
import pytest
from experiments.csv_files import NOT_IN_OUR_COPY, read_published
from experiments.paper import folder_of as folder
from experiments.paper import load_paper
from experiments.run_plans import with_plan_name

from coview.compare import Entry, Plan, run
from coview.datasets import make_views
from coview.metrics import purity

VIEWS = make_views(
    90, 3, {"a": 30, "b": 30, "c": 30}, view_noise={"c": 0.5}, doc_length=20, random_state=0
)


@pytest.mark.parametrize(("number", "table"), [("000", "Table 1"), ("001", "Table 2")])
def test_every_published_row_is_run_or_derived(number, table):
    paper = load_paper(folder(number))
    labels = {entry.label for plan in paper.plans(False).values() for entry in plan.models}
    published = {
        row for name, row, *_ in read_published(folder(number) / "published.csv") if name == table
    }
    assert published - labels <= {"MGGM_SV"}  # made of the runs with one graph


@pytest.mark.parametrize(
    ("number", "table", "size"), [("000", "Table 1", 54), ("001", "Table 2", 90)]
)
def test_no_published_number_of_the_table_is_left_out(number, table, size):
    published = read_published(folder(number) / "published.csv")
    values = [n.value for (name, *_), n in published.items() if name == table]
    assert len(values) == size
    assert None not in values


@pytest.mark.parametrize("number", ["000", "001", "002", "003", "004"])
def test_a_number_without_a_value_is_not_in_our_copy(number):
    published = read_published(folder(number) / "published.csv")
    notes = {n.note.split(":")[0] for n in published.values() if n.value is None}
    assert notes <= {NOT_IN_OUR_COPY}


@pytest.mark.parametrize("number", ["000", "001", "002"])
def test_quick_plans_fill_the_same_tables_as_full_ones(number):
    paper = load_paper(folder(number))
    assert paper.plans(True).keys() == paper.plans(False).keys()


def test_one_graph_smooths_over_the_graph_of_its_view_alone():
    one_graph = import_module("experiments.001_mggm.models").one_graph
    model = one_graph(3, random_state=0, view="b", max_iter=5, tol=0).fit(VIEWS)
    assert model.graph_weights_ == {"b": pytest.approx(1.0)}


def test_the_first_stage_keeps_share_and_purity_of_the_documents_assigned():
    spec = import_module("experiments.002_voted.spec")
    plan = Plan(["mine"], [{"name": "first-stage", "label": spec.FIRST}], seeds=[0])
    found = run(plan, n_jobs=1, data={"mine": VIEWS}, models=spec.PAPER.models)
    (made,) = spec.derive(with_plan_name(found, "random")).where(label=spec.FIRST).runs

    model = spec.PAPER.models["first-stage"](3, random_state=0).fit(VIEWS)
    sure = np.flatnonzero(model.preassigned_ >= 0)
    assert 0 < len(sure) < len(VIEWS)
    assert made.value("preassigned") == pytest.approx(len(sure) / len(VIEWS))
    direct = purity(np.asarray(VIEWS.labels)[sure], model.preassigned_[sure])
    assert made.value("purity") == pytest.approx(direct)


def test_the_best_view_of_paper_000_is_the_one_with_the_best_mean_and_marked():
    spec = import_module("experiments.000_pairwise.spec")
    models = [
        Entry("plsa", label, {"init": "random"}, views=[view])
        for label, view in (("PLSA, English", "a"), ("PLSA+BOVF", "b"), ("PLSA, French", "c"))
    ]
    found = run(Plan(["mine"], models, seeds=2), n_jobs=1, data={"mine": VIEWS})
    best = spec.best_by_labels(with_plan_name(found, "ours")).where(label=spec.ORACLE)
    assert [r.oracle for r in best.runs] == [True, True]
    means = [np.mean(values) for values in found.scores("accuracy").values()]
    assert np.mean([r.value("accuracy") for r in best.runs]) == pytest.approx(max(means))
