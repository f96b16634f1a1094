"""A folder of pictures, with captions beside them and classes as subfolders, as documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coview.reading.image_files import SUFFIXES, shown_path
from coview.reading.images import image_views
from coview.wording import listing, plural, quoted


class PictureFolder(NamedTuple):
    """Pictures in the order of their names; lists of the same length."""

    paths: list[Path]
    ids: list[str]
    captions: list[str | None] | None
    labels: list[int] | None = None
    label_names: list[str] | None = None


def read_picture_folder(folder: str | Path) -> PictureFolder:
    """The pictures of a folder, or of its subfolders, whose names are then the classes.

    A picture's id is its name without the suffix (with the subfolder before it), its caption
    the text in ``<name>.txt`` beside it. Hidden files, and files of other kinds, are left alone.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {shown_path(folder)}.")
    top = _pictures(folder)
    classes = {sub.name: found for sub in _visible(folder) if (found := _pictures(sub))}
    if top and classes:
        raise ValueError(
            f"{shown_path(folder)} holds pictures ({listing([p.name for p in top], 2)}) and "
            f"subfolders with pictures ({listing(classes, 3)}). Put all into subfolders, one for "
            "each class, or none."
        )
    paths = top or [path for found in classes.values() for path in found]
    if not paths:
        raise ValueError(f"{shown_path(folder)} holds no picture ({', '.join(sorted(SUFFIXES))}).")
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
                f"{shown_path(by_id[name])} and {shown_path(path)} would be one document, "
                f"{quoted(name)}. Rename or remove one of them."
            )
        by_id[name] = path
    return list(by_id)


def _captions(paths: Sequence[Path]) -> list[str | None] | None:
    captions = [_caption(path.with_suffix(".txt")) for path in paths]
    return None if all(caption is None for caption in captions) else captions


def _caption(path: Path) -> str | None:
    if not path.is_file():
        return None
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"The caption {shown_path(path)} is not UTF-8 text: {error}.") from error


# -- pictures and captions together ---------------------------------------------------------------


def picture_parts(
    images: Any,
    captions: Any,
    ids: Any,
    labels: Any,
    names: tuple[str, str],
    caption_options: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Keyword arguments of `Views` from pictures and their captions; see `Views.from_images`."""
    found = _found(images)
    captions = found.captions if captions is None else _check_captions(captions, found.paths)
    parts = image_views(found.paths, names[0], **options)
    if captions is not None:
        parts = _joined(parts, _caption_parts(names[1], captions, caption_options or {}))
    own = labels is None
    return {
        **parts,
        "ids": (found.ids or None) if ids is None else ids,
        "labels": found.labels if own else labels,
        "label_names": found.label_names if own else None,
    }


def _found(images: Any) -> PictureFolder:
    if isinstance(images, str | Path):
        return read_picture_folder(images)
    if not isinstance(images, Iterable):
        raise TypeError(
            f"images must be a folder, or a list of paths, arrays and None; got {images!r}."
        )
    return PictureFolder(list(images), [], None)


def _check_captions(captions: Any, paths: Sequence[Any]) -> list[Any]:
    if isinstance(captions, str) or not isinstance(captions, Iterable):
        raise TypeError(f"captions must be a list of texts, or None; got {captions!r}.")
    captions = list(captions)
    if len(captions) != len(paths):
        raise ValueError(
            f"There are {plural(len(paths), 'picture')}, but {plural(len(captions), 'caption')}. "
            "Give one for each picture, None where there is none."
        )
    return captions


def _caption_parts(name: str, captions: list[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    # not at the top: only captions need scikit-learn's tools for texts, which are slow to import
    from coview.reading.columns import read_texts
    from coview.reading.text import TextOptions

    return read_texts({name: captions}, TextOptions(**options))


def _joined(images: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    twice = images["data"].keys() & texts["data"].keys()
    if twice:
        raise ValueError(f"Two views would be called {listing(twice)}: choose another name.")
    keys = ("data", "features", "present", "recipes")
    return {key: {**images[key], **texts.get(key, {})} for key in keys}
