"""Trees of topics: nested levels, sums of their children, files, and what goes wrong."""

import json
import pickle
import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import coview
from coview import MVPLSA, PLSA, LinkPLSA, TopicClassifier, TopicTree, Views, VotedPLSA
from coview.datasets import make_views
from coview.merging import tokens_by_view
from coview.reporting import summarize_topics, top_terms
from coview.tree import build_tree, nested_members, tree_of, usual_levels
from tests.cli.command import inside


@pytest.fixture(scope="module")
def views():
    made = make_views(400, 12, {"text": 90, "image": 70}, random_state=0)
    names = {
        name: [f"{name[0]}{w}" for w in range(m.shape[1])] for name, m in made.matrices.items()
    }
    return Views(made.matrices, features=names, labels=made.labels)


@pytest.fixture(scope="module")
def model(views):
    fitted = LinkPLSA(12, random_state=0).fit(views)
    fitted.topic_tree_ = coview.topic_tree(fitted, views, levels=[3, 6])
    return fitted


def tree_of_parts(members, shares, **more):
    levels = (len(shares), *(max(m) + 1 for m in members))
    parts = {
        "levels": levels,
        "members": members,
        "shares": shares,
        "names": tuple((None,) * n for n in levels),
        "words": tuple(tuple(f"w{z}" for z in range(n)) for n in levels),
    }
    return TopicTree(**parts | more)


# -- the tree --------------------------------------------------------------------------------------


def test_levels_are_nested_and_numbered_by_size(model):
    tree = model.topic_tree_
    assert tree.levels == (12, 6, 3)
    middle, coarse = tree.members
    assert len({*zip(middle, coarse, strict=True)}) == 6  # each has one parent
    for level in (1, 2):
        shares = tree.share(level)
        assert list(shares) == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1, abs=1e-4)
    assert tree.parents(1) == tuple(coarse[middle.index(z)] for z in range(6))
    np.testing.assert_allclose(tree.shares, model.doc_topic_.mean(axis=0), rtol=1e-5)


def test_a_fine_topic_goes_where_it_shares_most_mass():
    rng = np.random.default_rng(0)
    fine, coarse = rng.dirichlet(np.ones(7), 50), rng.dirichlet(np.ones(3), 50)
    (found,) = nested_members(fine, [coarse])
    wanted = []
    for y in range(7):
        mass = [sum(fine[d, y] * coarse[d, z] for d in range(50)) for z in range(3)]
        wanted.append(mass.index(max(mass)))
    left = sorted({*wanted})  # topics without children are gone
    assert found == [left.index(z) for z in wanted]


def test_the_coarsest_level_is_as_if_alone_and_others_are_within_it():
    rng = np.random.default_rng(1)
    for _ in range(50):
        fine = rng.dirichlet(np.full(9, 0.3), 40)
        levels = [rng.dirichlet(np.full(n, 0.3), 40) for n in (5, 3)]
        middle, coarse = nested_members(fine, levels)
        assert coarse == nested_members(fine, levels[1:])[0]
        assert len({*zip(middle, coarse, strict=True)}) == len({*middle})
        assert sorted({*middle}) == [*range(max(middle) + 1)]


def test_a_level_of_a_topic_that_nothing_is_within_has_that_topic():
    fine = np.eye(3)[[0, 1, 2, 2]]
    coarse = np.eye(2)[[0, 1, 1, 1]]
    middle = np.eye(2)[[0, 0, 0, 1]]  # both share more with the second
    assert nested_members(fine, [middle, coarse]) == [[1, 0, 0], [0, 1, 1]]


def test_the_tree_is_the_same_for_any_number_of_threads(views, model):
    found = [
        coview.topic_tree(copy(model).set_params(n_jobs=n), views, levels=[3, 6]) for n in (1, 2)
    ]
    assert found[0] == found[1] == model.topic_tree_


def test_planted_groups_of_topics_are_found():
    # twelve topics over three vocabularies: documents mix topics of one vocabulary
    rng = np.random.default_rng(0)
    topics = np.zeros((12, 120))
    for z in range(12):
        own = slice(40 * (z % 3), 40 * (z % 3) + 40)
        topics[z, own] = rng.dirichlet(np.full(40, 0.2))
    counts = np.stack([rng.multinomial(60, topics[d % 12]) for d in range(600)])
    model = PLSA(12, random_state=0).fit(counts)
    tree = coview.topic_tree(model, counts, levels=3)
    labels = np.asarray(tree.members[0])[model.labels_]
    assert tree.levels == (12, 3)
    assert coview.metrics.clustering_accuracy(np.arange(600) % 3, labels) > 0.98


def test_usual_levels():
    assert usual_levels(5) == []
    assert usual_levels(6) == [2]
    assert usual_levels(36) == [6]
    assert usual_levels(49) == [7, 19]


def test_text_and_data_say_the_same(model):
    tree = model.topic_tree_
    lines = tree.to_text().splitlines()
    assert lines[0] == "12 topics in 6 in 3"
    assert len(lines) == 1 + 12 + 6 + 3
    assert lines[1].startswith(f"0  {tree.words[2][0]}  ")
    data = json.loads(json.dumps(tree.to_dict()))
    assert data["levels"] == [12, 6, 3]
    flat = [
        (t["topic"], s["topic"], r["topic"])
        for t in data["topics"]
        for s in t["topics"]
        for r in s["topics"]
    ]
    assert sorted(flat) == sorted(zip(tree.members[1], tree.members[0], range(12), strict=True))
    assert str(tree) == tree.to_text()
    assert repr(tree) == "<TopicTree: 12 in 6 in 3 topics>"
    hidden = {y for y, z in enumerate(tree.members[1]) if z == 1}
    left = tree.to_dict(hidden=hidden)["topics"]
    assert [t["topic"] for t in left] == [0, 2]


def test_words_are_those_of_the_level(model):
    tree = model.topic_tree_
    for level, n in enumerate(tree.levels):
        words = top_terms(model.at_level(n), 3)["text"]
        assert tree.words[level] == tuple(", ".join(terms) for terms in words)


# -- levels as models ------------------------------------------------------------------------------


def test_a_level_is_the_sum_of_its_children(model, views):
    coarse, member = model.at_level(3), np.asarray(model.topic_tree_.members[1])
    for z in range(3):
        own = model.doc_topic_[:, member == z].astype(float).sum(axis=1)
        np.testing.assert_allclose(coarse.doc_topic_[:, z], own, atol=1e-6)
    tokens = tokens_by_view(model)
    for view, p_w_z in model.components_.items():
        for z in range(3):
            counts = sum(
                tokens[view][y] * p_w_z[y].astype(float) for y in np.flatnonzero(member == z)
            )
            np.testing.assert_allclose(
                coarse.components_[view][z], counts / counts.sum(), rtol=1e-4, atol=1e-7
            )
    np.testing.assert_array_equal(coarse.labels_, coarse.doc_topic_.argmax(axis=1))
    assert model.n_components == 12  # it stays as it is


def test_words_of_a_level_are_those_of_an_m_step():
    """p(w|Z) of the merged topics is what an M-step of all expected counts of its parts gives."""
    views = make_views(80, 4, {"a": 30, "b": 20}, random_state=3)
    counts = {name: m.toarray() for name, m in views.matrices.items()}
    counts["b"][np.flatnonzero(views.labels == 1)[2:]] = 0  # few documents of a topic have b
    views = Views(counts)
    model = LinkPLSA(4, init="random", random_state=0, tol=0, max_iter=600, dtype="float64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(views)
    model.topic_tree_ = tree_of_parts(((0, 0, 1, 1),), (0.25,) * 4)
    made = model.at_level(2)
    for view in ("a", "b"):
        counts, p_w_z = views[view].toarray(), model.components_[view]
        expected = np.zeros((4, counts.shape[1]))
        for d in range(80):
            for w in np.flatnonzero(counts[d]):
                p = model.doc_topic_[d] * p_w_z[:, w]
                expected[:, w] += counts[d, w] * p / p.sum()
        for z, parts in enumerate(([0, 1], [2, 3])):
            wanted = expected[parts].sum(axis=0)
            np.testing.assert_allclose(made.components_[view][z], wanted / wanted.sum(), atol=2e-3)


def test_new_documents_are_nearly_the_sum_of_the_fine_shares(model, views):
    coarse, member = model.at_level(3), np.asarray(model.topic_tree_.members[1])
    fine = model.transform(views)
    summed = np.stack([fine[:, member == z].sum(axis=1) for z in range(3)], axis=1)
    assert (coarse.predict(views) == summed.argmax(axis=1)).mean() > 0.97
    assert (coarse.predict(views) == coarse.labels_).mean() > 0.95
    assert np.abs(coarse.transform(views) - summed).sum(axis=1).mean() < 0.1


def test_a_level_is_a_model_as_any_other(model, views, tmp_path):
    coarse = model.at_level(3)
    assert coarse.transform(views).shape == (400, 3)
    assert coarse.predict_proba(views.select("text")).shape == (400, 3)
    assert len(coarse.top_terms(4)["text"]) == 3
    assert coview.search(coarse, {"text": views["text"][[0]]}, in_view="image", top=2)
    assert coarse.perplexity(views) > 1
    assert len(coview.report(coarse, views, search_sample=0).topics) == 3
    coarse.save(tmp_path / "coarse.coview")
    again = coview.load(tmp_path / "coarse.coview")
    np.testing.assert_array_equal(again.transform(views), coarse.transform(views))
    assert not hasattr(again, "topic_tree_")  # nothing is coarser
    middle = model.at_level(6)
    assert middle.topic_tree_.levels == (6, 3)
    np.testing.assert_array_equal(middle.at_level(3).labels_, coarse.labels_)
    np.testing.assert_array_equal(model.at_level(12).doc_topic_, model.doc_topic_)


@pytest.mark.parametrize("kind", [MVPLSA, VotedPLSA, coview.PairwiseCoPLSA, coview.MGGM])
def test_every_kind_of_model_has_levels(kind, views, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(8, max_iter=5, random_state=0).fit(views)
        model.topic_tree_ = coview.topic_tree(model, views, 3)
        coarse = model.at_level(3)
        coarse.save(tmp_path / "m.coview")
        assert coview.load(tmp_path / "m.coview").transform(views).shape == (400, 3)


def test_names_of_levels_and_hidden_topics(model):
    named = copy(model)
    named.topic_tree_ = model.topic_tree_.renamed(3, ["Sports", None, "Food"])
    assert named.at_level(3).topic_names_ == ["Sports", None, "Food"]
    assert named.topic_tree_.label(2, 0) == "Sports"
    named.topic_names_ = [f"name {z}" for z in range(12)]
    assert tree_of(named).names[0][5] == "name 5"
    children = [y for y, z in enumerate(model.topic_tree_.members[1]) if z == 2]
    named.hidden_topics_ = np.array(children)
    assert named.at_level(3).hidden_topics_.tolist() == [2]
    named.hidden_topics_ = np.array(children[:-1])
    assert not hasattr(named.at_level(3), "hidden_topics_")


# -- kept and dropped ------------------------------------------------------------------------------


def test_files_and_pickles_keep_the_tree(model, tmp_path):
    model.save(tmp_path / "m.coview")
    assert coview.load(tmp_path / "m.coview").topic_tree_ == model.topic_tree_
    assert pickle.loads(pickle.dumps(model)).topic_tree_ == model.topic_tree_


def test_a_refit_and_a_stream_drop_it(views, model):
    refit = copy(model).set_params(max_iter=2, tol=0).fit(views)
    assert not hasattr(refit, "topic_tree_")
    later = copy(model).partial_fit(views[:50])
    assert not hasattr(later, "topic_tree_")
    later.topic_tree_ = coview.topic_tree(later, views[:50], levels=4)
    assert later.at_level(later.topic_tree_.levels[1]).transform(views[:5]).shape[0] == 5
    assert hasattr(model, "topic_tree_")


def test_curation_keeps_the_tree(model):
    tree = model.topic_tree_
    one = [y for y, z in enumerate(tree.members[1]) if z == 0][:2]
    other = next(y for y, z in enumerate(tree.members[1]) if z == 1)
    curation = {"coview_curation": 1, "model": model.fingerprint()}
    made = model.with_topics({**curation, "merge": [one], "names": {str(other): "Other"}})
    assert made.topic_tree_.levels[0] == 11
    assert "Other" in made.topic_tree_.names[0]
    assert made.at_level(3).doc_topic_.shape[1] == 3
    np.testing.assert_allclose(made.at_level(3).doc_topic_, model.at_level(3).doc_topic_, atol=1e-6)
    # of topics of two parents, that of the larger one stays
    across = model.with_topics({**curation, "merge": [[one[0], other]]}).topic_tree_
    assert across.levels[0] == 11
    assert sum(across.share(len(across.levels) - 1)) == pytest.approx(1, abs=1e-4)


def test_merging_to_the_level_leaves_no_tree():
    tree = tree_of_parts(((0, 0, 1),), (0.5, 0.2, 0.3))
    assert tree.merged([0, 0, 1]) is None
    assert tree_of_parts(((0, 1, 1, 2),), (0.4, 0.2, 0.1, 0.3)).merged([0, 1, 1, 2]) is None
    left = tree_of_parts(((0, 1, 2, 2, 1),), (0.2,) * 5).merged([0, 1, 0, 2, 3])
    assert left.levels == (4, 3)
    assert left.members == ((0, 1, 2, 1),)
    assert left.shares == pytest.approx((0.4, 0.2, 0.2, 0.2))


# -- other documents -------------------------------------------------------------------------------


def test_other_documents_and_few_views_are_folded_in(model, views):
    found = coview.topic_tree(model, views[:150].select("text"), levels=3)
    assert found.levels == (12, 3)


def test_documents_on_disk_are_sampled(model, views, tmp_path, monkeypatch):
    monkeypatch.setattr("coview.tree.MOST_DOCS", 200)
    coview.write_shards(views, tmp_path / "d.shards")
    found = coview.topic_tree(model, coview.open_shards(tmp_path / "d.shards"), levels=3)
    assert found.levels == (12, 3)
    assert found == coview.topic_tree(model, coview.open_shards(tmp_path / "d.shards"), levels=3)


def test_a_classifier_has_a_tree_of_classes(views):
    names = np.array([f"class {c:02}" for c in range(12)])[views.labels]
    fitted = TopicClassifier(LinkPLSA(random_state=0)).fit(views, names)
    tree = coview.topic_tree(fitted, views, levels=3)
    assert tree.names[0] == tuple(fitted.classes_)


# -- what goes wrong -------------------------------------------------------------------------------


def test_an_unknown_level_lists_the_known_ones(model):
    with pytest.raises(ValueError, match=r"no level of 5 topics; its levels have 12 and 6 and 3"):
        model.at_level(5)
    with pytest.raises(ValueError, match="no level of True"):
        model.at_level(True)
    with pytest.raises(ValueError, match="2 names for 3 topics"):
        model.topic_tree_.renamed(3, ["a", "b"])


def test_a_model_without_a_tree_says_how_to_make_one(views, model):
    bare = copy(model)
    del bare.topic_tree_
    with pytest.raises(ValueError, match=r"model.topic_tree_ = coview.topic_tree\(model, views\)"):
        bare.at_level(3)
    bare.topic_tree_ = "tree"
    with pytest.raises(ValueError, match="is no tree of 12 topics"):
        bare.at_level(3)
    bare.topic_tree_ = tree_of_parts(((0, 0, 1),), (0.5, 0.2, 0.3))
    with pytest.raises(ValueError, match="is no tree of 12 topics"):
        bare.at_level(2)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (12, "from 2 to 11; got 12"),
        ([3, 40], "got 40"),
        ([], "empty"),
        (1, "levels"),
        ([2.5], "levels"),
    ],
)
def test_wrong_levels_are_refused(model, views, levels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        coview.topic_tree(model, views, levels)


def test_few_topics_and_few_documents(views):
    few = LinkPLSA(4, random_state=0).fit(views)
    with pytest.raises(ValueError, match="for 6 topics or more, and the model has 4"):
        coview.topic_tree(few, views)
    assert coview.topic_tree(few, views, 2).levels == (4, 2)
    with pytest.raises(ValueError, match="no coarser level of 3 topics"):
        coview.topic_tree(few, views[:2], 3)
    assert build_tree(few, views[:1], (2,)) is None


@pytest.mark.parametrize(
    "parts",
    [
        {"levels": (4, 3)},
        {"members": ((0, 0, 1), (0, 0, 1))},
        {"members": ((0, 2, 2),)},
        {"members": ((0, 0, True),)},
        {"shares": (0.5, 0.2, 3.0)},
        {"shares": (0.5, 0.2, "x")},
        {"names": ((None,) * 3, (1, None))},
        {"words": (("a",) * 3, ("a",))},
    ],
)
def test_what_is_no_tree_is_refused(parts):
    tree = tree_of_parts(((0, 0, 1),), (0.5, 0.2, 0.3))
    with pytest.raises(ValueError, match=r"the tree|in the tree"):
        replace(tree, **parts)
    nested = tree_of_parts(((0, 0, 1, 2), (0, 0, 1, 1)), (0.25,) * 4)
    with pytest.raises(ValueError, match="within each other"):
        replace(nested, members=((0, 0, 1, 2), (0, 1, 1, 1)))


def test_a_file_with_the_tree_of_another_model_is_damaged(model, tmp_path):
    other = copy(model)
    other.topic_tree_ = tree_of_parts(((0, 0, 1),), (0.5, 0.2, 0.3))
    other.save(tmp_path / "m.coview")
    with pytest.raises(coview.DamagedFile, match="no tree of 12 topics"):
        coview.load(tmp_path / "m.coview")


# -- where it is shown -----------------------------------------------------------------------------


def test_topics_say_what_they_are_part_of(model):
    found = {t["topic"]: t["part_of"] for t in summarize_topics(model)}
    assert found[4] == {6: model.topic_tree_.members[0][4], 3: model.topic_tree_.members[1][4]}


def test_the_report_has_the_tree(model, views):
    report = coview.report(model, views, search_sample=0)
    assert "Tree: 12 topics in 6 in 3" in report.to_text()
    assert report.to_dict()["tree"]["levels"] == [12, 6, 3]
    bare = copy(model)
    del bare.topic_tree_
    assert coview.report(bare, views, search_sample=0).to_dict()["tree"] is None


def test_the_page_has_the_levels_as_the_command_line_says_them(model, views):
    levels = model.explore(views).payload.meta["levels"]
    tree = model.topic_tree_
    assert [level["members"] for level in levels] == [list(m) for m in tree.members]
    assert levels[1]["names"] == [tree.label(2, z) for z in range(3)]
    bare = copy(model)
    del bare.topic_tree_
    (made,) = bare.explore(views).payload.meta["levels"]  # twelve topics need levels for colors
    assert len(made["names"]) == 3
    assert not hasattr(bare, "topic_tree_")


def test_the_command_line_shows_the_tree(model, tmp_path):
    model.save(tmp_path / "m.coview")
    code, out, _ = inside("topics", tmp_path / "m.coview", "--tree", "--json", "--terms", "2")
    data = json.loads(out)
    assert (code, data["levels"]) == (0, [12, 6, 3])
    first = data["topics"][0]
    assert first["terms"]["text"] == model.at_level(3).top_terms(2)["text"][0]
    assert first["documents"] == int((model.at_level(3).labels_ == 0).sum())
    code, out, _ = inside("topics", tmp_path / "m.coview", "--tree", "--top", "1")
    children = sum(z == 0 for z in model.topic_tree_.parents(1))
    fine = sum(z == 0 for z in model.topic_tree_.members[1])
    rows = [line for line in out.splitlines() if line.strip()][2:]
    assert len(rows) == 1 + children + fine
    bare = copy(model)
    del bare.topic_tree_
    bare.save(tmp_path / "bare.coview")
    code, _, err = inside("topics", tmp_path / "bare.coview", "--tree")
    assert code == 2
    assert "has no tree of topics" in err
