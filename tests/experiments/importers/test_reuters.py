"""Reuters: files of weights for each language, or a MATLAB file."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.datasets import load_reuters, load_reuters1200
from experiments.importers import import_dataset, import_reuters, import_reuters1200
from tests.experiments.importers.packing import mat_file, refused, tar_bytes, write, zip_bytes

LABELS = ["E21", "CCAT", "M11", "GCAT", "C15", "ECAT"]


def index_bytes(labels, matrix):
    lines = []
    for label, row in zip(labels, matrix, strict=True):
        entries = " ".join(f"{5 * j + 1}:{row[j]:.4f}" for j in np.flatnonzero(row))
        lines.append(f"{label} {entries} \n")
    return "".join(lines).encode()


@pytest.fixture
def stories(rng):
    labels = LABELS * 4
    matrices = {v: rng.random((24, 9)).round(4) for v in ("en", "fr", "gr", "it", "sp")}
    for matrix in matrices.values():
        matrix[rng.random(matrix.shape) < 0.5] = 0
        matrix[0] = 1
        matrix[:, 8] = 0  # a word of other stories
    return labels, matrices


def reuters(folder, labels, matrices):
    files = {"rcv1rcv2aminigoutte/EN/Index_FR-EN": b"E21 1:2.0\n"}
    for view, matrix in matrices.items():
        name = f"rcv1rcv2aminigoutte/{view.upper()}/Index_EN-{view.upper()}"
        files[name] = index_bytes(labels, matrix)
    data = zip_bytes({"rcv1rcv2aminigoutte.tar.bz2": tar_bytes(files, "bz2")})
    return write(folder / "reuters.zip", data)


def test_reuters(tmp_path, stories):
    labels, matrices = stories
    import_reuters(reuters(tmp_path, labels, matrices), tmp_path / "reuters")
    views = load_reuters(data_home=tmp_path, check=True)
    for view, matrix in matrices.items():
        np.testing.assert_allclose(views[view].toarray(), matrix[:, :8], atol=1e-6)
        assert views.features[view].tolist() == [str(5 * j + 1) for j in range(8)]
    assert [views.label_names[label] for label in views.labels] == labels


def test_stories_written_in_another_language(tmp_path, stories, monkeypatch):
    monkeypatch.setenv("COVIEW_DATA", str(tmp_path / "data"))
    labels, matrices = stories
    files = {f"Index_IT-{v.upper()}": index_bytes(labels, X) for v, X in matrices.items()}
    archive = write(tmp_path / "reuters.zip", zip_bytes(files))
    views, folder = import_dataset("reuters", archive, source="it")
    assert folder.name == "reuters-it"
    np.testing.assert_allclose(views["fr"].toarray(), matrices["fr"][:, :8], atol=1e-6)
    with pytest.raises(ValueError, match="source='it' is for the data set reuters"):
        import_dataset("mfeat", archive, source="it")
    with pytest.raises(ValueError, match="source must be one of 'en'"):
        import_reuters(archive, tmp_path / "x", source="de")


def test_a_sample_of_reuters(tmp_path, stories):
    labels, matrices = stories
    path = reuters(tmp_path, labels, matrices)
    import_reuters1200(path, tmp_path / "reuters1200", docs_per_class=3, n_words=5)
    views = load_reuters1200(data_home=tmp_path)
    assert views.n_docs == 18
    assert np.bincount(views.labels).tolist() == [3] * 6
    whole = import_reuters(path, tmp_path / "reuters")
    for view in views.names:
        # the rows are rows of the whole, in the columns that most of them have
        columns = np.isin(whole.features[view], views.features[view])
        rows = {tuple(row) for row in whole[view].toarray()[:, columns]}
        assert {tuple(row) for row in views[view].toarray()} <= rows
        assert columns.sum() == 5


def test_a_sample_has_the_words_that_most_of_its_stories_have(tmp_path):
    matrix = np.zeros((6, 4))
    matrix[:, 2], matrix[:3, 0], matrix[:4, 3], matrix[0, 1] = 1, 1, 1, 1
    path = reuters(tmp_path, LABELS, dict.fromkeys(("en", "fr", "gr", "it", "sp"), matrix))
    views = import_reuters1200(path, tmp_path / "out", docs_per_class=1, n_words=2)
    assert views.features["en"].tolist() == ["11", "16"]


def test_a_sample_larger_than_a_class_is_refused(tmp_path, stories):
    with pytest.raises(ValueError, match="at most 4, the stories of class E21"):
        import_reuters1200(reuters(tmp_path, *stories), tmp_path / "out")


def test_the_published_sample_of_reuters(tmp_path, rng):
    matrices = [sp.random(12, 7, 0.5, format="csc", random_state=i) for i in range(5)]
    path = mat_file(tmp_path / "Reuters-1200.mat", matrices, np.repeat([1, 2, 3, 4, 5, 6], 2))
    import_reuters1200(path, tmp_path / "reuters1200")
    views = load_reuters1200(data_home=tmp_path, check=True)
    assert views.names == ("en", "fr", "gr", "it", "sp")
    np.testing.assert_allclose(views["sp"].toarray(), matrices[4].toarray(), rtol=1e-6)
    assert views.labels.tolist() == np.repeat(range(6), 2).tolist()


def test_a_sample_with_another_number_of_views_is_refused(tmp_path):
    path = mat_file(tmp_path / "a.mat", [np.eye(3)] * 4, [1, 2, 3])
    with refused("five views, one a language; got 4"):
        import_reuters1200(path, tmp_path / "out")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"SPORT 1:2.0\n", "Line 2 of Index_EN-GR must be one of E21, CCAT"),
        (b"E21 1:2.0 3\n", "Line 2 of Index_EN-GR"),
        (b"E21 1:x\n", "Line 2 of Index_EN-GR"),
        (b"", "'Index_EN-GR' must list the documents of 'Index_EN-EN'"),
        (b"M11 1:1\n", "'Index_EN-GR' must list the documents of 'Index_EN-EN'"),
    ],
)
def test_a_wrong_reuters_is_explained(tmp_path, line, words):
    files = {f"Index_EN-{v}": b"E21 1:1.0\nE21 2:1\n" for v in ("EN", "FR", "GR", "IT", "SP")}
    files["Index_EN-GR"] = b"E21 1:1.0\n" + line
    with refused(words):
        import_reuters(write(tmp_path / "a.tar", tar_bytes(files)), tmp_path / "out")
