"""One service that many tests ask."""

import pytest

from tests.serving.service import running


@pytest.fixture(scope="module")
def service():
    with running() as service:
        yield service
