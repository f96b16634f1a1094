"""Pictures from files, arrays and folders: PNG, JPEG, GIF, BMP, WebP and TIFF.

The size that a file claims is read from its header before anything is decoded, so that a few
kilobytes that would become gigabytes are refused. Formats whose header is not known here are
refused as well.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coview.extras import need
from coview.wording import listing, printable, quoted

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"})
MAX_PIXELS = 1 << 27  # about 400 MB when decoded
MAX_BYTES = 1 << 29

Size = tuple[int, int]


def quoted_path(path: Path) -> str:
    """Return a path in quotes: complete, and safe to print on a terminal."""
    return f"'{printable(path, 4096)}'"


def read_picture(item: Any, max_side: int, number: int = 0) -> np.ndarray:
    """Return a picture as RGB, uint8 of shape (height, width, 3).

    Parameters
    ----------
    item : path, or uint8 array of shape (height, width) or (height, width, 3)
        Arrays are gray, or red, green and blue. In files, transparency is ignored, the orientation
        (EXIF) is applied, and the first of several pages or frames is read.
    max_side : int
        Pictures with a longer side are shrunk, by averaging areas.
    number : int, default=0
        Position of the item, for messages about arrays.

    Returns
    -------
    ndarray of uint8 of shape (height, width, 3)
    """
    cv2 = need("cv2", extra="images")
    is_file = isinstance(item, str | Path)
    picture = _decode(Path(item), cv2) if is_file else _check_array(item, number)
    height, width = picture.shape[:2]
    scale = max_side / max(height, width)
    if scale < 1:
        # at least one pixel: a picture may be a thin line
        size = max(1, round(width * scale)), max(1, round(height * scale))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return picture


def _check_array(item: Any, number: int) -> np.ndarray:
    array = np.asarray(item)
    colors = array.ndim == 3 and array.shape[2] == 3
    if array.dtype != np.uint8 or not (array.ndim == 2 or colors) or not array.size:
        raise ValueError(
            f"Picture number {number:,} must be a path, or an array of the type uint8 and the "
            f"shape (height, width) or (height, width, 3); found {type(item).__name__} of the type "
            f"{array.dtype} and the shape {array.shape}."
        )
    return np.ascontiguousarray(array if colors else np.repeat(array[:, :, None], 3, axis=2))


# -- files ----------------------------------------------------------------------------------------


def _decode(path: Path, cv2: Any) -> np.ndarray:
    data = _read_bytes(path)
    _check_header(data, path)
    with _silenced(cv2):
        try:
            picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        except cv2.error as error:
            raise ValueError(f"{_damaged(path)} ({error}).") from error
    if picture is None:
        raise ValueError(f"{_damaged(path)}.")
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)


def _read_bytes(path: Path) -> bytes:
    if not path.is_file():
        raise FileNotFoundError(f"There is no picture {quoted_path(path)}.")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(
            f"The picture {quoted_path(path)} has {size:,} bytes; at most {MAX_BYTES:,} are read. "
            "Make it smaller."
        )
    return path.read_bytes()


def _check_header(data: bytes, path: Path) -> None:
    try:
        size = picture_size(data)
    except (struct.error, IndexError) as error:  # the file ends within its header
        raise ValueError(f"{_damaged(path)}: its header is wrong, or it ends early.") from error
    if size is None:
        raise ValueError(
            f"{quoted_path(path)} is not a picture in a format that is read here (PNG, JPEG, GIF, "
            "BMP, WebP, TIFF). Convert it, or give it as an array."
        )
    if not 0 < size[0] * size[1] <= MAX_PIXELS:
        raise ValueError(
            f"The picture {quoted_path(path)} claims {size[0]:,} x {size[1]:,} pixels; between 1 "
            f"and {MAX_PIXELS:,} are read. Make it smaller, or leave it out."
        )


def _damaged(path: Path) -> str:
    return f"The picture {quoted_path(path)} is damaged and cannot be decoded"


@contextmanager
def _silenced(cv2: Any) -> Iterator[None]:
    """Keep OpenCV from writing to standard error about a damaged file; our error tells it."""
    logging = cv2 if hasattr(cv2, "setLogLevel") else cv2.utils.logging  # there since 4.13
    before = logging.setLogLevel(0)  # silent
    try:
        yield
    finally:
        logging.setLogLevel(before)


# -- headers --------------------------------------------------------------------------------------


def picture_size(data: bytes) -> Size | None:
    """Return width and height that a header claims; None if the format is not known.

    >>> picture_size(b"GIF89a" + bytes([2, 0, 3, 0]))
    (2, 3)
    """
    for magic, size in _HEADERS.items():
        if data.startswith(magic):
            return size(data)
    return None


def _png(data: bytes) -> Size:
    at = 8
    while data[at + 4 : at + 8] != b"IEND":
        # a decoder may allocate what a chunk claims before it checks that it is there
        at += 12 + struct.unpack_from(">I", data, at)[0]
    return struct.unpack_from(">II", data, 16)


def _gif(data: bytes) -> Size:
    return struct.unpack_from("<HH", data, 6)


def _bmp(data: bytes) -> Size:
    if struct.unpack_from("<I", data, 14)[0] == 12:  # the oldest version of the header
        return struct.unpack_from("<HH", data, 18)
    width, height = struct.unpack_from("<ii", data, 18)
    return width, abs(height)  # a negative height means rows from top to bottom


def _jpeg(data: bytes) -> Size:
    """Return the size in the header of the first frame, skipping the segments before it."""
    at = 2
    while True:
        while data[at + 1] == 0xFF:  # fill bytes before a marker
            at += 1
        marker = data[at + 1]
        # a decoder would search for the next marker, and could find another size than we do
        if data[at] != 0xFF or marker <= 1 or 0xD0 <= marker <= 0xD9:
            raise IndexError
        length = struct.unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            _check_end(data, at)
            return width, height
        at += 2 + length


def _check_end(data: bytes, at: int) -> None:
    # some versions of the decoder fill the rest of a truncated picture with gray
    if data.find(b"\xff\xd9", at) < 0:
        raise IndexError


def _webp(data: bytes) -> Size | None:
    kind = data[12:16]
    if kind == b"VP8X":
        low_w, high_w, low_h, high_h = struct.unpack_from("<HBHB", data, 24)
        return 1 + low_w + (high_w << 16), 1 + low_h + (high_h << 16)
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _tiff(data: bytes) -> Size:
    """Return tags 256 and 257 of the first page; each is a short or a long integer."""
    order = "<" if data.startswith(b"II") else ">"
    page = struct.unpack_from(f"{order}I", data, 4)[0]
    found: dict[int, int] = {}
    for i in range(struct.unpack_from(f"{order}H", data, page)[0]):
        tag, kind = struct.unpack_from(f"{order}HH", data, page + 2 + 12 * i)
        if tag in (256, 257):
            code = "H" if kind == 3 else "I"
            value = struct.unpack_from(f"{order}{code}", data, page + 2 + 12 * i + 8)[0]
            found[tag] = max(value, found.get(tag, 0))
    return found.get(256, 0), found.get(257, 0)


_HEADERS: dict[bytes, Callable[[bytes], Size | None]] = {
    b"\x89PNG\r\n\x1a\n": _png,
    b"\xff\xd8\xff": _jpeg,
    b"GIF8": _gif,
    b"BM": _bmp,
    b"RIFF": _webp,
    b"II*\0": _tiff,
    b"MM\0*": _tiff,
}


# -- folders --------------------------------------------------------------------------------------


class PictureFolder(NamedTuple):
    """The pictures of a folder, sorted by name; lists of the same length."""

    paths: list[Path]
    ids: list[str]
    captions: list[str | None] | None
    labels: list[int] | None = None
    label_names: list[str] | None = None


def read_picture_folder(folder: str | Path) -> PictureFolder:
    """List the pictures of a folder, or of its subfolders, whose names are then the classes.

    The id of a picture is its path in the folder, such as ``beach/01.jpg``; its caption is the text
    in ``<name>.txt`` beside it. Hidden files and files of other kinds are ignored.

    Parameters
    ----------
    folder : path

    Returns
    -------
    PictureFolder
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {quoted_path(folder)}.")
    top = _pictures(folder)
    classes = {sub.name: found for sub in _visible(folder) if (found := _pictures(sub))}
    if top and classes:
        raise ValueError(
            f"{quoted_path(folder)} holds pictures ({listing([p.name for p in top], 2)}) and "
            f"subfolders with pictures ({listing(classes, 3)}). Put all into subfolders, one for "
            "each class, or none."
        )
    paths = top or [path for found in classes.values() for path in found]
    if not paths:
        raise ValueError(f"{quoted_path(folder)} holds no picture ({', '.join(sorted(SUFFIXES))}).")
    labels = [label for label, found in enumerate(classes.values()) for _ in found]
    documents = PictureFolder(paths, _ids(folder, paths), _captions(paths))
    return documents._replace(labels=labels, label_names=list(classes)) if classes else documents


def _visible(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _pictures(folder: Path) -> list[Path]:
    return [p for p in _visible(folder) if p.suffix.lower() in SUFFIXES and p.is_file()]


def _ids(folder: Path, paths: Sequence[Path]) -> list[str]:
    by_id: dict[str, Path] = {}
    for path in paths:
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name in by_id:
            raise ValueError(
                f"{quoted_path(by_id[name])} and {quoted_path(path)} would be one document, "
                f"{quoted(name)}. Rename or remove one of them."
            )
        by_id[name] = path
    return [path.relative_to(folder).as_posix() for path in paths]


def _captions(paths: Sequence[Path]) -> list[str | None] | None:
    captions = [_caption(path.with_suffix(".txt")) for path in paths]
    return None if all(caption is None for caption in captions) else captions


def _caption(path: Path) -> str | None:
    if not path.is_file():
        return None
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"The caption {quoted_path(path)} is not UTF-8 text: {error}.") from error
