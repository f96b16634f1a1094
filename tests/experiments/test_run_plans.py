"""A whole experiment from the command: on a few documents, into a temporary folder."""

import io
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from experiments.__main__ import main
from experiments.paper import Paper, folder_of, folders, load_paper
from experiments.quick_data import DOCUMENTS, SHAPES, quick_data
from experiments.run_plans import recheck, run_paper, with_plan_name

from coview.compare import Entry, Plan, run
from coview.datasets import make_views


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """As in a fresh checkout: none of the papers' data are there."""
    monkeypatch.setenv("COVIEW_DATA", str(tmp_path))


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory):
    """A quick run of one paper without its data: what it returned, said and did to its folder."""
    folder, said = folder_of("003"), io.StringIO()
    before = _times(folder)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        patch.setenv("COVIEW_DATA", str(tmp_path_factory.mktemp("empty")))
        code = main(["003", "--quick"])
    return code, said.getvalue(), before == _times(folder)


def _times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.glob("*.*")}


def test_a_quick_run_goes_from_end_to_end_without_the_data(quick_run):
    code, said, _ = quick_run
    assert code == 0
    assert "003_divergence: 21 runs" in said


def test_a_quick_run_leaves_the_folder_of_the_paper_alone(quick_run):
    assert quick_run[2]


def test_an_unknown_paper_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no experiment '999'.*004_mvplsa"):
        main(["999"])


@pytest.mark.parametrize(
    ("option", "said"),
    [("plans", "no plan 'mine'.*'what matters'"), ("models", "no model 'mine'.*'sKL coPLSA'")],
)
def test_an_unknown_plan_or_model_is_named_with_those_there_are(option, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        run_paper(load_paper(folder_of("003")), tmp_path, quick=True, **{option: ["mine"]})


def test_one_model_of_one_plan_is_run_alone(no_data, tmp_path):
    paper, only = load_paper(folder_of("003")), {"plans": ["main"], "models": ["SCM"]}
    (run,) = run_paper(paper, tmp_path, quick=True, verbose=0, **only).runs
    assert (run.label, run.settings["plan"], run.error) == ("SCM", "main", "")


def test_parts_of_a_quick_run_are_refused_since_pages_need_all(capsys):
    with pytest.raises(SystemExit):
        main(["003", "--quick", "--plan", "main"])
    assert "--quick runs all plans" in capsys.readouterr().err


def test_papers_are_found_by_number_and_by_folder():
    assert folder_of("004") == folder_of("004_mvplsa")
    assert folder_of("004") in folders()


@pytest.mark.parametrize("name", SHAPES)
def test_made_data_stand_in_for_every_set(no_data, name):
    views = quick_data(name, None, False) if "-" not in name else quick_data(name, _absent, False)
    assert list(views.names) == SHAPES[name][1]
    assert len(np.unique(views.labels)) == SHAPES[name][0]


def _absent():
    raise FileNotFoundError("not there")


def test_small_data_have_documents_of_all_classes_and_a_split(no_data):
    views, is_test = quick_data("wikipedia", None, True)
    assert len(views) <= DOCUMENTS
    assert 0 < is_test.sum() < len(views)
    assert len(np.unique(views.labels[np.flatnonzero(is_test)])) == 10


def test_a_cell_is_run_again_and_a_change_is_named():
    data = {"toy": lambda: make_views(60, 3, [20, 15], random_state=0)}
    plan = Plan(["toy"], [Entry("link", "Link"), Entry("kmeans")], seeds=2)
    paper = Paper("", "", lambda quick: {"plan": plan}, [], data=data)
    recorded = with_plan_name(run(plan, data=data, verbose=0), "plan")
    name, changes = recheck(paper, recorded, date(2024, 2, 3))
    assert name.startswith("plan, toy, ")
    assert not changes
    assert len({recheck(paper, recorded, date(2024, 2, d))[0] for d in range(1, 6)}) > 1
    stale = [replace(r, values={"": {**r.values[""], "accuracy": 0.1}}) for r in recorded.runs]
    changes = recheck(paper, replace(recorded, runs=tuple(stale)), date(2024, 2, 3))[1]
    assert len(changes) == 1
    assert changes[0].startswith("accuracy was 0.1, is ")
