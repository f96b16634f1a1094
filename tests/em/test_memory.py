"""The memory that a fit says it takes is what it takes, the ensemble included."""

import tracemalloc

import numpy as np
import pytest

from coview import MVPLSA, LinkPLSA
from coview.datasets import make_views
from coview.em import prepared
from coview.em.prepared import fit_bytes
from coview.models import ONE_VIEW, model_class

SHORT = {"random_state": 0, "max_iter": 2, "tol": 0.0}
CASES = {
    "many terms": (make_views(900, 5, [12_000, 400], doc_length=30, random_state=0), 20),
    "many documents": (make_views(7_000, 5, [200, 100], doc_length=20, random_state=0), 5),
    "families": (make_views(3_000, 5, [300, 200], doc_length=20, random_state=0), 40),
}


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    LinkPLSA(3, **SHORT).fit(make_views(100, 3, [30, 20], random_state=0))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_the_peak_of_a_fit_is_below_its_estimate_and_not_far_from_it(case):
    views, n_topics = CASES[case]
    model = LinkPLSA(n_topics, **SHORT)
    tracemalloc.start()
    model.fit(views)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    copies = sum(4 * m.nnz for m in views.matrices.values())  # in the precision of the model
    estimate = fit_bytes(list(views.matrices.values()), n_topics, 1, 4, clusters=True) + copies
    assert estimate / 3 < peak < estimate


@pytest.mark.parametrize(
    ("options", "clusters"),
    [({}, True), ({"init": "random"}, False), ({"init": "random", "ensemble": 0.2}, True)],
)
def test_a_fit_is_refused_for_the_memory_of_its_ensemble(monkeypatch, options, clusters):
    views = make_views(60, 3, [30, 20], random_state=0)
    asked = []
    monkeypatch.setattr(prepared, "check_memory", lambda estimate, what: asked.append(estimate))
    LinkPLSA(3, **SHORT, **options).fit(views)
    matrices = list(views.matrices.values())
    assert asked == [fit_bytes(matrices, 3, 1, np.dtype("float32").itemsize, clusters)]


@pytest.mark.parametrize("name", ["dual", "mvplsa", "mggm"])
@pytest.mark.parametrize("number", [2**31, 2**40, {"a": 2, "b": 2**40}])
def test_feature_topics_are_refused_before_they_are_allocated(name, number):
    views = make_views(30, 3, {"a": 20, "b": 15}, random_state=0)
    if name in ONE_VIEW:
        views = views.select("a")
        number = max(number.values()) if isinstance(number, dict) else number
    model = model_class(name)(3, n_feature_topics=number, **SHORT)
    with pytest.raises(
        MemoryError, match=r"feature topics \(n_feature_topics\).* GB are available"
    ):
        model.fit(views)


def test_the_estimate_of_feature_topics_is_that_of_a_fit():
    views = make_views(50, 3, [3000, 2000], random_state=0)
    model = MVPLSA(3, n_feature_topics=100, init="random", random_state=0, max_iter=3, tol=0.0)
    model.fit(views)  # what is compiled is allocated as well
    tracemalloc.start()
    model.fit(views)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = fit_bytes(list(views.matrices.values()), 3, 1, 4, False, [100, 100])
    assert estimate / 3 < peak < 1.5 * estimate
