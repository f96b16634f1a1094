"""Compressed files that become far larger than data do: refused early, by every reader."""

import gzip
import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from coview import Views
from coview.reading import plain_files, tables
from coview.reading.matrix_files import read_matrix
from coview.reading.tables import open_table

MEGABYTES = 1 << 20


@pytest.fixture(autouse=True)
def low_limit(monkeypatch):
    """The limit holds from one megabyte on, so that tests are quick."""
    monkeypatch.setattr(plain_files, "RATIO_FROM", MEGABYTES)


def bomb(line, n_bytes=4 * MEGABYTES):
    return gzip.compress(line * (n_bytes // len(line)))


def refused(make, path):
    with pytest.raises(ValueError, match=r"more than (100|250) times as large") as caught:
        make()
    assert path.name in str(caught.value)


def test_names_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    path = tmp_path / "features.txt.gz"
    path.write_bytes(bomb(b"word\n"))
    refused(lambda: Views.from_files({"a": tmp_path / "a.npy"}, features={"a": path}), path)
    refused(lambda: Views.from_files({"a": tmp_path / "a.npy"}, ids=path), path)
    refused(lambda: Views.from_files({"a": tmp_path / "a.npy"}, labels=path), path)


def test_names_of_a_views_folder_are_refused(tmp_path):
    Views({"a": np.eye(3)}, features={"a": ["x", "y", "z"]}).save(tmp_path / "v")
    (found,) = (tmp_path / "v").glob("features*")
    path = found if found.suffix == ".gz" else found.with_name(f"{found.name}.gz")
    found.unlink()
    path.write_bytes(bomb(b"word\n"))
    (tmp_path / "v" / "MANIFEST.json").unlink()  # a folder without one is read as well
    refused(lambda: Views.load(tmp_path / "v"), path)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv.gz", "a.jsonl.gz"])
@pytest.mark.parametrize("line", [b"one,two\n", b'{"text": "a b c"}\n', b"x"])
def test_tables_are_refused(tmp_path, name, line):
    path = tmp_path / name
    head = b"text\n" if "json" not in name else b""
    path.write_bytes(gzip.compress(head + b"") + bomb(line))
    with pytest.raises(ValueError, match=name) as caught:
        Views.from_table(path, text=["text"], languages=None)
    words = str(caught.value)
    assert "more than 100 times" in words or "cell" in words or "line 1" in words


def test_a_table_of_one_repeated_line_is_refused(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"text\n" + b"a word and another\n" * 300_000))
    refused(lambda: Views.from_table(path, text=["text"], languages=None), path)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv", "a.jsonl"])
def test_a_line_that_never_ends_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(tables, "LONGEST_LINE", 10_000)
    data = b"text\n" + b"a word " * 2_000 + b"\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    with pytest.raises(ValueError, match=rf"{name}, line [12].*(more than 10,000|whole JSON)"):
        Views.from_table(path, text=["text"], languages=None)


def test_text_of_two_gigabytes_in_nine_megabytes_is_refused():
    """A ratio that only bombs of text have; arrays of zeros may have it."""
    with pytest.raises(plain_files.ExpansionError, match="more than 100 times"):
        plain_files.check_expansion(2e9, 8_700_000, plain_files.TEXT_RATIO)
    plain_files.check_expansion(2e9, 8_700_000)


def test_matrix_market_files_are_refused(tmp_path):
    path = tmp_path / "a.mtx.gz"
    head = b"%%MatrixMarket matrix coordinate real general\n"
    path.write_bytes(gzip.compress(head + b"% comment\n" * 500_000 + b"1 1 1\n1 1 1\n"))
    refused(lambda: read_matrix(path), path)


def test_arrays_in_archives_are_refused(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((1000, 1000)))
    refused(lambda: read_matrix(tmp_path / "a.npz"), tmp_path / "a.npz")
    sp.save_npz(tmp_path / "b.npz", sp.csr_array((1_000_000, 3)))
    refused(lambda: read_matrix(tmp_path / "b.npz"), tmp_path / "b.npz")


def test_variables_of_matlab_are_refused(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"X": np.zeros((1000, 1000))}, do_compression=True)
    with pytest.raises(ValueError, match=r"a\.mat: .*too many bytes after decompression"):
        read_matrix(path)


def test_parquet_files_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["the same words"] * 4_000_000}), path)
    assert path.stat().st_size < 20_000
    refused(lambda: Views.from_table(path, text=["text"]), path)


KINDS = {
    "text": lambda text, n: [text] * n,
    "list": lambda text, n: [[text]] * n,
    "struct": lambda text, n: [{"of": text}] * n,
    "map": lambda text, n: [[("key", text)]] * n,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_parquet_holds_once_is_not_unfolded_for_every_row(tmp_path, kind):
    """What the metadata tell is the size of the text and of the references to it."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    of_kind = pa.map_(pa.string(), pa.string()) if kind == "map" else None
    rows = pa.array(KINDS[kind]("a long text " * 20_000, 500), type=of_kind)
    parquet.write_table(pa.table({"text": rows}), path)
    metadata = parquet.ParquetFile(path).metadata
    assert metadata.row_group(0).total_byte_size < 500_000
    before = pa.total_allocated_bytes()
    source = open_table(path)
    refused(lambda: next(source.rows(["text"])), path)
    if kind != "struct":  # fields of structs are read unfolded, as pyarrow cannot do otherwise
        assert pa.total_allocated_bytes() - before < 10 * MEGABYTES


def test_dictionaries_of_parquet_are_read_as_what_they_stand_for(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    texts = [None if i % 7 == 0 else f"word{rng.integers(50)}" for i in range(3000)]
    columns = {
        "text": texts,
        "large": pa.array(texts, pa.large_string()),
        "folded": pa.array(texts).dictionary_encode(),
        "bytes": [None if text is None else text.encode() for text in texts],
        "list": [[text, "x"] for text in texts],
        "number": pa.array(list(range(3000))).dictionary_encode(),
        "pairs": pa.array([[("k", text)] for text in texts], pa.map_(pa.string(), pa.string())),
    }
    table = pa.table(columns)
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=700)
    rows = [cells for _, cells in open_table(tmp_path / "a.parquet").rows(list(columns))]
    assert rows == list(zip(*(table[name].to_pylist() for name in columns), strict=True))


def test_what_data_are_like_is_read(tmp_path):
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.1, (2000, 300)).astype(float)
    np.savez_compressed(tmp_path / "a.npz", X=dense)
    sp.save_npz(tmp_path / "b.npz", sp.csr_array(dense > 0))
    buffer = io.BytesIO()
    scipy.io.mmwrite(buffer, sp.coo_array(dense))
    (tmp_path / "c.mtx.gz").write_bytes(gzip.compress(buffer.getvalue()))
    scipy.io.savemat(tmp_path / "d.mat", {"X": dense}, do_compression=True)
    for name in ("a.npz", "b.npz", "c.mtx.gz", "d.mat"):
        assert read_matrix(tmp_path / name)[0].shape == (2000, 300)
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert archive.getinfo("X.npy").file_size > MEGABYTES


def test_a_small_file_takes_little_memory_before_it_is_refused(tmp_path):
    """The case that was found: 398 kB took 741 MB."""
    path = tmp_path / "features.txt.gz"
    path.write_bytes(bomb(b"a", 400 * MEGABYTES))
    assert path.stat().st_size < 420_000
    np.save(tmp_path / "a.npy", np.eye(3))
    code = (
        "import sys\n"
        "from coview import Views\n"
        "from tests.process_memory import process_memory\n"
        "before = process_memory('VmHWM')\n"
        "try:\n"
        "    Views.from_files({'a': sys.argv[1]}, features={'a': sys.argv[2]})\n"
        "except ValueError as error:\n"
        "    print(process_memory('VmHWM') - before)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.npy", path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(ran.stdout) < 250 * MEGABYTES
