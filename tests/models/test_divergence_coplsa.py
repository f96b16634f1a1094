"""DivergenceCoPLSA: limits, scale, missing views, search across views."""

import numpy as np
import pytest

from coview import PLSA, DivergenceCoPLSA, LinkPLSA
from coview.datasets import make_views

KINDS = ["skl", "l2", "l1"]
BALANCED = {"view_weights": "balanced"}  # learned weights depend on seed and rounding
FIXED = {"tol": 0.0, "max_iter": 15, "dtype": "float64", "random_state": 0}


@pytest.fixture(scope="module")
def views():
    return make_views(60, 3, [40, 30], doc_length=40, view_noise=0.3, random_state=4)


@pytest.mark.parametrize("divergence", KINDS)
def test_without_strength_each_view_is_a_plsa_of_its_own(views, divergence):
    model = DivergenceCoPLSA(
        3, divergence=divergence, strength=0.0, init=views.labels, view_weights=[1, 1], **FIXED
    ).fit(views)
    for name in views.names:
        alone = PLSA(3, init=views.labels, **FIXED)
        alone._schedule = ("emissions", "thetas")  # the order of steps of the coupled model
        alone.fit(views.select(name))
        np.testing.assert_allclose(model.view_doc_topic_[name], alone.doc_topic_, atol=1e-9)


@pytest.mark.parametrize("divergence", KINDS)
@pytest.mark.parametrize("strength", [1e3, 1e5])
def test_great_strength_comes_to_link_plsa(views, divergence, strength):
    options = {"init": views.labels, "dtype": "float64", "tol": 0.0, "max_iter": 150, **BALANCED}
    model = DivergenceCoPLSA(3, divergence=divergence, strength=strength, **options).fit(views)
    link = LinkPLSA(3, **options)
    link._schedule = ("emissions", "thetas")
    link.fit(views)
    assert model.objective_ == pytest.approx(link.objective_, rel=1e-3)


@pytest.mark.parametrize("divergence", KINDS)
def test_the_scale_of_the_counts_plays_no_part(views, divergence):
    options = {"divergence": divergence, "init": views.labels, **BALANCED, **FIXED}
    a = DivergenceCoPLSA(3, **options).fit(views)
    b = DivergenceCoPLSA(3, **options).fit({n: 5 * m for n, m in views.matrices.items()})
    np.testing.assert_allclose(a.doc_topic_, b.doc_topic_, atol=1e-8)
    assert b.objective_ == pytest.approx(5 * a.objective_)


def test_the_absolute_scale_is_the_papers_lambda_on_normalized_documents(views):
    normal = {n: m / np.asarray(m.sum(axis=1)).reshape(-1, 1) for n, m in views.matrices.items()}
    options = {"init": views.labels, "strength": 0.7, "view_weights": [1, 1], "scaling": None}
    by_mass = DivergenceCoPLSA(3, **options, **FIXED).fit(normal)
    absolute = DivergenceCoPLSA(3, strength_scale="absolute", **options, **FIXED).fit(normal)
    np.testing.assert_allclose(by_mass.doc_topic_, absolute.doc_topic_, atol=1e-8)


@pytest.mark.parametrize("divergence", KINDS)
def test_more_strength_brings_the_views_together(views, divergence):
    apart = []
    for strength in (0.0, 0.3, 10.0):
        model = DivergenceCoPLSA(
            3, divergence=divergence, strength=strength, init=views.labels, **FIXED
        ).fit(views)
        a, b = model.view_doc_topic_.values()
        apart.append(np.abs(a - b).sum())
    assert apart[0] > apart[1] > apart[2]


@pytest.mark.parametrize("strength", [0.0, 1.0])
@pytest.mark.parametrize("divergence", KINDS)
def test_views_that_a_document_lacks_are_filled_in(divergence, strength):
    views = make_views(80, 3, [40, 30, 20], doc_length=40, missing=0.3, random_state=4)
    # the ensemble's view would be one more that the document has
    options = {"divergence": divergence, "ensemble": 0, "random_state": 0}
    model = DivergenceCoPLSA(3, strength=strength, **options).fit(views)
    one = views.present.sum(axis=1) == 1
    assert one.any()
    for d in np.flatnonzero(one):
        rows = [model.view_doc_topic_[n][d] for n in views.names]
        np.testing.assert_allclose(rows, [rows[0]] * 3, atol=1e-5)


@pytest.mark.parametrize("divergence", KINDS)
def test_without_strength_they_are_filled_in_as_with_next_to_none(divergence):
    views = make_views(80, 3, [40, 30, 20], doc_length=40, missing=0.3, random_state=4)
    labels = np.where(np.arange(80) % 8 == 0, views.labels, -1)
    options = {"divergence": divergence, "init": "naive_bayes", **FIXED}
    none, little = (
        DivergenceCoPLSA(3, strength=s, **options).fit(views, labels=labels) for s in (0.0, 1e-9)
    )
    pinned = labels >= 0
    for name in views.names:
        np.testing.assert_allclose(
            none.view_doc_topic_[name], little.view_doc_topic_[name], atol=0.01
        )
        np.testing.assert_array_equal(none.view_doc_topic_[name][pinned], np.eye(3)[labels[pinned]])


@pytest.mark.parametrize(
    ("name", "value"),
    [("divergence", "kl"), ("strength", -1.0), ("strength", np.nan), ("strength", np.inf),
     ("strength_scale", "tokens")],
)  # fmt: skip
def test_bad_parameters_are_named(views, name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        DivergenceCoPLSA(3, **{name: value}).fit(views)
