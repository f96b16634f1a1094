"""Index files, and what does not depend on threads."""

import json
from pathlib import Path

import numpy as np
import pytest

import coview
from coview import Doc, LinkPLSA, SearchIndex, search
from coview.store import DamagedFile, read_sealed, write_sealed
from tests.retrieval.stories import topics_of


def indexes(model, stories):
    labels = [name.split("-")[0] for name in stories.ids]
    yield SearchIndex(model, in_view="de")
    yield SearchIndex(model, in_view="de", training_views=stories)
    yield SearchIndex(model, in_view="de", views=stories[4:20], training_views=stories)
    yield SearchIndex(model, in_view="de", metric="correlation", views=stories[4:20])
    yield SearchIndex(model, metric="jensen-shannon", space="semantic", labels=labels)


def test_a_saved_index_gives_the_same_answers(model, stories, tmp_path):
    for index in indexes(model, stories):
        index.save(tmp_path / "stories.index")
        again = SearchIndex.load(tmp_path / "stories.index", model)
        assert repr(again) == repr(index)
        for query in ({"en": "moon ball"}, Doc("food-2"), Doc(6), {"de": "salz"}):
            assert again.query(query, explain=True).ids == index.query(query).ids
            np.testing.assert_array_equal(again.query(query).scores, index.query(query).scores)


def test_an_index_without_its_model_answers_mixtures_and_documents(model, stories, tmp_path):
    index = SearchIndex(model, in_view="de")
    index.save(tmp_path / "stories.index")
    again = SearchIndex.load(tmp_path / "stories.index")
    mixtures = model.transform(stories[:5])
    for a, b in zip(again.query_many(mixtures), index.query_many(mixtures), strict=True):
        np.testing.assert_array_equal(a, b)
    assert topics_of(again.query(Doc("food-2"), top=3)) == {"food"}
    again.save(tmp_path / "copy.index")  # the fingerprint of the model is kept
    assert len(SearchIndex.load(tmp_path / "copy.index", model)) == 23
    for unanswerable in ({"en": "ball"}, Doc("food-2", view="en")):
        with pytest.raises(ValueError, match="loaded without its model"):
            again.query(unanswerable)


def test_an_index_of_another_model_is_refused(model, stories, tmp_path):
    SearchIndex(model).save(tmp_path / "stories.index")
    other = LinkPLSA(3, init="random", random_state=5, max_iter=2, tol=0).fit(stories)
    with pytest.raises(ValueError, match="made with another model"):
        SearchIndex.load(tmp_path / "stories.index", other)


def test_a_damaged_index_is_refused(model, tmp_path):
    path = tmp_path / "stories.index"
    SearchIndex(model).save(path)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-9] + b"x" + whole[-8:], b"", b"\x80\x04nonsense"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"stories\.index"):
            SearchIndex.load(path)
    with pytest.raises(FileNotFoundError):
        SearchIndex.load(tmp_path / "none.index")


def test_a_model_file_is_no_index(model, tmp_path):
    model.save(tmp_path / "m.coview")
    with pytest.raises(ValueError, match="holds a model; a search index was expected"):
        SearchIndex.load(tmp_path / "m.coview")


def test_a_loaded_model_searches_as_the_one_that_was_saved(model, tmp_path):
    model.save(tmp_path / "m.coview")
    again = coview.load(Path(tmp_path / "m.coview"))
    query = {"en": "orbit star"}
    assert search(again, query, in_view="de") == search(model, query, in_view="de")


def test_threads_change_no_bit(coupled, planted):
    one, three = (SearchIndex(coupled, metric="correlation", n_jobs=n) for n in (1, 3))
    for a, b in zip(one.query_many(planted), three.query_many(planted), strict=True):
        np.testing.assert_array_equal(a, b)


def test_mixtures_may_say_which_view_they_are_of(coupled, planted):
    index = SearchIndex(coupled, in_view="view_1", metric="correlation")
    queries = planted[:5].select("view_0")
    mixtures = coupled.transform(queries)
    by_views = index.query_many(queries)
    by_mixtures = index.query_many(mixtures, view="view_0")
    np.testing.assert_array_equal(by_views[0], by_mixtures[0])
    np.testing.assert_allclose(by_views[1], by_mixtures[1], atol=1e-6)
    with pytest.raises(ValueError, match="view is for an array of mixtures"):
        index.query_many(queries, view="view_0")


def test_no_queries_have_no_answers(coupled, planted):
    for index in (SearchIndex(coupled), SearchIndex(coupled, training_views=planted)):
        positions, scores = index.query_many(np.empty((0, 4)), top=7)
        assert positions.shape == scores.shape == (0, 7)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vectors", lambda a: a[:, 1:]),
        ("positions", lambda a: a[1:]),
        ("ids.ends", lambda a: a[:-1]),
        ("center.0", lambda a: a[1:]),
        ("coef.1", lambda a: a[:, 1:]),
    ],
)
def test_arrays_that_do_not_fit_each_other_never_reach_a_kernel(
    model, stories, tmp_path, name, change
):
    labels = [name.split("-")[0] for name in stories.ids]
    options = {"space": "semantic", "labels": labels, "metric": "correlation"}
    views = stories[4:20]
    SearchIndex(model, in_view="de", views=views, **options).save(tmp_path / "a.index")
    header, tensors = read_sealed(tmp_path / "a.index", "search index")
    write_sealed(
        tmp_path / "b.index", "search index", header, {**tensors, name: change(tensors[name])}
    )
    with pytest.raises(DamagedFile, match="no search index that coview understands"):
        SearchIndex.load(tmp_path / "b.index", model)


@pytest.mark.parametrize("name", ["topic", "semantic"])
def test_index_files_of_format_1_are_read(name):
    folder = Path(__file__).parent / "format_1"
    kept = json.loads((folder / f"{name}.json").read_text())
    index = SearchIndex.load(folder / f"{name}.index")
    queries = np.array(kept["queries"])
    positions, scores = index.query_many(queries, top=3)
    assert positions.tolist() == kept["positions"]
    np.testing.assert_allclose(scores, kept["scores"], rtol=1e-9)
    assert [index.query(query, top=3).ids for query in queries] == kept["ids"]
