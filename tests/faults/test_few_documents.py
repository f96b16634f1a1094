"""One document, two, all alike, a view that no document has, labels of mixed types: an answer, or a
message that says what to do. Nothing fails with words of another library."""

import warnings

import numpy as np
import pytest

import coview
from coview import DataWarning, LinkPLSA, TopicClassifier, Views
from tests.cli.command import inside

COUNTS = np.random.default_rng(0).poisson(1.0, (40, 12))
DATA = {
    "one": {"a": [[1, 2, 3]], "b": [[2, 0]]},
    "two": {"a": [[1, 2, 3], [0, 1, 2]], "b": [[2, 0], [0, 3]]},
    "alike": {"a": np.tile([1, 2, 3], (30, 1)), "b": np.tile([4, 1], (30, 1))},
    "absent": {"a": COUNTS, "b": np.zeros((40, 3))},
    "one text": {"en": ["a single text about rain"]},
}
ABSENT = "No document has a count in 'b'; such a view teaches nothing."


@pytest.fixture(params=DATA)
def data(request):
    return DATA[request.param]


def quiet(fit):
    """Fit, and return the model with what was told, each cause once."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fitted = fit()
    messages = [str(w.message) for w in told]
    assert all(issubclass(w.category, DataWarning) for w in told)
    assert len(messages) == len(set(messages))
    return fitted, messages


@pytest.mark.parametrize("n_topics", [1, 2])
def test_a_model_answers(data, n_topics):
    n_docs = len(next(iter(data.values())))
    for fit in (
        lambda: LinkPLSA(n_topics, random_state=0).fit(data),
        lambda: coview.auto(data, n_topics, verbose=False),
    ):
        fitted, told = quiet(fit)
        assert fitted.labels_.shape == (n_docs,)
        np.testing.assert_allclose(fitted.doc_topic_.sum(axis=1), 1, rtol=1e-5)
        assert fitted.predict(data).shape == (n_docs,)
        assert any("some can only be copies" in t for t in told) == (n_topics > n_docs)
        assert (ABSENT in told) == (data is DATA["absent"])


def test_a_classifier_answers(data):
    n_docs = len(next(iter(data.values())))
    for y in ([7] * n_docs, ["x"] + [None] * (n_docs - 1), [0, *[1] * (n_docs - 1)]):
        fitted, _ = quiet(lambda y=y: TopicClassifier(LinkPLSA(random_state=0)).fit(data, y))
        assert fitted.labels_[0] == y[0]
        assert set(fitted.predict(data).tolist()) <= set(fitted.classes_.tolist())


@pytest.mark.filterwarnings("ignore:All documents are alike in view")
def test_measurements_that_do_not_vary_are_refused():
    alike = {"a": np.tile([0.1, 0.2], (30, 1)), "b": np.tile([-0.4, 1.5], (30, 1))}
    for fit in (LinkPLSA(2).fit, lambda X: coview.auto(X, 2, verbose=False)):
        with pytest.raises(ValueError, match="All documents are alike in every view"):
            fit(alike)


def test_texts_that_are_all_alike_or_missing_say_what_to_do():
    for texts, words in (
        ({"en": ["rain and wind"] * 30}, "No term of view 'en' is left.*raise max_df"),
        ({"en": ["rain", "wind"], "de": [None, None]}, "'de' is missing in all of 2 documents"),
    ):
        for use in (Views, LinkPLSA(2).fit, lambda X: coview.auto(X, 2, verbose=False)):
            with pytest.raises(ValueError, match=words):
                use(texts)


@pytest.mark.parametrize("options", [("--topics", "2"), ("--label", "kind", "--classify")])
def test_the_command_answers(tmp_path, options):
    rows = {
        "one": ["rain and wind,Regen,x"],
        "two": ["rain and wind,Regen,x", "a goal of the team,Tor,2"],
        "alike": ["rain and wind,Regen,x"] * 30,
        "absent": [f"{'rain wind' if i % 2 else 'goal team'},,x" for i in range(20)],
    }
    refused = {"alike": "No term of view 'en' is left", "absent": "'de' is missing in all of 20"}
    for name, lines in rows.items():
        table = tmp_path / f"{name}.csv"
        table.write_text("\n".join(["en,de,kind", *lines]) + "\n")
        model = tmp_path / f"{name}.coview"
        code, _, stderr = inside(
            "fit", table, "--text", "en", "--text", "de", *options, "-o", model
        )
        assert model.exists() == (name not in refused)
        assert code == int(name in refused), stderr
        assert refused.get(name, "") in stderr
        assert "Traceback" not in stderr
