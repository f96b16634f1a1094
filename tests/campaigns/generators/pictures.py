"""Pictures in files of six formats, and folders of them, sound and damaged."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case, must_be_refused
from tests.campaigns.damage import damage_file

SUFFIXES = [".png", ".png", ".jpg", ".bmp", ".webp", ".tiff", ".gif"]
EXACT = (".png", ".bmp", ".tiff", ".gif")  # formats that lose nothing
# plain colors, and the bins that they belong to by their names
COLORS = {
    (255, 0, 0): "red s3 v3",
    (0, 255, 0): "green s3 v3",
    (0, 0, 255): "blue s3 v3",
    (0, 255, 255): "cyan s3 v3",
}


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a folder of pictures, one of them perhaps damaged or crafted."""
    suffix = str(rng.choice(SUFFIXES))
    shares = [_write(folder / f"p{i}{suffix}", rng) for i in range(int(rng.integers(1, 4)))]
    path = folder / f"p0{suffix}"
    way = rng.random()
    if way < 0.15:
        what = str(rng.choice(sorted(CRAFTED)))
        CRAFTED[what](folder)
        case = _case(f"{suffix}: {what}", folder, shares, suffix, False)
        return Case(case.what, case.act, must_be_refused(what), ("p9",), "refused", 700 << 20)
    if way < 0.6:
        return _case(f"{suffix}, {damage_file(path, rng)}", folder, shares, suffix, True)
    return _case(f"{len(shares)} {suffix}", folder, shares, suffix, False)


def _case(
    what: str, folder: Path, shares: list[dict[str, float]], suffix: str, damaged: bool
) -> Case:
    def act() -> Any:
        from coview import Views

        return Views.from_images(folder, n_words=0)

    def judge(views: Any) -> str | None:
        matrix, names = views["image_color"].toarray(), list(views.features["image_color"])
        if list(views.ids) != [f"p{i}{suffix}" for i in range(len(shares))]:
            return f"the pictures {views.ids}"
        if not (matrix.sum(axis=1) == 1000).all() or (matrix < 0).any():
            return "colors that are not 1,000 counts of a picture"
        if suffix not in EXACT:
            return None
        # no format but PNG keeps checksums: a damaged picture may have other dots
        first = 1 if damaged else 0
        for row, share in zip(matrix[first:], shares[first:], strict=True):
            got = {names[c]: row[c] / 1000 for c in np.flatnonzero(row)}
            if any(abs(got.get(n, 0) - share.get(n, 0)) > 0.002 for n in {*got, *share}):
                return f"the colors {got} instead of {share}"
        return None

    return Case(what, act, judge, ("picture", "p0"), "either" if damaged else "right", 900 << 20)


def _write(path: Path, rng: np.random.Generator) -> dict[str, float]:
    """Write stripes of plain colors; return the share of each color's bin."""
    import cv2

    names = [list(COLORS)[i] for i in rng.integers(0, len(COLORS), 4)]
    rgb = np.repeat(np.array(names, np.uint8)[np.newaxis].repeat(16, 0), 4, axis=1)
    if path.suffix == ".gif":
        path.write_bytes(_gif(rgb))
    else:
        cv2.imwrite(str(path), rgb[:, :, ::-1])
    shares = Counter(COLORS[name] for name in names)
    return {name: count / 4 for name, count in shares.items()}


def _gif(rgb: np.ndarray) -> bytes:
    """Return an uncompressed GIF: each dot a code of three bits, a clear code before each."""
    height, width = rgb.shape[:2]
    palette = list(COLORS)
    table = bytes(c for color in palette for c in color)
    codes = [code for dot in rgb.reshape(-1, 3) for code in (4, palette.index(tuple(dot.tolist())))]
    bits = sum(code << (3 * at) for at, code in enumerate([*codes, 5]))
    data = bits.to_bytes((3 * (len(codes) + 1) + 7) // 8, "little")
    blocks = b"".join(
        bytes([len(b)]) + b for b in (data[i : i + 255] for i in range(0, len(data), 255))
    )
    screen = struct.pack("<HHBBB", width, height, 0xF1, 0, 0)
    image = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0)
    return b"GIF89a" + screen + table + image + b"\x02" + blocks + b"\0;"


# -- crafted pictures ------------------------------------------------------------------------------


def _png(folder: Path, width: int, height: int, data: bytes) -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + check

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    parts = head + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    (folder / "p9.png").write_bytes(b"\x89PNG\r\n\x1a\n" + parts)


CRAFTED: dict[str, Any] = {
    "a claim of 10**10 dots": lambda f: _png(f, 100_000, 100_000, b"\0" * 100),
    "a claim of no dots": lambda f: _png(f, 0, 5, b""),
    "text with the suffix of a picture": lambda f: (f / "p9.png").write_text("not a picture"),
    "an empty file": lambda f: (f / "p9.jpg").write_bytes(b""),
    "one name with two suffixes": lambda f: (
        (f / "p9.png").write_bytes(b"\x89PNG"),
        (f / "p9.jpg").write_bytes(b"\xff\xd8\xff"),
    ),
}
