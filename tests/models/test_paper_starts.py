"""The starts of Zhuang et al. (2012) and Wang et al. (2017), taken literally."""

import numpy as np
import pytest

from coview import MGGM, MVPLSA, DualPLSA
from coview.datasets import make_views
from coview.em.emissions import random_feature_topics
from coview.models import mggm
from tests.reference import mvplsa

FIXED = {"tol": 0.0, "max_iter": 4, "dtype": "float64", "random_state": 0}
RANDOM = {"feature_topics_init": "random"}


@pytest.fixture(scope="module")
def views():
    return make_views(50, 3, [30, 20], missing=0.2, random_state=2)


def test_random_factors_are_distributions_over_the_terms_that_occur(rng):
    p_w_z = rng.dirichlet(np.ones(6), 3)
    p_w_z[:, 4] = 0
    p_y_z, p_w_y = random_feature_topics(p_w_z, 5, rng)
    assert p_y_z.shape == (3, 5)
    np.testing.assert_allclose(p_y_z.sum(axis=1), 1)
    np.testing.assert_allclose(p_w_y.sum(axis=1), 1)
    assert (p_y_z > 0).all()
    assert ((p_w_y == 0).all(axis=0) == [False] * 4 + [True, False]).all()
    assert not random_feature_topics(np.zeros((3, 6)), 5, rng)[1].any()  # a view without counts


def test_a_fit_from_random_factors_is_that_of_the_naive_loops(views, monkeypatch):
    started = []
    problem = MVPLSA._problem

    def keep(self, data, start, rng):
        started.append((problem(self, data, start, rng), data))
        return started[-1][0]

    monkeypatch.setattr(MVPLSA, "_problem", keep)
    theta = np.random.default_rng(1).dirichlet(np.ones(3), len(views))
    model = MVPLSA(3, 4, init=theta, **RANDOM, **FIXED).fit(views)
    first, data = started[0]
    np.testing.assert_allclose(first.mixtures[0][~data.empty], theta[~data.empty])
    states, _ = mvplsa.mvplsa(
        [m.toarray() for m in data.matrices],
        first.mixtures[0],
        [e.p_y_z for e in first.emissions],
        [e.p_w_y_by_term.T for e in first.emissions],
        4,
        data.weights,
        data.present,
    )
    np.testing.assert_allclose(model.doc_topic_, states[-1][0], atol=1e-9)


@pytest.mark.parametrize("cls", [DualPLSA, MVPLSA, MGGM])
def test_random_factors_depend_on_the_seed_alone(views, cls):
    data = views.concat() if cls is DualPLSA else views
    options = {**FIXED, "init": views.labels}
    one, same = (cls(3, 4, **RANDOM, **options).fit(data) for _ in range(2))
    other = cls(3, 4, **RANDOM, **{**options, "random_state": 1}).fit(data)
    np.testing.assert_array_equal(one.doc_topic_, same.doc_topic_)
    assert np.abs(one.doc_topic_ - other.doc_topic_).max() > 0
    with pytest.raises(ValueError, match="feature_topics_init must be one of 'topics', 'random'"):
        cls(3, 4, feature_topics_init="kmeans").fit(data)


@pytest.mark.parametrize("labels", [False, True])
def test_the_mixtures_of_concat_ltm_are_the_start(views, monkeypatch, labels):
    fitted, starts = [], []

    class Recorded(mggm.LTM):
        def fit(self, X, y=None, **options):
            fitted.append(super().fit(X, y, **options))
            return fitted[-1]

    problem = MGGM._problem

    def keep(self, data, start, rng):
        starts.append((start, data))
        return problem(self, data, start, rng)

    monkeypatch.setattr(mggm, "LTM", Recorded)
    monkeypatch.setattr(MGGM, "_problem", keep)
    known = np.where(np.arange(50) % 5 == 0, views.labels, -1) if labels else None
    model = MGGM(3, 4, init="ltm_mixtures", **RANDOM, **FIXED).fit(views, labels=known)
    start, data = starts[0]
    assert start.name == "ltm_mixtures"
    free = ~data.empty if known is None else ~data.empty & (known < 0)
    np.testing.assert_allclose(start.theta[free, :3], fitted[0].doc_topic_[free], atol=1e-6)
    assert model.doc_topic_.shape == (50, 3)
