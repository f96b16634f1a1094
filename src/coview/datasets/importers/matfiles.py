"""MATLAB files (version 5 to 7) from elsewhere: unpacked within limits, then read by scipy.

A file is a header of 128 bytes and a list of elements, each with its size; a compressed element
holds one other. They are decompressed here, with a limit, so that scipy meets no compressed data,
and no size that is not there.
"""

import os
import struct
import zlib
from io import BytesIO
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from coview.data.show import listing
from coview.datasets.importers.archives import ArchiveError, Limits, read_members

HEADER = 128
COMPRESSED = 15  # the type of such an element
MOST_BYTES = 1 << 30
HDF5 = b"\x89HDF\r\n\x1a\n"


def read_mat(data: bytes, label: str, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """The variables of a MATLAB file.

    Parameters
    ----------
    data : bytes
    label : str
        Name of the file, for the messages.
    most_bytes : int
        The file may not be larger after decompression.
    """
    # version 7.3 is HDF5 behind a block of 512 bytes
    if HDF5 in (data[:8], data[512:520]):
        raise ArchiveError(f"{label} is of MATLAB's version 7.3; save it again with -v7.")
    try:
        plain = _decompressed(data, most_bytes)
        variables = scipy.io.loadmat(BytesIO(plain))
    except ArchiveError as error:
        raise ArchiveError(f"{label} {error}") from error
    except Exception as error:  # scipy meets damage with whatever its code trips over
        raise ArchiveError(f"{label} cannot be read as a MATLAB file ({error}).") from error
    return {name: value for name, value in variables.items() if not name.startswith("__")}


def _decompressed(data: bytes, most_bytes: int) -> bytes:
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise ArchiveError("is no MATLAB file of version 5 to 7.")
    parts, at, total = [data[:HEADER]], HEADER, HEADER
    while at < len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind == COMPRESSED:
            part = _inflate(data[at + 8 : at + 8 + size], most_bytes - total)
        else:
            part = data[at : at + 8 + size]
        total += len(part)
        if total > most_bytes:
            raise ArchiveError(f"holds more than {most_bytes:,} bytes after decompression.")
        parts.append(part)
        at += 8 + size
    return b"".join(parts)


def _inflate(data: bytes, most_bytes: int) -> bytes:
    stream = zlib.decompressobj()
    part = stream.decompress(data, max(most_bytes, 0) + 1)
    if len(part) <= most_bytes and not stream.eof:
        raise ArchiveError("is damaged or incomplete. Fetch it again.")
    return part


def read_cells(
    archive: str | os.PathLike[str], limits: Limits | None = None
) -> tuple[list[sp.csr_array], np.ndarray]:
    """Matrices and labels of the one MATLAB file of an archive; see `cells`."""
    files = dict(read_members(archive, lambda name: name.lower().endswith(".mat"), limits=limits))
    if len(files) != 1:
        raise ArchiveError(f"{archive} must hold one .mat file; it has {len(files)}.")
    ((name, content),) = files.items()
    return cells(read_mat(content, name), name)


def class_numbers(y: np.ndarray, n_classes: int, archive: str | os.PathLike[str]) -> np.ndarray:
    """Labels from 0, whether they count from 0 or, as MATLAB does, from 1.

    >>> class_numbers(np.array([1, 3, 2]), 3, "a.mat")
    array([0, 2, 1])
    """
    low, high = (int(y.min()), int(y.max())) if len(y) else (-1, -1)
    if low < 0 or high - min(low, 1) >= n_classes:
        raise ArchiveError(
            f"{archive} must have labels from 1 to {n_classes}; found {low} to {high}."
        )
    return y - min(low, 1)


def cells(variables: dict[str, Any], label: str) -> tuple[list[sp.csr_array], np.ndarray]:
    """Matrices (documents x columns) and labels of a file with a cell `X` and a vector `y`.

    The names of the two vary between copies, and so does whether documents are rows; the number
    of labels tells.
    """
    X = _pick(variables, ("X", "x", "data", "fea"), label)
    y = np.asarray(_pick(variables, ("y", "Y", "gt", "truth", "label", "labels"), label)).ravel()
    if y.dtype.kind not in "iuf" or not np.isfinite(y).all() or (y != np.round(y)).any():
        raise ArchiveError(f"{label} must have whole numbers as labels.")
    if not isinstance(X, np.ndarray) or X.dtype != object:
        raise ArchiveError(f"{label} must have its views in a cell array.")
    return [_matrix(view, len(y), label) for view in X.ravel()], y.astype(np.int64)


def _pick(variables: dict[str, Any], names: tuple[str, ...], label: str) -> Any:
    found = [name for name in names if name in variables]
    if len(found) != 1:
        raise ArchiveError(
            f"{label} must have one variable of {listing(names, 9)}; it has "
            f"{listing(sorted(variables), 9)}."
        )
    return variables[found[0]]


def _matrix(view: Any, n_docs: int, label: str) -> sp.csr_array:
    if not (sp.issparse(view) or (isinstance(view, np.ndarray) and view.dtype.kind in "iufb")):
        raise ArchiveError(f"{label} must have numbers in the cells of X.")
    matrix = sp.csr_array(view)
    if matrix.ndim != 2 or n_docs not in matrix.shape:
        raise ArchiveError(f"{label} has {n_docs:,} labels but a view of shape {view.shape}.")
    return matrix if matrix.shape[0] == n_docs else sp.csr_array(matrix.T)
