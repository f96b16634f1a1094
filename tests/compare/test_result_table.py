"""Tables to the letter, on results whose numbers are known."""

from dataclasses import replace

import numpy as np
import pytest

from coview.compare import Results, Run, bootstrap_interval
from tests.compare.helpers import fixed_results, runs

NOTE = (
    "accuracy in %: mean ± standard deviation over 10 runs (seeds). Bold: the best mean, and those "
    "that do not differ from it by a paired Wilcoxon signed-rank test over the seeds with Holm's "
    "correction at the level 0.05. † chosen with the labels (an oracle): no method, and not "
    "compared."
)


def test_a_markdown_table_to_the_letter():
    # c is above and below a by turns (p = 0.2), b always below (p = 0.002, twice that corrected)
    assert fixed_results().table("accuracy") == (
        "| model | a |\n"
        "| --- | ---: |\n"
        "| a | **84.50 ± 3.03** |\n"
        "| b | 74.50 ± 3.03 |\n"
        "| c | **84.00 ± 3.65** |\n"
        "| d † | 89.50 ± 3.03 |\n"
        f"\n{NOTE}\n"
    )


def test_a_latex_table_to_the_letter():
    results = fixed_results().where(label=["a", "b", "d"])
    assert results.table("accuracy", format="latex", notes=False) == (
        "\\begin{tabular}{lr}\n"
        "\\toprule\n"
        "model & a \\\\\n"
        "\\midrule\n"
        "a & \\textbf{84.50 $\\pm$ 3.03} \\\\\n"
        "b & 74.50 $\\pm$ 3.03 \\\\\n"
        "d$^\\dagger$ & 89.50 $\\pm$ 3.03 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )


def test_a_plain_table_to_the_letter():
    results = fixed_results().where(label=["a", "b"])
    assert results.table("accuracy", format="text", notes=False, digits=1, percent=False) == (
        "model            a\na        0.8 ± 0.0 *\nb        0.7 ± 0.0\n"
    )


def test_in_plain_text_a_star_stands_for_bold():
    note = fixed_results().table("accuracy", format="text").split("\n\n")[1]
    assert "\n*: the best mean, and" in note


def test_means_and_deviations_are_those_of_numpy():
    values = [0.123, 0.456, 0.789]
    table = Results(runs("m", values)).table("accuracy", digits=3)
    assert f"{100 * np.mean(values):.3f} ± {100 * np.std(values, ddof=1):.3f}" in table


def test_an_interval_can_follow_the_mean():
    values = [0.5, 0.6, 0.8, 0.7]
    low, high = bootstrap_interval([100 * v for v in values])
    table = Results(runs("m", values)).table("accuracy", spread="interval")
    assert f"**65.00 [{low:.2f}, {high:.2f}]**" in table
    assert "mean with its 95 % bootstrap interval over 4 runs" in table


def test_the_t_test_can_be_chosen():
    # steady differences that only ten seeds' normality makes significant
    a = [0.50, 0.52, 0.51, 0.53, 0.50, 0.52]
    b = [v - d for v, d in zip(a, [0.01, 0.02, 0.01, 0.02, 0.01, 0.015], strict=True)]
    c = [v - d for v, d in zip(a, [0.02, 0.02, 0.03, 0.02, 0.02, 0.025], strict=True)]
    results = Results([*runs("a", a), *runs("b", b), *runs("c", c)])
    assert results.table("accuracy", test="t").count("**") == 2
    assert "t-test" in results.table("accuracy", test="t")


def test_too_few_runs_are_said_and_only_the_best_is_bold():
    results = Results([*runs("a", [0.5, 0.6, 0.7]), *runs("b", [0.4, 0.5, 0.6])])
    table = results.table("accuracy")
    assert table.count("**") == 2
    assert "3 runs are too few for a Wilcoxon signed-rank test, which would need 6" in table


def test_one_run_is_too_few_for_any_test():
    results = Results([*runs("a", [0.5]), *runs("b", [0.4])])
    assert "1 run is too few for a Wilcoxon signed-rank test" in results.table("accuracy")
    table = results.table("accuracy", test="t")
    assert "1 run is too few for a t-test, which would need 2" in table
    assert "do not differ" not in table


def test_a_metric_that_nobody_knows_is_refused_and_one_that_was_not_taken_is_said():
    with pytest.raises(ValueError, match=r"no metric 'acuracy'\. Measured were accuracy"):
        fixed_results().table("acuracy")
    assert "not measured: no purity" in fixed_results().table("purity")


def test_equal_means_are_both_bold_without_a_test():
    results = Results([*runs("a", [0.5, 0.6]), *runs("b", [0.6, 0.5])])
    assert results.table("accuracy", test=None).count("**") == 4


def test_less_is_better_for_ranks_and_seconds():
    results = Results(
        [*runs("slow", [0.5] * 2, seconds=9.0), *runs("quick", [0.5] * 2, seconds=1.0)]
    )
    assert "| quick | **1.00 ± 0.00** |" in results.table("seconds")


def test_nothing_is_best_where_models_cannot_be_compared():
    results = Results(
        [*runs("a", [-5.0], metric="objective"), *runs("b", [-4.0], metric="objective")]
    )
    assert "**" not in results.table("objective")


def test_the_two_kinds_of_nmi_never_meet():
    with pytest.raises(ValueError, match="two tables"):
        fixed_results().table(["nmi_max", "nmi_mean"])


@pytest.mark.parametrize(("metric", "words"), [("nmi_max", "larger of"), ("nmi_mean", "mean of")])
def test_the_divisor_of_nmi_is_stated(metric, words):
    results = Results(runs("a", [0.5, 0.6], metric=metric))
    assert f"divided by the {words}" in results.table(metric).splitlines()[-1]


def test_several_metrics_stand_side_by_side():
    values = {"": {"accuracy": 0.5, "nmi_max": 0.25}}
    results = Results([Run(d, "m", "m", {}, 0, values=values) for d in ("x", "y")])
    header, _, row, *_ = results.table(["accuracy", "nmi_max"]).splitlines()
    assert header == "| model | x accuracy | x NMI (max) | y accuracy | y NMI (max) |"
    assert row == "| m | **50.00** | **25.00** | **50.00** | **25.00** |"


def test_rates_as_columns_rise():
    made = [
        Run("a", "m", "m", {}, 0, rate=rate, values={"": {"accuracy": rate}})
        for rate in (0.1, 0.05)
    ]
    header = Results(made).table("accuracy", columns="rate").splitlines()[0]
    assert header == "| model | 0.05 | 0.1 |"


def test_runs_that_differ_in_more_than_their_seed_are_not_averaged():
    made = [
        Run("a", "m", "m", {}, 0, rate=rate, values={"": {"accuracy": rate}})
        for rate in (0.1, 0.05)
    ]
    with pytest.raises(ValueError, match=r"differ in more than their seeds.*rate"):
        Results(made).table("accuracy")


def test_parameters_that_differ_are_named_beside_the_model():
    made = [
        Run("a", "mggm", "MGGM", {"strength": s, "tol": 0}, 0, values={"": {"accuracy": s / 10}})
        for s in (1, 2)
    ]
    table = Results(made).table("accuracy")
    assert "| MGGM, strength=1 | 10.00 |" in table
    assert "| MGGM, strength=2 | **20.00** |" in table


def test_a_parameter_can_be_the_columns():
    made = [
        Run("a", "mggm", "MGGM", {"strength": s}, 0, values={"": {"accuracy": s / 10}})
        for s in (2, 1)
    ]
    lines = Results(made).table("accuracy", columns="strength").splitlines()
    assert lines[0] == "| model | 1 | 2 |"
    assert lines[2] == "| MGGM | **10.00** | **20.00** |"


def test_a_cell_that_failed_says_why():
    failed = [Run("a", "x", "x", {}, s, error="ValueError: too few topics") for s in range(2)]
    table = Results([*runs("m", [0.5, 0.6]), *failed]).table("accuracy")
    assert "| x | not measured: ValueError: too few topics |" in table
    assert "2 runs failed." in table


def test_a_model_that_failed_sometimes_says_how_often():
    some = [*runs("m", [0.5, 0.6]), Run("a", "m", "m", {}, 2, error="no luck")]
    assert "(2 of 3 runs)" in Results(some).table("accuracy")


def test_what_could_not_be_measured_at_all_keeps_its_column():
    reason = {"NUS-WIDE": "data not available"}
    lines = Results(runs("m", [0.5, 0.6])).table("accuracy", missing=reason).splitlines()
    assert lines[0] == "| model | a | NUS-WIDE |"
    assert lines[2].endswith("| not measured: data not available |")


def test_parts_of_a_search_as_columns():
    values = {"t->i": {"map_standard": 0.2}, "mean": {"map_standard": 0.3}}
    results = Results([Run("a", "m", "m", {}, 0, values=values)])
    header, _, row, *_ = results.table("map_standard", columns="part").splitlines()
    assert (header, row) == ("| model | t->i | mean |", "| m | **20.00** | **30.00** |")
    assert "| m | **30.00** |" in results.table("map_standard")


def test_models_as_columns_are_compared_within_each_row():
    results = fixed_results()
    lines = results.table("accuracy", rows="dataset", columns="model").splitlines()
    assert lines[0] == "| dataset | a | b | c | d † |"
    cells = "**84.50 ± 3.03** | 74.50 ± 3.03 | **84.00 ± 3.65** | 89.50 ± 3.03"
    assert lines[2] == f"| a | {cells} |"


def test_data_sets_are_not_compared_with_each_other():
    made = [
        Run(d, "m", "m", {}, 0, rate=r, values={"": {"accuracy": r}})
        for d in ("x", "y")
        for r in (0.1, 0.2)
    ]
    assert "**" not in Results(made).table("accuracy", rows="dataset", columns="rate")


def test_a_search_that_failed_says_why_in_every_part():
    values = {"t->i": {"map_standard": 0.2}, "i->t": {"map_standard": 0.3}}
    results = Results(
        [Run("a", "m", "m", {}, 0, values=values), Run("a", "x", "x", {}, 0, error="no luck")]
    )
    table = results.table("map_standard", columns="part")
    assert "| x | not measured: no luck | not measured: no luck |" in table
    assert "1 run failed." in table


def test_names_cannot_break_the_table():
    results = Results(runs("a|b", [0.5, 0.5], dataset="50_%"))
    assert r"| a\|b |" in results.table("accuracy")
    assert r"& 50\_\% \\" in results.table("accuracy", format="latex")


def test_a_failed_run_gives_way_to_its_repetition():
    (done,) = runs("m", [0.5])
    failed = replace(done, values={}, error="MemoryError")
    assert "50" in Results([failed, done]).table("accuracy")


def test_two_values_of_one_seed_are_refused():
    twice = [*runs("m", [0.5]), *runs("m", [0.6])]
    with pytest.raises(ValueError, match="two runs of seed 0"):
        Results(twice).table("accuracy")
