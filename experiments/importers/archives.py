"""Members of an archive, read one by one in memory; nothing is extracted to disk.

An archive from the internet cannot be trusted. The bytes that come out of it are counted while they
are read, and reading ends at the first one beyond a limit. Names that lead out of the archive,
links and devices are refused even though no file is made from them: an archive with these is not
what the publisher made.

Archives are zip files and tar files (plain, gzip, bzip2, xz), also one inside another, as the UCI
repository packs them; a folder of files already unpacked and a single file are read as well.
"""

import bz2
import gzip
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from coview.wording import listing, quoted

Wanted = Callable[[str], bool]

CHUNK = 1 << 20
BLOCK = 512  # of a tar file
DEPTH = 2  # an archive in an archive; no further
_NESTED = re.compile(r".*\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz))", re.IGNORECASE | re.DOTALL)
_DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, ValueError, NotImplementedError, RuntimeError, MemoryError),
)


class ArchiveError(ValueError):
    """An archive that is refused or damaged."""


@dataclass(frozen=True)
class ArchiveLimits:
    """How much an archive may hold.

    Attributes
    ----------
    members : int
        Files and folders, those of inner archives included.
    member_bytes, total_bytes : int
        Bytes of one member and of all, after decompression.
    ratio : float
        Bytes after decompression for each byte of the archive. Tables of zeros and ones are
        compressed to a fiftieth, a zip bomb to a thousandth.
    ratio_from : int
        Total below which the ratio is not checked.
    """

    members: int = 200_000
    member_bytes: int = 1 << 30
    total_bytes: int = 8 << 30
    ratio: float = 250.0
    ratio_from: int = 64 << 20


def read_members(
    path: str | os.PathLike[str], wanted: Wanted, *, limits: ArchiveLimits | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of the members that are wanted, in the order of the archive.

    Parameters
    ----------
    path : path
        An archive, a folder or a single file.
    wanted : function of a name
        Names have "/" between folders and no leading "./".
    limits : ArchiveLimits, optional

    Examples
    --------
    >>> import tempfile, zipfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with zipfile.ZipFile(f"{folder}/a.zip", "w") as archive:
    ...         archive.writestr("data/x.txt", "1 2")
    ...         archive.writestr("data/readme", "about x")
    ...     list(read_members(f"{folder}/a.zip", lambda name: name.endswith(".txt")))
    [('data/x.txt', b'1 2')]
    """
    path = Path(path)
    if path.is_dir():
        yield from _folder_members(path, wanted, _Budget(path, 0, limits or ArchiveLimits(ratio=0)))
        return
    if not path.is_file():
        raise FileNotFoundError(f"There is no archive {path}.")
    budget = _Budget(path, path.stat().st_size, limits or ArchiveLimits())
    with path.open("rb") as file:
        yield from _members(file, path.name, wanted, budget, depth=1)


def collect(
    path: str | os.PathLike[str], wanted: Wanted, *, limits: ArchiveLimits | None = None
) -> dict[str, bytes]:
    """Return the wanted members by name; a name that occurs twice is refused."""
    found: dict[str, bytes] = {}
    for name, data in read_members(path, wanted, limits=limits):
        if name in found:
            raise ArchiveError(f"{path} holds {quoted(name)} twice: which one is meant?")
        found[name] = data
    return found


def collect_files(
    path: str | os.PathLike[str], names: list[str], *, limits: ArchiveLimits | None = None
) -> dict[str, bytes]:
    """Return files by their names without folders; each must occur exactly once."""
    found: dict[str, bytes] = {}
    for name, data in read_members(path, lambda n: base(n) in names, limits=limits):
        if base(name) in found:
            raise ArchiveError(f"{path} holds {quoted(base(name))} twice: which one is meant?")
        found[base(name)] = data
    missing = [name for name in names if name not in found]
    if missing:
        raise ArchiveError(
            f"{path} must hold the files {listing(names, 20)}; it has no {listing(missing, 20)}."
        )
    return found


def base(name: str) -> str:
    """Return the last part of a member's name.

    >>> base("mfeat/mfeat-pix")
    'mfeat-pix'
    """
    return name.rpartition("/")[2]


class _Budget:
    """Counts what has been read from an archive and enforces the limits."""

    def __init__(self, path: Path, size: int, limits: ArchiveLimits) -> None:
        self.path, self.size, self.limits = path, size, limits
        self.members = self.bytes = 0

    def member(self) -> None:
        """Count a member."""
        self.members += 1
        if self.members > self.limits.members:
            self._refuse(f"more than {self.limits.members:,} members")

    def spend(self, n_bytes: int) -> None:
        """Count bytes after decompression."""
        self.bytes += n_bytes
        limits = self.limits
        if self.bytes > limits.total_bytes:
            self._refuse(f"more than {limits.total_bytes:,} bytes after decompression")
        if self.size and self.bytes > max(limits.ratio * self.size, limits.ratio_from):
            self._refuse(f"more than {limits.ratio:g} times its size after decompression")

    def read(self, file: IO[bytes], name: str) -> bytes:
        """Read the rest of a member; its bytes are counted where they are decompressed."""
        parts, total = [], 0
        while chunk := file.read(CHUNK):
            total += len(chunk)
            if total > self.limits.member_bytes:
                self._refuse(f"{quoted(name)} with more than {self.limits.member_bytes:,} bytes")
            parts.append(chunk)
        return b"".join(parts)

    def _refuse(self, what: str) -> None:
        raise ArchiveError(
            f"{self.path} holds {what}, which no data set here does. If you trust it, unpack it "
            "and import the folder."
        )


class _Counted:
    """A stream that counts what is read from it and keeps its last block."""

    def __init__(self, file: Any, budget: _Budget) -> None:
        self.file, self.budget = file, budget
        self.tail = b""

    def read(self, n_bytes: int = -1) -> bytes:
        data = self.file.read(CHUNK if n_bytes < 0 else min(n_bytes, CHUNK))
        self.budget.spend(len(data))
        self.tail = (self.tail + data[-BLOCK:])[-BLOCK:]
        return data


def _members(
    file: Any, label: str, wanted: Wanted, budget: _Budget, depth: int
) -> Iterator[tuple[str, bytes]]:
    start = file.read(BLOCK)
    file.seek(0)
    try:
        if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            yield from _zip_members(file, wanted, budget, depth)
        elif (stream := _tar_stream(file, start)) is not None:
            yield from _tar_members(stream, wanted, budget, depth)
        elif depth == 1 and wanted(label):
            yield label, _whole(file, label, budget)
        else:
            raise ArchiveError(f"{budget.path}: {quoted(label)} is no zip or tar archive.")
    except ArchiveError:
        raise
    except _DAMAGE as error:
        raise ArchiveError(
            f"{budget.path} is damaged or incomplete ({error or type(error).__name__}). "
            "Fetch it again."
        ) from error


def _whole(file: Any, name: str, budget: _Budget) -> bytes:
    counted: Any = _Counted(file, budget)
    return budget.read(counted, name)


# -- zip ------------------------------------------------------------------------------------------


def _zip_members(
    file: Any, wanted: Wanted, budget: _Budget, depth: int
) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            budget.member()
            # Not `filename`, which zipfile has already sanitized.
            name = safe_name(info.orig_filename, budget.path)
            _check_zip_member(info, name, budget.path)
            if info.is_dir() or not (wanted(name) or _is_inner(name, depth)):
                continue
            with archive.open(info) as member:
                data = _whole(member, name, budget)
            yield from _unpacked(name, data, wanted, budget, depth)


def _check_zip_member(info: zipfile.ZipInfo, name: str, path: Path) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveError(f"{path}: {quoted(name)} is a link or a device, which is refused.")
    if info.flag_bits & 1:
        raise ArchiveError(f"{path}: {quoted(name)} is encrypted. Unpack it and import the folder.")


# -- tar ------------------------------------------------------------------------------------------


def _tar_stream(file: Any, start: bytes) -> Any:
    """Return a stream of the decompressed tar file; None if it is not a tar file."""
    for magic, opener in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open)):
        if start.startswith(magic):
            return opener(file, "rb")
    try:  # by its checksum, since tar files of the 1990s have no magic number
        tarfile.TarInfo.frombuf(start, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return None
    return file


def _tar_members(
    stream: Any, wanted: Wanted, budget: _Budget, depth: int
) -> Iterator[tuple[str, bytes]]:
    counted: Any = _Counted(stream, budget)
    with tarfile.open(fileobj=counted, mode="r|") as archive:
        for info in archive:
            budget.member()
            name = safe_name(info.name, budget.path)
            if info.isdir():
                continue
            _check_tar_member(info, name, budget.path)
            if wanted(name) or _is_inner(name, depth):
                member: Any = archive.extractfile(info)
                yield from _unpacked(name, budget.read(member, name), wanted, budget, depth)
        _check_tar_end(archive.fileobj, counted)


def _check_tar_member(info: tarfile.TarInfo, name: str, path: Path) -> None:
    if not info.isreg() or info.issparse():
        raise ArchiveError(f"{path}: {quoted(name)} is a link or a device, which is refused.")


def _check_tar_end(rest: Any, counted: _Counted) -> None:
    """Check that a tar file ends in zeros; tarfile takes a damaged header for the end."""
    while chunk := rest.read(CHUNK):
        if chunk.strip(b"\0"):
            raise tarfile.ReadError("a header in the middle of it cannot be read")
    if counted.tail.strip(b"\0"):
        raise tarfile.ReadError("it has no end")


# -- folders, inner archives, names ---------------------------------------------------------------


def _folder_members(folder: Path, wanted: Wanted, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        budget.member()
        name = path.relative_to(folder).as_posix()
        if wanted(name):
            with path.open("rb") as file:
                yield name, _whole(file, name, budget)


def _is_inner(name: str, depth: int) -> bool:
    return depth < DEPTH and _NESTED.fullmatch(base(name)) is not None


def _unpacked(
    name: str, data: bytes, wanted: Wanted, budget: _Budget, depth: int
) -> Iterator[tuple[str, bytes]]:
    if wanted(name):
        yield name, data
    else:
        yield from _members(BytesIO(data), name, wanted, budget, depth + 1)


def safe_name(name: str, path: Path) -> str:
    """Return a member's name with "/" between folders; refuse names that lead elsewhere.

    >>> safe_name("./data/x.txt", Path("a.zip"))
    'data/x.txt'
    """
    plain = name.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if "\0" in name or plain.startswith("/") or ".." in parts or re.match("[A-Za-z]:", plain):
        raise ArchiveError(
            f"{path} has a member {quoted(name)} whose name leads out of the archive; it is "
            "refused whole."
        )
    return "/".join(parts)
