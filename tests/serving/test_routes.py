"""What the routes answer, against the same questions in Python."""

import base64
import json
import threading

import numpy as np
import pytest

from coview import PLSA, Doc, LinkPLSA, SearchIndex, TopicClassifier, Views, top_terms
from coview.retrieval.evidence import KINDS
from coview.serving.engine import ServedModel
from coview.serving.schemas import FoundReason
from coview.serving.server import reload
from coview.serving.work import Deadline
from tests.serving.service import SlowModel, news, news_model, running, served_news, until

DOCUMENTS = [{"en": "rain and storm", "de": "regen am meer"}, {"de": "tor und spiel"}]


def test_transform_gives_what_python_gives(service):
    found = service.post("/transform", {"documents": DOCUMENTS, "ids": ["a", "b"]})
    assert found.status == 200
    rows = found.json["documents"]
    expected = news_model().transform(
        {"en": ["rain and storm", None], "de": ["regen am meer", "tor und spiel"]}
    )
    np.testing.assert_allclose([row["mixture"] for row in rows], expected, atol=1e-6)
    assert [row["topic"] for row in rows] == expected.argmax(axis=1).tolist()
    assert [row["id"] for row in rows] == ["a", "b"]


def test_many_documents_are_worked_on_in_parts(service):
    texts = news_model().doc_ids_.tolist()
    documents = [{"en": f"{name} rain", "de": None} for name in texts]
    rows = service.post("/transform", {"documents": documents}).json["documents"]
    expected = news_model().transform({"en": [f"{name} rain" for name in texts]})
    np.testing.assert_allclose([row["mixture"] for row in rows], expected, atol=1e-6)


def test_texts_counts_terms_and_rows_are_the_same_document(service):
    words = ["rain", "rain", "wind"]
    columns = {term: c for c, term in enumerate(news_model().feature_names_["en"])}
    row = np.zeros(len(columns))
    np.add.at(row, [columns[word] for word in words], 1)
    values = [" ".join(words), {"rain": 2, "wind": 1, "unheard of": 7}, words, row.tolist()]
    found = service.post("/transform", {"documents": [{"en": value} for value in values]})
    rows = [row["mixture"] for row in found.json["documents"]]
    assert rows[1:] == rows[:1] * 3


def test_predict_says_where_nothing_is_known(service):
    found = service.post("/predict", {"documents": [{"en": "rain"}, {"en": "qqqq"}]})
    known, unknown = found.json["documents"]
    assert known["label"] == news_model().predict({"en": ["rain"]})[0]
    assert unknown == dict.fromkeys(("id", "label", "name", "probability"), None) | {"known": False}


def test_search_gives_what_an_index_gives(service):
    index = SearchIndex(news_model(), in_view="de", training_views=news())
    expected = index.query({"en": "rain and storm"}, 5, explain=True)
    question = {"query": {"en": "rain and storm"}, "in_view": "de", "top": 5, "explain": True}
    hits = service.post("/search", question).json["hits"]
    assert [hit["id"] for hit in hits] == expected.ids
    np.testing.assert_allclose([hit["score"] for hit in hits], expected.scores, atol=1e-6)
    assert [hit["topic"] for hit in hits] == news_model().labels_[expected.positions].tolist()
    assert [hit["explanation"] for hit in hits] == [
        row["explanation"] for row in json.loads(json.dumps(expected.to_rows()))
    ]


@pytest.mark.parametrize("like", ["weather-01", 0])
def test_search_for_what_is_like_a_known_document(service, like):
    index = SearchIndex(news_model(), training_views=news())
    hits = service.post("/search", {"like": like, "top": 3}).json["hits"]
    assert [hit["id"] for hit in hits] == index.query(Doc(like), 3).ids


def test_a_model_that_keeps_its_documents_is_searched_by_itself():
    model = LinkPLSA(6, init="random", max_iter=15, tol=0.0, random_state=0).fit(news())
    model.keep_search(news(), titles=[f"Story {name}" for name in news().ids])
    served = ServedModel(model)
    served.prepare()
    expected = SearchIndex(model, in_view="de").query({"en": "rain and storm"}, 5, explain=True)
    hits = served.search({"en": "rain and storm"}, None, "de", 5, True, Deadline(60))
    assert [hit["id"] for hit in hits] == expected.ids
    np.testing.assert_allclose([hit["score"] for hit in hits], expected.scores, atol=1e-7)
    assert hits[0]["title"] == f"Story {hits[0]['id']}"
    assert hits[0]["text"] is None
    for hit in hits:
        for reason in hit["explanation"]:
            FoundReason.model_validate(reason, strict=True)
            assert reason["kind"] in KINDS


def test_topics(service):
    found = service.get("/topics?terms=3").json
    assert found["views"] == ["en", "de"]
    assert found["n_documents"] == 120
    terms = top_terms(news_model(), 3)
    for topic in found["topics"]:
        assert topic["terms"]["en"] == terms["en"][topic["topic"]]


def test_annotate(service):
    found = service.post("/annotate", {"documents": [{"en": "rain"}], "in_view": "de", "top": 4})
    (row,) = found.json["documents"]
    assert len(row["terms"]) == 4
    assert row["known"]
    shares = [term["probability"] for term in row["terms"]]
    assert shares == sorted(shares, reverse=True)
    expected = news_model().predict_terms({"en": "rain"}, in_view="de", top=4)
    assert [term["term"] for term in row["terms"]] == expected.terms
    nothing = service.post("/annotate", {"documents": [{"en": "qqqq"}], "in_view": "de"})
    assert nothing.json["documents"] == [{"id": None, "terms": [], "known": False}]


def test_a_classifier_gives_classes_by_name():
    texts = {"en": ["ball goal team", "moon star orbit"] * 6}
    views = Views.from_texts(texts, labels=["sports", "space"] * 6, max_df=1.0)
    model = TopicClassifier(LinkPLSA(init="random", max_iter=5, tol=0.0, random_state=0))
    served = ServedModel(model.fit(views, views.labels))
    served.prepare()
    with running(served) as service:
        found = service.post("/predict", {"documents": [{"en": "goal"}, {"en": "moon"}]})
        assert [row["name"] for row in found.json["documents"]] == ["sports", "space"]
        names = [topic["name"] for topic in service.get("/topics").json["topics"]]
        assert sorted(names) == ["space", "sports"]


def test_an_index_is_searched_in_its_own_view():
    index = SearchIndex(news_model(), in_view="de", views=news()[:7])
    served = ServedModel(news_model(), index)
    served.prepare()
    with running(served) as service:
        hits = service.post("/search", {"query": {"en": "rain"}}).json["hits"]
        assert {hit["id"] for hit in hits} <= set(news().ids[:7])
        other = service.post("/search", {"query": {"en": "rain"}, "in_view": "en"})
        assert other.status == 422
        assert "'de' alone" in other.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "documents"),
        ([], "dictionary"),
        ({"documents": []}, "at least 1"),
        ({"documents": {}}, "list"),
        ({"documents": [{}]}, "at least 1"),
        ({"documents": [{"en": None}]}, "Document 0 has no view"),
        ({"documents": [{"en": "rain"}, {"fr": "pluie"}]}, "Document 1: there is no view 'fr'"),
        ({"documents": [{"en": 3}]}, "expected a text"),
        ({"documents": [{"en": True}]}, "expected a text"),
        ({"documents": [{"en": [1, "rain"]}]}, "expected a text"),
        ({"documents": [{"en": {"rain": "2"}}]}, "expected a text"),
        ({"documents": [{"en": {"rain": 1e300}}]}, "expected a text"),
        ({"documents": [{"en": {"rain": -1}}]}, "must not be below 0"),
        ({"documents": [{"en": {"unheard of": -1, "rain": 1}}]}, "must not be below 0"),
        ({"documents": [{"en": [1, 2]}]}, "row of numbers"),
        ({"documents": [{"en": {"base64": "aGFsbG8="}}]}, "takes a text"),
        ({"documents": [{"en": "rain"}], "ids": []}, "1 documents, but 0 ids"),
        ({"documents": [{"en": "rain"}], "idz": ["a"]}, "idz"),
    ],
    ids=str,
)
def test_wrong_documents_get_words(service, body, words):
    found = service.post("/transform", body)
    assert found.status == 422
    assert words in found.message


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"top": 3}, 422),
        ({"query": {"en": "rain"}, "like": "weather-01"}, 422),
        ({"query": {"en": "rain"}, "in_view": "fr"}, 422),
        ({"query": {"en": "rain"}, "top": 0}, 422),
        ({"query": {"en": "rain"}, "top": "3"}, 422),
        ({"query": {"en": "rain"}, "top": True}, 422),
        ({"query": {"en": "rain"}, "explain": 1}, 422),
        ({"query": {"en": "qqqq"}}, 422),
        ({"query": "rain"}, 422),
        ({"like": "nobody"}, 404),
        ({"like": 10**30}, 422),
        ({"like": 10**6}, 404),
        ({"like": -1}, 422),
        ({"like": ["a"]}, 422),
    ],
    ids=str,
)
def test_wrong_searches_get_the_right_status(service, body, status):
    assert service.post("/search", body).status == status


def test_other_methods_and_paths(service):
    wrong = service.get("/transform")
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")
    assert service.post("/topics", b"", Content_Type="text/plain").status == 405
    assert service.get("/nowhere").status == 404
    assert service.post("/nowhere", {}).status == 404


def test_several_models_in_one_process():
    texts = {"en": ["ball goal team", "moon star orbit"] * 6}
    other = PLSA(2, random_state=0).fit(Views.from_texts(texts, max_df=1.0))
    other = ServedModel(other)
    other.prepare()
    with running({"news": served_news(), "small": other}) as service:
        assert [m["name"] for m in service.get("/models").json["models"]] == ["news", "small"]
        body = {"documents": [{"en": "goal"}]}
        for prefix, n_topics in (("", 6), ("/models/news", 6), ("/models/small", 2)):
            (row,) = service.post(f"{prefix}/transform", body).json["documents"]
            assert len(row["mixture"]) == n_topics
            described = service.get(f"{prefix}/openapi.json").json
            assert described["servers"] == [{"url": prefix or "/"}]
        assert service.post("/models/other/transform", body).status == 404
        assert '{route="/models/small/transform",status="200"} 1' in service.state.metrics.text()


def test_models_are_read_again_while_requests_are_worked_on():
    """Requests that have begun end with the old model, others get the new one."""
    slow, new = SlowModel(), served_news()
    found = []
    with running(slow) as service:
        body = {"documents": [{"en": "rain"}]}
        asks = threading.Thread(target=lambda: found.append(service.post("/transform", body)))
        asks.start()
        until(lambda: slow.n_begun == 1)
        reload(service.state, {"news": lambda: new}, threading.Lock())
        assert service.post("/transform", body).status == 200
        assert slow.n_begun == 1
        slow.go_on.set()
        asks.join()
        assert found[0].status == 200

        def broken():
            raise ValueError("damaged")

        reload(service.state, {"news": broken}, threading.Lock())
        assert service.state.models == {"news": new}
        assert service.post("/transform", body).status == 200


def test_numbers_of_a_view_without_names():
    views = Views({"a": [[3, 0, 1], [0, 4, 0]], "b": [[-1.5, 0.25], [2.5, 0.5]]})
    served = ServedModel(LinkPLSA(2, init="random", max_iter=5, tol=0.0, random_state=0).fit(views))
    served.prepare()
    with running(served) as service:
        found = service.post(
            "/transform", {"documents": [{"a": {"1": 2}}, {"a": [0, 2, 0]}, {"b": [-1.0, 0.3]}]}
        )
        rows = [row["mixture"] for row in found.json["documents"]]
        assert rows[0] == rows[1]
        assert found.json["clipped"] == {}
        text = service.post("/transform", {"documents": [{"a": "a text"}]})
        assert "was not made from texts" in text.message


@pytest.mark.filterwarnings("ignore::coview.DataWarning")
def test_a_view_without_any_count():
    views = Views({"a": [[0, 0], [0, 0]], "b": [[3, 0], [0, 2]]})
    served = ServedModel(LinkPLSA(2, init="random", max_iter=5, tol=0.0, random_state=0).fit(views))
    served.prepare()
    with running(served) as service:
        document = {"documents": [{"b": [1, 0]}]}
        assert service.post("/predict", document).json["documents"][0]["known"]
        found = service.post("/annotate", {**document, "in_view": "a"})
        assert (found.status, found.code) == (422, "bad_view")


@pytest.mark.filterwarnings("ignore::coview.DataWarning")
def test_numbers_beyond_the_range_of_training_are_told():
    views = Views({"b": np.array([[-1.5, 0.25], [2.5, 0.5], [0.5, 0.1]])})
    served = ServedModel(PLSA(2, init="random", max_iter=5, tol=0.0, random_state=0).fit(views))
    served.prepare()
    with running(served) as service:
        found = service.post("/predict", {"documents": [{"b": [-9.0, 0.3]}, {"b": [0.1, 99.0]}]})
        assert found.json["clipped"] == {"b": 2}


@pytest.fixture(scope="module")
def picture_service():
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 255, (40, 40, 3), dtype=np.uint8) for _ in range(6)]
    views = Views.from_images(pictures, n_words=0, color=True)
    served = ServedModel(LinkPLSA(2, init="random", max_iter=3, tol=0.0, random_state=0).fit(views))
    served.prepare()
    with running(served) as service:
        yield service, pictures, served.model


def test_pictures_come_as_base64(picture_service):
    service, pictures, model = picture_service
    cv2 = pytest.importorskip("cv2")
    data = cv2.imencode(".png", cv2.cvtColor(pictures[0], cv2.COLOR_RGB2BGR))[1].tobytes()
    body = {"documents": [{"image": {"base64": base64.b64encode(data).decode()}}]}
    found = service.post("/transform", body).json["documents"][0]
    np.testing.assert_allclose(
        found["mixture"], model.transform(model.read({"image": pictures[:1]}))[0], atol=1e-6
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GIF89a" + bytes([255, 255, 255, 255]), "pixels"),
        (b"GIF89a" + bytes([2, 0, 3, 0]), "damaged"),
        (b"no picture", "no format"),
        (b"\x89PNG\r\n\x1a\n", "no format"),
    ],
)
def test_bad_pictures_are_refused(picture_service, data, words):
    text = base64.b64encode(data).decode()
    found = picture_service[0].post("/transform", {"documents": [{"image": {"base64": text}}]})
    assert found.status == 422
    assert words in found.message


def test_vectors_of_an_encoder():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 4))
    views = Views.from_embeddings({"vec": vectors}, n_codes=8)
    served = ServedModel(PLSA(2, init="random", max_iter=3, tol=0.0, random_state=0).fit(views))
    served.prepare()
    with running(served) as service:
        found = service.post("/transform", {"documents": [{"vec": vectors[0].tolist()}]}).json
        expected = served.model.transform(served.model.read({"vec": vectors[:1]}))
        np.testing.assert_allclose(found["documents"][0]["mixture"], expected[0], atol=1e-6)
        assert service.post("/transform", {"documents": [{"vec": [1.0, 2.0]}]}).status == 422
        assert service.post("/transform", {"documents": [{"vec": "1 2 3 4"}]}).status == 422
        assert service.post("/transform", {"documents": [{"vec": {"code_0001": 2}}]}).status == 200


def test_answers_are_strict_json(service):
    found = service.post("/transform", {"documents": DOCUMENTS})
    assert found.headers["content-type"] == "application/json"
    json.loads(found.body, parse_constant=pytest.fail)
