"""Optional libraries: imported when they are needed, with an error that names the extra."""

from importlib import import_module
from types import ModuleType

PURPOSES = {
    "images": "reading pictures",
    "parquet": "Parquet files",
    "scverse": "multi-omics files (.h5mu)",
    "graph": "approximate neighbor graphs",
    "plot": "plots",
}


def need(module: str, extra: str) -> ModuleType:
    """The module, or an error that says how to install it.

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
