"""The start from MVC: that of the baseline, whatever the model and the views that are missing."""

import numpy as np
import pytest

from coview import (
    MGGM,
    MVPLSA,
    PLSA,
    DataWarning,
    DivergenceCoPLSA,
    LinkPLSA,
    PairwiseCoPLSA,
    Views,
)
from coview.baselines import MVC
from coview.datasets import make_views

SHORT = {"max_iter": 3, "tol": 0.0}


@pytest.fixture(scope="module")
def views():
    return make_views(60, 3, [30, 20, 25], doc_length=15, missing=0.2, random_state=2)


@pytest.mark.parametrize("cls", [LinkPLSA, MVPLSA, MGGM, DivergenceCoPLSA, PairwiseCoPLSA])
def test_the_start_is_the_baseline_with_the_same_seed(views, cls):
    given = MVC(3, random_state=7).fit(views).labels_
    expected = cls(3, init=given, random_state=7, **SHORT).fit(views)
    model = cls(3, init="mvc", random_state=7, **SHORT).fit(views)
    np.testing.assert_array_equal(model.doc_topic_, expected.doc_topic_)
    other = cls(3, init=np.roll(given, 1), random_state=7, **SHORT).fit(views)
    assert (model.doc_topic_ != other.doc_topic_).any()


def test_dense_views_start_as_the_baseline_too(rng):
    centers = rng.normal(size=(3, 6)).repeat(20, axis=0)
    dense = {"b": centers + 0.5 * rng.normal(size=(60, 6)), "a": rng.random((60, 4))}
    given = MVC(3, random_state=1).fit(dense).labels_
    expected = LinkPLSA(3, init=given, random_state=1, **SHORT).fit(dense)
    model = LinkPLSA(3, init="mvc", random_state=1, **SHORT).fit(dense)
    np.testing.assert_array_equal(model.doc_topic_, expected.doc_topic_)


def test_the_next_restart_has_the_next_seed(views):
    # learned weights would depend on the seed
    same = {"view_weights": "balanced", **SHORT}
    model = LinkPLSA(3, init="mvc", n_init=2, random_state=7, **same).fit(views)
    for restart, found in enumerate(model.trace_.restarts):
        given = MVC(3, random_state=7 + restart).fit(views).labels_
        assert LinkPLSA(3, init=given, **same).fit(views).objective_ == found
    assert len(model.trace_.restarts) == 2


def test_one_view_starts_from_its_own_clusters(views):
    single = views.select("view_0")[views.present[:, 0]]
    model = PLSA(3, init="mvc", random_state=0, **SHORT).fit(single)
    given = MVC(3, random_state=0).fit(single).labels_
    expected = PLSA(3, init=given, random_state=0, **SHORT).fit(single)
    np.testing.assert_array_equal(model.doc_topic_, expected.doc_topic_)


def test_views_that_nobody_or_hardly_anybody_has_are_no_matter(views):
    rare = np.zeros((60, 4))
    rare[:2] = [[3, 1, 0, 0], [0, 0, 2, 5]]  # fewer documents than clusters
    data = {**views.matrices, "rare": rare, "none": np.zeros((60, 5))}
    present = np.column_stack([views.present, rare.any(axis=1), np.zeros(60, bool)])

    odd = Views(data, present=present)
    with pytest.warns(DataWarning, match="No document has a count in 'none'"):
        model = LinkPLSA(3, init="mvc", random_state=0, **SHORT).fit(odd)
    given = MVC(3, random_state=0).fit(odd.select("rare", *views.names)).labels_
    with pytest.warns(DataWarning, match="No document has a count in 'none'"):
        expected = LinkPLSA(3, init=given, random_state=0, **SHORT).fit(odd)
    np.testing.assert_array_equal(model.doc_topic_, expected.doc_topic_)


def test_equal_documents_are_no_matter():
    alike = {"a": np.ones((12, 4)), "b": np.full((12, 3), 2)}
    model = LinkPLSA(3, init="mvc", random_state=0, **SHORT).fit(alike)
    assert np.isfinite(model.doc_topic_).all()


def test_a_wrong_name_lists_it(views):
    with pytest.raises(ValueError, match="'guess', 'mvc', a fitted model"):
        LinkPLSA(3, init="mvd").fit(views)
