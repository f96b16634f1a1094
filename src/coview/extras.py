"""Optional packages: imported on first use, with an error that says how to install them."""

from importlib import import_module
from types import ModuleType

PURPOSES = {
    "images": "image files",
    "parquet": "Parquet files",
    "scverse": "multi-omics files (.h5mu)",
    "graph": "approximate neighbor graphs",
    "plot": "plots",
    "serve": "services",
    "dask": "clusters and remote storage",
}


def need(module: str, extra: str) -> ModuleType:
    """Import an optional module, or raise an error that says how to install it.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        The extra of coview that installs it, a key of `PURPOSES`.

    Examples
    --------
    >>> need("json", extra="plot").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{PURPOSES[extra].capitalize()} need the package {module!r}, which is not installed "
            f"(or could not be imported: {error}). Install it with: pip install 'coview[{extra}]'"
        ) from error


def need_pandas(instead: str) -> ModuleType:
    """Import pandas, which no extra installs, or raise an error that says what to do without it.

    Parameters
    ----------
    instead : str
        What can be done instead: "take ...".
    """
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError(
            f"A DataFrame needs pandas, which is not installed: pip install pandas, or {instead}."
        ) from error
