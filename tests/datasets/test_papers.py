"""Loaders of the papers' data sets: on small folders, and on the real ones where they are."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Views
from coview.datasets import (
    DATASETS,
    load_20newsgroups,
    load_cora,
    load_dataset,
    load_documents,
    load_mfeat,
    load_msrcv1,
    load_newsgv2,
    load_newsgv4,
    load_reuters1200,
    load_webkb,
    load_wikipedia,
)

HERE = [name for name in DATASETS if name != "reuters"]  # those of the papers' folder


# -- small folders --


def save(folder, name, matrices, **parts):
    views = Views(matrices, label_names=DATASETS[name].classes, **parts)
    views.save(folder / name)
    return views


@pytest.fixture
def pages(tmp_path):
    links = np.array([[0, 1, 0], [1, 1, 0], [1, 0, 0]])
    matrices = {"content": np.eye(3), "cites": links}
    save(tmp_path, "webkb_texas", matrices, labels=[0, 2, 0], ids=["a", "b", "c"])
    return tmp_path, links


def test_links_go_both_ways(pages):
    folder, links = pages
    views = load_webkb("texas", data_home=folder)
    np.testing.assert_array_equal(views["cites"].toarray(), links + links.T)
    assert views.present.all()
    assert views.ids.tolist() == ["a", "b", "c"]


def test_links_as_they_are_listed(pages):
    folder, links = pages
    views = load_webkb("texas", data_home=folder, links="listed")
    np.testing.assert_array_equal(views["cites"].toarray(), links)


def test_one_class_against_all_others(pages):
    views = load_webkb("texas", data_home=pages[0], target="course")
    assert views.labels.tolist() == [1, 0, 1]
    assert views.label_names == ["other", "course"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"university": "oxford"}, "university must be one of 'cornell'"),
        ({"links": "none"}, "links must be one of 'both', 'listed'"),
        ({"target": "dean"}, "target must be one of 'course'"),
    ],
)
def test_wrong_options_of_webkb(pages, options, words):
    with pytest.raises(ValueError, match=words):
        load_webkb(**{"university": "texas", "data_home": pages[0], **options})


def test_a_data_set_by_name_takes_the_options_of_its_loader(pages):
    views = load_dataset("webkb_texas", data_home=pages[0], links="listed", target="student")
    assert views.equals(load_webkb("texas", data_home=pages[0], links="listed", target="student"))


def test_the_digits_come_with_five_views_or_with_all_six(tmp_path, rng):
    names = ("pix", "fou", "fac", "zer", "mor", "kar")
    matrices = {
        name: rng.normal(size=(4, 3)) if name == "kar" else np.ones((4, 3)) for name in names
    }
    save(tmp_path, "mfeat", matrices, labels=[0, 1, 0, 1])
    assert load_mfeat(data_home=tmp_path).names == names[:5]
    views = load_mfeat(data_home=tmp_path, views="all")
    assert set(views.names) == set(names)
    np.testing.assert_array_equal(views["kar"].toarray(), matrices["kar"])


def test_any_views_folder_beside_the_papers_is_a_data_set(tmp_path):
    views = Views({"a": [[1, 2]], "b": [[3]]}, labels=[0])
    views.save(tmp_path / "mine")
    assert load_dataset("mine", data_home=tmp_path).equals(views)
    assert load_dataset("mine", data_home=tmp_path, views=["b"]).names == ("b",)
    for name in ("other", "../mine"):
        with pytest.raises(ValueError, match="There is no data set"):
            load_dataset(name, data_home=tmp_path / "x")


def test_a_split_that_is_missing_is_named(tmp_path):
    save(tmp_path, "20newsgroups", {"words": np.eye(2)}, labels=[0, 1])
    with pytest.raises(FileNotFoundError, match=r"is_test\.npy"):
        load_20newsgroups(data_home=tmp_path, return_split=True)


def test_raw_documents_that_are_missing_are_named(tmp_path):
    save(tmp_path, "msrcv1", {"cm24": np.eye(2)}, labels=[0, 1])
    with pytest.raises(FileNotFoundError, match="'msrcv1' has no raw documents"):
        load_documents("msrcv1", data_home=tmp_path)


def test_a_view_that_the_folder_lacks_is_named(tmp_path):
    save(tmp_path, "cora", {"content": np.eye(2)}, labels=[0, 1])
    with pytest.raises(ValueError, match="no view 'cites'"):
        load_cora(data_home=tmp_path)


# -- the real ones: what their descriptions say --

COUNTS = {
    "mfeat": [200] * 10,
    "reuters1200": [200] * 6,
    "20newsgroups": [799, 973, 985, 982, 963, 988, 975, 990, 996, 994]
    + [999, 991, 984, 990, 987, 997, 910, 940, 775, 628],
    "newsgv2": [500] * 2,
    "newsgv4": [500] * 3,
    "webkb_cornell": [42, 32, 83, 19, 19],
    "webkb_texas": [34, 31, 103, 18, 1],
    "webkb_washington": [66, 27, 107, 21, 9],
    "webkb_wisconsin": [76, 35, 122, 22, 10],
    "cora": [818, 180, 217, 426, 351, 418, 298],
    "wikipedia": [172, 360, 340, 333, 267, 236, 237, 185, 285, 451],
    "msrcv1": [30] * 7,
}
LACKING = {"reuters1200": {"it": 1}, "20newsgroups": {"words": 39}}


@pytest.mark.parametrize("name", HERE)
def test_documents_classes_and_columns_are_as_published(papers_data, name):
    data = DATASETS[name]
    views = load_dataset(name, data_home=papers_data, check=True)
    assert views.n_docs == data.n_docs
    assert views.names == (data.default_views or tuple(data.views))
    widths = {view: matrix.shape[1] for view, matrix in views.matrices.items()}
    assert widths == {view: data.views[view] for view in views.names}
    assert views.label_names == list(data.classes)
    assert np.bincount(views.labels).tolist() == COUNTS[name]
    lacking = dict(zip(views.names, (~views.present).sum(axis=0).tolist(), strict=True))
    assert lacking == dict.fromkeys(views.names, 0) | LACKING.get(name, {})


@pytest.mark.parametrize("name", ["mfeat", "reuters1200", "cora", "wikipedia", "msrcv1"])
def test_every_view_that_is_listed_can_be_read(papers_data, name):
    views = load_dataset(name, data_home=papers_data, views=list(DATASETS[name].views))
    assert views.names == tuple(DATASETS[name].views)


def test_the_six_feature_sets_of_the_digits(papers_data):
    views = load_mfeat(data_home=papers_data, views="all")
    assert views.n_views == 6
    assert views["kar"].min() < 0
    assert views["pix"].max() == 6


def test_weights_of_reuters(papers_data):
    views = load_reuters1200(data_home=papers_data, views=["en", "sp"])
    assert views["sp"].max() == pytest.approx(18.8168, abs=1e-4)


def test_the_split_of_the_newsgroups(papers_data):
    views, is_test = load_20newsgroups(data_home=papers_data, return_split=True)
    assert is_test.dtype == bool
    assert is_test.sum() == 7532
    assert not is_test[:11314].any()
    assert len(views.features["words"]) == 28769


def test_the_split_of_wikipedia(papers_data):
    _, is_test = load_wikipedia(data_home=papers_data, return_split=True)
    assert (~is_test).sum() == 2173
    assert is_test[2173:].all()


def test_raw_documents_are_in_the_order_of_the_rows(papers_data):
    views, is_test = load_wikipedia(data_home=papers_data, return_split=True)
    documents = load_documents("wikipedia", data_home=papers_data)
    groups = [views.label_names[label] for label in views.labels]
    assert [document["group"] for document in documents] == groups
    assert [document["split"] == "test" for document in documents] == is_test.tolist()


def test_citations_are_the_sum_of_both_directions(papers_data):
    views = load_cora(data_home=papers_data, views=["inbound", "outbound", "cites"])
    assert views["inbound"].sum() == 5429
    assert abs(views["outbound"] - views["inbound"].T).nnz == 0
    assert abs(views["cites"] - views["inbound"] - views["outbound"]).nnz == 0


def test_every_page_has_a_link_in_one_direction_or_the_other(papers_data):
    listed = load_webkb("cornell", data_home=papers_data, links="listed")
    assert (~listed.present).sum(axis=0).tolist() == [0, 93]
    assert load_webkb("cornell", data_home=papers_data).present.all()


def test_courses_against_all_others(papers_data):
    views = load_webkb("washington", data_home=papers_data, target="course")
    assert np.bincount(views.labels).tolist() == [164, 66]  # as in Zhuang et al. (2012)


def test_features_of_images_are_positive(papers_data):
    views = load_msrcv1(data_home=papers_data)
    assert all(
        matrix.nnz == matrix.shape[0] * matrix.shape[1] for matrix in views.matrices.values()
    )


@pytest.mark.parametrize("load", [load_newsgv2, load_newsgv4])
def test_the_columns_of_joined_posts_are_near_those_of_the_paper(papers_data, load):
    published = {2: [3837, 7452], 4: [6783, 6307, 7717, 9336]}
    widths = [matrix.shape[1] for matrix in load(data_home=papers_data).matrices.values()]
    np.testing.assert_allclose(widths, published[len(widths)], rtol=0.08)


def test_posts_that_are_joined_are_of_the_groups_of_their_class(papers_data):
    posts = load_20newsgroups(data_home=papers_data)
    views = load_newsgv2(data_home=papers_data, weighting="tf", norm=None, random_state=3)
    rows = np.array([[int(row) for row in name.split("+")] for name in views.ids])
    groups = np.array(posts.label_names)[posts.labels[rows]]
    assert set(map(tuple, groups[:500])) == {("comp.os.ms-windows.misc", "talk.politics.mideast")}
    assert set(map(tuple, groups[500:])) == {("comp.sys.ibm.pc.hardware", "talk.politics.misc")}
    kept = set(views.features["view2"])
    columns = [column for column, word in enumerate(posts.features["words"]) if word in kept]
    expected = sp.csr_array(posts["words"][rows[:, 1]][:, columns])
    assert abs(views["view2"] - expected).nnz == 0


@pytest.mark.parametrize("damage", ["cut", "no gzip", "no JSON"])
def test_damaged_documents_are_named(tmp_path, damage):
    save(tmp_path, "msrcv1", {"cm24": np.eye(2)}, labels=[0, 1])
    path = next(tmp_path.glob("**/msrcv1*")) / "documents.jsonl.gz"
    whole = gzip.compress(b'{"id": "a"}\n' * 100)
    broken = {"cut": whole[:-12], "no gzip": b"text", "no JSON": gzip.compress(b"{\n")}
    path.write_bytes(broken[damage])
    with pytest.raises(ValueError, match=r"Cannot read .*documents\.jsonl\.gz"):
        load_documents("msrcv1", data_home=tmp_path)
