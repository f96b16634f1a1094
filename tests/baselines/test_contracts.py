"""What every baseline promises."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from coview import Views
from coview.baselines import BASELINES
from coview.datasets import make_views
from coview.metrics import clustering_accuracy

# the quickest start: the starts of the models are tested with the models
QUICK = {"plsa-concat", "plsa-best", "ltm-concat", "ltm-best", "fusion-lm"}
NAMES = list(BASELINES)
FIT_ALONE = ("spectral", "coreg-pairwise", "coreg-centroid", "mvc")  # no rule for new documents


def make(name, n_components=3, random_state=0, **params):
    quick = {"init": "kmeans"} if name in QUICK else {}
    return BASELINES[name](n_components, random_state, **{**quick, **params})


def fit(name, views, model=None):
    """Fitted: clusterers without labels, the others with those of a third of the documents."""
    model = make(name) if model is None else model
    if BASELINES[name].task == "clustering":
        return model.fit(views)
    return model.fit(views, np.where(np.arange(len(views)) % 3 == 0, views.labels, -1))


def unnamed(views):
    """The same views with numbers as labels, whose names are not known."""
    return views.with_labels(views.labels)


@pytest.fixture(scope="module")
def views():
    return unnamed(make_views(90, 3, {"b": 40, "a": 30, "c": 25}, doc_length=40, random_state=3))


@pytest.fixture(scope="module")
def gappy():
    terms = {"b": 40, "a": 30, "c": 25}
    return unnamed(make_views(90, 3, terms, doc_length=40, missing=0.2, random_state=3))


@pytest.fixture(scope="module")
def fitted(views):
    """A copy of the baseline, fitted: fitting is most of the time of these tests."""
    kept = {}

    def get(name):
        if name not in kept:
            kept[name] = fit(name, views)
        return copy.deepcopy(kept[name])

    return get


@pytest.mark.parametrize("name", NAMES)
def test_planted_classes_are_found(name, views, fitted):
    model = fitted(name)
    assert model.labels_.shape == (90,)
    assert clustering_accuracy(views.labels, model.labels_) > 0.85


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_labels_and_the_data_stay_as_they_are(name, views, fitted):
    before = {n: m.toarray() for n, m in views.matrices.items()}
    np.testing.assert_array_equal(fit(name, views).labels_, fitted(name).labels_)
    for n, dense in before.items():
        np.testing.assert_array_equal(views[n].toarray(), dense)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_views_is_irrelevant(name, views, fitted):
    turned = views.select(*reversed(views.names))
    np.testing.assert_array_equal(fit(name, turned).labels_, fitted(name).labels_)


@pytest.mark.parametrize("name", NAMES)
def test_documents_may_lack_views(name, gappy):
    model = fit(name, gappy)
    if hasattr(model, "best_view_"):
        v = gappy.names.index(model.best_view_)
        np.testing.assert_array_equal(model.labels_ == -1, ~gappy.present[:, v])
        return
    assert model.labels_.min() >= 0
    assert clustering_accuracy(gappy.labels, model.labels_) > 0.6


@pytest.mark.parametrize("name", FIT_ALONE)
def test_what_knows_the_documents_of_the_fit_alone_does_not_claim_to_predict(name, fitted):
    assert not hasattr(fitted(name), "predict")


@pytest.mark.parametrize("name", [n for n in NAMES if n not in FIT_ALONE])
def test_new_documents_are_treated_like_those_of_the_fit(name, views, fitted):
    model = fitted(name)
    found = model.predict(views)
    assert (found == model.labels_).mean() > 0.9
    np.testing.assert_array_equal(model.predict(views[np.arange(10, 20)]), found[10:20])
    with pytest.raises(ValueError, match="got 'smell' as well"):
        model.predict({"a": views["a"], "smell": np.ones((90, 2))})
    with pytest.raises(ValueError, match="features"):
        model.predict(Views({n: np.ones((4, 7)) for n in views.names}))


@pytest.mark.parametrize("name", NAMES)
def test_a_model_before_its_fit_says_so(name, views):
    model = make(name)
    if hasattr(model, "predict"):
        with pytest.raises(ValueError, match="not fitted"):
            model.predict(views)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_kept_and_fits_are_copied(name, fitted):
    model = fitted(name)
    again = clone(model)
    assert not hasattr(again, "labels_")
    assert repr(again) == repr(model)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.labels_, model.labels_)


def test_plain_matrices_by_name_will_do(views, fitted):
    found = make("kmeans").fit(dict(views.matrices)).labels_
    np.testing.assert_array_equal(found, fitted("kmeans").labels_)


@pytest.mark.parametrize("name", NAMES)
def test_a_failing_fit_leaves_the_fitted_state(name, fitted):
    model = fitted(name)
    before = model.labels_.copy()
    with pytest.raises((ValueError, TypeError)):
        fit(name, Views({"a": np.zeros((4, 3)), "b": np.zeros((4, 3))}, labels=[0, 1, 2, 0]), model)
    np.testing.assert_array_equal(model.labels_, before)


CLUSTERERS = [n for n, b in BASELINES.items() if b.task == "clustering"]


@pytest.mark.parametrize("name", [n for n in CLUSTERERS if "plsa" not in n and "ltm" not in n])
def test_more_clusters_than_documents_are_refused(name, views):
    with pytest.raises(ValueError, match="cannot make 91 clusters of 90 documents"):
        make(name, 91).fit(views)
    with pytest.raises(ValueError, match="n_components must be an integer of at least 1"):
        make(name, 0).fit(views)


@pytest.mark.parametrize("name", CLUSTERERS)
def test_clusterers_ignore_y_and_have_fit_predict(name, views, fitted):
    found = make(name).fit_predict(views, np.zeros(90, int))
    np.testing.assert_array_equal(found, fitted(name).labels_)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in CLUSTERERS])
def test_classifiers_take_any_labels_and_need_one(name, views):
    texts = np.array(["x", "y", "z"], object)[views.labels]
    few = [t if d % 3 == 0 else None for d, t in enumerate(texts)]
    model = make(name).fit(views, few)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert (model.labels_ == texts).mean() > 0.85
    np.testing.assert_allclose(model.predict_proba(views).sum(axis=1), 1)
    with pytest.raises(ValueError, match="No document is labeled"):
        make(name).fit(views, np.full(90, -1))
    with pytest.raises(ValueError, match="needs y"):
        make(name).fit(views, None)
    with pytest.raises(ValueError, match="one entry for each of 90 documents"):
        make(name).fit(views, [0, 1])


@pytest.mark.parametrize("name", [n for n in NAMES if n not in CLUSTERERS])
def test_classifiers_classify_from_any_subset_of_the_views(name, views, fitted):
    model = fitted(name)
    for n in views.names:
        assert (model.predict({n: views[n]}) == views.labels).mean() > 0.7


@pytest.mark.parametrize("name", ["cca", "coreg-pairwise", "coreg-centroid", "cotraining", "scm"])
def test_methods_that_relate_views_refuse_a_single_one(name, views):
    with pytest.raises(ValueError, match="needs at least two; got 'a'"):
        fit(name, Views({"a": views["a"]}, labels=views.labels))


EACH_VIEW = ("kmeans-best", "plsa-best", "ltm-best", "cca", "coreg-pairwise", "coreg-centroid")
EACH_VIEW += ("mvc", "fusion-lm", "scm")


@pytest.mark.filterwarnings("ignore:No document has a count in 'none'")
@pytest.mark.parametrize("name", NAMES)
def test_a_view_that_no_document_has_is_left_out_or_named(name, views):
    with_none = Views({**views.matrices, "none": np.zeros((len(views), 4))}, labels=views.labels)
    if name in EACH_VIEW:
        with pytest.raises(ValueError, match=r"no document has anything in 'none'"):
            fit(name, with_none)
    else:
        assert len(fit(name, with_none).labels_) == len(views)


def test_listing_the_baselines_loads_nothing_heavy():
    code = "import coview.baselines as b; list(b.BASELINES); import sys; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(out.stdout.split()) & {"numba", "sklearn", "scipy", "numpy"}


def test_all_public_names_are_there():
    import coview.baselines as package

    assert set(dir(package)) == set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        package.nonsense
