"""Runs in memory and as CSV."""

import csv

import pytest

from coview.compare import Results, Run
from tests.compare.helpers import fixed_results, runs


def some_runs():
    return Results(
        [
            Run(
                "b, with a comma",
                "mggm",
                "MGGM",
                {"strength": 2.0, "init": "ltm"},
                seed,
                rate=0.05,
                values={"": {"accuracy": 1 / 3 + seed, "purity": 0.5}},
                seconds=1.2345,
                iterations=12,
                documents=100,
                settings={"task": "classify", "label_sampling": "uniform"},
                versions="coview 1",
            )
            for seed in (10, 9)
        ]
        + runs("x", [0.1], oracle=True)
        + [Run("a", "y", "y", {}, 0, error="ValueError: said 'no', twice")]
    )


def test_results_come_back_from_csv(tmp_path):
    path = tmp_path / "r.csv"
    some_runs().to_csv(path)
    again = Results.from_csv(path)
    assert again.failures[0].error == "ValueError: said 'no', twice"
    (run,) = again.where(seed=9).runs
    assert (run.params, run.settings) == (some_runs().runs[0].params, some_runs().runs[0].settings)
    assert run.value("accuracy") == pytest.approx(1 / 3 + 9)
    assert (run.rate, run.iterations, run.documents, run.seconds) == (0.05, 12, 100, 1.23)
    assert [r.oracle for r in again.where(label="x").runs] == [True]


def test_the_same_results_in_any_order_are_the_same_bytes(tmp_path):
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    some_runs().to_csv(first)
    Results(some_runs().runs[::-1]).to_csv(second)
    assert first.read_bytes() == second.read_bytes()


def test_a_csv_that_was_read_is_written_as_it_was(tmp_path):
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    some_runs().to_csv(first)
    Results.from_csv(first).to_csv(second)
    assert first.read_bytes() == second.read_bytes()


def test_seeds_are_in_the_order_of_numbers(tmp_path):
    some_runs().to_csv(tmp_path / "r.csv", metrics=["purity"], times=False)
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert "seconds" not in rows[0]
    assert [row["seed"] for row in rows if row["label"] == "MGGM"] == ["9", "10"]


def test_the_metrics_of_the_plan_are_what_the_csv_holds(tmp_path):
    Results(some_runs().runs, metrics=["purity"]).to_csv(tmp_path / "r.csv")
    assert Results.from_csv(tmp_path / "r.csv").measured() == ("purity",)


def test_a_run_without_the_metrics_of_the_plan_keeps_its_time(tmp_path):
    Results(some_runs().runs, metrics=["seconds"]).to_csv(tmp_path / "r.csv")
    back = Results.from_csv(tmp_path / "r.csv")
    assert len(back) == len(some_runs())
    assert back.measured() == ()


@pytest.mark.parametrize(("old", "new"), [("{}", "{"), (",0,", ",zero,"), (",0.5,", ",half,")])
def test_a_damaged_line_is_named(tmp_path, old, new):
    path = tmp_path / "r.csv"
    Results(runs("m", [0.5])).to_csv(path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=r"Line 2 of .* is damaged"):
        Results.from_csv(path)


def test_another_csv_is_refused(tmp_path):
    (tmp_path / "r.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="lacks the columns dataset"):
        Results.from_csv(tmp_path / "r.csv")


def test_runs_are_chosen_by_attributes_parameters_and_settings():
    results = some_runs()
    assert len(results.where(strength=2.0)) == 2
    assert len(results.where(label_sampling="uniform", seed=[9, 11])) == 1
    assert len(results.where(lambda run: run.oracle)) == 1


def test_results_of_two_plans_go_into_one_table():
    both = Results(runs("m", [0.1, 0.2])) + Results(runs("m", [0.3, 0.4], dataset="b"))
    assert both.datasets == ("a", "b")


def test_the_best_of_several_is_chosen_for_each_data_set_and_marked_as_an_oracle():
    results = fixed_results() + Results(
        [*runs("a", [0.1, 0.1], dataset="z"), *runs("b", [0.2, 0.2], dataset="z")]
    )
    best = results.best_of(["a", "b"], "best view").where(label="best view")
    assert all(run.oracle for run in best.runs)
    assert best.scores("accuracy")[("a", "best view")] == results.scores("accuracy")[("a", "a")]
    assert best.scores("accuracy")[("z", "best view")] == [0.2, 0.2]


def test_two_different_values_of_one_seed_are_not_averaged():
    made = [Run("a", "m", "m", {"k": k}, 0, values={"": {"accuracy": k / 4}}) for k in (1, 2)]
    with pytest.raises(ValueError, match="two runs of seed 0 in one place"):
        Results(made).table("accuracy", rows="label")
