"""Matrices in files of other tools are read; damage is named, and claims are checked."""

import gzip
import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from coview import Views
from coview.reading import plain_files as readers
from coview.reading.matrix_files import read_labels, read_matrix
from tests.reading.claims import write_archive


@pytest.fixture
def counts():
    return sp.csr_array(np.random.default_rng(0).poisson(0.5, (8, 5)).astype(float))


def no_reading(*args, **kwargs):
    pytest.fail("it was read")


# -- formats --------------------------------------------------------------------------------------


def write_mtx(path, counts):
    scipy.io.mmwrite(path, counts)


def write_mtx_gz(path, counts):
    plain = path.with_suffix("")
    scipy.io.mmwrite(plain, counts)
    path.write_bytes(gzip.compress(plain.read_bytes()))


def write_svmlight(path, counts):
    dump_svmlight_file(counts, np.zeros(counts.shape[0]), str(path), zero_based=False)


def write_mat(path, counts):
    scipy.io.savemat(path, {"X": counts.toarray(), "gnd": np.arange(8)})


FORMATS = {
    "a.mtx": write_mtx,
    "a.mtx.gz": write_mtx_gz,
    "a.svm": write_svmlight,
    "A.LIBSVM": write_svmlight,
    "a.npz": sp.save_npz,
    "dense.npz": lambda path, counts: np.savez(path, X=counts.toarray(), y=np.arange(8)),
    "a.npy": lambda path, counts: np.save(path, counts.toarray()),
    "a.mat": write_mat,
    "sparse.mat": lambda path, counts: scipy.io.savemat(path, {"X": counts}),
    "small.mat": lambda path, counts: scipy.io.savemat(
        path, {"X": counts.toarray()}, do_compression=True
    ),
}


@pytest.fixture(params=FORMATS)
def written(request, tmp_path, counts):
    path = tmp_path / request.param
    FORMATS[request.param](path, counts)
    return path


def test_every_format_gives_the_same_matrix(written, counts):
    matrix, _ = read_matrix(written)
    dense = matrix.toarray() if sp.issparse(matrix) else matrix
    np.testing.assert_array_equal(dense, counts.toarray())


def test_the_number_of_columns_can_be_asked_for(written):
    assert read_matrix(written, n_features=5)[0].shape == (8, 5)
    with pytest.raises(ValueError, match=rf"{written.name}.*"):
        read_matrix(written, n_features=3)


def test_files_with_other_bytes_are_named(written):
    written.write_bytes(b"\xff\xfe not what it should be")
    with pytest.raises(ValueError, match=rf"Cannot read .*{written.name}: "):
        read_matrix(written)


def test_files_cut_short_are_named(written):
    data = written.read_bytes()
    written.write_bytes(data[: len(data) * 2 // 3 - 1])
    if written.suffix.lower() in (".svm", ".libsvm"):
        written.write_bytes(data[: data.rindex(b":") + 1])  # in the middle of an entry
    with pytest.raises(ValueError, match=rf"Cannot read .*{written.name}: "):
        read_matrix(written)


def test_empty_files_are_named(written):
    written.write_bytes(b"")
    with pytest.raises(ValueError, match=rf"Cannot read .*{written.name}: "):
        read_matrix(written)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere\.mtx"):
        read_matrix(tmp_path / "nowhere.mtx")


def test_tables_and_other_files_are_refused_with_advice(tmp_path):
    with pytest.raises(ValueError, match=r"is a table: read it with Views\.from_table"):
        read_matrix(tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"no format we read: \.mtx"):
        read_matrix(tmp_path / "a.doc")


# -- Matrix Market --------------------------------------------------------------------------------

HEAD = "%%MatrixMarket matrix coordinate real general\n% a comment\n"


@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market_files_are_those_that_scipy_reads(tmp_path, field, symmetry):
    matrix = np.random.default_rng(0).poisson(0.7, (7, 7))
    matrix = sp.coo_array(matrix + matrix.T if symmetry == "symmetric" else matrix)
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix, field=field, symmetry=symmetry, comment="ü")
    found, _ = read_matrix(tmp_path / "a.mtx")
    np.testing.assert_array_equal(found.toarray(), scipy.io.mmread(tmp_path / "a.mtx").toarray())


def test_dense_matrix_market_files_are_those_that_scipy_reads(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", np.random.default_rng(0).random((4, 3)))
    found, _ = read_matrix(tmp_path / "a.mtx")
    np.testing.assert_array_equal(found, scipy.io.mmread(tmp_path / "a.mtx"))


def test_blank_lines_and_repeated_entries_are_fine(tmp_path):
    (tmp_path / "a.mtx").write_text(f"{HEAD}\n2 2 3\n1 1 2\r\n\n 2 2  5e0 \n1 1 1")
    views = Views.from_files({"a": tmp_path / "a.mtx"})
    assert views["a"].toarray().tolist() == [[3, 0], [0, 5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket matrix\n", "does not begin like"),
        ("%%MatrixMarket matrix coordinate complex general\n", "'coordinate complex' are not"),
        ("%%MatrixMarket matrix array real symmetric\n", "'array symmetric' are not read"),
        (HEAD, "its size is given as ''"),
        (f"{HEAD}2 -2 1\n1 1 1\n", "its size is given as '2 -2 1'"),
        (f"{HEAD}2 2 2\n1 1 1\n", "claims 2 entries, but it has 1"),
        (f"{HEAD}2 2 1\n1 1 1\n1 2 1\n", "claims 1 entries, but it has more"),
        (f"{HEAD}2 2 0\n1 1 1\n", "claims 0 entries, but it has more"),
        (f"{HEAD}2 2 1\n0 1 1\n", "entry 1 is in row 0 of 2"),
        (f"{HEAD}2 2 2\n1 1 1\n1 3 1\n", "entry 2 is in column 3 of 2"),
        (f"{HEAD}2 2 1\n1 1 x\n", "could not convert string 'x'"),
        (f"{HEAD}2 2 2\n1 1 1\n1 1\n", "3 columns but 2 were found"),
        (f"{HEAD}2 2 2\n1 1 1\0001 1 1\n1 1 1", "Cannot read"),  # these two crash scipy
        (f"{HEAD}2 2 2\n1 1 1\n1 2 1\xff", "Cannot read"),
        (f"{HEAD}2 2 1\n{'1' * 20_000}\n", "a line of more than"),
    ],
)
def test_damaged_matrix_market_files_are_refused(tmp_path, text, message):
    (tmp_path / "a.mtx").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message):
        read_matrix(tmp_path / "a.mtx")


# -- svmlight -------------------------------------------------------------------------------------


def test_columns_count_from_one_unless_there_is_a_zero(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("0 1:7\n")
    assert read_matrix(path)[0].toarray().tolist() == [[7]]
    path.write_text("0 1:7\n0 0:1\n")
    assert read_matrix(path)[0].toarray().tolist() == [[0, 7], [1, 0]]


def test_empty_columns_at_the_end_need_the_width(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("0 1:7\n")
    assert read_matrix(path, n_features=3)[0].shape == (1, 3)


def test_labels_of_svmlight_files_are_classes(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 1:2\n1 2:1\n")
    (tmp_path / "b.svm").write_text("1 1:1\n-1 1:2\n1 1:1\n")
    views = Views.from_files({"a": tmp_path / "a.svm", "b": tmp_path / "b.svm"})
    assert views.labels.tolist() == [1, 0, 1]
    assert views.label_names == ["-1", "1"]


@pytest.mark.parametrize("values", [("0", "0"), ("0.5", "1")])
def test_placeholders_and_fractions_are_no_labels(tmp_path, values):
    (tmp_path / "a.svm").write_text("".join(f"{value} 1:1\n" for value in values))
    assert Views.from_files({"a": tmp_path / "a.svm"}).labels is None


def test_labels_that_differ_between_views_are_refused(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n2 1:2\n")
    (tmp_path / "b.svm").write_text("2 1:1\n1 1:2\n")
    files = {"a": tmp_path / "a.svm", "b": tmp_path / "b.svm"}
    with pytest.raises(ValueError, match=r"a\.svm and .*b\.svm give different labels"):
        Views.from_files(files)
    assert Views.from_files(files, labels=[0, -1]).labels.tolist() == [0, -1]


# -- archives of several variables ----------------------------------------------------------------


@pytest.fixture(params=["two.npz", "two.mat"])
def several(request, tmp_path):
    save = np.savez if request.param.endswith("npz") else scipy.io.savemat
    path = tmp_path / request.param
    arrays = {"X": np.eye(3), "Y": np.ones((3, 2)), "gnd": np.arange(3.0), "t": np.array("text")}
    with open(path, "wb") as file:
        save(file, arrays) if request.param.endswith("mat") else save(file, **arrays)
    return path


def test_several_matrices_are_listed(several):
    with pytest.raises(ValueError, match=r"several matrices.*variable=; it holds X 3 x 3, Y 3 x 2"):
        read_matrix(several)


def test_a_variable_is_chosen_by_name(several):
    np.testing.assert_array_equal(read_matrix(several, variable="Y")[0], np.ones((3, 2)))


def test_an_unknown_variable_is_named(several):
    with pytest.raises(ValueError, match=r"no variable 'Z'; it holds X 3 x 3"):
        read_matrix(several, variable="Z")


def test_variables_can_differ_by_view(several):
    files = {"x": several, "y": several}
    views = Views.from_files(files, variable={"x": "X", "y": "Y"})
    assert views.widths == (3, 2)
    assert Views.from_files({"only": several}, variable="X").widths == (3,)
    with pytest.raises(ValueError, match="`variable` names 'z'"):
        Views.from_files(files, variable={"z": "X"})


def test_matlab_variables_that_are_no_matrices_are_refused(tmp_path):
    cell = np.empty((1, 2), dtype=object)
    cell[:] = [[np.eye(2), np.eye(3)]]
    scipy.io.savemat(tmp_path / "cells.mat", {"X": cell})
    with pytest.raises(ValueError, match="no matrix of numbers; it holds X 1 x 2"):
        read_matrix(tmp_path / "cells.mat")
    with pytest.raises(ValueError, match=r"'X' is no matrix of real numbers.*loadmat"):
        read_matrix(tmp_path / "cells.mat", variable="X")


def test_newer_matlab_files_are_refused_with_advice(tmp_path):
    head = b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\x02IM"
    for data in (head + b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(200)):
        (tmp_path / "new.mat").write_bytes(data)
        with pytest.raises(ValueError, match=r"version 7\.3 \(HDF5\).*-v7"):
            read_matrix(tmp_path / "new.mat")


# -- claims ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "size"), [("coordinate", "3 4 99999999999"), ("array", "300000 300000")]
)
@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
def test_matrix_market_headers_that_claim_too_much_are_refused(
    tmp_path, layout, size, suffix, monkeypatch
):  # 70
    text = f"%%MatrixMarket matrix {layout} real general\n{size}\n1 1 1\n".encode()
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    monkeypatch.setattr(np, "loadtxt", no_reading)
    with pytest.raises(ValueError, match=r"claims [\d,]+ entries, more than it can hold"):
        read_matrix(path)


def test_matrix_market_rows_beyond_memory_are_refused(tmp_path, monkeypatch):  # 70
    path = tmp_path / "tall.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n99999999999999 1 1\n1 1 1\n")
    monkeypatch.setattr(np, "loadtxt", no_reading)
    with pytest.raises(MemoryError, match=r"tall\.mtx: it claims 800,000\.0 GB"):
        read_matrix(path)


@pytest.mark.parametrize("name", ["tall.npz", "tall.mat", "tall.mtx"])
def test_rows_far_beyond_the_entries_are_refused(tmp_path, name):  # 70
    tall = sp.csc_array(([1.0], ([0], [0])), shape=(2**30, 2))
    if name.endswith("npz"):
        sp.save_npz(tmp_path / name, tall)
    elif name.endswith("mat"):
        scipy.io.savemat(tmp_path / name, {"X": sp.csc_matrix(tall)})
    else:
        (tmp_path / name).write_text(f"{HEAD}{2**30} 2 1\n1 1 1\n")
    with pytest.raises(ValueError, match=rf"{name}: it claims 1,073,741,824 rows, but has 1 ent"):
        read_matrix(tmp_path / name)


@pytest.mark.parametrize("name", ["data.npy", "x.npy"])
def test_archives_that_claim_too_much_are_refused(tmp_path, name, monkeypatch):  # 70
    stem = name.removesuffix(".npy")
    others = {"format": (), "shape": (2,)} if stem == "data" else {}
    write_archive(tmp_path / "bomb.npz", **{stem: (2**20, 2**25)}, **others)
    monkeypatch.setattr(sp, "load_npz", no_reading)
    monkeypatch.setattr(np, "load", no_reading)
    with pytest.raises(ValueError, match=rf"Cannot read .*bomb\.npz: {name} claims"):
        read_matrix(tmp_path / "bomb.npz")


def test_dense_files_that_claim_too_much_are_refused(tmp_path):  # 70
    with open(tmp_path / "bomb.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (2**25, 2**20)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(ValueError, match=r"Cannot read .*bomb\.npy"):
        read_matrix(tmp_path / "bomb.npy")


def test_matlab_files_that_claim_too_much_are_refused(tmp_path, monkeypatch):  # 68, 70
    path = tmp_path / "bomb.mat"
    scipy.io.savemat(path, {"X": np.eye(3)}, do_compression=True)
    data = path.read_bytes()
    body = zlib.decompress(data[136:])
    dims = struct.pack("<ii", 3, 3)
    assert body.count(dims) == 1
    packed = zlib.compress(body.replace(dims, struct.pack("<ii", 2**30, 2**30)))
    path.write_bytes(data[:128] + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(ValueError, match=r"bomb\.mat: its variable 'X' is damaged"):
        read_matrix(path)
    monkeypatch.setattr(readers, "available_memory", lambda: 1000.0)
    with pytest.raises(MemoryError, match=r"bomb\.mat: it claims"):
        read_matrix(path)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_matlab_numbers_of_every_type_are_those_that_scipy_reads(tmp_path, kind, compressed):
    path = tmp_path / "a.mat"
    full = np.random.default_rng(0).integers(0, 100, (5, 3)).astype(kind)
    scipy.io.savemat(
        path, {"full": full, "thin": sp.csc_matrix(full // 40)}, do_compression=compressed
    )
    expected = scipy.io.loadmat(path)
    found, _ = read_matrix(path, variable="full")
    assert found.dtype == expected["full"].dtype
    np.testing.assert_array_equal(found, expected["full"])
    thin, _ = read_matrix(path, variable="thin")
    np.testing.assert_array_equal(thin.toarray(), expected["thin"].toarray())


def test_matlab_logicals_and_large_variables_are_read(tmp_path):
    path = tmp_path / "a.mat"
    large = np.arange(40_000.0).reshape(200, 200)
    scipy.io.savemat(path, {"a_name_of_some_length": large, "yes": np.eye(2, dtype=bool)})
    np.testing.assert_array_equal(read_matrix(path, variable="yes")[0], np.eye(2))
    np.testing.assert_array_equal(read_matrix(path, variable="a_name_of_some_length")[0], large)


def test_matlab_files_of_the_other_byte_order_are_read(tmp_path):
    def element(kind, data):
        return struct.pack(">II", kind, len(data)) + data + bytes(-len(data) % 8)

    flags, dims = struct.pack(">II", 6, 0), struct.pack(">ii", 2, 2)
    values = np.array([1, 2, 3, 4], dtype=">u2").tobytes()
    body = element(6, flags) + element(5, dims) + element(1, b"X") + element(4, values)
    head = b"MATLAB 5.0".ljust(124) + b"\x01\0MI"
    (tmp_path / "a.mat").write_bytes(head + element(14, body))
    assert read_matrix(tmp_path / "a.mat")[0].tolist() == [[1, 3], [2, 4]]


def test_complex_matlab_matrices_are_refused(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": np.eye(2) * 1j})
    with pytest.raises(ValueError, match="'X' is no matrix of real numbers"):
        read_matrix(tmp_path / "a.mat")


def test_matlab_variables_of_unknown_classes_are_left_out(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"X": np.eye(3), "Y": np.ones((2, 2))}, do_compression=False)
    data = bytearray(path.read_bytes())
    flags = data.find(struct.pack("<II", 6, 8), 200)  # of the second variable
    data[flags + 8] = 17  # an object, whose layout is not published
    path.write_bytes(data)
    np.testing.assert_array_equal(read_matrix(path)[0], np.eye(3))


def test_matlab_variables_of_a_wrong_shape_are_left_out(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"X": np.eye(3), "Y": np.ones((7, 5))}, do_compression=False)
    shape = struct.pack("<ii", 7, 5)
    path.write_bytes(path.read_bytes().replace(shape, struct.pack("<ii", -7, 5)))
    np.testing.assert_array_equal(read_matrix(path)[0], np.eye(3))


def test_a_compressed_matlab_matrix_without_its_checksum_is_read(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"X": np.eye(3)}, do_compression=True)
    data = path.read_bytes()
    packed = data[136:-4]
    path.write_bytes(data[:128] + struct.pack("<II", 15, len(packed)) + packed)
    np.testing.assert_array_equal(read_matrix(path)[0], np.eye(3))


def test_a_small_matlab_matrix_with_many_bytes_behind_it_is_refused(tmp_path):
    path = tmp_path / "bomb.mat"
    scipy.io.savemat(path, {"X": np.zeros((1000, 1000))}, do_compression=True)
    data = path.read_bytes()
    body = zlib.decompress(data[136:])
    packed = zlib.compress(body.replace(struct.pack("<ii", 1000, 1000), struct.pack("<ii", 2, 2)))
    path.write_bytes(data[:128] + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(ValueError, match="'X' is damaged: it holds too many bytes"):
        read_matrix(path)


def test_damaged_sparse_matlab_matrices_never_get_past_the_checks(tmp_path):
    """scipy's own reader crashes the interpreter on some of these."""
    path = tmp_path / "a.mat"
    counts = sp.csc_matrix(np.random.default_rng(0).poisson(0.5, (20, 9)).astype(float))
    scipy.io.savemat(path, {"X": counts})
    whole = path.read_bytes()
    outcomes = set()
    for at in range(128, 700, 3):
        path.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        try:
            outcomes.add(Views.from_files({"a": path}).shape)
        except (ValueError, MemoryError) as error:
            outcomes.add("named" if "a.mat" in str(error) else str(error))
    # padding is not read, and a number of rows may be any that holds all entries
    assert outcomes == {(20, 9), (65300, 9), "named"}


def test_what_does_not_fit_into_memory_is_refused_before_it_is_read(tmp_path, counts, monkeypatch):
    sp.save_npz(tmp_path / "a.npz", counts)
    monkeypatch.setattr(readers, "available_memory", lambda: 100.0)
    monkeypatch.setattr(sp, "load_npz", no_reading)
    with pytest.raises(MemoryError, match=r"a\.npz: it claims"):
        read_matrix(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_pickles_are_refused(tmp_path, name):  # 64
    array = np.array([["a", None]], dtype=object)
    if name.endswith("npy"):
        np.save(tmp_path / name, array, allow_pickle=True)
    else:
        np.savez(tmp_path / name, x=array)
    with pytest.raises(ValueError, match=f"Cannot read .*{name}"):
        read_matrix(tmp_path / name, variable="x" if name.endswith("npz") else None)


# -- views ----------------------------------------------------------------------------------------


def test_views_with_names_from_files(tmp_path, counts):
    write_mtx(tmp_path / "en.mtx", counts)
    write_svmlight(tmp_path / "fr.svm", counts[:, :3])
    (tmp_path / "ids.txt").write_text("".join(f"d{i}\n" for i in range(8)))
    (tmp_path / "words.txt.gz").write_bytes(gzip.compress(b"un\ndeux\ntrois\nquatre\n"))
    (tmp_path / "labels.txt").write_text("".join(f"{i % 2}\n" for i in range(8)))
    views = Views.from_files(
        {"en": str(tmp_path / "en.mtx"), "fr": tmp_path / "fr.svm"},
        ids=tmp_path / "ids.txt",
        labels=str(tmp_path / "labels.txt"),
        features={"fr": tmp_path / "words.txt.gz", "en": list("abcde")},
    )
    assert views.ids.tolist() == [f"d{i}" for i in range(8)]
    assert views.labels.tolist() == [0, 1] * 4
    assert views.features["fr"].tolist() == ["un", "deux", "trois", "quatre"]
    # the names say that there is a fourth column, which the file does not
    np.testing.assert_array_equal(views["fr"].toarray()[:, :3], counts.toarray()[:, :3])


def test_values_that_are_no_counts_are_named_with_file_and_view(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1.0, -2.0]]))
    with pytest.raises(ValueError, match=r"a\.npy: Negative values in data passed to view 'en'"):
        Views.from_files({"en": tmp_path / "a.npy"})


def test_files_must_be_named(tmp_path):
    with pytest.raises(TypeError, match="files must be a dict"):
        Views.from_files([tmp_path / "a.npy"])
    with pytest.raises(TypeError, match="features must be a dict"):
        Views.from_files({"a": tmp_path / "a.npy"}, features=["x"])
    with pytest.raises(ValueError, match="`features` names 'b'"):
        Views.from_files({"a": tmp_path / "a.npy"}, features={"b": ["x"]})


def test_labels_are_read_from_files_of_either_kind(tmp_path):
    np.save(tmp_path / "labels.npy", [2, -1])
    assert read_labels(tmp_path / "labels.npy").tolist() == [2, -1]
    (tmp_path / "labels.txt").write_text("cat\n\n dog \n")
    assert read_labels(tmp_path / "labels.txt").tolist() == ["cat", None, "dog"]
    (tmp_path / "labels.txt").write_text("3\n\n-1\n")
    assert read_labels(tmp_path / "labels.txt").tolist() == [3, -1, -1]
    assert read_labels([1, 2]) == [1, 2]


@pytest.mark.parametrize("text", ["1 ", "0 \n1 \n", "2\n", "1 # nothing\n"])
def test_svmlight_files_without_entries_have_no_width(tmp_path, text):
    """One column would be made up."""
    path = tmp_path / "a.svm"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"a\.svm: it has no entries"):
        read_matrix(path)
    assert read_matrix(path, n_features=3)[0].shape[1] == 3
