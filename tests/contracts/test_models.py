"""What every model promises."""

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from coview import DataWarning, DivergenceCoPLSA, PairwiseCoPLSA, Views, VotedPLSA
from coview.em import emissions
from coview.em.prepared import cut
from coview.reporting.terms import ROUNDING, documents_needed, first_columns, term_scores
from tests.reference import words

# learned weights depend on the order of terms and of documents
BALANCED = {"view_weights": "balanced"}


def mixtures_of(model):
    return {"doc_topic": model.doc_topic_, **model.view_doc_topic_}


def assert_same_bits(a, b):
    assert a.objective_ == b.objective_
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)
    for name in a.components_:
        np.testing.assert_array_equal(a.components_[name], b.components_[name])
        np.testing.assert_array_equal(a.view_doc_topic_[name], b.view_doc_topic_[name])
        np.testing.assert_array_equal(a.term_docs_[name], b.term_docs_[name])
        np.testing.assert_array_equal(a.view_docs_[name], b.view_docs_[name])
    np.testing.assert_array_equal(a.topic_stability_, b.topic_stability_)
    np.testing.assert_array_equal(a.doc_confidence_, b.doc_confidence_)


slow = pytest.mark.slow  # the rest of a grid of which `make test` runs a part


@pytest.mark.parametrize(
    ("init", "dtype"),
    [
        ("random", "float64"),
        ("kmeans", "float32"),
        pytest.param("random", "float32", marks=slow),
        pytest.param("kmeans", "float64", marks=slow),
    ],
)
def test_the_objective_never_falls(entry, views, init, dtype):
    if not entry.monotone:
        pytest.skip("the paper's step does not promise ascent")
    trace = entry(init=init, dtype=dtype, max_iter=40).fit(views).trace_
    steps = np.diff([trace.start_objective, *trace.objective])
    slack = 1e-12 if dtype == "float64" else 1e-6
    assert steps.min() >= -slack * abs(trace.objective[-1])
    assert steps.max() > 0


def test_rows_sum_to_one(views, fitted):
    model = fitted(dtype="float32")
    arrays = [*model.components_.values(), *mixtures_of(model).values(), model.transform(views)]
    for array in arrays:
        assert (array >= 0).all()
        np.testing.assert_allclose(array.sum(axis=1, dtype=float), 1, rtol=1e-5)


def test_shapes_and_attributes(entry, views, fitted):
    model = fitted()
    assert model.doc_topic_.shape == (len(views), 3)
    assert set(model.components_) == set(model.view_doc_topic_) == set(views.names)
    for name, width in zip(views.names, views.widths, strict=True):
        assert model.components_[name].shape == (3, width)
    assert model.labels_.shape == (len(views),)
    assert model.n_iter_ == len(model.trace_.objective) == 12
    assert model.trace_.objective[-1] == model.objective_
    assert model.n_features_in_ == sum(views.widths)
    assert list(model.get_feature_names_out()) == ["topic_0", "topic_1", "topic_2"]


def test_documents_behind_terms_are_those_of_a_naive_count(entry, views, fitted):
    model = fitted()
    for v, name in enumerate(views.names):
        mixtures = model.view_doc_topic_[name].tolist()
        dense, counts = name in model.dense_views_, model.as_counts(views)[name].toarray()
        expected = words.term_documents(counts.tolist(), mixtures, dense)
        np.testing.assert_allclose(model.term_docs_[name], expected, rtol=1e-9, atol=1e-12)
        has = words.topic_documents(views.present[:, v], mixtures)
        np.testing.assert_allclose(model.view_docs_[name], has, rtol=1e-9)
        needed = documents_needed(model)
        if not dense:
            for topic, shown in enumerate(first_columns(term_scores(model, name), 10)):
                assert shown.tolist() == words.ranked(expected, topic, needed, ROUNDING)[:10]


def test_permuting_documents_permutes_the_result(entry, views, rng):
    start = rng.dirichlet(np.ones(3), len(views))
    order = rng.permutation(len(views))
    model = entry(init=start, **BALANCED).fit(views)
    other = entry(init=start[order], **BALANCED).fit(views[order])
    np.testing.assert_allclose(other.doc_topic_, model.doc_topic_[order], atol=1e-9)
    for name in views.names:
        np.testing.assert_allclose(other.components_[name], model.components_[name], atol=1e-9)


@pytest.fixture
def feature_topics_by_content(monkeypatch):
    """Feature topics start as functions of p(w|z), word by word, instead of shaken at random.

    The random ones depend on the order of words and of views, so that no permutation of these could
    be told from another start.
    """

    def by_content(p_w_z, n_feature_topics, rng):
        n_topics, y = len(p_w_z), np.arange(n_feature_topics)
        p_w_y = p_w_z[y % n_topics] ** np.linspace(0.6, 1.4, n_feature_topics)[:, None]
        p_y_z = 1 / (1 + np.abs(np.arange(n_topics)[:, None] - y % n_topics))
        return tuple(p / p.sum(axis=1, keepdims=True) for p in (p_y_z, p_w_y))

    monkeypatch.setattr(emissions, "split_into_feature_topics", by_content)


@pytest.mark.usefixtures("feature_topics_by_content")
def test_permuting_terms_permutes_the_topics(entry, views, rng):
    start = rng.dirichlet(np.ones(3), len(views))
    orders = {n: rng.permutation(w) for n, w in zip(views.names, views.widths, strict=True)}
    shuffled = Views({n: m[:, orders[n]] for n, m in views.matrices.items()}, present=views.present)
    model, other = (
        entry(init=start, **BALANCED).fit(views),
        entry(init=start, **BALANCED).fit(shuffled),
    )
    np.testing.assert_allclose(other.doc_topic_, model.doc_topic_, atol=1e-9)
    for name in views.names:
        np.testing.assert_allclose(
            other.components_[name], model.components_[name][:, orders[name]], atol=1e-9
        )


@pytest.mark.usefixtures("feature_topics_by_content")
@pytest.mark.several_views
def test_permuting_views_changes_nothing(entry, views, rng):
    by_view = entry.cls is DivergenceCoPLSA and ("step", "paper") in entry.options
    if entry.cls is PairwiseCoPLSA or by_view:
        pytest.skip("the mixtures move one view after the other, each seeing the last one's move")
    start = rng.dirichlet(np.ones(3), len(views))
    model = entry(init=start, **BALANCED).fit(views)
    other = entry(init=start, **BALANCED).fit(views.select(*reversed(views.names)))
    np.testing.assert_allclose(other.doc_topic_, model.doc_topic_, atol=1e-9)
    for name in views.names:
        np.testing.assert_allclose(other.components_[name], model.components_[name], atol=1e-9)


@pytest.mark.parametrize("dtype", [pytest.param("float64", marks=slow), "float32"])
def test_same_seed_same_bits_for_any_number_of_threads(entry, views, many_blocks, dtype):
    assert len(cut(list(views.matrices.values()))) > 8
    models = [entry(n_jobs=n, dtype=dtype, max_iter=12).fit(views) for n in (1, 2, 4)]
    for other in models[1:]:
        assert_same_bits(models[0], other)
        np.testing.assert_array_equal(models[0].transform(views), other.transform(views))


def test_many_blocks_give_the_result_of_one(entry, views, request, fitted):
    whole = fitted()
    request.getfixturevalue("many_blocks")
    np.testing.assert_allclose(entry().fit(views).doc_topic_, whole.doc_topic_, atol=1e-9)


def test_pins_do_not_move(entry, views):
    labels = np.where(np.arange(len(views)) % 3 == 0, views.labels, -1)
    model = entry().fit(views, labels=labels)
    pinned = labels >= 0
    for mixture in mixtures_of(model).values():
        np.testing.assert_array_equal(mixture[pinned], np.eye(3)[labels[pinned]])
    np.testing.assert_array_equal(model.labels_[pinned], labels[pinned])
    assert (model.labels_ == views.labels).mean() > 0.8


def test_no_label_at_all_is_unsupervised_to_the_bit(entry, views, fitted):
    assert_same_bits(fitted(), entry().fit(views, labels=np.full(len(views), -1)))


def test_all_documents_labeled(entry, views):
    model = entry().fit(views, labels=views.labels)
    np.testing.assert_array_equal(model.labels_, views.labels)
    assert (model.predict(views) == views.labels).mean() > 0.8


def test_y_is_ignored(entry, views, fitted):
    assert_same_bits(fitted(), entry().fit(views, views.labels))


def test_empty_documents_get_the_uniform_mixture(entry, views, rng):
    matrices = {n: m.toarray() for n, m in views.matrices.items()}
    for matrix in matrices.values():
        matrix[[2, 5]] = 0
    for init in ("random", "kmeans", rng.dirichlet(np.ones(3), len(views))):
        model = entry(init=init).fit(matrices)
        assert set(model.empty_rows_) >= {2, 5}
        np.testing.assert_allclose(model.doc_topic_[[2, 5]], 1 / 3, atol=1e-12)
    np.testing.assert_allclose(model.transform(matrices)[[2, 5]], 1 / 3, atol=1e-12)


def test_terms_that_never_occur_get_probability_zero_and_are_listed(entry, views):
    matrices = {n: m.toarray() for n, m in views.matrices.items()}
    name = views.names[0]
    matrices[name][:, 4] = 0
    model = entry().fit(matrices)
    assert model.unseen_terms_[name].tolist() == [4]
    assert (model.components_[name][:, 4] == 0).all()
    new = {name: np.eye(views.widths[0])[[4]] * 7}  # a document of nothing but that term
    with pytest.warns(DataWarning, match=f"View '{name}': more than half of the counts"):
        mixture = model.transform(new)
    np.testing.assert_allclose(mixture, 1 / 3, atol=1e-12)


def with_an_empty_view(views, present):
    matrices = {**views.matrices, "none": np.zeros((len(views), 6))}
    mask = np.column_stack([views.present, np.full(len(views), present)])
    return Views(matrices, labels=views.labels, present=mask)


@pytest.mark.parametrize(
    ("init", "present"),
    [
        ("consensus", False),
        ("spectral_sum", True),
        pytest.param("auto", False, marks=slow),
        pytest.param("auto", True, marks=slow),
        pytest.param("consensus", True, marks=slow),
        pytest.param("spectral_sum", False, marks=slow),
    ],
)
@pytest.mark.several_views
def test_a_view_without_counts_is_no_obstacle(entry, views, init, present):
    more = with_an_empty_view(views, present)
    with pytest.warns(DataWarning, match="No document has a count in 'none'") as caught:
        model = entry(init=init).fit(more)
    assert len(caught) == 1
    assert (model.components_["none"] == 0).all()  # as for all terms that never occur
    assert np.isfinite(model.transform(more)).all()
    assert np.isfinite([model.score(more), model.perplexity(more)]).all()


@pytest.mark.several_views
def test_a_view_that_no_document_has_changes_nothing(entry, views):
    model = entry(init=views.labels, random_state=0).fit(views)
    more = with_an_empty_view(views, present=False)
    with pytest.warns(DataWarning, match="'none'"):
        other = entry(init=views.labels, random_state=0).fit(more)
    np.testing.assert_allclose(other.doc_topic_, model.doc_topic_, atol=1e-7)
    for name in views.names:
        np.testing.assert_allclose(other.components_[name], model.components_[name], atol=1e-7)


def test_any_subset_of_the_views_can_be_folded_in(views, fitted):
    model = fitted(max_iter=60)
    for name in views.names:
        has = views[np.flatnonzero(views.present[:, list(views.names).index(name)])]
        mixture = model.transform({name: has[name]})
        assert mixture.shape == (len(has), 3)
        same = mixture.argmax(axis=1) == model.transform(has).argmax(axis=1)
        assert same.mean() > 0.7


def test_an_unknown_view_is_refused_by_name(views, fitted):
    model = fitted()
    with pytest.raises(ValueError, match="got 'smell' as well"):
        model.transform({views.names[0]: views[views.names[0]], "smell": np.ones((len(views), 2))})


def test_a_subset_is_transformed_as_within_the_whole(views, fitted):
    model = fitted(dtype="float32")
    rows = np.array([3, 7, 11, 40])
    np.testing.assert_array_equal(model.transform(views[rows]), model.transform(views)[rows])


def test_fit_transform_is_fit_then_transform(entry, views, fitted):
    np.testing.assert_array_equal(entry().fit_transform(views), fitted().transform(views))


def test_fit_predict_gives_the_training_labels(entry, views, fitted):
    np.testing.assert_array_equal(entry().fit_predict(views), fitted().labels_)


def test_identical_documents_get_identical_mixtures(entry, views):
    doubled = views[np.r_[np.arange(len(views)), 0, 0]]
    mixture = entry().fit(doubled).transform(doubled)
    np.testing.assert_array_equal(mixture[-1], mixture[0])
    np.testing.assert_array_equal(mixture[-2], mixture[0])


def test_one_topic_is_the_corpus_distribution(entry, views):
    model = entry(n_components=1).fit(views)
    for name, matrix in views.matrices.items():
        counts = np.asarray(matrix.sum(axis=0)).ravel()
        np.testing.assert_allclose(model.components_[name][0], counts / counts.sum(), atol=1e-9)
    assert (model.doc_topic_ == 1).all()


def test_one_document_can_be_fitted(entry, views):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = entry(n_components=1).fit(views[[0]])
    assert model.doc_topic_.shape == (1, 1)


@pytest.mark.filterwarnings("ignore:.*has not converged")  # the literal steps may swing
def test_planted_topics_are_found(entry, views):
    from coview.metrics import clustering_accuracy

    model = entry(max_iter=200, tol=1e-6, n_init=3).fit(views)
    assert clustering_accuracy(views.labels, model.labels_) > 0.85


def test_restarts_keep_the_best_objective(entry, views):
    model = entry(n_init=4).fit(views)
    assert len(model.trace_.restarts) == 4
    assert model.objective_ == model.trace_.restarts.max()
    if not isinstance(model, VotedPLSA):  # whose second stage starts from the vote
        assert len(set(model.trace_.restarts)) > 1
    assert model.topic_stability_.shape == (model.n_components,)
    assert model.doc_confidence_.shape == (len(views),)


def test_kmeans_on_the_mixtures_gives_labels_of_the_topics(entry, views, fitted):
    model = entry(assign="kmeans", max_iter=60).fit(views)
    plain = fitted(max_iter=60)
    assert (model.labels_ == plain.labels_).mean() > 0.8
    assert (model.predict(views) == plain.predict(views)).mean() > 0.8


def test_clone_copy_and_pickle(views, fitted):
    model = fitted()
    assert clone(model).get_params().keys() == model.get_params().keys()
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.transform(views), model.transform(views))


def test_fitting_again_forgets_the_first_fit(entry, views, fitted):
    model = entry(assign="kmeans").fit(views[:40])
    model.set_params(assign="argmax").fit(views)
    assert_same_bits(model, fitted())
    assert not hasattr(model, "topic_centers_")


def test_a_failing_fit_leaves_the_fitted_state(views, fitted):
    model = fitted()
    before = model.transform(views)
    with pytest.raises(ValueError, match="n_components"):
        model.set_params(n_components=0).fit(views)
    np.testing.assert_array_equal(model.transform(views), before)


def test_scores_are_finite_and_a_better_fit_scores_better(entry, views, fitted):
    long, short = fitted(max_iter=60), fitted(max_iter=1)
    assert short.score(views) < 0
    assert long.score(views) < 0
    assert long.perplexity(views) > 1
    # there most documents are placed by the vote, however long the second stage runs
    if entry.cls is not VotedPLSA:
        assert short.score(views) < long.score(views)
        assert long.perplexity(views) < short.perplexity(views)


def test_set_output_gives_a_data_frame(views, fitted):
    frame = fitted().set_output(transform="pandas").transform(views)
    assert frame.columns[0].endswith("0")
    assert frame.shape == (len(views), 3)


def test_fit_and_transform_do_not_change_the_data(entry, views):
    before = {n: m.toarray() for n, m in views.matrices.items()}
    entry().fit(views).transform(views)
    for name, dense in before.items():
        np.testing.assert_array_equal(views[name].toarray(), dense)


def documented(model, section):
    """The names that a section of the model's own docstring describes, in their order."""
    body = model.__doc__.split(f"{section}\n----------\n")[1].split("\n\n")[0]
    return [line.split(" : ")[0] for line in body.splitlines() if not line.startswith(" ")]


def test_the_docstring_describes_every_parameter_in_the_order_of_the_signature(entry):
    assert documented(entry.cls, "Parameters") == list(inspect.signature(entry.cls).parameters)


def test_the_docstring_describes_every_fitted_attribute(entry, views):
    model = entry(assign="kmeans", max_iter=2).fit(views)
    model.hidden_topics_ = np.array([0])  # as a curation does
    model.topic_tree_ = None  # as `auto` does
    model.search_ = None  # as `keep_search` does
    fitted = {n for n in vars(model) if n.endswith("_") and not n.startswith("_")}
    assert set(documented(entry.cls, "Attributes")) == fitted
