"""Public names that are imported on first use, so that importing a package costs nothing."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], public: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package (PEP 562).

    `homes` gives for each public name the module it lives in, relative to the package; the name of
    a submodule stands for itself. `public` is the package's `__all__`.
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name]}")
        return module if homes[name] == name else getattr(module, name)

    def __dir__() -> list[str]:
        return sorted(public)

    return __getattr__, __dir__
