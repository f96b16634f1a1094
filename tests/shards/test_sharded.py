"""Sharded folders: what is written is read, boundaries depend on the data, samples are whole."""

import json
import os
import pickle
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from coview import DataWarning, Views, open_shards, write_shards
from coview.em.prepared import cut
from coview.shards.format import MANIFEST
from coview.shards.storage import read_array
from coview.views import blocks
from coview.views.blocks import cut_rows, group_blocks, row_ends


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "MIN_NONZEROS", 60)
    monkeypatch.setattr(blocks, "MAX_NONZEROS", 80)


def make_views(n_docs=150, seed=0):
    """Counts, weights and measurements, with missing views, odd names and unlabeled documents."""
    rng = np.random.default_rng(seed)
    weights = sp.random_array((n_docs, 40), density=0.1, rng=rng, dtype=np.float32)
    measured = rng.normal(size=(n_docs, 3))
    measured[::9] = 0
    return Views(
        {"counts": rng.poisson(0.2, (n_docs, 30)), "a/b\n": weights, "größe": measured},
        ids=[f"d\n{i}" for i in range(n_docs)],
        labels=rng.choice(np.array(["x", "y", None], object), n_docs),
        features={"counts": [f"t {i}\n" for i in range(30)]},
    )


@pytest.fixture
def views():
    return make_views()


@pytest.fixture
def sharded(views, tmp_path, small_blocks):
    return write_shards(views, tmp_path / "v.shards")


# -- round trip --


def test_what_is_written_is_read(views, sharded):
    assert len(sharded.shards) == len(sharded.blocks) > 10
    assert sharded.to_views().equals(views)
    assert (sharded.n_docs, sharded.n_views, len(sharded)) == (150, 3, 150)
    assert sharded.shape == views.shape
    assert sharded.names == views.names
    assert sharded.widths == views.widths
    assert [v.kind for v in sharded.views.values()] == ["counts", "weights", "measurements"]
    assert sharded.ids.tolist() == views.ids.tolist()
    assert sharded.labels.tolist() == views.labels.tolist()
    sharded.check()


@pytest.mark.parametrize(
    "views",
    [
        Views([[0, 0], [1, 2]]),
        Views([[0.0, 0.0]]),
        Views([[1, 2]], labels=[-1]),
        Views([[1], [2]], labels=[1, 0], label_names=["a", "b"]),
        Views([[1], [2]], labels=np.array(["b", "a"])),
        Views({"a": [[0, 0], [1, 2]], "b": [[1, 0], [0, 0]]}, present=[[1, 1], [1, 1]]),
        Views({"a": np.array([[2**30, 1]])}),
    ],
    ids=repr,
)
def test_small_and_empty_views_are_kept(views, tmp_path):
    sharded = write_shards(views, tmp_path / "v")
    assert sharded.to_views().equals(views)
    sharded.check()


def test_recipes_are_kept(tmp_path):
    views = Views.from_texts({"en": ["the cat and the dog", "dogs sleep", None]})
    again = write_shards(views, tmp_path / "v").recipes["en"]
    assert again.as_data()[0] == views.recipes["en"].as_data()[0]
    assert again.counts(["cat"])[0].toarray().tolist() == [[1, 0, 0, 0]]


def test_a_recipe_of_code_is_left_out_with_a_warning(tmp_path):
    own = CountVectorizer(tokenizer=lambda text: text.split(), token_pattern=None)
    views = Views.from_texts({"en": ["cat dog", "dog"]}, vectorizer=own)
    with pytest.warns(DataWarning, match="recipe of view 'en' is not saved"):
        sharded = write_shards(views, tmp_path / "v")
    assert sharded.recipes == {"en": None}


def test_the_same_views_give_the_same_bytes(views, tmp_path):
    write_shards(views, tmp_path / "a")
    write_shards(views, tmp_path / "b")
    for path in sorted((tmp_path / "a").rglob("*")):
        if path.is_file():
            assert (
                path.read_bytes()
                == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
            )


def test_numpy_reads_the_arrays(views, tmp_path):
    folder = tmp_path / "v"
    write_shards(views, folder)
    counts = np.load(folder / "shard-00000" / "v0.data.npy")
    assert counts.tolist() == views["counts"].data.tolist()
    assert np.load(folder / "shard-00000" / "present.npy").shape == (150, 3)


def test_it_can_be_pickled_and_shown(sharded):
    again = pickle.loads(pickle.dumps(sharded))
    assert (again.path, again.memory, again.manifest) == (
        sharded.path,
        sharded.memory,
        sharded.manifest,
    )
    lines = repr(sharded).splitlines()
    assert lines[0] == f"ShardedViews: 150 documents, 3 views, in {len(sharded.shards)} shards"
    assert "\\n" in lines[2]
    assert "real numbers from" in lines[3]


# -- boundaries --


def test_boundaries_are_those_of_the_engine(views, sharded):
    matrices = list(views.matrices.values())
    assert list(sharded.blocks) == cut(matrices) == cut_rows(row_ends(matrices))


def test_boundaries_depend_on_the_data_alone():
    lengths = np.random.default_rng(0).integers(0, 90, 300_000)
    ends = np.cumsum(lengths)
    ranges = cut_rows(ends)
    # written down: a change would change the bits of every fit and make old folders unreadable
    assert len(ranges) == 13
    assert ranges[:2] == [(0, 23631), (23631, 47220)]
    assert cut_rows(ends[:1000]) == [(0, 356), (356, 714), (714, 1000)]


def test_blocks_of_empty_documents_are_not_too_long():
    assert cut_rows(np.zeros(200_000, int)) == [
        (0, 65536),
        (65536, 131072),
        (131072, 196608),
        (196608, 200000),
    ]


@pytest.mark.parametrize(("n_blocks", "sizes"), [(1, {1}), (256, {1}), (257, {2, 1}), (1000, {4})])
def test_shards_are_consecutive_blocks(n_blocks, sizes):
    groups = group_blocks(n_blocks)
    assert groups[0][0] == 0
    assert groups[-1][1] == n_blocks
    assert all(a[1] == b[0] for a, b in pairwise(groups))
    assert {b - a for a, b in groups} == sizes
    assert len(groups) <= 256


def test_shards_of_several_blocks_are_read_in_parts(views, tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(blocks, "MOST_SHARDS", 4)
    sharded = write_shards(views, tmp_path / "v")
    assert len(sharded.shards) == 4
    shard = sharded.shards[1]
    assert len(shard.blocks) > 2
    whole, part = sharded.read(1), sharded.read(1, blocks=(1, 3))
    assert (part.start, part.stop) == (shard.blocks[1][0], shard.blocks[2][1])
    rows = slice(part.start - whole.start, part.stop - whole.start)
    for all_rows, some in zip(whole.matrices, part.matrices, strict=True):
        assert (all_rows[rows] != some).nnz == 0
    assert (whole.present[rows] == part.present).all()
    assert sharded.to_views().equals(views)
    sharded.check()


# -- reading in parts --


def test_buffers_are_used_again(views, sharded):
    into = {}
    for number, shard in enumerate(sharded.shards):
        data = sharded.read(number, into=into)
        rows = slice(shard.start, shard.stop)
        for matrix, name in zip(data.matrices, views.names, strict=True):
            assert (matrix != views[name][rows]).nnz == 0
        assert (data.present == views.present[rows]).all()
    for number, matrix in enumerate(data.matrices):
        assert np.shares_memory(into[f"v{number}.data.npy"], matrix.data)
        assert np.shares_memory(into[f"v{number}.indices.npy"], matrix.indices)


def test_term_counts_have_the_bits_of_a_sum_in_memory(views, sharded):
    for name, counts in sharded.term_counts().items():
        matrix = views[name]
        assert (counts == np.bincount(matrix.indices, matrix.data, matrix.shape[1])).all()


def test_a_sample_is_of_whole_documents_in_order(views, sharded):
    sample = sharded.sample(40, np.random.default_rng(3))
    rows = [views.ids.tolist().index(name) for name in sample.ids]
    assert rows == sorted(set(rows))
    assert len(rows) == 40
    assert max(rows) > 100 > 50 > min(rows)
    assert sample.equals(views[rows])
    assert sharded.sample(40, np.random.default_rng(3)).equals(sample)
    assert sharded.sample(150, np.random.default_rng(3)).equals(views)


def test_a_sample_of_measurements_may_be_of_whole_numbers(tmp_path):
    values = np.full((60, 2), -1.0)
    values[30:] = [0.5, 1]
    sharded = write_shards(Views(values), tmp_path / "v")
    for seed in range(20):
        sharded.sample(1, np.random.default_rng(seed))


# -- places --


def test_folders_are_not_overwritten_unasked(views, sharded, tmp_path):
    with pytest.raises(FileExistsError, match="is a sharded folder already"):
        write_shards(views, sharded.path)
    write_shards(views.select("counts"), sharded.path, overwrite=True)
    assert open_shards(sharded.path).names == ("counts",)
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").touch()
    with pytest.raises(FileExistsError, match="no sharded folder"):
        write_shards(views, other, overwrite=True)
    with pytest.raises(FileExistsError, match="is a file"):
        write_shards(views, other / "file")
    assert sorted(os.listdir(tmp_path)) == ["other", "v.shards"]


def test_wrong_arguments_are_refused(sharded, tmp_path):
    with pytest.raises(TypeError, match="write_shards takes Views, found ndarray"):
        write_shards(np.ones((2, 2)), tmp_path / "x")
    with pytest.raises(
        FileNotFoundError, match=r"is no sharded folder: it holds no manifest\.json"
    ):
        open_shards(tmp_path)
    for memory in ("much", "1 XB", -1, None, True, float("nan"), 10):
        with pytest.raises(ValueError, match="memory must be an amount of memory"):
            open_shards(sharded.path, memory=memory)
    assert open_shards(sharded.path, memory="1.5GiB").memory == 3 * 2**29
    with pytest.raises(ValueError, match="n_docs"):
        sharded.sample(0, np.random.default_rng())
    with pytest.raises(IndexError):
        sharded.read(10_000)


def test_repeated_ids_are_refused(views, tmp_path):
    with pytest.raises(ValueError, match="must be unique"):
        write_shards(views[[0, 0]], tmp_path / "v")
    assert os.listdir(tmp_path) == []


def test_no_warning_is_raised_by_a_round_trip(views, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_shards(views, tmp_path / "v").to_views()


def test_the_manifest_says_what_is_there(sharded):
    manifest = json.loads(Path(sharded.path, MANIFEST).read_text())
    there = {
        os.path.relpath(os.path.join(folder, name), sharded.path)
        for folder, _, names in os.walk(sharded.path)
        for name in names
    }
    assert there == {*manifest["files"], MANIFEST}
    assert manifest["version"] == 1


def test_a_part_of_an_array_is_read(tmp_path):
    from coview.shards.storage import write_array

    path = str(tmp_path / "a.npy")
    write_array(path, np.arange(20, dtype=np.int32).reshape(10, 2))
    part = read_array(path, np.int32, (10, 2), rows=(3, 5))
    assert part.tolist() == [[6, 7], [8, 9]]


def test_a_folder_of_the_first_version_is_read():
    sharded = open_shards(Path(__file__).parent / "format_1.shards")
    sharded.check()
    views = sharded.to_views()
    assert views["en"].toarray().tolist() == [[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert views["size"].toarray().tolist() == [[0.5, -1], [1.5, 2], [0.25, 0]]
    assert views.features["en"].tolist() == ["cat", "dog", "dogs", "sleep"]
    assert views.ids.tolist() == ["a", "b\n", "ü"]
    assert views.labels.tolist() == ["pets", None, "x"]
    assert views.present.tolist() == [[True, True], [True, True], [False, True]]
    assert views.recipes["en"].stop_words == "own"
