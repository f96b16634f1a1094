"""The digits of the UCI repository: text files in archives."""

import numpy as np
import pytest

from coview.datasets import DATASETS, load_mfeat
from experiments.importers import import_mfeat
from tests.experiments.importers.packing import refused, tar_bytes, write, zip_bytes


def text_of(matrix):
    return "".join(" ".join(f" {value:.5f}" for value in row) + "\n" for row in matrix).encode()


@pytest.fixture
def digits(rng):
    matrices = {v: rng.random((20, w)).round(5) for v, w in DATASETS["mfeat"].views.items()}
    matrices["kar"] -= 0.5
    return matrices


def digit_files(matrices):
    return {f"mfeat/mfeat-{view}": text_of(matrix) for view, matrix in matrices.items()}


@pytest.mark.parametrize("nested", [True, False])
def test_mfeat(tmp_path, digits, nested):
    files = digit_files(digits) | {"mfeat/mfeat.info": b"about"}
    data = zip_bytes({"mfeat.tar": tar_bytes(files)}) if nested else tar_bytes(files, "gz")
    import_mfeat(write(tmp_path / "archive", data), tmp_path / "mfeat")
    names = ["fou", "pix", "kar"]
    views = load_mfeat(data_home=tmp_path, views=names, check=True)
    for name in names:
        np.testing.assert_allclose(views[name].toarray(), digits[name], atol=1e-6)
    assert views.labels.tolist() == np.repeat(range(10), 2).tolist()


def test_mfeat_from_a_folder_already_unpacked(tmp_path, digits):
    (tmp_path / "mfeat").mkdir()
    for name, data in digit_files(digits).items():
        (tmp_path / name).write_bytes(data)
    views = import_mfeat(tmp_path / "mfeat", tmp_path / "out")
    assert views.names == tuple(DATASETS["mfeat"].views)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.pop("mfeat/mfeat-zer"), "has no 'mfeat-zer'"),
        (lambda f: f.update({"mfeat/mfeat-zer": b"1 2\n1 x\n"}), "'mfeat-zer' must hold rows"),
        (lambda f: f.update({"mfeat/mfeat-zer": b"1 2\n1\n"}), "'mfeat-zer' must hold rows"),
        (lambda f: f.update({"mfeat/mfeat-zer": b""}), "'mfeat-zer' must hold rows"),
        (lambda f: f.update({"mfeat/mfeat-zer": b"1 2\n"}), "the same number of rows"),
    ],
)
def test_a_wrong_mfeat_is_explained(tmp_path, digits, change, words):
    files = digit_files(digits)
    change(files)
    with refused(words):
        import_mfeat(write(tmp_path / "archive", tar_bytes(files)), tmp_path / "out")
    assert not (tmp_path / "out").exists()
