"""Reading pictures: from files or arrays to small arrays of red, green and blue.

The size a file claims is read from its header before anything is decoded, so that a few kilobytes
that would unfold into gigabytes are refused. Formats whose header is not known here are refused
as well: PNG, JPEG, GIF, BMP, WebP and TIFF are read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from coview.extras import need
from coview.wording import show

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"})
MAX_PIXELS = 1 << 27  # some 400 MB when decoded
MAX_BYTES = 1 << 29

Size = tuple[int, int]


def shown_path(path: Path) -> str:
    """A path in quotes: whole, but safe on a terminal."""
    return f"'{show(path, 4096)}'"


def read_picture(item: Any, max_side: int, number: int = 0) -> np.ndarray:
    """A picture as RGB, uint8 of shape (height, width, 3), no side longer than `max_side`.

    Parameters
    ----------
    item : path, or uint8 array of shape (height, width) or (height, width, 3)
        Arrays are gray, or red, green and blue in this order. Transparency in a file is ignored,
        its orientation (EXIF) is not; of several pages or frames the first is taken.
    max_side : int
        Larger pictures are made smaller, by areas.
    number : int, default=0
        Position of the item, for messages about arrays.
    """
    cv2 = need("cv2", extra="images")
    is_file = isinstance(item, str | Path)
    picture = _decode(Path(item), cv2) if is_file else _check_array(item, number)
    height, width = picture.shape[:2]
    scale = max_side / max(height, width)
    if scale < 1:
        # whole pixels, and at least one: a picture may be a thin line
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
    _check_claims(data, path)
    with _quiet(cv2):
        try:
            picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        except cv2.error as error:
            raise ValueError(f"{_damaged(path)} ({error}).") from error
    if picture is None:
        raise ValueError(f"{_damaged(path)}.")
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)


def _read_bytes(path: Path) -> bytes:
    if not path.is_file():
        raise FileNotFoundError(f"There is no picture {shown_path(path)}.")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(
            f"The picture {shown_path(path)} has {size:,} bytes; at most {MAX_BYTES:,} are read. "
            "Make it smaller."
        )
    return path.read_bytes()


def _check_claims(data: bytes, path: Path) -> None:
    try:
        size = picture_size(data)
    except (struct.error, IndexError) as error:  # the file ends within its header
        raise ValueError(f"{_damaged(path)}: its header is wrong, or it ends early.") from error
    if size is None:
        raise ValueError(
            f"{shown_path(path)} is not a picture in a format that is read here (PNG, JPEG, GIF, "
            "BMP, WebP, TIFF). Convert it, or give it as an array."
        )
    if not 0 < size[0] * size[1] <= MAX_PIXELS:
        raise ValueError(
            f"The picture {shown_path(path)} claims {size[0]:,} x {size[1]:,} pixels; between 1 "
            f"and {MAX_PIXELS:,} are read. Make it smaller, or leave it out."
        )


def _damaged(path: Path) -> str:
    return f"The picture {shown_path(path)} is damaged and cannot be decoded"


@contextmanager
def _quiet(cv2: Any) -> Iterator[None]:
    """What OpenCV would write to standard error about a damaged file stands in our error."""
    logging = cv2 if hasattr(cv2, "setLogLevel") else cv2.utils.logging  # there since 4.13
    before = logging.setLogLevel(0)  # silent
    try:
        yield
    finally:
        logging.setLogLevel(before)


# -- headers --------------------------------------------------------------------------------------


def picture_size(data: bytes) -> Size | None:
    """Width and height that a picture's header claims; None if the format is not known.

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
        # a decoder may reserve what a chunk claims before it looks whether it is there
        at += 12 + struct.unpack_from(">I", data, at)[0]
    return struct.unpack_from(">II", data, 16)


def _gif(data: bytes) -> Size:
    return struct.unpack_from("<HH", data, 6)


def _bmp(data: bytes) -> Size:
    if struct.unpack_from("<I", data, 14)[0] == 12:  # the oldest kind of header
        return struct.unpack_from("<HH", data, 18)
    width, height = struct.unpack_from("<ii", data, 18)
    return width, abs(height)  # negative: rows from top to bottom


def _jpeg(data: bytes) -> Size:
    """The first frame's header; segment after segment, each with its length."""
    at = 2
    while True:
        while data[at + 1] == 0xFF:  # bytes that may fill the gap before a marker
            at += 1
        marker = data[at + 1]
        # a decoder would look for the next marker; we could then see another size than it does
        if data[at] != 0xFF or marker <= 1 or 0xD0 <= marker <= 0xD9:
            raise IndexError
        length = struct.unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            _check_end(data, at)
            return width, height
        at += 2 + length


def _check_end(data: bytes, at: int) -> None:
    # a picture cut short would be filled with gray by some versions of the decoder
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
    """Tags 256 and 257 of the first page; each is a short or a long integer."""
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
