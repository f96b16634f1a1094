"""`coview demo`: what it shows, and the model it saves."""

import json
import re

import pytest

from tests.cli.command import coview, inside, working


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "demo.coview"


@pytest.fixture(scope="module")
def demo(model):
    """The finished process of the demo, as `make demo` starts it."""
    return coview("demo", "--save", model, "--explore", model.with_name("demo.html"))


def median_ranks(out):
    """Median rank of the right answer and number of items, for both directions of the search."""
    found = re.findall(r"(\d+) of (\d+)\s+\(", out)
    assert len(found) == 2
    return [(int(rank), int(size)) for rank, size in found]


def test_it_shows_topics_clusters_and_search(demo):
    for words in ("largest topics", "scipy.stats", "NMI"):
        assert words in demo.stdout


def test_it_asks_in_words_and_answers_by_name_before_it_shows_ranks(demo):
    examples, ranks = demo.stdout.split("items that were held out")
    assert "median rank" not in examples
    asked = examples.split("Ask in words")[1]
    for words, name in (
        ("sparse matrix eigenvalues", "scipy.sparse."),
        ("fast fourier", "scipy.fft."),
        ("missing values", "sklearn.impute."),
        ("interpolate with", "scipy.interpolate."),
        ("confusion matrix", "sklearn.metrics."),
    ):
        assert name in asked.split(words)[1]
    assert "doc to code: found first for" in ranks


def test_it_finds_the_right_item_within_the_first_one_and_a_half_per_cent(demo):
    for rank, size in median_ranks(demo.stdout):
        assert rank <= 0.015 * size


def test_it_shows_its_progress_on_standard_error(demo):
    assert "LinkPLSA" in demo.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mggm", "divergence"])
def test_the_model_can_be_chosen(name, tmp_path):
    code, out, said = inside("demo", "--model", name, "--explore", tmp_path / "demo.html")
    assert code == 0, said
    for rank, size in median_ranks(out):
        assert rank <= 0.1 * size


def test_it_ends_with_a_page_and_says_where_it_is(demo, model):
    page = model.with_name("demo.html")
    assert page.name in demo.stdout.split("Look at all of it")[1]
    assert 0.5e6 < page.stat().st_size <= 3e6
    assert "http://" not in page.read_text().split("<script", 1)[0]


def test_the_saved_model_can_be_searched(demo, model):
    index = model.with_name("demo.index")
    query = "solve a linear system of equations with a sparse matrix"
    args = ["search", model, "--view", "doc", "--in", "code", query, "--json", "--top", 10]
    found = working(*args)
    near = ("scipy.sparse", "scipy.optimize", "scipy.linalg", "numpy.linalg")
    assert sum(hit["document"].startswith(near) for hit in json.loads(found)) >= 7
    assert working(*args, "--index", index) == found  # written
    assert working(*args, "--index", index) == found  # read
    assert "index" in working("info", index)
