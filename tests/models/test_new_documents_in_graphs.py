"""LTM and MGGM: new documents are smoothed over their neighbors among the training documents."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from coview import LTM, MGGM, DamagedFile, TopicClassifier, Views, load
from coview.datasets import load_digits_views, make_views
from coview.metrics import clustering_accuracy
from coview.models import _neighbors
from coview.store import read_sealed, write_sealed
from tests.reference import ltm

QUICK = {"init": "kmeans", "random_state": 0, "max_iter": 8, "tol": 0.0}


@pytest.fixture(scope="module")
def views():
    """Two sparse views and a dense one; some documents lack some."""
    made = make_views(110, 3, [60, 50], doc_length=25, view_noise=0.3, random_state=4)
    rng = np.random.default_rng(0)
    dense = rng.random((3, 6))[made.labels] + 0.5 * rng.random((110, 6))
    present = rng.random((110, 3)) < 0.85
    present[np.arange(110), rng.integers(0, 3, 110)] = True
    matrices = {n: m[:, m[:80].sum(axis=0) > 20] for n, m in made.matrices.items()}
    matrices["dense"] = dense
    masked = {n: sp.csr_array(m) * present[:, [v]] for v, (n, m) in enumerate(matrices.items())}
    return Views(masked, labels=made.labels, present=present)


@pytest.fixture(scope="module")
def split(views):
    return views[:80], views[80:]


@pytest.fixture(scope="module")
def mggm(split):
    # strong enough that neighbors show, wherever the start leads to
    options = {"strength": 10.0, "exponent": 0.2, "dtype": "float64"}
    return MGGM(3, 4, **options, **QUICK).fit(split[0])


EXACT = {"fold_in_max_iter": 20_000, "fold_in_tol": 1e-13}  # until nothing moves


def naive_features(training, new, dense):
    """Scaled values of dense views; tf-idf weights of the square roots of counts of sparse ones."""
    if dense:
        return training, new
    tfidf = TfidfTransformer().fit(np.sqrt(training))
    return (tfidf.transform(np.sqrt(counts)).toarray() for counts in (training, new))


def naive_step(model, training, new, mixtures):
    """A step of Eq. 15 for each new document on its own, by dense arrays, from these mixtures."""
    total, mass = 0, []
    for v, name in enumerate(training.names):
        a, b = (part[name].toarray() for part in (training, new))
        if name in model.scaling_:
            low, span = model.scaling_[name]
            a = np.where(training.present[:, [v]], (a - low) / span, 0)
            b = np.where(new.present[:, [v]], np.maximum((b - low) / span, 0), 0)
        points = naive_features(a, b, dense=(a > 0).mean() > 0.5)
        edges = ltm.new_neighbors(*points, model.n_neighbors, training.present[:, v])
        total = total + getattr(model, "graph_weights_", {name: 1.0})[name] * edges
        mass.append(model.view_weights_[name] * b)
    topics = np.hstack([model.components_[name] for name in training.names]).astype(float)
    known, lam = model.doc_topic_.astype(float), model.graph_strength_
    return [
        ltm.fold_in_step(x, topics, edges, known, lam, theta)
        for x, edges, theta in zip(np.hstack(mass), total, mixtures, strict=True)
    ]


def test_mggm_solves_the_row_of_each_new_document(mggm, split):
    """The fixed point is the only one: see the tests of `NeighborPull`."""
    training, new = split
    mggm = copy.deepcopy(mggm).set_params(**EXACT)
    found = mggm.transform(new)
    np.testing.assert_allclose(found, naive_step(mggm, training, new, found), atol=1e-9)
    plain = copy.deepcopy(mggm).set_params(smooth_new=False).transform(new)
    assert np.abs(plain - found).max() > 0.05


@pytest.mark.parametrize("name", ["view_0", "dense"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ltm_solves_the_row_of_each_new_document(split, name, dtype):
    v = split[0].names.index(name)
    training, new = (part[part.present[:, v]].select(name) for part in split)
    model = LTM(3, n_neighbors=4, dtype=dtype, **QUICK, **EXACT).fit(training)
    found = model.transform(new)
    tolerance = 1e-9 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(found, naive_step(model, training, new, found), atol=tolerance)


@pytest.mark.parametrize("model", [LTM, MGGM])
def test_training_documents_keep_their_topics(model):
    digits = load_digits_views()
    digits = digits if model is MGGM else digits.select(digits.names[0])
    fitted = model(10, init="kmeans", random_state=0, max_iter=30, tol=0).fit(digits[:1200])
    plain = copy.deepcopy(fitted).set_params(smooth_new=False)
    assert (fitted.predict(digits[:1200]) == fitted.labels_).mean() > 0.97
    assert (plain.predict(digits[:1200]) == fitted.labels_).mean() < 0.96
    found, before = (
        clustering_accuracy(digits.labels[1200:], m.predict(digits[1200:])) for m in (fitted, plain)
    )
    assert found > before + 0.02


def test_a_document_does_not_depend_on_the_others(mggm, split):
    whole = mggm.transform(split[1])
    alone = [mggm.transform(split[1][[d]])[0] for d in range(len(split[1]))]
    np.testing.assert_array_equal(whole, alone)


def test_threads_change_no_bit(mggm, split):
    first, *others = (copy.deepcopy(mggm).set_params(n_jobs=n).transform(split[1]) for n in (1, 4))
    np.testing.assert_array_equal(first, others[0])


def test_a_view_that_a_document_lacks_has_no_part(mggm, split):
    """Nor have the neighbors that it would have there."""
    one = split[1].select("view_0")
    alone = copy.deepcopy(mggm)
    alone.graph_points_ = {"view_0": mggm.graph_points_["view_0"]}
    np.testing.assert_array_equal(mggm.transform(one), alone.transform(one))
    assert np.abs(mggm.transform(one) - mggm.transform(split[1])).max() > 0.01


def test_empty_documents_and_unknown_terms_have_no_neighbors(split):
    counts = split[0]["view_0"].toarray()
    counts[:, 7] = 0
    model = LTM(3, **QUICK).fit({"view_0": counts})
    new = np.zeros((3, counts.shape[1]))
    new[1:, 7] = 2
    new[2, :3] = 1
    there = Views({"view_0": new}, present=np.ones((3, 1), bool))
    with pytest.warns(Warning, match="never occurred in training"):
        mixtures = model.transform(there)
    np.testing.assert_allclose(mixtures[:2], 1 / 3, atol=1e-6)
    new[1:, 7] = 0  # as if it had not been there
    np.testing.assert_array_equal(mixtures[2], model.transform({"view_0": new})[2])


def test_a_graph_of_ones_own_has_no_place_for_new_documents(split):
    one = Views({"view_0": split[0]["view_0"]})
    ring = sp.diags_array([np.ones(79), np.ones(79)], offsets=[-1, 1], format="csr")
    model = LTM(3, graph=ring, **QUICK).fit(one)
    assert model.graph_points_ == {}
    plain = copy.deepcopy(model).set_params(smooth_new=False)
    np.testing.assert_array_equal(model.transform(one), plain.transform(one))
    several = MGGM(3, 4, graphs={"view_0": ring, "links": ring}, exponent=0.2, **QUICK)
    assert sorted(several.fit(split[0]).graph_points_) == ["dense", "view_1"]


@pytest.mark.parametrize("params", [{"smooth_new": False}, {"strength": 0.0}])
def test_nothing_is_kept_that_is_not_used(split, params):
    model = MGGM(3, 4, **QUICK, **params).fit(split[0])
    assert model.graph_points_ == {}


def test_points_of_graphs_without_weight_are_not_kept(split):
    model = MGGM(3, 4, exponent=0.99, **QUICK).fit(split[0])
    total = sum(model.graph_weights_.values())
    kept = {n for n, w in model.graph_weights_.items() if w > 1e-6 * total}
    assert set(model.graph_points_) == kept
    assert len(kept) < 3


def test_the_neighbors_are_counted_as_in_the_fit(mggm, split):
    other = copy.deepcopy(mggm).set_params(n_neighbors=50)
    np.testing.assert_array_equal(other.transform(split[1]), mggm.transform(split[1]))


def test_another_fit_has_other_neighbors(split):
    model = LTM(3, **QUICK).fit({"X": split[0]["view_0"]})
    model.transform({"X": split[1]["view_0"]})
    model.fit({"X": split[1]["view_0"]})
    again = LTM(3, **QUICK).fit({"X": split[1]["view_0"]})
    new = {"X": split[0]["view_0"]}
    np.testing.assert_array_equal(model.transform(new), again.transform(new))


def test_copies_and_files_find_the_same_neighbors(mggm, split, tmp_path):
    expected = mggm.transform(split[1])
    mggm.save(tmp_path / "m.coview")
    copies = copy.deepcopy(mggm), pickle.loads(pickle.dumps(mggm)), load(tmp_path / "m.coview")
    for again in copies:
        np.testing.assert_array_equal(again.transform(split[1]), expected)


def test_a_search_is_forgotten_with_its_model(split):
    model = LTM(3, **QUICK).fit({"X": split[0]["view_0"]})
    model.transform({"X": split[1]["view_0"]})
    before = len(_neighbors._SEARCHES)
    del model
    assert len(_neighbors._SEARCHES) == before - 1


def test_a_file_without_points_folds_in_by_counts_alone(mggm, split, tmp_path):
    """As files of earlier versions are."""
    mggm.save(tmp_path / "m.coview")
    header, tensors = read_sealed(tmp_path / "m.coview", "model")
    for name in ("graph_points_", "graph_strength_"):
        del header["attributes"][name]
    del header["params"]["smooth_new"]
    write_sealed(tmp_path / "m.coview", "model", header, tensors)
    plain = copy.deepcopy(mggm).set_params(smooth_new=False).transform(split[1])
    np.testing.assert_array_equal(load(tmp_path / "m.coview").transform(split[1]), plain)


@pytest.mark.parametrize(
    "change",
    [
        lambda points: points.update(docs=points["docs"] + 1000),
        lambda points: points.update(radii=points["radii"][1:]),
        lambda points: points.update(shape=points["shape"] + 1),
    ],
)
def test_points_of_other_documents_are_refused(mggm, tmp_path, change):
    wrong = copy.deepcopy(mggm)
    change(wrong.graph_points_["view_1"])
    wrong.save(tmp_path / "m.coview")
    with pytest.raises(DamagedFile, match="graph_points_ of view 'view_1'"):
        load(tmp_path / "m.coview")


def test_a_classifier_smooths_too(split):
    training, new = (Views({"X": part["view_0"]}, labels=part.labels) for part in split)
    known = np.where(np.arange(80) % 4 == 0, training.labels, -1)
    classifier = TopicClassifier(LTM(**QUICK)).fit(training, known)
    plain = copy.deepcopy(classifier)
    plain.estimator_.set_params(smooth_new=False)
    assert (classifier.predict_proba(new) != plain.predict_proba(new)).any()


def test_a_slow_search_says_what_to_do(mggm, split, monkeypatch):
    from coview import DataWarning
    from coview.graphs import new_neighbors

    monkeypatch.setattr(new_neighbors, "MAX_WORK", 10.0)
    with pytest.warns(DataWarning, match="minutes; smooth_new=False"):
        mggm.transform(split[1])
