"""The known kinds of fault, numbered, and which of them do not apply to coview yet.

A test of row 24 is named ``test_row_24_...``; `tests/faults/test_catalog.py` checks that none is
missing, and the report of the campaign (docs/reliability.md) lists them.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """A kind of fault in a few words, and why it does not apply yet, if it does not."""

    fault: str
    not_yet: str = ""


_FAULTS = {
    # data
    1: "a count that is not a number",
    2: "an infinite count",
    3: "counts below zero",
    4: "a document without a word",
    5: "a term that never occurs",
    6: "no count anywhere",
    7: "a single document",
    8: "a matrix without rows or without columns",
    9: "more topics than documents or terms",
    10: "a single topic",
    11: "so many topics that memory cannot hold them",
    12: "the same document twice",
    13: "views of different lengths",
    14: "ids of two views in different orders",
    15: "an id twice",
    16: "documents that lack a view",
    17: "documents that lack every view",
    18: "new documents with a view that the model does not know, or without one that it does",
    19: "integers above what a double counts exactly",
    20: "sums that single precision cannot hold",
    21: "indices of 64 bits",
    22: "unsorted or repeated entries",
    23: "zeros that are stored",
    24: "a sparse matrix that points outside itself",
    25: "a sparse matrix whose rows end before they begin",
    26: "half precision",
    27: "an array of objects",
    28: "an array of truth values",
    29: "complex numbers",
    30: "an array on disk that must not be written to",
    31: "the many layouts of a matrix",
    32: "weights with fractions",
    33: "frames with missing values",
    34: "new documents with the terms in another order",
    35: "new documents with unknown terms",
    # parameters and labels
    36: "labels that are no classes",
    37: "every document labeled",
    38: "no document labeled",
    39: "a class whose documents are empty",
    40: "a strength below zero, infinite or not a number",
    41: "a view of weight zero",
    42: "all views of weight zero",
    43: "a tolerance of zero",
    44: "a tolerance below zero or not a number",
    45: "no iteration at all",
    46: "an objective that falls",
    47: "an observed word whose probability underflows",
    48: "the kinds of random state",
    49: "restarts that end alike",
    # process, threads, signals
    50: "Ctrl-C during a fit",
    51: "many threads that predict",
    52: "a fork after a fit",
    53: "another number of threads",
    54: "documents cut into another number of blocks",
    55: "no memory left",
    56: "a fit that fails half-way",
    57: "two fits of one estimator at once",
    58: "a process killed during a fit",
    # files
    59: "a full disk while saving",
    60: "a kill while saving",
    61: "a damaged newest state of a fit",
    62: "a model file cut short",
    63: "a flipped bit in a model file",
    64: "a pickle in place of a model",
    65: "a file of a newer version",
    66: "a file of an older version",
    67: "a pickled model of another version",
    68: "a small file that unfolds into a large one",
    69: "an archive whose members lead elsewhere",
    70: "a header that claims more than there is",
    71: "a file that changes after it was opened",
    # services, reports, text
    72: "a request that is too large",
    73: "a client that sends slowly",
    74: "malformed JSON",
    75: "more requests than can be answered",
    76: "an answer that takes too long",
    77: "a client that leaves",
    78: "an error while a request is answered",
    79: "a service open to everyone",
    80: "a path that a client chooses",
    81: "names of any characters",
    82: "a name of a megabyte",
    83: "markup in names",
    84: "names that a spreadsheet would compute",
    85: "names that control a terminal",
    86: "names that fake lines of a log",
}
_NOT_YET: dict[int, str] = {}
ROWS = {number: Row(fault, _NOT_YET.get(number, "")) for number, fault in _FAULTS.items()}

_NAME = re.compile(r"test_row_(\d+)_\w+")


def names_by_row() -> dict[int, list[str]]:
    """Return the names of the tests of each row, found in the files beside this one."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            match = _NAME.fullmatch(getattr(node, "name", ""))
            if match:
                found[int(match[1])].append(match[0])
    return dict(found)
