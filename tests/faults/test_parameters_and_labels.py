"""Known faults of parameters and labels: rows 36 to 49 of the catalogue."""

import numpy as np
import pytest

from coview import LTM, MVPLSA, PLSA, DataWarning, DivergenceCoPLSA, LinkPLSA, PairwiseCoPLSA
from coview.em.loop import run_em
from coview.em.penalties.base import Penalty
from tests.planted import make_case, serial

X = np.random.default_rng(0).poisson(2.0, (20, 12))
TWO = {"a": X, "b": X[:, :5]}
QUICK = {"init": "random", "max_iter": 5, "tol": 0.0, "random_state": 0, "dtype": "float64"}


@pytest.mark.parametrize("label", [2, -2, 0.5])  # NaN says that a document has none
def test_row_36_labels_that_are_no_classes(label):
    labels = np.zeros(20)
    labels[7] = label
    with pytest.raises(ValueError, match="row 7"):
        PLSA(2, **QUICK).fit(X, labels=labels)


@pytest.mark.parametrize("cls", [LinkPLSA, MVPLSA])
def test_row_37_every_document_labeled(cls):
    labels = np.arange(20) % 2
    model = cls(2, **QUICK).fit(TWO, labels=labels)
    assert model.labels_.tolist() == labels.tolist()
    if cls is LinkPLSA:  # one step in closed form: the words of the documents of a class
        expected = X[labels == 1].sum(axis=0) / X[labels == 1].sum()
        np.testing.assert_allclose(model.components_["a"][1], expected, rtol=1e-9)


def test_row_38_no_document_labeled():
    plain, unlabeled = LinkPLSA(2, **QUICK).fit(TWO), LinkPLSA(2, **QUICK)
    unlabeled.fit(TWO, labels=np.full(20, -1))
    np.testing.assert_array_equal(plain.doc_topic_, unlabeled.doc_topic_)


def test_row_39_a_class_of_empty_documents():
    data = np.vstack([X, np.zeros((2, 12))])
    labels = np.where(np.arange(22) < 20, -1, 1)
    with pytest.warns(DataWarning, match="labeled 1 are empty"):
        model = PLSA(2, **QUICK).fit(data, labels=labels)
    assert np.isfinite(model.components_["X"]).all()


@pytest.mark.parametrize("cls", [LTM, PairwiseCoPLSA, DivergenceCoPLSA])
@pytest.mark.parametrize("strength", [-1.0, np.nan, np.inf])
def test_row_40_a_strength_that_is_none(cls, strength):
    data = X if cls is LTM else TWO
    with pytest.raises(ValueError, match="strength must be"):
        cls(2, strength=strength, **QUICK).fit(data)


def test_row_41_a_view_of_weight_zero():
    start = np.random.default_rng(1).dirichlet(np.ones(2), 20)
    options = {**QUICK, "init": start}
    with_b = LinkPLSA(2, view_weights={"a": 1.0, "b": 0.0}, **options).fit(TWO)
    without = LinkPLSA(2, view_weights=[1.0], **options).fit({"a": X})
    np.testing.assert_array_equal(with_b.doc_topic_, without.doc_topic_)


def test_row_42_all_weights_zero():
    with pytest.raises(ValueError, match="All view_weights are 0"):
        LinkPLSA(2, view_weights=[0, 0], **QUICK).fit(TWO)


def test_row_43_a_tolerance_of_zero():
    assert PLSA(2, **{**QUICK, "max_iter": 9}).fit(X).n_iter_ == 9  # a warning would be an error


@pytest.mark.parametrize("tol", [-1e-3, np.nan])
def test_row_44_a_bad_tolerance(tol):
    with pytest.raises(ValueError, match="tol must be"):
        PLSA(2, tol=tol).fit(X)


def test_row_45_no_iterations():
    with pytest.raises(ValueError, match="max_iter must be"):
        PLSA(2, max_iter=0).fit(X)


def test_row_46_an_objective_that_falls(rng):
    class Wrong(Penalty):
        def m_step(self, counts, thetas, present, pinned):
            return tuple(np.roll(theta, 1, axis=1) for theta in thetas)

    with pytest.warns(RuntimeWarning, match="objective fell"):
        run_em(make_case(rng).problem(penalty=Wrong()), serial, max_iter=4, tol=0.0)


def test_row_47_a_word_whose_probability_underflows(rng):
    case = make_case(rng, widths=(6,))
    case.p_w_zs[0][:, 2] = 0
    trace = run_em(case.problem(), serial, max_iter=1, tol=0.0).trace
    assert trace.n_floored[0] == (case.Xs[0][:, 2] > 0).sum() > 0
    assert np.isfinite(trace.objective).all()


def test_row_48_random_states():
    def fit(state):
        return PLSA(2, **{**QUICK, "random_state": state}).fit(X)

    for make in (lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)):
        np.testing.assert_array_equal(fit(make()).doc_topic_, fit(make()).doc_topic_)
    generator = np.random.default_rng(7)
    assert fit(generator).random_state_used_ != fit(generator).random_state_used_
    chosen = fit(None)
    again = fit(chosen.random_state_used_)
    np.testing.assert_array_equal(chosen.doc_topic_, again.doc_topic_)


def test_row_49_restarts_that_end_alike():
    fits = [PLSA(1, n_init=4, **QUICK).fit(X) for _ in range(2)]  # with one topic all are alike
    assert fits[0].objective_ == fits[1].objective_
    np.testing.assert_array_equal(fits[0].doc_topic_, fits[1].doc_topic_)
    best = PLSA(3, n_init=4, **QUICK).fit(X).objective_
    assert best >= PLSA(3, n_init=1, **QUICK).fit(X).objective_
