"""Shards on storage with URLs: in memory, and objects of a server that speaks S3."""

from pathlib import Path

import numpy as np
import pytest

import coview
from coview.shards import remote, storage
from coview.store import DamagedFile
from tests.shards.object_storage import put, s3  # noqa: F401

pytest.importorskip("fsspec")


@pytest.fixture
def in_memory():
    yield "memory://tests"
    storage.remove_tree("memory://tests")


@pytest.fixture
def shards(tmp_path):
    texts = ["rain falls", "snow falls", "sun shines"] * 5
    views = coview.Views.from_texts({"en": texts, "de": texts})
    coview.write_shards(views, tmp_path / "news.shards")
    return tmp_path / "news.shards"


def check_files(url):
    """What `coview.shards.storage` promises of files."""
    place = storage.join(url, "folder", "file.bin")
    assert not storage.exists(place)
    storage.write_atomic(place, b"first")
    before = storage.signature(place)
    storage.write_atomic(place, b"second one")
    assert storage.signature(place) != before
    assert storage.exists(place)
    assert storage.size_of(place) == 10
    assert storage.read_bytes(place) == b"second one"
    assert remote.names_in(storage.join(url, "folder")) == ["file.bin"]
    with storage.open_binary(place) as file:
        file.seek(7)
        assert file.read() == b"one"
    with storage.written_locally(place) as here:
        Path(here).write_bytes(b"third")
    with storage.local_copy(place) as here:
        assert Path(here).read_bytes() == b"third"
    storage.remove_file(place)
    storage.remove_file(place)
    storage.write_atomic(place, b"again")
    storage.remove_tree(url)
    storage.remove_tree(url)
    assert not storage.exists(place)
    with pytest.raises(FileNotFoundError):
        storage.read_bytes(place)


def check_shards(folder, url):
    """The same views from storage as from a folder, and damage that is seen there as well."""
    put(folder, url)
    here, there = coview.open_shards(folder).to_views(), coview.open_shards(f"{url}/").to_views()
    for name in here.names:
        assert (here.matrices[name] != there.matrices[name]).nnz == 0
        np.testing.assert_array_equal(here.features[name], there.features[name])
    assert {n: r.kind for n, r in here.recipes.items()} == {
        n: r.kind for n, r in there.recipes.items()
    }
    data = storage.join(url, "shard-00000", "v0.data.npy")
    storage.write_atomic(data, storage.read_bytes(data)[:-1] + b"\x7f")
    with pytest.raises(DamagedFile, match=f"{url}/shard-00000/v0.data.npy is damaged"):
        coview.open_shards(url).to_views()


def test_files_in_memory(in_memory):
    check_files(f"{in_memory}/files")


def test_shards_in_memory(in_memory, shards):
    check_shards(shards, f"{in_memory}/news.shards")


def test_storage_that_has_no_whole_objects(tmp_path):
    check_files(f"file://{tmp_path}/files")


def test_unknown_storage_is_an_error():
    with pytest.raises(ValueError, match="no storage called nonsense://"):
        coview.open_shards("nonsense://bucket/news.shards")


@pytest.mark.slow
def test_files_on_a_server_that_speaks_s3(s3):  # noqa: F811
    check_files(f"{s3}/files")


@pytest.mark.slow
def test_shards_on_a_server_that_speaks_s3(s3, shards):  # noqa: F811
    check_shards(shards, f"{s3}/news.shards")
