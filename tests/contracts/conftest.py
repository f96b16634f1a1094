"""Data and fitted models that the contracts share."""

import copy

import numpy as np
import pytest

from coview import Views
from coview.datasets import make_views
from coview.views import blocks
from tests.contracts.models import MODELS


def pytest_generate_tests(metafunc):
    if "entry" in metafunc.fixturenames:
        several = metafunc.definition.get_closest_marker("several_views")
        own = [entry for entry in MODELS if not (several and entry.one_view)]
        metafunc.parametrize("entry", _with_slow_variants(own))


def _with_slow_variants(entries):
    """Mark all but the first entry of each model as slow."""
    known, marked = set(), []
    for entry in entries:
        model = str(entry).split("-")[0]
        marks = [pytest.mark.slow] if model in known else []
        marked.append(pytest.param(entry, marks=marks, id=str(entry)))
        known.add(model)
    return marked


@pytest.fixture(scope="session")
def all_views():
    """Planted topics in three views; some documents lack views."""
    views = make_views(80, 3, [30, 20, 25], doc_length=40, missing=0.2, random_state=3)
    seen = {n: m[:, m.sum(axis=0) > 3] for n, m in views.matrices.items()}
    return Views(seen, labels=views.labels, present=views.present)


@pytest.fixture
def views(entry, all_views):
    """Data for the model at hand: all views, or one with every document."""
    if not entry.one_view:
        return all_views
    name = all_views.names[0]
    has = np.flatnonzero(all_views.present[:, 0])
    return Views({name: all_views[has][name]}, labels=all_views.labels[has])


@pytest.fixture(scope="session")
def kept_models():
    return {}


@pytest.fixture
def fitted(entry, views, kept_models):
    """Return a copy of the model at hand, fitted to `views`.

    Each set of parameters is fitted once for all tests: fitting is most of their time. A test that
    changes how models are fitted calls `entry(...).fit(views)` instead.
    """

    def get(**params):
        key = (entry, *sorted(params.items()))
        if key not in kept_models:
            kept_models[key] = entry(**params).fit(views)
        return copy.deepcopy(kept_models[key])

    return get


@pytest.fixture
def many_blocks(monkeypatch):
    """Cut even small data into many blocks."""
    monkeypatch.setattr(blocks, "MIN_NONZEROS", 50)
    monkeypatch.setattr(blocks, "MAX_NONZEROS", 60)
