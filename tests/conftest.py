"""Small data that many tests share."""

import os
from pathlib import Path

import numpy as np
import pytest


def pytest_report_header():
    folder = os.environ.get("COVIEW_DATA")
    return f"COVIEW_DATA: {'set' if folder else 'not set: tests on the papers’ data are skipped'}"


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
