"""The evaluation of the defaults: what is measured, how data are damaged, what the page says."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.defaults import ablation, arms, changes, derived, one_fit, parts
from experiments.defaults.__main__ import main
from experiments.defaults.check_tables import derived_section, ensemble_parts_section
from experiments.defaults.cluster_tables import choice_section, clusters_section, leave_one_out
from experiments.defaults.label_table import labels_section
from experiments.defaults.report import readme
from experiments.defaults.results import (
    Cell,
    Row,
    append_rows,
    code_digest,
    read_rows,
    run,
    write_sorted,
)
from experiments.defaults.tables import (
    Mean,
    groups,
    mean_of_means,
    means,
    paired_difference,
    seeds_line,
)

from coview import Views
from coview.datasets import make_views
from coview.ensemble import consensus, spaces
from coview.ensemble.consensus import make_ensemble


@pytest.fixture(scope="module")
def made():
    return make_views(60, 3, {"words": 30, "links": 20}, random_state=0)


@pytest.fixture
def small_data(made, monkeypatch):
    """Stand in for every data set."""
    unlabeled = Views(made.matrices)
    monkeypatch.setattr(parts, "load", lambda name: (unlabeled, made.labels))
    monkeypatch.setattr(parts, "train_and_test", lambda name, seed: (made[:40], made[40:]))
    monkeypatch.setattr(one_fit, "load_corpus", lambda name: (made, None))


def rows_of(part, values, metric="nmi"):
    """Rows of one seed, from values by data set and method."""
    return [
        Row(Cell(part, dataset, "", method, 0), metric, value, 1.0)
        for (dataset, method), value in values.items()
    ]


# -- runs ------------------------------------------------------------------------------------------


def test_the_command_measures_and_writes_the_page(small_data, tmp_path):
    code = main(
        ["clusters", "missing", "--datasets=ngs,cora", "--methods=km,s10,sum10", "--seeds=2"]
        + [f"--folder={tmp_path}"]
    )
    rows = read_rows(tmp_path / "results.csv")
    assert code == 0
    assert len(rows) == 2 * 2 * 3 * 2 * 2  # parts, data sets, methods, seeds, metrics
    easy = [r.value for r in rows if r.cell.part == "clusters" and r.metric == "nmi"]
    assert min(easy) > 0.5
    assert "| ngs | " in (tmp_path / "README.md").read_text("utf-8")


def test_cells_that_are_there_are_not_measured_again_unless_asked_for(tmp_path):
    path, calls = tmp_path / "results.csv", []
    cell = Cell("clusters", "ngs", "", "km", 0)

    def work():
        calls.append(1)
        return {"nmi": float(len(calls))}, 0.5

    for again in (False, False, True):
        assert run([(cell, work)], path, again=again) == []
    assert len(calls) == 2
    assert read_rows(path) == [Row(cell, "nmi", 2.0, 0.5, code_digest())]


def test_a_setting_that_this_version_does_not_know_fails_alone(small_data, tmp_path, monkeypatch):
    monkeypatch.setitem(arms.CLUSTERERS, "new", arms.CLUSTERERS["km"])
    monkeypatch.setitem(arms.CLUSTERERS, "km", lambda *given: arms.link_plsa(nonsense=1)(*given))
    code = main(
        ["clusters", "--datasets=ngs", "--methods=km,new", "--seeds=1"] + [f"--folder={tmp_path}"]
    )
    assert code == 1
    assert {row.cell.method for row in read_rows(tmp_path / "results.csv")} == {"new"}


def test_slow_methods_have_fewer_seeds():
    seeds = {c.method: c.seed for c, _ in parts.cells("clusters", 10, ["ngs"], ["km", "old"])}
    assert seeds == {"km": 9, "old": 2}


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["clusters", "--methods=kn"])
    assert "no methods ['kn']" in capsys.readouterr().err


def test_models_topics_search_and_cost_on_small_data(small_data, monkeypatch, capsys):
    values, _ = parts.clusters("ngs", "", "old", 0)
    assert values["nmi"] > 0.5
    values, _ = parts.topics("python_api", "3 topics", "random", 0)
    assert 1 < values["perplexity"] < 50
    values, _ = parts.search("python_api", "3 topics", "kmeans", 0)
    assert 1 <= values["median rank, words to links"] <= 20
    one_fit.main(["python_api", "3 topics", "kmeans", "0"])
    measured = json.loads(capsys.readouterr().out)
    assert measured["cpu_seconds"] > 0
    assert measured["promised_mb"] > 0


def test_views_take_turns_in_being_copied(small_data):
    turns = [parts.robustness("ngs", "duplicate", "km", seed)[0]["view"] for seed in range(3)]
    assert turns == [0, 1, 0]


# -- damage ----------------------------------------------------------------------------------------


@pytest.fixture
def partly_missing(made):
    present = np.ones((60, 2), bool)
    present[:10, 0] = False
    words = made["words"].toarray()
    words[:10] = 0
    return Views({"words": words, "links": made["links"]}, present=present)


def test_noise_keeps_the_values_of_each_feature_and_nothing_else(partly_missing):
    changed = changes.add_noise(partly_missing, "words", np.random.default_rng(0))
    words, noise = (changed[name].toarray() for name in ("words", "noise"))
    assert np.array_equal(np.sort(words, axis=0), np.sort(noise, axis=0))
    assert (noise[10:] != words[10:]).mean() > 0.1
    assert not noise[:10].any()
    assert np.array_equal(changed.present[:, 2], partly_missing.present[:, 0])


def test_a_shuffled_view_has_the_rows_of_other_documents(partly_missing):
    changed = changes.add_shuffled(partly_missing, "words", np.random.default_rng(0))
    words, shuffled = (changed[name].toarray() for name in ("words", "shuffled"))
    assert sorted(map(tuple, words)) == sorted(map(tuple, shuffled))
    assert (words[10:] != shuffled[10:]).any(axis=1).mean() > 0.8
    assert not shuffled[:10].any()


def test_a_duplicate_is_one(partly_missing):
    changed = changes.add_duplicate(partly_missing, "links", np.random.default_rng(0))
    assert not sp.csr_array(changed["duplicate"] != changed["links"]).nnz


def test_cells_are_taken_away_but_each_document_keeps_one(partly_missing):
    changed = changes.remove_cells(partly_missing, np.random.default_rng(0), 0.3)
    before, after = partly_missing.present, changed.present
    assert after.sum() == before.sum() - round(0.3 * before.sum())
    assert not (after & ~before).any()
    assert after.any(axis=1).all()
    assert not changed["links"].toarray()[~after[:, 1]].any()


# -- check sets and parts of the ensemble ----------------------------------------------------------


def test_tokens_are_dealt_to_views_and_none_is_lost(made):
    counts = made["words"]
    dealt = derived.deal_tokens(counts, 3, np.random.default_rng(0))
    tokens = [part.sum(axis=1) for part in dealt.values()]
    assert np.array_equal(sum(tokens), counts.sum(axis=1))
    assert all((part.sum(axis=0) > 0).all() for part in dealt.values())
    assert all(t.sum() > 0.2 * counts.sum() for t in tokens)


def test_a_part_has_the_classes_and_views_asked_for_and_its_links_stay_square(monkeypatch):
    labels = np.repeat([0, 1, 2], [10, 20, 30])
    links = sp.csr_array(np.eye(60)[::-1])
    whole = Views({"words": np.ones((60, 4)), "more": np.ones((60, 3)), "links": links})
    monkeypatch.setattr(derived, "load", lambda name: (whole, labels))
    part, found = derived.part_of("any", ["words", "links"], [1, 2], [20, 5])
    assert part.names == ("words", "links")
    assert np.bincount(found).tolist() == [0, 20, 5]
    assert part["links"].shape == (25, 25)
    assert part.labels is None
    gaps, _ = derived.with_gaps((part, found), 0.2)
    assert gaps.present.sum() == part.present.sum() - round(0.2 * part.present.sum())


def test_check_sets_that_need_no_download_have_views_and_classes():
    for name in ("tumors", "many small clusters"):
        views, labels = derived.load_check_set(name)
        assert views.n_views == 3
        assert views.n_docs == len(labels)
        assert views.labels is None


def test_a_check_set_can_be_named_in_the_command():
    assert not any("," in name for name in derived.CHECK_SETS)
    assert not derived.CHOSEN_WITH.keys() & derived.MADE_AFTERWARDS.keys()


@pytest.mark.parametrize("word", ["fused", "by features"])
def test_families_are_left_out_for_a_while(made, word):
    matrices, rng = list(made.matrices.values()), np.random.default_rng(0)
    with ablation.WITHOUT[word]():
        found = make_ensemble(made.names, matrices, made.present, 3, rng)
    kept = set(found.replicability)
    assert "smoothed 2, by embedding" in kept
    assert ("fused" in kept) == (word != "fused")
    assert ("spectral, fused, by features" in kept) == (word != "by features")
    assert consensus.families is spaces.families


def test_links_are_features_where_they_are_no_graphs():
    links = sp.csr_array(np.eye(40)[::-1])
    assert consensus.is_links(links)
    with ablation.without_links():
        assert not consensus.is_links(links)
    assert consensus.is_links(links)


# -- the page --------------------------------------------------------------------------------------


def test_means_have_standard_errors_and_differences_are_paired():
    assert Mean.of([1.0, 3.0]) == Mean(2.0, 1.0)
    assert mean_of_means([Mean(1, 3), Mean(3, 4)]) == Mean(2.0, 2.5)
    assert paired_difference({0: 5.0, 1: 7.0}, {1: 4.0, 2: 1.0}) == Mean(3.0)
    assert paired_difference({0: 5.0}, {}) is None


def test_the_best_baseline_and_the_difference_to_it_are_shown():
    rows = rows_of(
        "clusters", {("cora", "km"): 0.39, ("cora", "sum20"): 0.471, ("cora", "old"): 0.44}
    )
    page = clusters_section(rows)
    assert "| cora | sum20 47.1 | (-3.1) |" in page


def test_check_sets_are_in_two_tables_with_the_number_at_or_above():
    values = {("digits", "km"): 0.7, ("digits", "auto"): 0.75}
    values |= {("mfeat small", "km"): 0.6, ("mfeat small", "auto"): 0.5}
    page = derived_section(rows_of("derived", values))
    chosen_later, chosen_with = page.split("Of the kinds")
    assert "| km 70.0 | 75.0 | +5.0 | – |" in chosen_later
    assert "| km 60.0 | 50.0 | (-10.0) | – |" in chosen_with
    assert "+5.0, 1 of 1 at or above" in chosen_later
    assert "-10.0, 0 of 1 at or above" in chosen_with


def test_parts_of_the_ensemble_are_compared_with_the_whole_of_the_same_seed():
    rows = rows_of("clusters", {("cora", "auto"): 0.5})
    rows.append(Row(Cell("ablation", "cora", "spectral", "auto", 0), "nmi", 0.46, 1.0))
    assert "| without | spectral |\n| --- | ---: |\n| cora | -4.0 |" in ensemble_parts_section(rows)


def test_the_page_says_which_state_of_the_code_was_measured(tmp_path):
    path = tmp_path / "results.csv"
    for method, code in {"km": "0a1b2c3d", "auto": "0a1b2c3d", "old": ""}.items():
        append_rows(Cell("clusters", "ngs", "", method, 0), {"nmi": 0.5}, 1, path, code)
    write_sorted(path)
    line = seeds_line(read_rows(path), "clusters", ["km", "auto", "old"])
    assert line == "Seeds: 1 of km, auto, old. Code: 0a1b2c3d of km, auto; earlier of old."


def test_a_choice_does_not_see_the_data_set_it_is_measured_on():
    values = {("a", "x"): 0.9, ("b", "x"): 0.1, ("c", "x"): 0.1}
    values |= {("a", "y"): 0.2, ("b", "y"): 0.3, ("c", "y"): 0.3}
    found = means(groups(rows_of("clusters", values), "clusters", "nmi"))
    assert leave_one_out(found, ["a", "b", "c"], ["x", "y"]) == {"a": "y", "b": "x", "c": "x"}


def test_choices_are_compared_with_the_best_baseline():
    pairs = {"km": (0.4, 0.6), "s10": (0.5, 0.2), "old": (0.7, 0.7), "default": (0.6, 0.9)}
    values = {(d, m): v for m, pair in pairs.items() for d, v in zip("ab", pair, strict=True)}
    page = choice_section(rows_of("clusters", values))
    assert "| a | default 60.0 | km 40.0 |" in page
    assert "| b | old 70.0 | s10 20.0 |" in page
    assert "+10.0 points" in page  # 60 - 50 and 70 - 60


def test_robustness_is_the_difference_to_the_clean_run_and_names_the_worst_view(tmp_path):
    path = tmp_path / "results.csv"
    for seed, nmi in enumerate([0.5, 0.3]):
        append_rows(Cell("clusters", "ngs", "", "km", seed), {"nmi": 0.5}, 1, path)
        append_rows(
            Cell("robustness", "ngs", "noise", "km", seed), {"nmi": nmi, "view": seed}, 1, path
        )
    assert "| ngs | -10.0 ± 10.0 / -20.0 | – / – | – / – |" in readme(tmp_path)


def test_the_page_has_labels_and_the_part_written_by_hand(tmp_path):
    assert labels_section(tmp_path / "labels.csv") == "Not measured yet."
    (tmp_path / "labels.csv").write_text(
        "dataset,method,rate,draw,accuracy\nngs,nb,0.05,0,0.8\nngs,nb,0.05,1,0.9\n", "utf-8"
    )
    (tmp_path / "what_did_not_work.md").write_text("* Nothing.\n", "utf-8")
    page = readme(tmp_path)
    assert "5 % labels:\n\n| data | nb |\n| --- | ---: |\n| ngs | 85.0 ± 5.0 |" in page
    assert "Draws: 2 of nb. Code: earlier." in page
    assert page.endswith("## What did not work\n\n* Nothing.\n")


def test_the_default_is_compared_with_the_best_rival_of_each_data_set(tmp_path):
    lines = ["dataset,method,rate,draw,accuracy"]
    values = {"ngs": (0.8, 0.7, 0.9), "cora": (0.5, 0.6, 0.55)}
    for dataset, own in values.items():
        methods = zip(("naive_bayes", "logistic", "default"), own, strict=True)
        lines += [f"{dataset},{method},0.01,0,{value}" for method, value in methods]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n", "utf-8")
    page = labels_section(tmp_path / "labels.csv")
    assert "mean +2.5, 1 of 2 data sets at or above it" in page  # 90 - 80 and 55 - 60
    assert "Below it: cora -5.0." in page


def test_the_committed_page_follows_from_the_committed_results():
    from experiments.defaults.results import HERE

    assert (HERE / "README.md").read_text("utf-8") == readme(HERE)
