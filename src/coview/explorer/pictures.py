"""Small pictures of documents, as data URIs: the page loads nothing."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from coview.extras import need
from coview.reading.image_files import read_picture

SIDES = (128, 96, 64, 48)  # pixels; fewer where there are many pictures
BYTES_PER_PIXEL = 0.35  # of a JPEG of this size, about
QUALITY = 72
_DATA_URI = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")


def small_pictures(
    pictures: Mapping[str, Sequence[Any]], room: int
) -> tuple[dict[str, list[str | None]], list[str]]:
    """Return small pictures as data URIs by view, and what was left out, in words.

    Parameters
    ----------
    pictures : dict of sequence of (path, uint8 array, data URI or None)
        By view, the picture of each document.
    room : int
        Bytes for all pictures together.
    """
    wanted = sum(item is not None for column in pictures.values() for item in column)
    sides = [side for side in SIDES if wanted * side * side * BYTES_PER_PIXEL <= room]
    if not sides and wanted:
        return {}, [f"The {wanted:,} pictures are left out, to keep the page small."]
    return {
        view: [_as_uri(item, sides[0] if sides else SIDES[-1]) for item in column]
        for view, column in pictures.items()
    }, []


def _as_uri(item: Any, side: int) -> str | None:
    if item is None:
        return None
    if isinstance(item, str) and item.startswith("data:"):
        if not _DATA_URI.fullmatch(item):
            raise ValueError("A picture must be 'data:image/png;base64,...' (or jpeg, gif, webp).")
        return item
    cv2 = need("cv2", "images")
    small = read_picture(item, side)
    _, encoded = cv2.imencode(".jpg", small[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return f"data:image/jpeg;base64,{base64.b64encode(encoded.tobytes()).decode('ascii')}"
