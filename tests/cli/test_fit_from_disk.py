"""`coview fit` of a sharded folder: the data stay on disk, the model is the same."""

import pytest

from coview import write_shards
from coview.datasets import make_views
from tests.cli.command import failing, inside

QUICK = ["--set", "init=random", "--max-iter", "3", "-q"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The same views in memory's form and on disk."""
    folder = tmp_path_factory.mktemp("data")
    views = make_views(60, 3, [30, 20], random_state=0)
    views.save(folder / "views")
    write_shards(views, folder / "x.shards")
    return folder / "views", folder / "x.shards"


def test_the_model_file_is_the_same(folders, tmp_path):
    for data, name in zip(folders, ("a", "b"), strict=True):
        code, _, said = inside("fit", data, "--model", "link", "-o", tmp_path / name, *QUICK)
        assert code == 0, said
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_memory_is_a_limit_that_is_kept_or_refused(folders, tmp_path):
    views, shards = folders
    words = ["fit", shards, "--model", "link", "-o", tmp_path / "m", *QUICK]
    assert "memory=50MB is too little" in failing(1, *words, "--memory", "50MB")
    assert "--memory must be an amount" in failing(1, *words, "--memory", "much")
    words[1] = views
    assert "leave out --memory" in failing(2, *words, "--memory", "1GB")
