"""Running a comparison: the same numbers however it is run, interrupted or not."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from coview.compare import Entry, Plan, run
from coview.compare.file_formats import read_records
from coview.views.checks import DataWarning
from tests.compare.helpers import (
    QUICK,
    ROOT,
    dying_model,
    given,
    quick_plan,
    raising_model,
    small_views,
)


def csv_of(results, path):
    results.to_csv(path, times=False)
    return path.read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    results = run(quick_plan(), n_jobs=1, data=given())
    return csv_of(results, tmp_path_factory.mktemp("csv") / "r.csv")


def test_two_runs_give_the_same_bytes(undisturbed, tmp_path):
    assert csv_of(run(quick_plan(), n_jobs=1, data=given()), tmp_path / "r.csv") == undisturbed


@pytest.mark.slow
def test_processes_give_the_same_bytes(undisturbed, tmp_path):
    assert csv_of(run(quick_plan(), n_jobs=2, data=given()), tmp_path / "r.csv") == undisturbed


def test_a_folder_that_changed_is_measured_again(tmp_path):
    folder, journal = tmp_path / "mine", tmp_path / "journal.jsonl"
    views = small_views()
    plan = Plan([str(folder)], [Entry("link", params=QUICK)], seeds=1)
    views.save(folder)
    before = run(plan, journal, n_jobs=1)
    assert len(read_records(journal)) == 1
    run(plan, journal, n_jobs=1)
    assert len(read_records(journal)) == 1, "nothing changed"
    views[: len(views) // 2].save(folder, overwrite=True)
    after = run(plan, journal, n_jobs=1)
    assert len(read_records(journal)) == 2
    assert after.runs[0].documents == before.runs[0].documents // 2


def test_a_model_fitted_by_hand_gives_the_same_figure():
    from coview import LinkPLSA
    from coview.metrics import clustering_accuracy

    views = small_views()
    by_hand = LinkPLSA(3, random_state=1, **QUICK).fit(views)
    found = run(quick_plan(), n_jobs=1, data=given()).where(label="link", seed=1)
    assert found.scores("accuracy") == {
        ("small", "link"): [clustering_accuracy(views.labels, by_hand.labels_)]
    }


def test_finished_cells_are_not_run_again(tmp_path):
    path = tmp_path / "r.jsonl"
    run(quick_plan(1), path, n_jobs=1, data=given())
    before = path.read_bytes()
    # the first seed is there: what would run it again raises
    again = run(quick_plan(1), path, n_jobs=1, data={"small": _never})
    assert path.read_bytes() == before
    assert len(again) == 2
    more = run(quick_plan(2), path, n_jobs=1, data=given())
    assert path.read_bytes().startswith(before)
    assert len(more) == 4


def _never(**options):
    raise AssertionError("loaded again")


@pytest.mark.slow
def test_a_killed_comparison_goes_on_to_the_same_bytes(undisturbed, tmp_path):
    path = tmp_path / "r.jsonl"
    code = (
        "from tests.compare.helpers import *; from coview.compare import run; import time\n"
        "def slow(**o): time.sleep(0.3); return small_views()\n"
        f"run(quick_plan(), {str(path)!r}, n_jobs=1, data={{'small': slow}})\n"
        "time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        while process.poll() is None and (not path.exists() or path.stat().st_size == 0):
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = len(read_records(path))
    assert 1 <= done <= 4
    with path.open("ab") as file:
        file.write(b'{"key":"torn')
    results = run(quick_plan(), path, n_jobs=1, data=given())
    assert csv_of(results, tmp_path / "r.csv") == undisturbed


@pytest.mark.skipif(sys.platform == "win32", reason="sends the signal of Ctrl-C")
def test_ctrl_c_ends_soon_and_keeps_what_is_finished(tmp_path):
    path = tmp_path / "r.jsonl"
    code = (
        "from tests.compare.helpers import *; from coview.compare import run, Plan; import time\n"
        "def make(n, random_state, **p):\n"
        "    if random_state: time.sleep(100)\n"
        "    return link(n, random_state)\n"
        "def link(n, seed):\n"
        "    from coview import LinkPLSA; return LinkPLSA(n, random_state=seed, **QUICK)\n"
        "plan = Plan(['small'], ['mine'], seeds=3)\n"
        f"run(plan, {str(path)!r}, n_jobs=2, data=given(), models={{'mine': make}})\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True
    )
    while process.poll() is None and (not path.exists() or path.stat().st_size == 0):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert b"KeyboardInterrupt" in errors
    assert len(read_records(path)) == 1


def test_a_cell_that_fails_is_recorded_and_does_not_stop_the_others(tmp_path):
    plan = Plan(["small"], ["bad", Entry("kmeans", params={"n_init": 1})], seeds=2)
    models = {"bad": raising_model}
    results = run(plan, tmp_path / "r.jsonl", n_jobs=1, data=given(), models=models)
    assert [r.error for r in results.failures] == ["RuntimeError: no luck"] * 2
    assert len(results.scores("accuracy")[("small", "kmeans")]) == 2
    assert "not measured: RuntimeError: no luck" in results.table("accuracy")


def test_cells_that_failed_are_tried_again_unless_told_otherwise(tmp_path):
    plan, path = Plan(["small"], ["mine"], seeds=1), tmp_path / "r.jsonl"
    run(plan, path, n_jobs=1, data=given(), models={"mine": raising_model})
    works = {"mine": _kmeans}
    kept = run(plan, path, n_jobs=1, data=given(), models=works, retry_failed=False)
    assert len(kept.failures) == 1
    assert not run(plan, path, n_jobs=1, data=given(), models=works).failures


def _kmeans(n_components, random_state, **params):
    from coview.baselines import KMeansViews

    return KMeansViews(n_components, n_init=1, random_state=random_state)


@pytest.mark.slow
def test_a_process_that_dies_costs_its_own_cell_only():
    plan = Plan(["small"], ["dies", Entry("kmeans", params={"n_init": 1})], seeds=1)
    results = run(plan, n_jobs=2, data=given(), models={"dies": dying_model})
    assert [r.label for r in results.failures] == ["dies"]
    assert "process died" in results.failures[0].error
    assert len(results.scores("accuracy")[("small", "kmeans")]) == 1


def test_views_that_changed_are_other_cells(tmp_path):
    plan, path = quick_plan(1), tmp_path / "r.jsonl"
    views = small_views()
    run(plan, path, n_jobs=1, data={"small": views})
    run(plan, path, n_jobs=1, data={"small": views[np.arange(50)]})
    assert len(read_records(path)) == 4
    run(plan, path, n_jobs=1, data={"small": views})
    assert len(read_records(path)) == 4


def test_a_views_folder_is_a_data_set(tmp_path):
    small_views().save(tmp_path / "mine")
    plan = Plan([str(tmp_path / "mine")], [Entry("kmeans", params={"n_init": 1})], seeds=1)
    assert run(plan, n_jobs=1).runs[0].documents == 60


def test_a_loader_of_the_same_name_is_asked_anew_in_the_next_run():
    plan = Plan(["mine"], [Entry("kmeans", params={"n_init": 1})], seeds=1)
    for n_docs in (60, 50):
        (found,) = run(plan, n_jobs=1, data={"mine": lambda n=n_docs: small_views(n)}).runs
        assert found.documents == n_docs


def test_a_data_set_that_is_not_there_is_a_failure_with_its_reason():
    results = run(Plan(["nowhere"], ["kmeans"], seeds=1), n_jobs=1)
    assert "no data set and no file or folder 'nowhere'" in results.failures[0].error


def test_an_existing_file_is_refused_where_one_does_not_want_to_go_on(tmp_path):
    (tmp_path / "r.jsonl").touch()
    with pytest.raises(FileExistsError, match="resume=True"):
        run(quick_plan(), tmp_path / "r.jsonl", resume=False, n_jobs=1, data=given())


def test_entries_that_differ_in_their_label_alone_are_run_once_and_shown_twice(tmp_path):
    entries = [Entry("kmeans", label=label, params={"n_init": 1}) for label in ("one", "two")]
    path = tmp_path / "r.jsonl"
    results = run(Plan(["small"], entries, seeds=1), path, n_jobs=1, data=given())
    assert results.labels == ("one", "two")
    assert len(read_records(path)) == 1


def test_the_versions_are_kept_with_every_run():
    import numpy

    results = run(quick_plan(1), n_jobs=1, data=given())
    assert all(f"numpy {numpy.__version__}" in r.versions for r in results.runs)


def test_cells_of_other_versions_are_reported(tmp_path):
    path = tmp_path / "r.jsonl"
    run(quick_plan(1), path, n_jobs=1, data=given())
    path.write_text(path.read_text().replace("numpy ", "numpy 0."))
    with pytest.warns(DataWarning, match=r"other versions .*numpy 0\."):
        run(quick_plan(1), path, n_jobs=1, data=given())


@pytest.mark.parametrize("task", [{}, {"task": "classify", "label_rates": [0.2]}])
def test_warming_up_changes_no_figure(task):
    models = ["nb" if task else Entry("kmeans", params={"n_init": 1}), Entry("link", params=QUICK)]
    cold, warm = (
        run(Plan(["small"], models, seeds=1, warm_up=w, **task), n_jobs=1, data=given())
        for w in (False, True)
    )
    assert not warm.failures
    assert warm.scores("accuracy") == cold.scores("accuracy")


def test_models_run_on_one_thread_each():
    seen = []

    def spy(n_components, random_state, **params):
        from coview import LinkPLSA

        seen.append(LinkPLSA(n_components, random_state=random_state, **QUICK))
        return seen[-1]

    run(Plan(["small"], ["spy"], seeds=1), n_jobs=1, data=given(), models={"spy": spy})
    assert seen[0].n_jobs == 1
