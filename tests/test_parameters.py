"""Parameters of the estimators: edge cases and errors."""

import inspect
import subprocess
import sys
from typing import Literal

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from coview import LTM, MGGM, PLSA, DataWarning, DualPLSA, LinkPLSA, PairwiseCoPLSA, Views

X = np.random.default_rng(0).poisson(2.0, (20, 12))
TWO = {"a": X, "b": X[:, :5]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0), ("n_components", 2.5), ("n_components", True),
        ("n_init", 0), ("max_iter", 0), ("max_iter", "many"),
        ("tol", -1e-3), ("tol", np.nan), ("tol", np.inf),
        ("fold_in_max_iter", 0), ("fold_in_max_iter", 1.5),
        ("fold_in_tol", -1e-3), ("fold_in_tol", None),
        ("scaling", "minmax"), ("assign", "vote"), ("dtype", "float16"), ("dtype", "int"),
        ("n_jobs", 0), ("n_jobs", 1.5), ("random_state", -1), ("random_state", "x"),
    ],
)  # fmt: skip
def test_a_bad_value_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        PLSA(**{"n_components": 2, "random_state": 0, name: value}).fit(X)


def test_the_number_of_feature_topics_is_checked():
    with pytest.raises(ValueError, match="n_feature_topics must be"):
        DualPLSA(2, 0).fit(X)


@pytest.mark.parametrize("model", [PLSA(2), DualPLSA(2)])
def test_a_model_of_one_view_names_the_ways_out(model):
    with pytest.raises(ValueError, match=r"views\.concat\(\).*LinkPLSA"):
        model.fit(TWO)


def test_a_model_of_one_view_takes_concatenated_views():
    assert PLSA(2, random_state=0).fit(Views(TWO).concat()).n_features_in_ == 17


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("even", "must be one of 'learn', 'balanced', 'equal'"),
        ([1.0], "1 numbers for 2 views"),
        ({"a": 1.0}, "names the views"),
        ({"a": 1.0, "c": 1.0}, "names the views"),
        ([1.0, -1.0], r"view_weights\['b'\] must be"),
        ([1.0, np.nan], r"view_weights\['b'\] must be"),
        ([0.0, 0.0], "All view_weights are 0"),
    ],
)
def test_bad_view_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        LinkPLSA(2, view_weights=weights).fit(TWO)


def test_balanced_weights_give_each_view_the_same_mass_on_an_average_document():
    lacking = X.astype(float)
    lacking[10:] = 0  # half of the documents lack the view
    model = LinkPLSA(2, random_state=0).fit({"a": X, "b": lacking * 3})
    w = model.view_weights_
    assert w["a"] * X.sum() / 20 == pytest.approx(w["b"] * 3 * X[:10].sum() / 10)
    assert PLSA(2, random_state=0).fit(X).view_weights_ == {"X": 1.0}


def test_a_view_with_weight_zero_leaves_the_mixtures_as_without_it():
    start = np.random.default_rng(1).dirichlet(np.ones(2), 20)
    options = {"init": start, "tol": 0.0, "max_iter": 10, "dtype": "float64"}
    with_b = LinkPLSA(2, view_weights={"a": 1.0, "b": 0.0}, **options).fit(TWO)
    without = LinkPLSA(2, view_weights=[1.0], **options).fit({"a": X})
    np.testing.assert_array_equal(with_b.doc_topic_, without.doc_topic_)
    np.testing.assert_allclose(with_b.components_["b"].sum(axis=1), 1)


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ("magic", "init must be one of"),
        (np.ones((20, 3)), r"\(20, 2\), found \(20, 3\)"),
        (np.ones((5, 2)), r"\(20, 2\), found \(5, 2\)"),
        (-np.ones((20, 2)), "non-negative"),
        (np.full((20, 2), np.nan), "finite"),
        (np.zeros((20, 2)), "positive sum"),
        (np.full(20, 2), "0 to 1"),
        (np.zeros(7, int), "20 documents"),
    ],
)
def test_bad_starts(init, message):
    with pytest.raises(ValueError, match=message):
        PLSA(2, init=init).fit(X)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(20, 2), "0 to 1"),
        (np.full(20, -2), "-1"),
        (np.full(20, 0.5), "integer"),
        (np.zeros(3, int), "20 documents"),
        (["a"] * 20, "TopicClassifier"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        PLSA(2).fit(X, labels=labels)


def test_zero_tolerance_runs_all_iterations_without_a_warning():
    assert PLSA(2, tol=0.0, max_iter=7, random_state=0).fit(X).n_iter_ == 7


def test_no_convergence_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        PLSA(2, tol=1e-12, max_iter=3, random_state=0).fit(X)


def test_more_topics_than_documents_or_terms_is_a_warning():
    with pytest.warns(DataWarning, match="25 topics"):
        PLSA(25, random_state=0, tol=0.0, max_iter=3).fit(X)


@pytest.mark.filterwarnings("ignore::coview.DataWarning")
def test_the_estimate_of_memory_comes_before_the_allocation(monkeypatch):
    from coview.em import prepared as prepare

    monkeypatch.setattr(prepare, "make_blocks", lambda *a, **k: pytest.fail("allocated"))
    with pytest.raises(MemoryError, match="100,000,000,000 topics"):
        PLSA(100_000_000_000).fit(X)


@pytest.mark.parametrize(
    "make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)]
)
def test_the_same_random_state_gives_the_same_bits(make):
    a, b = (PLSA(3, random_state=make(), tol=1e-3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)


def test_a_generator_is_consumed_and_none_differs_each_time():
    rng = np.random.default_rng(0)
    for state in (rng, None):
        a, b = (PLSA(3, random_state=state, tol=1e-3).fit(X) for _ in range(2))
        assert a.random_state_used_ != b.random_state_used_
        again = PLSA(3, random_state=a.random_state_used_, tol=1e-3).fit(X)
        np.testing.assert_array_equal(a.doc_topic_, again.doc_topic_)


def test_dense_real_views_are_scaled_and_counts_are_not():
    rng = np.random.default_rng(0)
    real = rng.random((20, 6)) * [1, 10, 1e3, 1e4, 5, 1] + 3
    model = LinkPLSA(2, random_state=0).fit({"counts": X, "real": real})
    assert set(model.scaling_) == {"real"}
    scaled = (real - real.min(axis=0)) / np.ptp(real, axis=0)
    again = LinkPLSA(2, random_state=0, scaling=None).fit({"counts": X, "real": scaled})
    np.testing.assert_allclose(model.doc_topic_, again.doc_topic_, atol=1e-4)
    np.testing.assert_allclose(
        model.transform({"real": real[:3]}), again.transform({"real": scaled[:3]}), atol=1e-3
    )


def test_values_outside_the_training_range_stay_non_negative():
    real = np.random.default_rng(0).random((20, 6)) + 1
    model = PLSA(2, random_state=0).fit(real)
    mixture = model.transform(np.vstack([np.full(6, 0.1), np.full(6, 99.0)]))
    assert np.isfinite(mixture).all()
    np.testing.assert_allclose(mixture.sum(axis=1), 1, rtol=1e-6)


def test_a_matrix_and_its_sparse_copy_are_treated_alike():
    import scipy.sparse as sp

    real = np.random.default_rng(0).random((20, 6)) + 1
    dense, sparse = (PLSA(2, random_state=0).fit(m) for m in (real, sp.csr_array(real)))
    np.testing.assert_array_equal(dense.doc_topic_, sparse.doc_topic_)


def test_fractional_weights_are_accepted():
    from sklearn.feature_extraction.text import TfidfTransformer

    model = PLSA(2, random_state=0).fit(TfidfTransformer().fit_transform(X))
    assert np.isfinite(model.objective_)


def test_a_wrong_width_in_transform_is_an_error():
    model = LinkPLSA(2, random_state=0).fit(TWO)
    with pytest.raises(ValueError, match="View 'b': X has 4 features, but LinkPLSA is expecting 5"):
        model.transform({"b": X[:, :4]})


def test_features_in_another_order_are_an_error():
    names = [f"w{i}" for i in range(12)]
    model = PLSA(2, random_state=0).fit(Views(X, features=names))
    with pytest.raises(ValueError, match="order"):
        model.transform(Views(X, features=names[::-1]))


@pytest.mark.parametrize("model", [LTM, MGGM, PairwiseCoPLSA])
def test_models_with_a_step_of_their_own_name_the_two_steps_alike(model):
    parameters = inspect.signature(model).parameters
    assert parameters["step"].annotation == Literal["paper", "safe"]
    assert list(parameters).index("step") + 1 == list(parameters).index("init")
    data = X if model is LTM else TWO
    with pytest.raises(ValueError, match="step must be one of 'paper', 'safe'; got 'bold'"):
        model(2, step="bold").fit(data)


def test_a_model_given_as_init_must_be_fitted():
    with pytest.raises(NotFittedError):
        PLSA(2, init=PLSA(2)).fit(X)


def test_without_docstrings_the_models_have_none_either():
    code = "import coview; assert coview.MGGM.__doc__ is None"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)
