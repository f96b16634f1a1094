"""A user's own data in a plan: a views folder, a folder of images, a table or an .h5mu file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from coview.views.container import Views
from coview.views.folder import is_views_folder
from coview.wording import quoted, suggestion

FINGERPRINT = "sha256"  # among the options: the contents are part of a cell, since they may change


def is_own(name: str) -> bool:
    """Return whether a name is the path of data; names of data sets go before paths."""
    return name not in _built_in() and name not in _registered() and Path(name).exists()


def load_own(name: str, options: Mapping[str, Any]) -> Views:
    """Read a user's own data.

    Parameters
    ----------
    name : str
        The path of a views folder, a folder of images, an .h5mu file, or else a table.
    options : dict
        Arguments of the reader of that kind: of `Views.load`, `Views.from_images`,
        `Views.from_mudata` or `Views.from_table`.
    """
    read = reader_of(name)
    given = {n: v for n, v in options.items() if n != FINGERPRINT}
    check_options(name, given, read)
    return read(name, **given)


def reader_of(name: str) -> Callable[..., Views]:
    """Return the function that reads the data at a path."""
    path = Path(name)
    if path.is_dir():
        return Views.load if is_views_folder(path) else Views.from_images
    return Views.from_mudata if path.suffix.lower() == ".h5mu" else Views.from_table


def check_options(name: str, options: Mapping[str, Any], read: Callable[..., Any]) -> None:
    """Refuse options that a reader or loader does not take, with the one that was likely meant."""
    parameters = signature(read).parameters
    known = [n for n, p in parameters.items() if p.kind is not Parameter.VAR_KEYWORD]
    takes_more = len(known) < len(parameters)  # those of the counting of words: it checks them
    for option in options:
        if option not in known and not takes_more:
            raise ValueError(
                f"The data set {quoted(name)} takes no option {quoted(option)}."
                f"{suggestion(option, known)} It takes {', '.join(known[1:])}."
            )
    if read == Views.from_table and not {"text", "tokens", "image"} & set(options):
        raise ValueError(
            f"Say which columns of {quoted(name)} are views: options = {{text = [...]}}, or tokens "
            "or image."
        )


def _built_in() -> dict[str, Callable[..., Views]]:
    from coview.datasets import load_digits_views, load_python_api, make_views

    return {"digits": load_digits_views, "python-api": load_python_api, "make_views": make_views}


def _registered() -> Mapping[str, Any]:
    from coview.datasets.registry import DATASETS

    return DATASETS


def built_in_loader(name: str) -> Callable[..., Views] | None:
    """Return the loader of a data set that comes with coview, None for other names."""
    return _built_in().get(name)


def is_registered(name: str) -> bool:
    """Return whether a name is that of a data set of the papers."""
    return name in _registered()


def known_names() -> list[str]:
    """Return the names of all data sets that coview knows."""
    return [*_built_in(), *_registered()]
