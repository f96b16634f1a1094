"""What each task measures, against fits made by hand."""

import numpy as np
import pytest

from coview import LinkPLSA, TopicClassifier, Views
from coview.compare import Entry, Plan, draw_labeled, draw_test, run
from coview.compare.cell_inputs import Preprocessing
from coview.metrics import mean_average_precision, similarity
from tests.compare.helpers import QUICK, given, small_views

LINK = Entry("link", params=QUICK)


def only(plan, **options):
    (found,) = run(plan, n_jobs=1, data=given(), **options).runs
    assert not found.error, found.error
    return found


def test_clusters_are_measured_in_every_way():
    found = only(Plan(["small"], [Entry("divergence", params=QUICK)], seeds=1))
    shares = {"accuracy", "nmi_max", "nmi_mean", "purity", "pairwise_f", "adjusted_rand"}
    assert set(found.values[""]) == shares | {"objective", "coherence", "diversity", "agreement"}
    assert found.iterations == 3
    assert found.seconds > 0


def test_a_shared_mixture_has_no_agreement_to_measure():
    assert only(Plan(["small"], [LINK], seeds=1)).value("agreement") is None


def test_data_without_labels_have_the_measures_that_need_none():
    views = Views(dict(small_views().matrices))
    plan = Plan(["plain"], [LINK], seeds=1, n_components=3)
    (found,) = run(plan, n_jobs=1, data={"plain": views}).runs
    assert "objective" in found.values[""]
    assert "accuracy" not in found.values[""]


def test_the_number_of_topics_may_be_a_grid():
    grid = Entry("link", params=QUICK, grid={"n_components": [2, 4]})
    results = run(Plan(["small"], [grid], seeds=1), n_jobs=1, data=given())
    assert not results.failures
    by_hand = LinkPLSA(4, random_state=0, **QUICK).fit(small_views()).objective_
    assert results.scores("objective", by=["n_components"])[(4,)] == [pytest.approx(by_hand)]


def test_a_view_that_no_document_has_costs_no_measure():
    views = Views(
        {**small_views().matrices, "none": np.zeros((60, 4))}, labels=small_views().labels
    )
    (found,) = run(Plan(["own"], [LINK], seeds=1), n_jobs=1, data={"own": views}).runs
    assert not found.error
    assert {"accuracy", "coherence", "diversity"} <= set(found.values[""])


def test_data_without_labels_need_a_number_of_topics():
    views = Views(dict(small_views().matrices))
    (found,) = run(Plan(["plain"], [LINK], seeds=1), n_jobs=1, data={"plain": views}).runs
    assert "n_components is needed" in found.error


def test_an_entry_sees_the_views_it_asks_for():
    one = Entry("plsa", params=QUICK, views=["text"])
    both = Entry("plsa", label="both", params=QUICK, concat=True)
    results = run(Plan(["small"], [one, both], seeds=1), n_jobs=1, data=given())
    assert not results.failures
    assert results.labels == ("plsa", "both")


def test_the_best_view_by_labels_gets_the_labels_and_is_marked():
    entries = [
        Entry("kmeans-best", label="chosen", params={"n_init": 1}, oracle=True),
        *(
            Entry("kmeans", label=v, params={"n_init": 1, "view": v}, views=[v])
            for v in ("text", "image")
        ),
    ]
    results = run(Plan(["small"], entries, seeds=1), n_jobs=1, data=given())
    scores = {label: values[0] for (_, label), values in results.scores("accuracy").items()}
    assert scores["chosen"] == max(scores["text"], scores["image"])
    assert [r.oracle for r in results.runs] == [True, False, False]


def test_classification_is_measured_on_the_hidden_documents_alone():
    plan = Plan(["small"], [LINK], task="classify", label_rates=[0.2], seeds=[3])
    found = only(plan)
    views = small_views()
    shown = draw_labeled(views.labels, 0.2, seed=3)
    few = np.full(len(views), -1)
    few[shown] = views.labels[shown]
    by_hand = TopicClassifier(LinkPLSA(random_state=3, **QUICK), guess_strength=0).fit(views, few)
    hidden = np.setdiff1d(np.arange(len(views)), shown)
    expected = (by_hand.labels_[hidden] == views.labels[hidden]).mean()
    assert found.value("accuracy") == pytest.approx(expected)
    assert found.value("labeled") == 12


def test_every_model_gets_the_same_labels():
    seen = []

    class Spy:
        def fit(self, views, y):
            seen.append(y.tolist())
            self.labels_ = np.zeros(len(y), int)
            return self

        predict_proba = None

    plan = Plan(["small"], ["one", "two"], task="classify", label_rates=[0.1], seeds=2)
    makers = {name: lambda n, random_state: Spy() for name in ("one", "two")}
    run(plan, n_jobs=1, data=given(), models=makers)
    assert seen[0] == seen[1] != seen[2] == seen[3]


def test_a_classifier_of_the_baselines_classifies():
    plan = Plan(["small"], ["nb"], task="classify", label_rates=[0.3], seeds=1)
    assert only(plan).value("accuracy") > 0.5


@pytest.mark.parametrize(
    ("model", "task", "words"),
    [("nb", {}, "needs labels in fit"), ("kmeans", {"task": "classify"}, "takes no labels")],
)
def test_a_model_that_is_not_for_the_task_says_so(model, task, words):
    rates = {"label_rates": [0.2]} if task else {}
    (found,) = run(Plan(["small"], [model], seeds=1, **task, **rates), n_jobs=1, data=given()).runs
    assert words in found.error


def test_a_search_folds_each_view_in_on_its_own_and_centers_by_the_training_documents():
    found = only(Plan(["small"], [LINK], task="retrieve", seeds=[2]))
    views = small_views()
    is_test = draw_test(len(views), 0.25, seed=2)
    train, test = views[np.flatnonzero(~is_test)], views[np.flatnonzero(is_test)]
    model = LinkPLSA(3, random_state=2, **QUICK).fit(train)
    mixtures, centers = (
        [np.asarray(model.transform(part.select(v)), float) for v in ("text", "image")]
        for part in (test, train)
    )
    center = [c.mean(axis=0) for c in centers]
    scores = similarity(*mixtures, metric="correlation", center=center)
    expected = mean_average_precision(scores, test.labels, test.labels, kind="first_ten")
    assert found.value("map_first_ten", "text->image") == pytest.approx(expected)
    assert found.documents == len(train)


def test_the_mean_of_a_search_is_over_its_directions():
    found = only(Plan(["small"], [LINK], task="retrieve", seeds=1))
    both = [found.value("map_standard", p) for p in ("text->image", "image->text")]
    assert found.value("map_standard", "mean") == pytest.approx(np.mean(both))


def test_a_joint_fold_in_hands_the_answer_to_the_query_and_is_named_so():
    plan = Plan(["small"], [LINK], task="retrieve", seeds=1, fold_ins=["separate", "joint"])
    found = only(plan)
    # with one mixture for both views the right answer is the query itself
    assert found.value("median_rank", "text->image, joint fold-in (leaks)") < 3
    assert found.value("median_rank", "text->image") > 3


def test_the_semantic_space_compares_classes():
    plan = Plan(["small"], [LINK], task="retrieve", seeds=1, spaces=["topic", "semantic"])
    found = only(plan)
    assert {"text->image", "text->image, semantic"} <= set(found.values)


def test_scm_is_measured_in_both_spaces_and_never_jointly():
    plan = Plan(
        ["small"],
        ["scm"],
        task="retrieve",
        seeds=1,
        spaces=["topic", "semantic"],
        fold_ins=["separate", "joint"],
    )
    parts = set(only(plan).values)
    assert {"text->image", "text->image, semantic"} <= parts
    assert not any("joint" in part for part in parts)


def test_a_model_that_cannot_search_says_so():
    models = ["kmeans", Entry("plsa", params=QUICK, concat=True)]
    results = run(Plan(["small"], models, task="retrieve", seeds=1), n_jobs=1, data=given())
    assert all("cannot place a document" in r.error for r in results.runs)


def test_a_publishers_split_is_used_where_asked_for():
    views = small_views()
    is_test = np.arange(60) >= 40
    plan = Plan(["mine"], [LINK], task="retrieve", seeds=1, split="publisher")
    (found,) = run(plan, n_jobs=1, data={"mine": lambda: (views, is_test)}).runs
    assert found.documents == 40
    (failed,) = run(plan, n_jobs=1, data={"mine": lambda: views}).runs
    assert "gives no split" in failed.error


# -- what is done to the matrices ------------------------------------------------------------------


def prepared(steps, train, new=None):
    views = Views({"X": train})
    target = views if new is None else Views({"X": new})
    return Preprocessing(steps).learn(views).apply(target)["X"].toarray()


def test_rows_of_unit_length():
    assert prepared(["l1"], [[1, 3], [0, 2]]).tolist() == [[0.25, 0.75], [0, 1]]
    assert np.linalg.norm(prepared(["l2"], [[3, 4], [0, 2]]), axis=1) == pytest.approx(1)


def test_the_largest_value_is_that_of_the_training_documents():
    assert prepared(["max"], [[2, 4]], [[8, 1]]).tolist() == [[2, 0.25]]


def test_tf_idf_as_it_is_defined():
    counts = np.array([[2.0, 1, 0], [1, 0, 0], [3, 0, 1], [1, 1, 0]])
    idf = np.log((1 + 4) / (1 + (counts > 0).sum(axis=0))) + 1
    assert prepared(["tfidf"], counts) == pytest.approx(counts * idf)


def test_tf_idf_is_learned_from_the_training_documents():
    train, new = [[1, 1], [1, 0]], [[0, 1]]
    idf = np.log(3 / 2) + 1
    assert prepared(["tfidf"], train, new) == pytest.approx(np.array([[0, idf]]))


def test_steps_follow_each_other():
    assert prepared(["binary", "l1"], [[5, 7, 0, 0]]).tolist() == [[0.5, 0.5, 0, 0]]
    assert prepared(["sqrt"], [[4, 9]]).tolist() == [[2, 3]]


def test_names_labels_and_absent_views_survive():
    views = Views(
        {"a": [[1, 2], [0, 0]], "b": [[1], [3]]},
        labels=[0, 1],
        ids=["x", "y"],
        features={"a": ["u", "v"]},
    )
    after = Preprocessing(["l1"]).learn(views).apply(views)
    assert after.present.tolist() == [[True, True], [False, True]]
    assert after.ids.tolist() == ["x", "y"]
    assert after.labels.tolist() == [0, 1]
    assert after.features["a"].tolist() == ["u", "v"]
