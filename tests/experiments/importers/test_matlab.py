"""MATLAB files from elsewhere."""

import io
import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from experiments.importers.archives import ArchiveError
from experiments.importers.matlab import labels_from_zero, read_mat, views_and_labels


def mat_bytes(variables, compress=True):
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, variables, do_compression=compress)
    return buffer.getvalue()


def cell(*matrices):
    made = np.empty((1, len(matrices)), dtype=object)
    made[0, :] = matrices
    return made


def read_cells_of(**variables):
    return views_and_labels(read_mat(mat_bytes(variables), "a.mat"), "a.mat")


TYPES = ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("compress", [True, False])
def test_variables_are_what_scipy_reads(rng, compress):
    variables = {f"{t}_{n}": rng.integers(0, 100, (n, 3)).astype(t) for t in TYPES for n in (1, 4)}
    variables["real"], variables["cube"] = rng.normal(size=(5, 1)), rng.random((2, 3, 4))
    variables["empty"] = np.empty((0, 3))
    data = mat_bytes(variables, compress)
    found, expected = read_mat(data, "a.mat"), scipy.io.loadmat(io.BytesIO(data))
    assert set(found) == set(variables)
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], strict=True)


@pytest.mark.parametrize("shape", [(6, 5), (1, 9), (30, 2), (3, 0)])
def test_sparse_matrices_are_what_scipy_reads(shape):
    matrix = sp.random(*shape, 0.3, format="csc", random_state=0)
    found = read_mat(mat_bytes({"S": matrix}), "a.mat")["S"]
    assert found.shape == shape
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())


def test_cells_may_hold_anything(rng):
    inner = cell(np.eye(2), np.ones((1, 3)))
    found = read_mat(mat_bytes({"X": cell(inner, "text", np.zeros((2, 2)))}), "a.mat")["X"]
    np.testing.assert_array_equal(found[0][0], np.eye(2))
    np.testing.assert_array_equal(found[0][1], np.ones((1, 3)))
    assert found[1] is None
    np.testing.assert_array_equal(found[2], np.zeros((2, 2)))


def test_text_and_structures_are_left_out():
    assert read_mat(mat_bytes({"t": "text", "s": {"a": 1}}), "a") == {"t": None, "s": None}


def element(kind, data, order):
    return struct.pack(f"{order}II", kind, len(data)) + data + bytes(-len(data) % 8)


@pytest.mark.parametrize(("order", "mark"), [("<", b"IM"), (">", b"MI")])
def test_both_byte_orders_are_read(order, mark):
    parts = element(6, struct.pack(f"{order}II", 6, 0), order)  # flags: an array of doubles
    parts += element(5, struct.pack(f"{order}ii", 2, 2), order)  # its shape
    parts += struct.pack(f"{order}I", 1 << 16 | 1) + b"X\0\0\0"  # its name, a small element
    parts += element(4, struct.pack(f"{order}4H", 1, 2, 3, 400), order)  # values
    data = bytes(124) + struct.pack(f"{order}H", 0x0100) + mark + element(14, parts, order)
    assert read_mat(data, "a.mat")["X"].tolist() == [[1, 3], [2, 400]]


def test_a_bomb_is_refused():
    data = mat_bytes({"X": np.zeros((1000, 1000))})
    assert len(data) < 20_000
    with pytest.raises(ArchiveError, match=r"a\.mat .* too many bytes after decompression"):
        read_mat(data, "a.mat", most_bytes=1_000_000)


def test_many_small_bombs_are_refused_together():
    data = mat_bytes({f"x{i}": np.zeros(1000) for i in range(20)})
    with pytest.raises(ArchiveError, match="too many bytes"):
        read_mat(data, "a.mat", most_bytes=100_000)


def test_the_limit_is_the_one_said():
    data = mat_bytes({"X": np.zeros((100, 100))})
    assert read_mat(data, "a.mat", most_bytes=80_100)["X"].shape == (100, 100)


@pytest.mark.parametrize("at", [140, 200, -10])
@pytest.mark.parametrize("compress", [True, False])
def test_a_truncated_file_is_refused(rng, at, compress):
    data = mat_bytes({"X": rng.normal(size=(50, 50))}, compress)
    with pytest.raises(ArchiveError, match=r"a\.mat cannot be read"):
        read_mat(data[:at], "a.mat")


@pytest.mark.parametrize("value", [cell(np.ones(2)), np.ones((1, 1))])
def test_an_array_that_claims_more_than_there_is_is_refused(value):
    data = bytearray(mat_bytes({"X": value}, compress=False))
    at = data.find(struct.pack("<ii", 1, 1))  # its shape
    data[at : at + 8] = struct.pack("<ii", 2**20, 2**30)
    with pytest.raises(ArchiveError, match=r"shape \(1048576, 1073741824\)"):
        read_mat(bytes(data), "a.mat")


def test_cells_in_cells_without_end_are_refused():
    nested = np.ones((1, 1))
    for _ in range(20):
        nested = cell(nested)
    with pytest.raises(ArchiveError, match="a cell array of shape"):
        read_mat(mat_bytes({"X": nested}), "a.mat")


def test_complex_values_are_refused():
    with pytest.raises(ArchiveError, match="complex"):
        read_mat(mat_bytes({"X": np.ones((2, 2)) * 1j}), "a.mat")


def test_version_73_says_how_to_save_it():
    data = b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n"
    with pytest.raises(ArchiveError, match=r"Save it .* with the option '-v7'"):
        read_mat(data, "a.mat")


@pytest.mark.parametrize("data", [b"", b"no", bytes(200), zlib.compress(bytes(10))])
def test_something_else_is_refused(data):
    with pytest.raises(ArchiveError, match="no MATLAB file"):
        read_mat(data, "a.mat")


def test_a_flipped_byte_gives_values_or_our_error(rng):
    sparse = sp.random(3, 4, 0.5, format="csc", random_state=0)
    original = mat_bytes({"X": cell(np.eye(3), sparse), "y": [1, 2, 3]}, compress=False)
    refused = 0
    for _ in range(1000):
        data = bytearray(original)
        for at in rng.integers(128, len(data), size=2):
            data[at] ^= int(rng.integers(1, 256))
        try:
            views_and_labels(read_mat(bytes(data), "a.mat"), "a.mat")
        except ArchiveError:
            refused += 1
    assert refused > 100


# -- cells --


def test_matrices_and_labels(rng):
    first, second = rng.random((3, 4)), sp.csc_matrix(np.eye(3))
    matrices, y = read_cells_of(X=cell(first, second), y=[[1.0], [2.0], [2.0]])
    np.testing.assert_array_equal(matrices[0].toarray(), first)
    np.testing.assert_array_equal(matrices[1].toarray(), np.eye(3))
    assert y.tolist() == [1, 2, 2]


def test_documents_may_be_columns(rng):
    X = rng.random((3, 4))
    matrices, _ = read_cells_of(X=cell(X.T), Y=[1, 2, 3])
    np.testing.assert_array_equal(matrices[0].toarray(), X)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"X": cell(np.eye(2))}, "one variable of 'y'"),
        ({"y": [1, 2]}, "one variable of 'X'"),
        ({"X": cell(np.eye(2)), "y": [1, 2], "gt": [1, 2]}, "one variable of"),
        ({"X": cell(np.eye(2)), "y": [1.5, 2]}, "whole numbers as labels"),
        ({"X": cell(np.eye(2)), "y": ["a", "b"]}, "whole numbers as labels"),
        ({"X": np.eye(2), "y": [1, 2]}, "in a cell array"),
        ({"X": cell("text"), "y": [1, 2]}, "numbers in the cells"),
        ({"X": cell(np.eye(3)), "y": [1, 2]}, r"2 labels but a view of shape \(3, 3\)"),
    ],
)
def test_wrong_cells_are_explained(variables, words):
    with pytest.raises(ArchiveError, match=words):
        read_cells_of(**variables)


def test_classes_count_from_one_or_from_zero():
    assert labels_from_zero(np.array([3, 1, 2]), 3, "a").tolist() == [2, 0, 1]
    assert labels_from_zero(np.array([2, 0, 1]), 3, "a").tolist() == [2, 0, 1]
    assert labels_from_zero(np.array([3, 2]), 3, "a").tolist() == [2, 1]


@pytest.mark.parametrize("y", [[0, 3], [1, 4], [-1, 2], []])
def test_classes_that_are_not_there(y):
    with pytest.raises(ArchiveError, match="labels from 1 to 3"):
        labels_from_zero(np.array(y, dtype=int), 3, "a")
