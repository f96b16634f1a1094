"""Importers of Cora and WebKB as published by LINQS: a file of words and a file of links.

    <name>.content    <id> <0 or 1 for each word> <class>
    <name>.cites      <id of the cited> <id of the citing>

One line for each document and for each link, white space between the fields. So row i and column j
of the matrix of links has a 1 if j links to i, or i is cited by j.
"""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from coview.datasets.registry import UNIVERSITIES, Dataset, dataset
from coview.params import check_choice
from coview.views.container import Views
from coview.wording import quoted
from experiments.importers.archives import ArchiveError, ArchiveLimits, collect_files
from experiments.importers.writing import check_target, write_dataset


def import_webkb(
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    university: str = "cornell",
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
) -> Views:
    """Make the folder of one university from `WebKB.tgz`.

    Documents come in the order of the file. The ready-made folder was made from another copy of
    the same files.

    Parameters
    ----------
    archive, out, overwrite, limits
        As in :func:`experiments.importers.import_mfeat`.
    university : {"cornell", "texas", "washington", "wisconsin"}

    Returns
    -------
    views : Views
        With `content` and `cites`, which is as listed in the file; `load_webkb` adds its
        transpose.
    """
    check_choice("university", university, tuple(UNIVERSITIES))
    check_target(out, overwrite)
    parts = _read(archive, university, dataset(f"webkb_{university}"), limits)
    views = _views(parts, {"cites": parts.links})
    write_dataset(out, views, overwrite=overwrite)
    return views


def import_cora(
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
) -> Views:
    """Make the folder `cora` from `cora.tgz`.

    Parameters
    ----------
    archive, out, overwrite, limits
        As in :func:`experiments.importers.import_mfeat`.

    Returns
    -------
    views : Views
        With `content`, `cites` (inbound + outbound), `inbound` (row i has a 1 in column j if j
        cites i) and `outbound` (its transpose).
    """
    check_target(out, overwrite)
    parts = _read(archive, "cora", dataset("cora"), limits)
    inbound, outbound = parts.links, sp.csr_array(parts.links.T)
    links = {"cites": inbound + outbound, "inbound": inbound, "outbound": outbound}
    views = _views(parts, links)
    write_dataset(out, views, overwrite=overwrite)
    return views


class _Parts:
    """The contents of the two files: ids, labels, words and links."""

    def __init__(self, content: bytes, cites: bytes, stem: str, data: Dataset) -> None:
        self.classes = data.classes
        self.ids: list[str] = []
        self.labels: list[int] = []
        self.words = self._read_content(content, f"{stem}.content")
        self.links = self._read_cites(cites, f"{stem}.cites")

    def _read_content(self, content: bytes, name: str) -> sp.csr_array:
        columns: list[list[int]] = []
        width = -1
        for number, line in enumerate(content.splitlines(), start=1):
            if not line.strip():
                continue
            document, *words, label = line.split()
            width = len(words) if width < 0 else width
            if len(words) != width or not set(words) <= {b"0", b"1"}:
                raise ArchiveError(
                    f"Line {number:,} of {name} must be an id, {width:,} times 0 or 1 and a class."
                )
            self.ids.append(document.decode("utf-8", "replace"))
            self.labels.append(self._class(label.decode("utf-8", "replace"), number, name))
            columns.append([column for column, word in enumerate(words) if word == b"1"])
        if not self.ids or width < 1:
            raise ArchiveError(f"{name} holds no documents.")
        return _ones(columns, width)

    def _class(self, label: str, number: int, name: str) -> int:
        if label not in self.classes:
            raise ArchiveError(
                f"Line {number:,} of {name} has the class {quoted(label)}; expected one of "
                f"{', '.join(self.classes)}."
            )
        return self.classes.index(label)

    def _read_cites(self, cites: bytes, name: str) -> sp.csr_array:
        rows = {document: row for row, document in enumerate(self.ids)}
        links: list[set[int]] = [set() for _ in self.ids]
        for number, line in enumerate(cites.splitlines(), start=1):
            ends = line.decode("utf-8", "replace").split()
            if not ends:
                continue
            if len(ends) != 2 or not rows.keys() >= set(ends):
                raise ArchiveError(
                    f"Line {number:,} of {name} must name two documents of the other file; found "
                    f"{quoted(' '.join(ends))}."
                )
            links[rows[ends[0]]].add(rows[ends[1]])
        return _ones([sorted(row) for row in links], len(self.ids))


def _read(
    archive: str | os.PathLike[str], stem: str, data: Dataset, limits: ArchiveLimits | None
) -> _Parts:
    names = [f"{stem}.content", f"{stem}.cites"]
    content, cites = map(collect_files(Path(archive), names, limits=limits).get, names)
    return _Parts(content or b"", cites or b"", stem, data)


def _ones(columns: list[list[int]], width: int) -> sp.csr_array:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in columns])])
    indices = np.concatenate([np.asarray(row, dtype=np.int32) for row in columns])
    data = np.ones(len(indices), dtype=np.float32)
    return sp.csr_array((data, indices, indptr), shape=(len(columns), width))


def _views(parts: _Parts, links: dict[str, sp.csr_array]) -> Views:
    return Views(
        {"content": parts.words, **links},
        ids=parts.ids,
        labels=parts.labels,
        label_names=parts.classes,
    )
