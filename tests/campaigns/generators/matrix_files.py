"""Matrices in files of every format that is read, sound and damaged."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from tests.campaigns.cases import Case, must_be_refused
from tests.campaigns.damage import damage_file
from tests.campaigns.dense import (
    LARGEST_CELLS,
    Unreadable,
    difference,
    in_child,
    read_mtx,
    read_npy,
    read_npz,
    read_svmlight,
    sparse_npz,
)

VIEW = "wide"


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a file with a matrix, half of the time damaged."""
    if rng.random() < 0.12:
        return _crafted(rng, folder)
    kind = str(rng.choice(sorted(WRITERS)))
    dense = _counts(rng)
    path = folder / f"counts{kind.split()[0]}"
    WRITERS[kind](path, dense, rng)
    if rng.random() < 0.5:
        return _case(f"{kind}, {damage_file(path, rng)}", path, dense, damaged=True)
    return _case(kind, path, dense, damaged=False)


def _case(what: str, path: Path, dense: np.ndarray, damaged: bool) -> Case:
    def act() -> Any:
        from coview import Views

        return Views.from_files({VIEW: path})[VIEW]

    def judge(found: Any) -> str | None:
        wrong = difference(found, dense, rtol=1e-6)
        if wrong is None or not damaged:
            return wrong
        try:
            read = read_again(path)
        except Unreadable as error:
            return f"accepted, though unreadable ({error}); {wrong}"
        return difference(found, read, rtol=1e-6)

    return Case(what, act, judge, (path.name, VIEW), "either" if damaged else "right", 600 << 20)


def _counts(rng: np.random.Generator) -> np.ndarray:
    """Return a dense matrix whose last column and row are not empty, as svmlight needs."""
    shape = (int(rng.integers(2, 12)), int(rng.integers(2, 9)))
    dense = rng.integers(0, 9, shape) * (rng.random(shape) < 0.5)
    dense = dense * 0.5 if rng.random() < 0.3 else dense
    dense[0, 0] = dense[-1, -1] = 3
    return dense.astype(float)


# -- writing ---------------------------------------------------------------------------------------


def _mtx(path: Path, dense: np.ndarray, rng: np.random.Generator) -> None:
    matrix = sp.coo_array(dense) if rng.random() < 0.7 else dense
    out = io.BytesIO()
    scipy.io.mmwrite(out, matrix, comment="made by a test", symmetry="general")
    path.write_bytes(gzip.compress(out.getvalue()) if path.suffix == ".gz" else out.getvalue())


def _svmlight(path: Path, dense: np.ndarray, rng: np.random.Generator) -> None:
    first = int(rng.integers(2))
    lines = []
    for row in dense:
        pairs = " ".join(f"{j + first}:{v:g}" for j, v in enumerate(row) if v)
        lines.append(f"{int(rng.integers(3))} {pairs}\n")
    path.write_text("".join(lines))


def _npy(path: Path, dense: np.ndarray, rng: np.random.Generator) -> None:
    array = np.asfortranarray(dense) if rng.random() < 0.5 else dense.astype(np.float32)
    np.save(path, array)


def _npz_sparse(path: Path, dense: np.ndarray, rng: np.random.Generator) -> None:
    kind = str(rng.choice(["csr", "csc", "coo", "bsr", "dia"]))
    sp.save_npz(path, sp.coo_array(dense).asformat(kind), compressed=bool(rng.random() < 0.5))


def _npz_arrays(path: Path, dense: np.ndarray, rng: np.random.Generator) -> None:
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(path, counts=dense, year=np.arange(3))


def _mat(path: Path, dense: np.ndarray, rng: np.random.Generator) -> None:
    matrix = sp.csc_matrix(dense) if rng.random() < 0.5 else dense
    scipy.io.savemat(path, {"counts": matrix}, do_compression=bool(rng.random() < 0.5))


WRITERS: dict[str, Callable[[Path, np.ndarray, np.random.Generator], None]] = {
    ".mtx": _mtx,
    ".mtx.gz": _mtx,
    ".svmlight": _svmlight,
    ".npy": _npy,
    ".npz sparse": _npz_sparse,
    ".npz arrays": _npz_arrays,
    ".mat": _mat,
}


# -- an independent reading ------------------------------------------------------------------------


def read_again(path: Path) -> np.ndarray:
    """Return the matrix of a file, read without coview."""
    name = path.name
    try:
        if ".mtx" in name:
            return read_mtx(path)
        if name.endswith(".svmlight"):
            return read_svmlight(path)[0]
        if name.endswith(".npy"):
            return _as_dense(read_npy(path.read_bytes()))
        if name.endswith(".mat"):
            return in_child(lambda: _read_mat(path))
        arrays = read_npz(path)
        return sparse_npz(arrays) if "format" in arrays else _as_dense(_only_matrix(arrays))
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(str(error)) from error


def _only_matrix(arrays: dict[str, np.ndarray]) -> np.ndarray:
    (matrix,) = [array for array in arrays.values() if array.ndim == 2]
    return matrix


def _as_dense(array: np.ndarray) -> np.ndarray:
    if array.ndim != 2 or array.size > LARGEST_CELLS:
        raise Unreadable(f"shape {array.shape}")
    return array.astype(float)


def _read_mat(path: Path) -> np.ndarray:
    found = {n: v for n, v in scipy.io.loadmat(path).items() if not n.startswith("__")}
    (matrix,) = found.values()
    return matrix.toarray().astype(float) if sp.issparse(matrix) else _as_dense(matrix)


# -- crafted files: whole, but of nonsense ---------------------------------------------------------


def _crafted(rng: np.random.Generator, folder: Path) -> Case:
    what = str(rng.choice(sorted(CRAFTED)))
    name, write = CRAFTED[what]
    path = folder / name
    write(path, rng)
    case = _case(f"{name}: {what}", path, np.ones((1, 1)), damaged=True)
    return Case(case.what, case.act, must_be_refused(what), case.names, "refused", 300 << 20)


def _sparse_parts(path: Path, **changes: Any) -> None:
    csr = sp.csr_array(np.eye(4) + 1)
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}
    parts |= {"shape": np.array(csr.shape), "format": np.array(b"csr")}
    np.savez(path, **{**parts, **changes})


def _claims(path: Path, rng: np.random.Generator) -> None:
    """Write an .npy file whose header claims far more than is there."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        out, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**5)}
    )
    path.write_bytes(out.getvalue() + bytes(64))


def _archive_claims(path: Path, rng: np.random.Generator) -> None:
    inner = path.with_name("inner.npy")
    _claims(inner, rng)
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, "counts.npy")


def _bomb(path: Path, rng: np.random.Generator) -> None:
    np.savez_compressed(path, counts=np.zeros((30_000, 3_000), np.int8), shape=np.ones(2))
    with zipfile.ZipFile(path, "a") as archive:  # and a part that its header does not fit
        archive.writestr("data.npy", b"\x93NUMPY\x01\x00nonsense")


def _many_rows(path: Path, rng: np.random.Generator) -> None:
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n{10**9} 3 1\n1 1 1\n")


CRAFTED: dict[str, tuple[str, Callable[[Path, np.random.Generator], None]]] = {
    "an index outside": (
        "counts.npz",
        lambda p, r: _sparse_parts(p, indices=np.full(16, int(r.choice([4, -7, 10**8])))),
    ),
    "ends that go back": (
        "counts.npz",
        lambda p, r: _sparse_parts(p, indptr=np.array([0, 12, 4, 8, 16])),
    ),
    "a shape that is not there": (
        "counts.npz",
        lambda p, r: _sparse_parts(p, shape=np.array([2**40, 2**40])),
    ),
    "an unknown format": ("counts.npz", lambda p, r: _sparse_parts(p, format=np.array(b"xyz"))),
    "objects, which need pickle": (
        "counts.npy",
        lambda p, r: np.save(p, np.array([[1, "x"]], dtype=object), allow_pickle=True),
    ),
    "a header of 2**45 numbers": ("counts.npy", _claims),
    "an archive that claims 2**45 numbers": ("counts.npz", _archive_claims),
    "an archive that unfolds a thousandfold": ("counts.npz", _bomb),
    "a billion rows and one entry": ("counts.mtx", _many_rows),
    "a header and no entries": (
        "counts.mtx",
        lambda p, r: p.write_text("%%MatrixMarket matrix coordinate real general\n3 3 5\n"),
    ),
    "complex numbers": (
        "counts.mtx",
        lambda p, r: p.write_text(
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n"
        ),
    ),
    "a line without end": (
        "counts.mtx",
        lambda p, r: p.write_text("%%MatrixMarket matrix array real general\n" + "1" * 10**6),
    ),
    "negative columns": ("counts.svm", lambda p, r: p.write_text("1 -3:2 1:1\n")),
    "a huge column": ("counts.svm", lambda p, r: p.write_text("1 99999999999999999999:2\n")),
    "text that unfolds a thousandfold": (
        "counts.mtx.gz",
        lambda p, r: p.write_bytes(gzip.compress(b"%" * (200 << 20))),
    ),
    "a format that is not read": ("counts.xlsx", lambda p, r: p.write_bytes(b"PK\x03\x04")),
    "not a MATLAB file": ("counts.mat", lambda p, r: p.write_bytes(r.bytes(300))),
}
