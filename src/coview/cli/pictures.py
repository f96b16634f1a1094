"""Pictures as data of a command: folders of them, and columns of paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coview.views.container import Views


def source_kinds(model: Any) -> dict[str, str]:
    """Return the kind (text, tokens, image, ...) of each raw source that the model can read."""
    return {recipe.source: recipe.kind for recipe in model.recipes_.values() if recipe is not None}


def raw_folder(folder: Path) -> dict[str, list[Any]]:
    """Return the pictures and captions of a folder, nothing for a views folder."""
    from coview.reading.image_files import read_picture_folder
    from coview.views.folder import is_views_folder

    if is_views_folder(folder):
        return {}
    found = read_picture_folder(folder)
    raw = {"image": found.paths, "caption": found.captions}
    return {name: list(items) for name, items in raw.items() if items is not None}


def folder_ids(folder: Path) -> list[str]:
    """Return the ids of the documents of a folder of pictures."""
    from coview.reading.image_files import read_picture_folder

    return [str(name) for name in read_picture_folder(folder).ids]


def read_images_for(model: Any, folder: Path, new_terms: bool = False) -> Views:
    """Count images and captions in the visual words and terms of the model."""
    from coview.reading.image_files import read_picture_folder
    from coview.views.container import Views

    found = read_picture_folder(folder)
    raw = {"image": found.paths, "caption": found.captions}
    sources = source_kinds(model)
    known = {name: items for name, items in raw.items() if name in sources and items is not None}
    if not known:
        raise ValueError(
            f"{folder} contains images and captions, but the model was not fitted to any."
        )
    return Views(model.read(known, new_terms=new_terms), ids=found.ids)


def resolve_image_paths(
    raw: dict[str, list[Any]], folder: Path, model: Any
) -> dict[str, list[Any]]:
    """Make paths of images relative to the folder of the table, as `fit` does."""
    kinds = source_kinds(model)
    return {
        source: [folder / cell if cell else None for cell in cells]
        if kinds.get(source, "").startswith("image")
        else cells
        for source, cells in raw.items()
    }
