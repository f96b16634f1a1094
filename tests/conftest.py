"""Small data that many tests share, and seeds that are the same in every run."""

import itertools
import os
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from coview import params


def pytest_report_header():
    folder = os.environ.get("COVIEW_DATA")
    return f"COVIEW_DATA: {'set' if folder else 'not set: tests on the papers’ data are skipped'}"


@pytest.fixture(scope="session", autouse=True)
def fresh_seeds_are_the_same_in_every_run():
    """Fits without a seed get one of the test they are in: a test that passes passes again."""
    drawn = defaultdict(itertools.count)

    def of_this_test() -> int:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        return (zlib.crc32(test.encode()) + next(drawn[test])) % 2**32

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(params, "_fresh_seed", of_this_test)
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20240)


@pytest.fixture(scope="session")
def papers_data():
    """The folder with the papers' datasets."""
    folder = os.environ.get("COVIEW_DATA")
    if not folder:
        pytest.skip("COVIEW_DATA is not set: the papers' data are not at hand")
    return Path(folder)
