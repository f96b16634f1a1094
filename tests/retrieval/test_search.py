"""Search across views as a user sees it."""

import numpy as np
import pytest

from coview import DataWarning, Doc, LinkPLSA, SearchIndex, TopicClassifier, Views, search
from coview.retrieval.similarity import METRICS
from tests.retrieval import naive
from tests.retrieval.stories import sentences, topics_of

# -- scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
def test_no_score_is_above_1(planted, metric):
    # mixtures in single precision sum to a little less or more than 1
    model = LinkPLSA(4, init="random", max_iter=40, random_state=0).fit(planted)
    assert (model.doc_topic_.sum(axis=1, dtype=float) > 1).any()
    index = SearchIndex(model, metric=metric)
    _, scores = index.query_many(model.doc_topic_, top=3)
    assert scores.max() <= 1.0
    assert index.query(model.doc_topic_[0]).scores.max() <= 1.0


# -- kinds of queries -----------------------------------------------------------------------------


def test_a_text_finds_texts_in_another_language(model):
    assert topics_of(search(model, {"en": "a goal for the team"}, in_view="de", top=5)) == {"sport"}
    assert topics_of(search(model, {"de": "Salz in der Pfanne"}, in_view="en", top=5)) == {"food"}


def test_a_text_alone_will_do_where_there_is_one_kind_of_text(stories, model):
    english = LinkPLSA(3, random_state=0).fit(stories.select("en"))
    assert topics_of(search(english, "rocket to the moon", top=4)) == {"space"}
    with pytest.raises(ValueError, match="'en', 'de'"):
        search(model, "rocket to the moon")


def test_counts_and_texts_ask_alike(stories, model):
    index = SearchIndex(model, in_view="de")
    text = index.query({"en": "moon orbit moon"})
    views = model.read({"en": ["moon orbit moon"]})
    row = views["en"].toarray()[0]
    for same in (views, {"en": row}, {"en": row.tolist()}, {"en": views["en"]}):
        assert index.query(same) == text
    assert index.query(model.transform(views)[0]).ids == text.ids


def test_several_views_ask_together(model):
    both = search(model, {"en": "ball", "de": "spiel tor"}, in_view="de", top=3)
    assert topics_of(both) == {"sport"}
    mixed = search(model, {"en": model.read({"en": ["ball"]})["en"], "de": "spiel tor"}, top=3)
    assert topics_of(mixed) == {"sport"}


def test_tokens_are_one_query(stories):
    rng = np.random.default_rng(0)
    tokens = [text.split() for text in sentences(rng, 0)]
    model = LinkPLSA(3, random_state=0).fit(
        Views.from_texts({"tags": tokens}, ids=stories.ids, max_df=1.0)
    )
    assert topics_of(search(model, {"tags": ["moon", "star"]}, top=3)) == {"space"}


def picture(rng, color):
    """Stripes of one color, and noise."""
    pixels = rng.integers(0, 60, (48, 48, 3)).astype(np.uint8)
    pixels[:: 3 + 2 * color, :, color] = 250
    return pixels


def test_a_picture_finds_captions_and_a_caption_pictures():
    pytest.importorskip("cv2")
    rng = np.random.default_rng(0)
    captions = ["blue stripes", "green lines"] * 12
    pictures = [picture(rng, i % 2) for i in range(24)]
    options = {"n_words": 20, "caption_options": {"max_df": 1.0}}
    model = LinkPLSA(2, random_state=0).fit(
        Views.from_images(pictures, captions=captions, **options)
    )
    found = search(model, {"image": picture(rng, 1)}, in_view="caption", top=5, explain=True)
    assert (found.positions % 2 == 1).all()
    assert set(found[0].explanation[0].query_words) == {"image", "image_color"}
    assert len(search(model, {"image": picture(rng, 1)[..., 1]})) == 10  # a gray one
    words = search(model, {"image_color": picture(rng, 0)}, top=5, explain=True)
    assert set(words[0].explanation[0].query_words) == {"image_color"}
    assert (search(model, {"caption": "blue"}, in_view="image", top=5).positions % 2 == 0).all()


def test_a_query_of_unknown_words_is_an_error_that_names_them(model):
    with pytest.raises(ValueError, match="'xyzzy' is in no document of training, 'plugh'"):
        search(model, {"en": "xyzzy plugh"}, in_view="de")
    with pytest.raises(ValueError, match=r"1 of 2 queries .* rows '1'"):
        SearchIndex(model).query_many({"en": ["ball", "xyzzy"]})


def test_terms_that_never_occurred_in_training_are_unknown_too(planted):
    views = planted[:30]
    wide = {name: np.pad(m.toarray(), ((0, 0), (0, 1))) for name, m in views.matrices.items()}
    model = LinkPLSA(2, init="random", random_state=0, max_iter=3, tol=0).fit(wide)
    query = np.zeros(61)
    query[60] = 5
    with pytest.raises(ValueError, match="view 'view_0'"):
        search(model, {"view_0": query})


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({}, "nothing to read"),
        ({"en": None}, "nothing to read"),
        ({"fr": "bonjour"}, "'fr'"),
        (np.ones((1, 5)), "Say which view"),
        ({"en": ["ball", "goal"]}, "one document; got 2"),
        (np.full((2, 3), 1 / 3), "one mixture; got 2"),
    ],
)
def test_a_query_that_cannot_be_read_is_an_error_in_words(model, query, words):
    with pytest.raises(ValueError, match=words):
        search(model, query)


def test_an_array_that_may_be_counts_or_mixtures_is_refused():
    model = LinkPLSA(2, init="random", random_state=0, max_iter=3, tol=0).fit([[3, 1], [0, 4]])
    with pytest.raises(ValueError, match="could hold mixtures or documents"):
        search(model, np.array([0.5, 0.5]))
    assert len(search(model, np.array([2.0, 1.0]))) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"in_view": "fr"}, "in_view must be"),
        ({"metric": "euclidean"}, "metric must be"),
        ({"space": "latent"}, "space must be"),
        ({"space": "semantic"}, "give labels="),
        ({"labels": [0, 1]}, "labels are for"),
        ({"metric": "evidence"}, "needs the terms"),
        ({"metric": "evidence", "space": "semantic"}, "compares terms, not the classes"),
    ],
)
def test_wrong_options_are_named(model, options, words):
    with pytest.raises(ValueError, match=words):
        SearchIndex(model, **options)


def test_top_must_be_positive_and_may_be_more_than_there_are(model):
    with pytest.raises(ValueError, match="top must be"):
        search(model, {"en": "ball"}, top=0)
    assert len(search(model, {"en": "ball"}, in_view="de", top=1000)) == 23


# -- documents ------------------------------------------------------------------------------------


def test_a_document_asks_by_its_id_and_is_not_its_own_answer(model):
    index = SearchIndex(model, in_view="de")
    found = index.query(Doc("food-3"), top=7)
    assert topics_of(found) == {"food"}
    assert "food-3" not in found.ids
    assert len(found) == 7
    assert "food-3" in index.query(Doc("food-3", include_itself=True), top=8).ids
    assert index.query(Doc(11), top=7) == found


def test_a_document_that_lacks_the_view_asks_but_is_never_found(model):
    index = SearchIndex(model, in_view="de")
    assert len(index) == 23
    assert topics_of(index.query(Doc("space-7"), top=5)) == {"space"}
    assert "space-7" not in index.query({"en": "moon star"}, top=24).ids
    with pytest.raises(ValueError, match="'space-7' has no view 'de'"):
        index.query(Doc("space-7", view="de"))


def test_unknown_documents_are_named(model, stories):
    with pytest.raises(ValueError, match="no document 'food-99'"):
        search(model, Doc("food-99"))
    with pytest.raises(ValueError, match="no document 24"):
        search(model, Doc(24))
    with pytest.raises(ValueError, match="no document 3"):  # never a training document instead
        search(model, Doc(3), views=stories[:3])


def test_a_document_of_a_view_asks_with_the_mixture_of_that_view(coupled):
    found = search(coupled, Doc(5, view="view_1"), in_view="view_0", top=4)
    mixture = coupled.view_doc_topic_["view_1"][5].astype(float)
    gallery = coupled.view_doc_topic_["view_0"].astype(float)
    rows = [i for i in range(120) if i != 5]
    assert found.positions.tolist() == naive.best("hellinger", mixture, gallery, 4, rows)[0]


# -- what is searched -----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
def test_training_documents_are_found_as_by_loops(coupled, planted, metric):
    index = SearchIndex(coupled, in_view="view_1", metric=metric)
    queries = planted[:4].select("view_0")
    positions, scores = index.query_many(queries, top=6)
    own, center = (coupled.view_doc_topic_[v].mean(axis=0, dtype=float) for v in planted.names)
    gallery = coupled.view_doc_topic_["view_1"].astype(float)
    for i, query in enumerate(coupled.transform(queries).astype(float)):
        expected, values = naive.best(
            metric, query, gallery, 6, query_center=own, center=center.astype(np.float32)
        )
        assert positions[i].tolist() == expected
        np.testing.assert_allclose(scores[i], values, rtol=1e-6)
        assert index.query(queries[[i]], top=6).positions.tolist() == expected


def test_new_documents_are_folded_in_with_the_answer_view_alone(coupled, planted):
    new = planted[:20]
    both = SearchIndex(coupled, in_view="view_1", views=new)
    alone = SearchIndex(coupled, in_view="view_1", views=new.select("view_1"))
    for a, b in zip(both.query_many(new), alone.query_many(new), strict=True):
        np.testing.assert_array_equal(a, b)
    plain = SearchIndex(coupled, in_view="view_1", views=new, metric="hellinger")
    expected = coupled.transform(new.select("view_1"))
    np.testing.assert_array_equal(plain._gallery.vectors, expected)


def test_new_documents_that_lack_the_view_or_any_known_term_are_left_out(model):
    texts = {"en": ["ball", "moon", "salt"], "de": ["tor pokal", None, "unbekannt"]}
    views = model.read(texts)
    index = SearchIndex(model, in_view="de", views=views)
    assert index.query({"en": "moon"}).positions.tolist() == [0]
    assert SearchIndex(model, views=views).query({"en": "moon"}).positions[0] == 1
    with pytest.raises(ValueError, match="nothing to search: no document has view 'de'"):
        SearchIndex(model, in_view="de", views=views[1:])


def test_new_documents_ask_by_their_own_ids(model, stories):
    index = SearchIndex(model, in_view="de", views=stories[5:12])
    assert "sport-6" not in index.query(Doc("sport-6")).ids
    assert topics_of(index.query(Doc("sport-6"), top=2)) == {"sport"}
    assert topics_of(index.query(Doc("food-7"), top=4)) == {"food"}  # of the training
    assert index.query(Doc(1)) == index.query(Doc("sport-6"))


def test_views_without_the_answer_view_are_refused(model, stories):
    with pytest.raises(ValueError, match="lack view 'de'"):
        SearchIndex(model, in_view="de", views=stories.select("en"))


def test_a_view_that_no_document_has_cannot_be_searched(planted):
    views = {"view_0": planted["view_0"], "view_1": np.zeros((120, 5))}
    model = LinkPLSA(2, init="random", random_state=0, max_iter=3, tol=0)
    with pytest.warns(DataWarning, match="teaches nothing"):
        model.fit(views)
    with pytest.raises(ValueError, match="no training document has view 'view_1'"):
        SearchIndex(model, in_view="view_1")


def test_empty_documents_are_no_answers():
    counts = np.array([[3.0, 1, 0], [0, 0, 0], [0, 1, 4]])
    model = LinkPLSA(2, init="random", random_state=0, max_iter=5, tol=0).fit(
        Views({"X": counts}, present=np.ones((3, 1), bool))
    )
    assert sorted(search(model, {"X": [1, 1, 1]}).positions) == [0, 2]


def test_the_training_mixtures_are_not_copied(coupled):
    index = SearchIndex(coupled, in_view="view_1")
    assert index._gallery.vectors is coupled.view_doc_topic_["view_1"]


def test_a_classifier_is_searched_through_its_model(stories, model):
    labels = [name.split("-")[0] for name in stories.ids]
    classifier = TopicClassifier(LinkPLSA(random_state=0)).fit(stories, labels)
    assert topics_of(search(classifier, {"en": "goal"}, in_view="de", top=3)) == {"sport"}
