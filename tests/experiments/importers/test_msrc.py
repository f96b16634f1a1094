"""MSRC-v1: a MATLAB file."""

import re

import numpy as np
import pytest

from coview.datasets import DATASETS, load_msrcv1
from experiments.importers import import_msrcv1
from tests.experiments.importers.packing import mat_file, refused, write, zip_bytes


@pytest.mark.parametrize("documents_are_rows", [True, False])
def test_msrcv1(tmp_path, rng, documents_are_rows):
    data = DATASETS["msrcv1"]
    matrices = {view: rng.random((7, width)) for view, width in data.views.items()}
    shuffled = [matrices[view] for view in sorted(matrices)]
    stored = shuffled if documents_are_rows else [matrix.T for matrix in shuffled]
    path = mat_file(tmp_path / "MSRC-v5.mat", stored, [1, 2, 3, 4, 5, 6, 7])
    import_msrcv1(path, tmp_path / "msrcv1")
    views = load_msrcv1(data_home=tmp_path, check=True)
    for view, matrix in matrices.items():
        np.testing.assert_allclose(views[view].toarray(), matrix, rtol=1e-6)
    assert views.labels.tolist() == list(range(7))


def test_a_mat_file_in_a_zip_file_will_do(tmp_path, rng):
    matrices = [rng.random((3, width)) for width in DATASETS["msrcv1"].views.values()]
    mat = mat_file(tmp_path / "a.mat", matrices, [1, 1, 2], name="Y")
    path = write(tmp_path / "a.zip", zip_bytes({"folder/a.mat": mat.read_bytes()}))
    assert import_msrcv1(path, tmp_path / "out").n_docs == 3


def test_views_of_other_widths_are_refused(tmp_path):
    path = mat_file(tmp_path / "a.mat", [np.eye(3)] * 5, [1, 2, 3])
    with refused(re.escape("must have views of [24, 254, 256, 512, 576] columns")):
        import_msrcv1(path, tmp_path / "out")
