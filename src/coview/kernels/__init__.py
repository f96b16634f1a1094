"""The numeric inner loops, in numba: arrays in, arrays out; no classes, no validation.

Importing a kernel module imports numba, so the rest of the package imports them inside functions.
"""

from typing import Any

from numba.core import event

from coview.compiling import announce


class _Compilation(event.Listener):
    """Announces that a kernel of coview is compiled, which happens once for each computer."""

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__  # None of code made by `exec`
        if module is not None and module.startswith("coview."):
            announce()

    def on_end(self, event: Any) -> None:
        """Do nothing: only the beginning is announced."""


event.register("numba:compile", _Compilation())
