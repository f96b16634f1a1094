"""The pages of the experiments: made of their files alone, and tables to the letter."""

from dataclasses import replace

import pytest
from experiments.csv_files import Number, read_results
from experiments.paper import Column, Table, folders, load_paper
from experiments.paper_readme import readme
from experiments.paper_tables import render

from coview.compare import Results, Run

FINISHED = [folder for folder in folders() if (folder / "results.csv").exists()]
SEEDS = range(6)


def results(**values_of):
    """Runs of six seeds by label; a number is the value of seed 0, and each seed adds 1 %."""
    return Results(
        tuple(
            Run("mfeat", "link", label, {}, s, values={"": {"accuracy": value + s / 100}})
            for label, value in values_of.items()
            for s in SEEDS
        )
    )


def table(**options):
    return Table("Table 1", "Table 1", [Column("Digits", {"dataset": "mfeat"})], **options)


def published(**values_of):
    return {("Table 1", row, "Digits", "accuracy"): n for row, n in values_of.items()}


@pytest.mark.slow
@pytest.mark.parametrize("folder", FINISHED, ids=lambda folder: folder.name)
def test_the_committed_page_is_what_its_files_make(folder):
    committed = (folder / "README.md").read_text(encoding="utf-8")
    assert committed == readme(load_paper(folder), folder), f"python -m experiments {folder.name}"


@pytest.mark.parametrize("folder", FINISHED, ids=lambda folder: folder.name)
def test_committed_results_are_small_and_without_failures(folder):
    assert (folder / "results.csv").stat().st_size < 500_000
    assert not read_results(folder / "results.csv").failures
    for figure in folder.glob("*.png"):
        assert figure.stat().st_size < 100_000


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_no_path_of_a_machine_is_in_the_files(folder):
    for path in (*folder.glob("*.md"), *folder.glob("*.csv"), *folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not any(f"{place}/" in text for place in ("/tmp", "/home", "/work", "/root"))


def test_a_row_has_its_published_line_and_ours():
    text = render(table(), results(MGGM=0.9), published(MGGM=Number(95.51, 1.2)))
    assert text.splitlines()[:4] == [
        "| | | Digits |",
        "| --- | --- | ---: |",
        "| MGGM | published | 95.51 ± 1.20 |",
        "|  | measured | 92.50 ± 1.87 |",
    ]


def test_the_best_of_ours_is_bold_and_a_worse_one_is_not():
    text = render(table(also=["A", "B"]), results(A=0.9, B=0.5), {})
    assert "| A | measured | **92.50 ± 1.87** |" in text
    assert "| B | measured | 52.50 ± 1.87 |" in text


def test_what_the_test_cannot_tell_apart_is_bold_too():
    text = render(table(also=["A", "B"]), results(A=0.9, B=0.9), {})
    assert text.count("**92.50 ± 1.87**") == 2


def test_runs_too_few_for_so_many_comparisons_make_no_ties():
    rows = ["A", "B", "C", "D"]
    text = render(table(also=rows), results(A=0.9, B=0.2, C=0.2, D=0.2), {})
    assert text.count("**") == 2, "six runs cannot reach the level with three comparisons"


def test_an_oracle_is_marked_and_never_bold():
    found = results(A=0.5, B=0.9)
    runs = [replace(r, oracle=r.label == "B") for r in found.runs]
    text = render(table(also=["A", "B"], model="A"), replace(found, runs=runs), {})
    assert "| B † | measured | 92.50 ± 1.87 |" in text
    assert "No other row has a better mean than A." in text


def test_a_number_that_we_do_not_have_is_said_to_be_so():
    text = render(table(), results(MGGM=0.9), published(MGGM=Number(None, note="not in our copy")))
    assert "| MGGM | published | not in our copy |" in text


def test_a_row_that_was_not_measured_says_why():
    text = render(
        table(missing={"Digits": "data not available"}), Results(()), published(MGGM=Number(95.5))
    )
    assert "|  | not measured | data not available |" in text


@pytest.mark.parametrize(
    ("value", "expected"),
    [(92.0, "+0.50 (0.76) ✓"), (93.0, "-0.50 (0.76) ✓"), (90.0, "↑"), (99.0, "✗")],
)
def test_the_papers_model_is_held_against_its_published_number(value, expected):
    text = render(table(model="MGGM"), results(MGGM=0.9), published(MGGM=Number(value)))
    assert expected in text


def test_the_spread_of_the_published_number_counts_in_the_error():
    numbers = published(MGGM=Number(93.0, 3.0))
    text = render(table(model="MGGM", n_published=9), results(MGGM=0.9), numbers)
    assert "-0.50 (1.26) ✓" in text  # 1.87² / 6 + 3² / 9


def test_a_simple_row_that_beats_the_papers_model_is_named():
    text = render(
        table(model="MGGM", also=["MGGM", "Spectral"]), results(MGGM=0.5, Spectral=0.9), {}
    )
    assert "Better means than MGGM" in text
    assert "* Spectral: Digits*" in text


def test_two_runs_of_one_seed_in_one_place_are_refused():
    twice = results(MGGM=0.5) + results(MGGM=0.9)
    with pytest.raises(ValueError, match="two runs of seed 0"):
        render(table(also=["MGGM"]), twice, {})
