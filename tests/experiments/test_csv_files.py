"""The CSV files of the experiments: typed in whole, written and read without loss."""

import csv
from dataclasses import replace

import pytest
from experiments.csv_files import (
    NOT_IN_OUR_COPY,
    PUBLISHED,
    read_published,
    read_results,
    write_results,
)
from experiments.paper import folder_of, folders, load_paper

from coview.compare import Results, Run

FOLDERS = folders()


def by_name(folder):
    return folder.name


def runs():
    for seed in (0, 1, 2):
        values = {"a->b": {"map": 0.25 + seed / 8, "other": 1.0}, "b->a": {"map": 0.5}}
        settings = {"plan": "main", "task": "retrieve", "steps": ["l1"]}
        yield Run("wiki", "link", "Link PLSA", {"tol": 0.0}, seed, values=values, settings=settings)


@pytest.mark.parametrize("folder", FOLDERS, ids=by_name)
def test_published_numbers_are_well_formed(folder):
    for number in read_published(folder / "published.csv").values():
        assert number.value is not None or number.note
        assert number.sd is None or number.sd >= 0


@pytest.mark.parametrize("folder", FOLDERS, ids=by_name)
def test_what_is_said_to_be_not_in_our_copy_has_no_value(folder):
    for number in read_published(folder / "published.csv").values():
        assert (NOT_IN_OUR_COPY not in number.note) or number.value is None


@pytest.mark.parametrize("folder", FOLDERS, ids=by_name)
def test_every_published_number_of_a_table_is_in_one_of_ours(folder):
    shown = {
        (table.name, column.name, column.metric)
        for table in load_paper(folder).tables
        for column in table.columns
    }
    for table, _, column, metric in read_published(folder / "published.csv"):
        assert not table.startswith("Table") or (table, column, metric) in shown


def test_004_has_all_numbers_of_its_tables():
    (folder,) = [f for f in FOLDERS if f.name.startswith("004")]
    keys = list(read_published(folder / "published.csv"))
    sizes = {t: sum(k[0] == t for k in keys) for t in ("Table 3", "Table 4", "Table 5")}
    assert sizes == {"Table 3": 5 * (7 + 7 + 7 + 6), "Table 4": 5 * (4 + 4 + 4 + 6), "Table 5": 8}


def test_003_has_all_numbers_of_its_table():
    (folder,) = [f for f in FOLDERS if f.name.startswith("003")]
    assert len(read_published(folder / "published.csv")) == 5 * 8


def test_a_number_that_is_missing_without_a_reason_is_refused(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text(",".join(PUBLISHED) + "\nTable 1,PLSA,Reuters,accuracy,,,\n")
    with pytest.raises(ValueError, match="line 2: a number that is not there needs a note"):
        read_published(path)


def test_a_number_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text(",".join(PUBLISHED) + "\n" + 2 * "Table 1,PLSA,Reuters,accuracy,50,,\n")
    with pytest.raises(ValueError, match="line 3: Table 1, PLSA, Reuters, accuracy is there twice"):
        read_published(path)


def test_results_come_back_as_they_were_written(tmp_path):
    write_results(Results(tuple(runs())), tmp_path / "results.csv", ["map"])
    found = read_results(tmp_path / "results.csv")
    for old, new in zip(runs(), found.runs, strict=True):
        assert new.settings == old.settings
        assert (new.label, new.params, new.seed) == (old.label, old.params, old.seed)
        for part in ("a->b", "b->a"):
            assert new.value("map", part) == pytest.approx(old.value("map", part), rel=1e-5)
            assert new.value("other", part) is None


def test_results_have_one_line_for_all_seeds(tmp_path):
    write_results(Results(tuple(runs())), tmp_path / "results.csv", ["map"])
    with (tmp_path / "results.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["part"] for line in lines] == ["a->b", "b->a"]
    assert lines[0]["seeds"] == "0 1 2"
    assert float(lines[0]["mean"]) == 0.375


def test_the_order_of_runs_does_not_change_the_file(tmp_path):
    write_results(Results(tuple(runs())), tmp_path / "a.csv", ["map"])
    write_results(Results(tuple(reversed([*runs()]))), tmp_path / "b.csv", ["map"])
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_runs_that_failed_are_kept_with_their_error(tmp_path):
    failed = Run("wiki", "link", "Link PLSA", {}, 0, settings={"plan": "main"}, error="MemoryError")
    write_results(Results((failed, *runs())), tmp_path / "results.csv", ["map"])
    found = read_results(tmp_path / "results.csv")
    assert [run.error for run in found.failures] == ["MemoryError"]


def test_004_counts_the_labeled_documents_as_right_where_it_says_so():
    paper = load_paper(folder_of("004"))
    values = {"": {"accuracy": 0.9, "labeled": 10}}
    run = Run("Cornell", "mvplsa", "MVPLSA", {}, 0, 0.05, values, settings={"plan": "uniform"})
    found = paper.derive(Results((replace(run, documents=200),)))
    assert [r.settings["plan"] for r in found.runs] == ["uniform", "uniform, all documents"]
    assert [r.value("accuracy") for r in found.runs] == [0.9, pytest.approx(0.905)]


def test_a_part_that_is_run_again_leaves_the_other_rows_as_they_are(tmp_path):
    path, first = tmp_path / "results.csv", list(runs())
    others = [
        *(replace(run, label="SCM", iterations=7) for run in first),
        *(replace(run, settings={**run.settings, "plan": "other"}) for run in first),
    ]
    write_results(Results((*first, *others)), path, ["map"])
    before = path.read_text().splitlines()
    write_results(Results((first[0],)), path, ["map"], keep_others=True)
    after = path.read_text().splitlines()
    changed = [line for line in after if line not in before]
    assert len(after) == len(before)
    assert len(changed) == 2  # one for each direction of the search
    assert all(line.startswith("main,wiki,Link PLSA,") for line in changed)
