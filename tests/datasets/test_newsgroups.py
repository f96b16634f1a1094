"""Documents made of one post of each view's group."""

import numpy as np
import pytest

from coview import Views
from coview.datasets import load_newsgv2, load_newsgv4
from coview.datasets.newsgroups import NEWSGV2, NEWSGV4, join_posts
from coview.datasets.registry import DATASETS, NEWSGROUPS

GROUPS = (("cats", "dogs"), ("sun", "rain"))
NAMES = ["cats", "dogs", "sun", "rain", "other"]


@pytest.fixture
def posts(rng):
    words = rng.poisson(0.6, size=(100, 30))
    words[:, 0] += 1  # no post is empty
    return Views(
        {"words": words},
        labels=np.arange(100) % 5,
        label_names=NAMES,
        features={"words": [f"w{i:02}" for i in range(30)]},
    )


def join(posts, **options):
    return join_posts(posts, GROUPS, **{"docs_per_class": 10, "min_df": 1, **options})


def rows_of(views):
    return np.array([[int(row) for row in name.split("+")] for name in views.ids])


def test_each_part_is_of_the_group_of_its_class_and_view(posts):
    views = join(posts)
    groups = np.array(NAMES)[posts.labels[rows_of(views)]]
    assert set(map(tuple, groups[views.labels == 0])) == {("cats", "sun")}
    assert set(map(tuple, groups[views.labels == 1])) == {("dogs", "rain")}


def test_no_post_is_drawn_twice(posts):
    rows = rows_of(join(posts, docs_per_class=20))
    assert all(len(set(column)) == 40 for column in rows.T)


def test_counts_are_those_of_the_posts(posts):
    views = join(posts, weighting="tf", norm=None)
    rows = rows_of(views)
    for view, part in zip(views.names, rows.T, strict=True):
        words = [int(name[1:]) for name in views.features[view]]
        np.testing.assert_array_equal(
            views[view].toarray(), posts["words"].toarray()[part][:, words]
        )


@pytest.mark.parametrize("norm", ["l1", "l2", None])
def test_weights_are_those_of_the_formula(posts, norm):
    counts = join(posts, weighting="tf", norm=None)["view1"].toarray()
    found = join(posts, norm=norm)["view1"].toarray()
    n_docs, frequency = len(counts), (counts > 0).sum(axis=0)
    expected = counts * (np.log((1 + n_docs) / (1 + frequency)) + 1)
    if norm:
        order = 1 if norm == "l1" else 2
        expected /= np.linalg.norm(expected, ord=order, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_words_are_counted_in_all_posts_of_the_groups(posts):
    frequency = (posts["words"].toarray()[np.isin(posts.labels, [0, 1])] > 0).sum(axis=0)
    min_df = int(np.median(frequency))
    assert join(posts, min_df=min_df)["view1"].shape[1] == (frequency >= min_df).sum()


def test_words_can_be_counted_in_the_posts_drawn(posts):
    views = join(posts, min_df=12, vocabulary="drawn", weighting="tf", norm=None)
    counts = posts["words"].toarray()[rows_of(views)[:, 0]]
    frequency = (counts > 0).sum(axis=0)
    assert views.features["view1"].tolist() == [f"w{i:02}" for i in np.flatnonzero(frequency >= 12)]


def test_a_post_without_a_word_of_the_view_is_never_drawn(posts):
    words = posts["words"].toarray()
    words[:25] = 0
    words[:25, 29] = 1
    words[25:, 29] = 0  # the word of the first posts is too rare
    thin = Views({"words": words}, labels=posts.labels, label_names=NAMES)
    views = join(thin, docs_per_class=15, min_df=11)
    assert views.present.all()
    assert rows_of(views).min() >= 25


def test_the_same_seed_gives_the_same_documents(posts):
    assert join(posts, random_state=1).equals(join(posts, random_state=1))
    assert not join(posts, random_state=1).equals(join(posts, random_state=2))


def test_pairs_are_made_at_random(posts):
    first, second = rows_of(join(posts, docs_per_class=20)).T
    assert (np.argsort(first) != np.argsort(second)).any()


def test_ids_of_posts_are_kept(posts):
    named = Views(posts, ids=[f"post{i}" for i in range(100)])
    assert join(named).ids[0].startswith("post")
    assert [name.replace("post", "") for name in join(named).ids] == join(posts).ids.tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"docs_per_class": 21}, "at most 20, the posts of group 'cats'"),
        ({"docs_per_class": 0}, "docs_per_class must be an integer of at least 1"),
        ({"min_df": 0}, "min_df must be an integer of at least 1"),
        ({"min_df": 1000}, "lower min_df"),
        ({"vocabulary": "all"}, "vocabulary must be one of 'groups', 'drawn'"),
        ({"weighting": "bm25"}, "weighting must be one of 'tfidf', 'tf'"),
        ({"norm": "max"}, "norm must be one of 'l2', 'l1', None"),
    ],
)
def test_wrong_options(posts, options, words):
    with pytest.raises(ValueError, match=words):
        join(posts, **options)


@pytest.mark.parametrize(
    ("load", "groups", "name"),
    [(load_newsgv2, NEWSGV2, "newsgv2"), (load_newsgv4, NEWSGV4, "newsgv4")],
)
def test_the_problems_of_the_paper_from_a_folder(tmp_path, load, groups, name):
    labels = np.repeat(np.arange(20), 3)
    words = np.ones((60, 8))
    Views({"words": words}, labels=labels, label_names=NEWSGROUPS).save(tmp_path / "20newsgroups")
    views = load(data_home=tmp_path, docs_per_class=2)
    assert views.names == tuple(DATASETS[name].views)
    assert views.n_docs == 2 * len(groups[0])
    assert views.label_names == list(DATASETS[name].classes)
