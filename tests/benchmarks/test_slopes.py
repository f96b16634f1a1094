"""The machinery of the slopes, on made-up results: nothing is timed."""

import csv

import numpy as np
import pytest

from benchmarks import bench_slopes


def rows_of(model, sizes, slope=1.0, **other):
    """Results that grow by a power of the non-zeros."""
    about = {"model": model, "status": "done", "terms": 1000}
    for size in sizes:
        nnz = int(size * 1e6)
        parts = dict.fromkeys(bench_slopes.PARTS, 2.0 * size**slope)
        yield about | {"size": size, "nonzeros": nnz, "documents": nnz // 100} | parts | other


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A file of results and a page that are not those of the project."""
    monkeypatch.setattr(bench_slopes, "FILE", tmp_path / "slopes.csv")
    monkeypatch.setattr(bench_slopes, "PAGE", tmp_path / "slopes.md")

    def write(*rows):
        for row in rows:
            bench_slopes.append(bench_slopes.FILE, [row], bench_slopes.FIELDS)
        return tmp_path

    return write


def test_the_page_has_the_slopes_and_why_a_number_is_missing(results):
    folder = results(
        *rows_of("plsa", [1, 3, 10]),
        *rows_of("pairwise", [1, 10], slope=1.5),
        *rows_of("ltm", [1]),
        {"model": "ltm", "size": 3, "status": "more than 60 s"},
    )
    bench_slopes.write_page()
    page = (folder / "slopes.md").read_text()
    assert "| PLSA | 10M | 1.00 (1.00) |" in page
    assert "| PairwiseCoPLSA | 10M | 1.50 (1.50) |" in page
    assert "| LTM | 2 | more than 60 s |" in page
    assert "LTM | 1M" not in page  # no slope of one size


def test_only_what_is_missing_is_measured(results, monkeypatch, tmp_path):
    results(*rows_of("plsa", [1]), {"model": "ltm", "size": 1, "status": "failed: 1"})
    done = []
    monkeypatch.setattr(bench_slopes, "prepare", lambda size: tmp_path)
    monkeypatch.setattr(
        bench_slopes, "one_fit", lambda name, path, bound: done.append(name) or {"status": "done"}
    )
    bench_slopes.measure_all(["plsa", "ltm", "link"], [1, 3], 60)
    assert done == ["link", "plsa", "link"]  # ltm would only take longer
    with (tmp_path / "slopes.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 5


def test_a_corpus_has_as_many_non_zeros_as_asked(tmp_path, monkeypatch):
    import scipy.sparse as sp

    monkeypatch.setattr(bench_slopes, "CACHE", tmp_path)
    monkeypatch.setattr(bench_slopes, "PIECE", 200)
    matrix = sp.load_npz(bench_slopes.prepare(0.05))
    assert 0 <= matrix.nnz - 50_000 < 1000
    assert matrix.shape[1] == bench_slopes.n_terms(0.05)
    views = bench_slopes.views_of(matrix, "link")
    assert sum(view.nnz for view in views.values()) == matrix.nnz


def test_a_given_graph_is_symmetric_and_without_loops():
    graph = bench_slopes.given_graph(300)
    assert (graph != graph.T).nnz == 0
    assert not graph.diagonal().any()
    assert np.unique(graph.data).tolist() == [1.0]
