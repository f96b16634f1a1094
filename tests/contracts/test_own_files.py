"""What a model writes it reads again, whatever it was fitted to: no check is too strict."""

import numpy as np
import pytest

from coview import Checkpoint, TopicClassifier, load
from coview.datasets import make_views
from tests.contracts.models import MODELS
from tests.contracts.test_odd_data import CASES, model_and_views

pytestmark = pytest.mark.filterwarnings("ignore")
slow = pytest.mark.slow
VARIANTS = [
    {"n_init": 2, "doc_topic_prior": 0.5, "topic_word_prior": 0.5, "assign": "kmeans"},
    {"dtype": "float64", "doc_topic_prior": 3.0, "seeds": {"first": {"view_0": [0, 1]}}},
]


@pytest.fixture(scope="module")
def counts():
    """Planted topics in two views of 24 documents."""
    views = make_views(24, 3, [12, 10], doc_length=20, random_state=1)
    return {name: matrix.toarray().astype(float) for name, matrix in views.matrices.items()}


def round_trip(model, views, folder, **fit):
    fitted = model.fit(views, checkpoint=Checkpoint(folder / "run", every=1), **fit)
    fitted.save(folder / "m.coview")
    again = load(folder / "m.coview")
    np.testing.assert_array_equal(again.transform(views), fitted.transform(views))
    parameters = fitted.get_params()
    for state in Checkpoint(folder / "run").files:
        if state.exists():  # each on its own: the newest would hide the one before
            state.rename(folder / "other.0")
            resumed = type(model)(**parameters).fit(
                views, checkpoint=Checkpoint(folder / "other", resume=True), **fit
            )
            np.testing.assert_array_equal(resumed.doc_topic_, fitted.doc_topic_)
            Checkpoint(folder / "other").delete()


@pytest.mark.parametrize(("make", "n_topics"), CASES)
@slow
def test_models_of_odd_data_are_read_again(entry, make, n_topics, counts, tmp_path):
    model, views = model_and_views(entry, make(counts), n_topics)
    round_trip(model, views, tmp_path)


@pytest.mark.parametrize(
    "variant",
    [pytest.param(VARIANTS[0], id="sparse"), pytest.param(VARIANTS[1], id="smooth", marks=slow)],
)
def test_models_of_every_kind_are_read_again(entry, variant, counts, tmp_path):
    _, views = model_and_views(entry, dict(counts), 3)
    round_trip(entry(**variant), views, tmp_path)
    labels = np.where(np.arange(len(views)) % 2, -1, np.arange(len(views)) % 3)
    (tmp_path / "pinned").mkdir()
    round_trip(entry(**variant), views, tmp_path / "pinned", labels=labels)


def test_names_that_a_user_gave_are_read_again(counts, tmp_path):
    model, views = model_and_views(MODELS[4], dict(counts), 3)
    model.fit(views)
    for names in (("a", "b", "c"), ["a", None, "c"], np.array(["a", "b", "c"])):
        model.topic_names_ = names
        model.save(tmp_path / "m.coview")
        assert list(load(tmp_path / "m.coview").topic_names_) == list(names)


@pytest.mark.parametrize("classes", [["x", "y", "z"], [1.0, 2.0, 3.0], [3, 4, 5], [True, False]])
def test_classifiers_are_read_again(classes, counts, tmp_path):
    _, views = model_and_views(MODELS[4], dict(counts), 3)
    y = np.array(classes)[np.arange(len(views)) % len(classes)]
    model = TopicClassifier(MODELS[4](dtype="float32")).fit(views, y)
    model.save(tmp_path / "c.coview")
    again = load(tmp_path / "c.coview")
    np.testing.assert_array_equal(again.predict(views), model.predict(views))
