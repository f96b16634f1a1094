"""Whether two fits ended in the same bits."""

from dataclasses import fields, is_dataclass

import numpy as np


def assert_same_fit(found, wanted):
    """All fitted attributes are equal, bit by bit."""
    names = {name for name in vars(wanted) if name.endswith("_")}
    assert {name for name in vars(found) if name.endswith("_")} == names
    for name in names:
        assert_same(getattr(found, name), getattr(wanted, name), name)


def assert_same(found, wanted, where):
    """Two values are equal, whatever they consist of."""
    if isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype, where
        same = np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")
        assert same, where
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys(), where
        for key in wanted:
            assert_same(found[key], wanted[key], f"{where}[{key!r}]")
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted), where
        for i, pair in enumerate(zip(found, wanted, strict=True)):
            assert_same(*pair, f"{where}[{i}]")
    elif is_dataclass(wanted):
        for field in fields(wanted):
            here = f"{where}.{field.name}"
            assert_same(getattr(found, field.name), getattr(wanted, field.name), here)
    elif hasattr(wanted, "get_params"):
        assert_same_fit(found, wanted)
    elif isinstance(wanted, float) and wanted != wanted:
        assert found != found, where
    else:
        assert found == wanted, where
