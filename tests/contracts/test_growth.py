"""The memory of a fit grows no faster than the documents."""

import tracemalloc

import pytest
import scipy.sparse as sp

from coview.datasets import make_views
from coview.models import MODEL_NAMES, ONE_VIEW, model_class


def graphs(name, n_docs):
    """A ring for the models that take graphs: blocks of a search have a bound of their own."""
    ring = sp.diags_array([1.0, 1.0], offsets=[1, -1], shape=(n_docs, n_docs), format="csr")
    own = {"ltm": {"graph": ring}, "mggm": {"graphs": {"view_0": ring, "view_1": ring}}}
    return own.get(name, {})


def peak(name, n_docs):
    """Return the peak memory of a small fit, in bytes."""
    views = make_views(n_docs, 3, [40, 30], doc_length=15, random_state=0)
    views = views.concat() if name in ONE_VIEW else views
    options = {"init": "random", "max_iter": 2, "tol": 0.0, "random_state": 0, "n_jobs": 1}
    model = model_class(name)(3, **options, **graphs(name, n_docs))
    tracemalloc.start()
    model.fit(views)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_the_peak_of_a_fit_is_at_most_linear_in_the_documents(name):
    peak(name, 100)  # what is imported and compiled on first use
    assert peak(name, 2000) < 4.2 * peak(name, 500)
