"""The machinery of the benchmarks against peers, on made-up results: nothing is timed."""

import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.peers import corpora, measure
from benchmarks.peers.environments import LIBRARY, PACKAGES, CannotInstall
from benchmarks.peers.page import text_of
from benchmarks.peers.perplexity import background_of, perplexity
from benchmarks.peers.ratios import Ratio, Run, compared, in_words, runs_of, to_own, to_peer

RUNNER_FOLDER = str(measure.RUNNER.parent)


def run_with(*points, status="plateau"):
    """A run with points of (passes, CPU seconds, perplexity); the clock shows twice the CPU's."""
    names = ("passes", "cpu", "perplexity")
    rows = tuple(dict(zip(names, p, strict=True)) | {"wall": 2 * p[1]} for p in points)
    return Run(status, "1.0", 300.0, 100.0, rows)


FAST = run_with((1, 1.0, 1000.0), (2, 2.0, 500.0), (4, 4.0, 400.0))
SLOW = run_with((1, 10.0, 1000.0), (2, 20.0, 500.0))


def test_the_time_to_a_perplexity_is_between_the_points_around_it():
    assert FAST.seconds_to(500.0) == 2.0
    assert FAST.seconds_to(1500.0) == 1.0
    assert FAST.seconds_to(np.sqrt(1000.0 * 500.0)) == pytest.approx(1.5)
    assert FAST.seconds_to(300.0) is None
    assert FAST.seconds_to(500.0, "wall") == 4.0


def test_the_first_time_counts_where_perplexity_rises_again():
    overfitted = run_with((1, 1.0, 1000.0), (2, 2.0, 400.0), (4, 4.0, 600.0))
    assert overfitted.seconds_to(400.0) == 2.0
    assert overfitted.best == 400.0


def test_ratios_are_at_the_best_of_either_side():
    assert to_peer(SLOW, FAST).value == pytest.approx(10.0)
    assert to_peer(FAST, SLOW) is None  # never as good as 404
    reverse = to_own(SLOW, FAST)
    assert reverse.least
    assert reverse.value == pytest.approx(20.0 / FAST.seconds_to(404.0))


def test_repetitions_are_compared_with_their_own():
    peers = {0: SLOW, 1: SLOW, 2: run_with(status="memory")}
    own = {0: FAST, 1: run_with((1, 4.0, 1000.0), (2, 8.0, 400.0)), 5: FAST}
    found = compared(peers, own)
    assert len(found) == 2
    assert found[0].value > found[1].value


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ([], ""),
        ([None, None], "not reached"),
        ([Ratio(2.0), Ratio(4.0), Ratio(3.0)], "3.0 (2.0-4.0)"),
        ([Ratio(30.0, least=True), Ratio(50.0)], "> 40 (30-50)"),
        ([Ratio(2.0), None], "2.0, 1 of 2 not reached"),
    ],
)
def test_ratios_in_words(ratios, words):
    assert in_words(ratios) == words


def fake_rows(method, seconds, status="plateau"):
    about = {"corpus": "tiny", "topics": 5, "method": method, "version": "1.0", "status": status}
    memory = {"peak_mb": "300", "fit_mb": "100"}
    for repetition in range(2):
        for passes, value in ((1, 1000.0), (2, 500.0)):
            times = {"passes": passes, "cpu": passes * seconds, "wall": passes * seconds}
            yield about | memory | times | {"repetition": repetition, "perplexity": value}


def test_the_page_is_made_of_the_rows(tmp_path):
    path = tmp_path / "peers-tiny.csv"
    measure.append(path, [*fake_rows("coview", 1.0), *fake_rows("nmf", 12.0, "bound")])
    failed = {"corpus": "tiny", "topics": 5, "method": "enstop", "repetition": 0}
    measure.append(path, [failed | {"status": "not installed: no wheel", "version": "none"}])
    measure.write_machine(tmp_path / "machine.csv")
    text = text_of(tmp_path, measure.Plan(("tiny",), (5,), repetitions=2))
    rows = [line for line in text.splitlines() if line.startswith("| 5 | scikit-learn `NMF`")]
    assert len(rows) == 2
    assert "12.0 (12.0-12.0)" in rows[1]
    assert "2.0 (2.0-2.0) *" in rows[0]  # ended before its plateau
    assert "not installed: no wheel" in text
    gaps = text.split("## What is missing")[1]
    assert "coview-random 0" in gaps
    assert "enstop 1" in gaps
    assert "nmf" not in gaps


def test_rows_come_back_as_runs(tmp_path):
    path = tmp_path / "peers-tiny.csv"
    measure.append(path, list(fake_rows("lda", 3.0)))
    found = runs_of(measure.read(path))
    assert set(found) == {("tiny", 5, "lda")}
    expected = {"passes": 2.0, "cpu": 6.0, "wall": 6.0, "perplexity": 500.0}
    assert found["tiny", 5, "lda"][1].points[1] == expected


def test_only_missing_runs_are_made(tmp_path, monkeypatch):
    made = []

    def one_run(plan, place, method, n_topics, seed, judge, cache):
        made.append((seed, method))
        return [{"status": "bound", "passes": 1, "cpu": 1, "wall": 1, "perplexity": 9}]

    monkeypatch.setattr(measure, "one_run", one_run)
    monkeypatch.setattr(measure, "version", lambda *args: "1.0")
    plan = measure.Plan(("tiny",), (5,), repetitions=2, methods=("coview", "nmf", "lda"))
    measure.measure(plan, tmp_path, tmp_path)
    assert sorted(made) == [(r, m) for r in range(2) for m in ("coview", "lda", "nmf")]
    assert made[0][1] != made[3][1]  # another one is first
    measure.measure(plan, tmp_path, tmp_path)
    assert len(made) == 6


def test_a_library_that_cannot_be_installed_is_a_row(tmp_path, monkeypatch):
    def python_of(method, cache):
        raise CannotInstall("enstop: no wheel")

    monkeypatch.setattr(measure, "python_of", python_of)
    plan = measure.Plan(("tiny",), (5,))
    (row,) = measure.one_run(plan, tmp_path, "enstop", 5, 0, None, tmp_path)
    assert row["status"] == "not installed: enstop: no wheel"


def test_a_killed_run_keeps_its_points(tmp_path):
    code = "import json; json.dump({'status': 'bound', 'rows': [], 'peak_mb': 1, 'fit_mb': 1}, "
    code += f"open({str(tmp_path / 'run.json')!r}, 'w')); import os; os.abort()"
    (row,) = measure.watched([sys.executable, "-c", code], tmp_path, 60, None)
    assert row == {"status": "bound"}  # no memory of a run that was ended before its first point
    (tmp_path / "run.json").unlink()
    (row,) = measure.watched([sys.executable, "-c", "1 / 0"], tmp_path, 60, None)
    assert row["status"] == "failed: ZeroDivisionError: division by zero"


def test_every_method_has_an_environment(monkeypatch):
    monkeypatch.syspath_prepend(RUNNER_FOLDER)
    from methods import METHODS

    assert set(METHODS) == set(LIBRARY)
    assert {name for name, _ in LIBRARY.values()} - {None} == set(PACKAGES)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_observer_keeps_topics_and_adds_the_end(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RUNNER_FOLDER)
    import observer as module

    seen = module.Observer(tmp_path, 3, 1e9)
    seen.begin()
    for passes in (1, 2):
        seen.after(passes, lambda: np.ones((2, 4)))
    with pytest.raises(module.FitIsOver, match="bound"):
        seen.after(3, lambda: np.ones((2, 4)))
    seen.clock.resume()
    before = [row["cpu"] for row in seen.rows]
    seen.end(np.ones((2, 4)))
    assert all(row["cpu"] >= b for row, b in zip(seen.rows, before, strict=True))
    seen.write("stopped")
    found = json.loads((tmp_path / "run.json").read_text())
    assert [row["passes"] for row in found["rows"]] == [1, 2, 3]
    np.testing.assert_allclose(np.load(tmp_path / "topics-2.npy"), 0.25)


def test_better_topics_have_lower_perplexity():
    spec = corpora.Generated(300, 200, 4, 80)
    rng = np.random.default_rng(0)
    train, observed, predicted = corpora.split(corpora.generate(spec, rng), rng)
    background = background_of(train)
    flat = perplexity(background[None, :], background, observed, predicted)
    from coview import PLSA

    model = PLSA(4, init="random", tol=1e-4, random_state=0).fit(train)
    topics = model.components_
    topics = next(iter(topics.values())) if isinstance(topics, dict) else topics
    assert perplexity(topics, background, observed, predicted) < 0.8 * flat


def test_halves_of_held_out_documents_add_up():
    counts = sp.random_array((60, 30), density=0.4, rng=np.random.default_rng(1), format="csr")
    counts = sp.csr_matrix((counts * 10).astype(np.int32))
    train, observed, predicted = corpora.split(counts, np.random.default_rng(2))
    assert train.shape[0] + observed.shape[0] <= 60
    assert observed.shape == predicted.shape
    assert (observed + predicted).sum() + train.sum() <= counts.sum()


def test_a_plateau_is_believed_only_after_a_start(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RUNNER_FOLDER)
    from plateau import Plateau

    for name in ("observed", "predicted"):
        sp.save_npz(tmp_path / f"{name}.npz", sp.csr_matrix(np.ones((3, 4))))
    seen = Plateau(tmp_path, at_least=4)
    values = iter([7.0, 7.0, 7.0, 6.5, 6.0, 5.999])
    monkeypatch.setattr(seen, "_log_perplexity", lambda topics: next(values))
    answers = [seen.reached(passes, None) for passes in (1, 2, 4, 8, 16, 32)]
    assert answers == [False, False, False, False, False, True]


def test_training_documents_are_shuffled():
    counts = sp.csr_matrix(np.diag(np.arange(2, 42)) + np.eye(40, k=1, dtype=int))
    train, *_ = corpora.split(counts, np.random.default_rng(0))
    largest = np.asarray(train.max(axis=1).todense()).ravel()
    assert (np.diff(largest) < 0).any()
