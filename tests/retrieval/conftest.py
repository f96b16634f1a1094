"""Data and models that the tests of search share."""

import numpy as np
import pytest

from coview import DivergenceCoPLSA, LinkPLSA, Views
from coview.datasets import make_views
from tests.retrieval.stories import TOPICS, sentences


@pytest.fixture(scope="session")
def stories():
    """Texts in two languages; the last one has no German."""
    rng = np.random.default_rng(0)
    english, german = sentences(rng, 0), sentences(rng, 1)
    ids = [f"{topic}-{i}" for topic in TOPICS for i in range(8)]
    return Views.from_texts({"en": english, "de": [*german[:-1], None]}, ids=ids, max_df=1.0)


@pytest.fixture(scope="session")
def model(stories):
    return LinkPLSA(3, random_state=0).fit(stories)


@pytest.fixture(scope="session")
def planted():
    return make_views(120, 4, [60, 50], doc_length=60, random_state=0)


@pytest.fixture(scope="session")
def coupled(planted):
    """A model with a mixture for each view."""
    return DivergenceCoPLSA(4, init="kmeans", random_state=0, max_iter=30, tol=1e-3).fit(planted)
