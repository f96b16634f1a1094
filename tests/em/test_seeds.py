"""Seeds: pseudo-counts against naive loops, gradients, the words of a user, and starts."""

import numpy as np
import pytest

from coview import (
    LTM,
    MGGM,
    PLSA,
    DataWarning,
    LinkPLSA,
    PairwiseCoPLSA,
    TopicClassifier,
    Views,
    VotedPLSA,
    load,
)
from coview.datasets import make_views
from coview.em.seed_words import number_seeds
from coview.em.seeds import ViewSeeds
from coview.em.step import em_step
from tests.contracts.models import MODELS
from tests.planted import make_case, serial
from tests.reference import seeds as reference

N_ITER = 10


def dense_seeds(rng, case):
    """Pseudo-counts (topics, terms) of each view, the last topic without any."""
    found = []
    for X in case.Xs:
        s = rng.integers(1, 9, (3, X.shape[1])) * (rng.random((3, X.shape[1])) < 0.3)
        s[2] = 0
        s[0, 0] = 5
        found.append(s.astype(float))
    return found


def view_seeds(s):
    topics, terms = np.nonzero(s)
    return ViewSeeds(terms, topics, s[topics, terms], np.ones(len(terms)))


def states(problem):
    for _ in range(N_ITER):
        problem = em_step(problem, serial).problem
        yield problem, em_step(problem, serial, "nothing").values


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("pins", "absent"), [(False, False), (True, True)])
@pytest.mark.parametrize("nonzeros", [None, 5])
def test_free_topics_take_the_steps_of_the_naive_loop(rng, pins, absent, nonzeros):
    case = make_case(rng, pins=pins, absent=absent)
    seeds = dense_seeds(rng, case)
    start = case.Xs, case.theta, case.p_w_zs, seeds, N_ITER
    expected, objectives = reference.seeded_link_plsa(
        *start, case.weights, case.present, case.pinned
    )
    problem = case.problem(nonzeros, seeds=tuple(map(view_seeds, seeds)))
    assert (np.diff(objectives) > -1e-9).all()
    for (state, values), (theta, topics), objective in zip(
        states(problem), expected, objectives[1:], strict=True
    ):
        close(state.mixtures[0], theta)
        for emission, p in zip(state.emissions, topics, strict=True):
            close(emission.by_term[:, :3].T, p)
        assert values.objective == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize(("pins", "absent"), [(False, False), (True, True)])
def test_factored_topics_take_the_steps_of_the_naive_loop(rng, pins, absent):
    case = make_case(rng, pins=pins, absent=absent)
    seeds = dense_seeds(rng, case)
    start = case.Xs, case.theta, case.p_y_zs, case.p_w_ys, seeds, N_ITER
    expected, objectives = reference.seeded_mvplsa(*start, case.weights, case.present, case.pinned)
    problem = case.factored(seeds=tuple(map(view_seeds, seeds)))
    assert (np.diff(objectives) > -1e-9).all()
    for (state, values), (theta, p_y_zs, p_w_ys), objective in zip(
        states(problem), expected, objectives[1:], strict=True
    ):
        close(state.mixtures[0], theta)
        for emission, p_y_z, p_w_y in zip(state.emissions, p_y_zs, p_w_ys, strict=True):
            close(emission.p_y_z, p_y_z)
            close(emission.p_w_y_by_term.T, p_w_y)
        assert values.objective == pytest.approx(objective, rel=1e-12)


def test_the_gradient_is_that_of_the_log_prior(rng):
    p, s = rng.dirichlet(np.ones(6), 3).T.copy(), np.zeros((3, 6))
    s[0, 1], s[2, 4] = 3.0, 0.5
    seeds, grad = view_seeds(s), np.zeros((6, 3))
    seeds.add_gradient(grad, p)
    for w in range(6):
        for z in range(3):
            up, down = p.copy(), p.copy()
            up[w, z] += 1e-7
            down[w, z] -= 1e-7
            slope = (seeds.log_prior(up) - seeds.log_prior(down)) / 2e-7
            assert grad[w, z] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_seeds_are_documents_pinned_to_their_topics(rng):
    """The identity behind the promise that the objective does not fall."""
    case = make_case(rng)
    seeds = dense_seeds(rng, case)
    with_seeds = case.problem(seeds=tuple(map(view_seeds, seeds)))
    pinned = np.r_[np.zeros(len(case.theta), bool), np.ones(3, bool)]
    case.Xs = [np.vstack([X, s]) for X, s in zip(case.Xs, seeds, strict=True)]
    case.theta = np.vstack([case.theta, np.eye(3)])
    case.present = np.vstack([case.present, np.ones((3, len(case.Xs)), bool)])
    case.pinned = pinned
    for (one, values), (other, same) in zip(
        states(with_seeds), states(case.problem()), strict=True
    ):
        close(one.mixtures[0], other.mixtures[0][:-3])
        assert values.objective == pytest.approx(same.objective, rel=1e-10)


# -- every model -----------------------------------------------------------------------------------


def planted(one_view=False):
    return make_views(60, 3, [30] if one_view else [30, 20, 25], random_state=0)


def seeds_of(views):
    """The strongest word of each planted class in the first view, in another order of topics."""
    X, name = views.matrices[views.names[0]], views.names[0]
    by_class = np.vstack([X[views.labels == c].sum(axis=0) for c in (2, 0, 1)])
    lift = by_class**2 / np.maximum(by_class.sum(axis=0), 1)
    features = views.features[name]
    best = np.argsort(-lift, axis=1)[:, :3].tolist()
    words = best if features is None else [[str(features[w]) for w in row] for row in best]
    return {t: {name: w} for t, w in zip(("two", "zero", "one"), words, strict=True)}


@pytest.mark.parametrize("entry", MODELS, ids=str)
def test_every_model_takes_seeds_and_does_not_fall(entry):
    views = planted(entry.one_view)
    seeds = seeds_of(views)
    model = entry(init="auto", seeds=seeds, view_weights="balanced").fit(views)
    assert model.topic_names_ == ["two", "zero", "one"]
    assert (model.labels_ == np.array([1, 2, 0])[views.labels]).mean() > 0.8
    assert len(model.trace_.seed_term) == model.n_iter_
    parts = model.trace_.log_likelihood.sum(axis=1) + model.trace_.seed_term - model.trace_.penalty
    np.testing.assert_allclose(model.trace_.objective, parts)
    if entry.monotone:
        assert (np.diff(model.trace_.objective) > -1e-9 * abs(model.objective_)).all()


@pytest.mark.parametrize("entry", MODELS, ids=str)
def test_threads_do_not_change_a_bit(entry):
    views = planted(entry.one_view)
    one, four = (entry(seeds=seeds_of(views), n_jobs=n).fit(views) for n in (1, 4))
    np.testing.assert_array_equal(one.doc_topic_, four.doc_topic_)


def test_a_model_without_seeds_is_the_same_to_the_bit():
    views = planted()
    plain, empty = (LinkPLSA(3, random_state=0, seeds=s).fit(views) for s in (None, {}))
    np.testing.assert_array_equal(plain.doc_topic_, empty.doc_topic_)
    assert plain.trace_.seed_term is None
    assert plain.topic_names_ == [None, None, None]


def test_a_larger_weight_gives_its_word_more_of_the_topic():
    views = planted()
    name = views.names[0]
    shares = []
    for weight in (0.1, 1.0, 10.0):
        model = LinkPLSA(3, random_state=0, seeds={1: {name: {"0": weight}}})
        views = Views(views.matrices)  # without names, columns are numbers
        shares.append(model.fit(views).components_[name][1, 0])
    assert shares[0] < shares[1] < shares[2]


def test_documents_may_lack_the_view_of_the_seeds():
    views = planted()
    lacking = {n: m.toarray() for n, m in views.matrices.items()}
    lacking[views.names[0]][:20] = 0
    present = np.ones((60, 3), bool)
    present[:20, 0] = False
    some = Views(lacking, present=present, labels=views.labels, features=views.features)
    model = LinkPLSA(3, random_state=0, seeds=seeds_of(some)).fit(some)
    assert (model.labels_ == np.array([1, 2, 0])[views.labels]).mean() > 0.8


def test_a_word_that_a_start_has_at_zero_gets_its_pseudo_counts():
    X = np.array([[4, 2, 0, 0], [3, 3, 0, 0], [0, 0, 5, 2], [0, 0, 2, 4]])
    first = PLSA(2, random_state=0).fit(X)
    z = int(first.labels_[0])
    assert first.components_["X"][z, 2] < 1e-6
    model = PLSA(2, init=first, seeds={z: [2]}).fit(X)
    assert model.components_["X"][z, 2] > 0.1


def test_part_of_the_topics_may_have_seeds():
    views = planted()
    words = seeds_of(views)
    model = LinkPLSA(3, random_state=0, seeds={2: words["two"]}).fit(views)
    assert np.bincount(model.labels_[views.labels == 2], minlength=3).argmax() == 2
    assert model.trace_.candidates[0][0] == "seeds"


def test_labels_and_seeds_go_together():
    views = planted()
    labels = np.where(np.arange(60) < 20, views.labels, -1)
    labels[labels == 2] = -1  # only the seeds know topic 2
    model = LinkPLSA(3, random_state=0, seeds={2: seeds_of(views)["two"]})
    assert (model.fit(views, labels=labels).labels_ == views.labels).mean() > 0.8


def test_voters_have_no_seeds_and_a_seeded_view_keeps_its_numbers():
    views = planted()
    last = Views({n: views.matrices[n] for n in reversed(views.names)}, labels=views.labels)
    seeds = seeds_of(Views({views.names[0]: views.matrices[views.names[0]]}, labels=views.labels))
    assert all(v.seeds is None for v in VotedPLSA(3, seeds=seeds).fit(last).voters_.values())
    model = PairwiseCoPLSA(3, seeds=seeds, random_state=0).fit(last)
    name = views.names[0]
    for z, words in enumerate(seeds.values()):
        best = model.components_[name][:, words[name]].argmax(axis=0)
        assert (best == z).mean() > 0.5


# -- the words of a user ---------------------------------------------------------------------------

FEATURES = {"en": ["goal", "coach", "vote", "law"], "de": ["tor", "wahl", "recht"]}
TWO = Views(
    {
        "en": [[4, 2, 0, 0], [3, 3, 0, 1], [0, 0, 5, 2], [0, 1, 2, 4]],
        "de": [[3, 0, 0], [2, 1, 0], [0, 3, 1], [0, 1, 3]],
    },
    features=FEATURES,
)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        (["goal"], "seeds must be a dict"),
        ({"sport": {"en": "goal"}}, r"seeds\['sport'\]\['en'\] must be a list of words"),
        ({"sport": {"en": [1.5]}}, "must have words, or numbers of columns; got 1.5"),
        ({"sport": {"en": {"goal": -1}}}, r"seeds\['sport'\]\['en'\]\['goal'\] must be"),
        ({"sport": {"en": {"goal": 0}}}, "above 0"),
        ({"sport": {"fr": ["but"]}}, "view 'fr'; the data have en, de"),
        ({"sport": {"en": ["gaol"]}}, r"View 'en' has no term 'gaol'.*Close to 'gaol': goal"),
        ({"sport": {"en": [4]}}, "View 'en' has no term 4"),
        ({"sport": ["goal"]}, "of which view"),
        ({"sport": {"goal": 2.0}}, "of which view"),
        ({"a": {}, "b": {}, "c": {}}, "seeds name 3 topics; n_components is 2"),
        ({2: {"en": ["goal"]}}, "topic 2; n_components=2 has the topics 0 to 1"),
        ({1.5: {"en": ["goal"]}}, "names or numbers"),
        ({True: {"en": ["goal"]}}, "names or numbers"),
        ({"": {"en": ["goal"]}}, "names or numbers"),
    ],
)
def test_bad_seeds_are_explained(seeds, message):
    with pytest.raises(ValueError, match=message):
        LinkPLSA(2, seeds=seeds).fit(TWO)


def test_columns_without_names_are_numbers():
    with pytest.raises(ValueError, match="numbers of columns, 0 to 2"):
        PLSA(2, seeds={"a": ["goal"]}).fit(np.ones((4, 3)))


def test_a_seed_word_that_no_document_has_is_a_warning():
    X = np.array([[4, 2, 0], [3, 3, 0], [1, 5, 0]])
    with pytest.warns(DataWarning, match="occur in no document"):
        model = PLSA(2, seeds={0: [2]}, random_state=0).fit(X)
    assert model.trace_.seed_term is None


def test_init_seeds_needs_seeds():
    with pytest.raises(ValueError, match="init='seeds' needs seeds"):
        LinkPLSA(2, init="seeds").fit(TWO)


def test_names_take_free_numbers_and_keep_known_ones():
    found, names = number_seeds({"b": 1, 0: 2, "a": 3}, 4, [None, None, None, "a"])
    assert found == {0: 2, 1: 1, 3: 3}
    assert names == [None, "b", None, "a"]
    with pytest.raises(ValueError, match="topic 3 twice"):
        number_seeds({3: 1, "a": 2}, 4, [None, None, None, "a"])


# -- names -----------------------------------------------------------------------------------------


def sport(**params):
    return LinkPLSA(2, random_state=0, seeds={"sport": {"en": ["goal"]}}, **params)


def test_a_refit_keeps_the_names():
    first = sport().fit(TWO)
    second = LinkPLSA(2, init=first).fit(TWO)
    assert second.topic_names_ == ["sport", None]
    np.testing.assert_array_equal(second.labels_, first.labels_)
    second.topic_names_ = ["sport", "politics"]
    third = LinkPLSA(2, init=second, seeds={"politics": {"de": ["wahl"]}}).fit(TWO)
    assert third.topic_names_ == ["sport", "politics"]
    np.testing.assert_array_equal(third.labels_, first.labels_)


def test_names_and_seeds_are_saved(tmp_path):
    model = sport().fit(TWO)
    numbered = LinkPLSA(2, random_state=0, seeds={1: {"en": {"goal": 2.0}}}).fit(TWO)
    for each in (model, numbered):
        each.save(tmp_path / "m.coview")
        again = load(tmp_path / "m.coview")
        assert again.topic_names_ == each.topic_names_
        assert again.seeds == each.seeds
        np.testing.assert_array_equal(again.trace_.seed_term, each.trace_.seed_term)


def test_a_resumed_fit_has_the_same_bits(tmp_path):
    from coview import Checkpoint

    whole = sport(tol=0.0, max_iter=10).fit(TWO)

    def stop(state):
        stop.calls += 1
        if stop.calls == 4:
            raise KeyboardInterrupt

    stop.calls = 0
    checkpoint = Checkpoint(tmp_path / "state", every=1, resume=True)
    with pytest.raises(KeyboardInterrupt):
        sport(tol=0.0, max_iter=10).fit(TWO, checkpoint=checkpoint, on_iteration=stop)
    resumed = sport(tol=0.0, max_iter=10).fit(TWO, checkpoint=checkpoint)
    np.testing.assert_array_equal(resumed.doc_topic_, whole.doc_topic_)
    assert resumed.trace_.seed_term.tolist() == whole.trace_.seed_term.tolist()
    assert resumed.topic_names_ == whole.topic_names_


def test_the_classes_of_a_classifier_are_the_names():
    y = ["sport", None, "politics", None]
    seeds = {"sport": {"de": ["tor"]}}
    classifier = TopicClassifier(LinkPLSA(random_state=0, seeds=seeds)).fit(TWO, y)
    assert classifier.estimator_.topic_names_ == ["politics", "sport"]
    assert classifier.estimator_.trace_.seed_term is not None
    assert classifier.estimator.seeds == seeds
    assert classifier.labels_.tolist() == ["sport", "sport", "politics", "politics"]


def test_seeds_of_a_classifier_name_its_classes():
    with pytest.raises(ValueError, match=r"'music', which is no class.*politics, sport"):
        TopicClassifier(LinkPLSA(seeds={"music": {"de": ["tor"]}})).fit(
            TWO, ["sport", None, "politics", None]
        )


def test_graph_models_start_from_seeds():
    views = planted()
    for model in (MGGM(3, seeds=seeds_of(views), init="ltm", random_state=0),):
        labels = model.fit(views).labels_
        assert (labels == np.array([1, 2, 0])[views.labels]).mean() > 0.8
    one = views.select(views.names[0])
    labels = LTM(3, seeds=seeds_of(views), random_state=0).fit(one).labels_
    assert (labels == np.array([1, 2, 0])[views.labels]).mean() > 0.8
