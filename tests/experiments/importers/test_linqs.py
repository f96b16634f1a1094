"""Cora and WebKB: files of words and files of links."""

import numpy as np
import pytest

from coview.datasets import load_cora, load_webkb
from experiments.importers import differences, import_cora, import_dataset, import_webkb
from tests.experiments.importers.packing import PAGES, refused, tar_bytes, webkb, write


def test_webkb(tmp_path):
    import_webkb(webkb(tmp_path), tmp_path / "webkb_texas", university="texas")
    views = load_webkb("texas", data_home=tmp_path, links="listed", check=True)
    assert views["content"].toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 1]]
    assert views["cites"].toarray().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 1]]
    assert views.labels.tolist() == [0, 4, 2]
    assert views.ids.tolist() == ["http://a/1", "http://a/2", "http://a/3"]


def test_cora(tmp_path):
    content = b"31\t0\t1\tTheory\n7 1 1 Case_Based\n40\t0\t0\tTheory\n"
    cites = b"31\t7\n7\t31\n40\t7\n40\t7\n"
    files = {"cora/cora.content": content, "cora/cora.cites": cites}
    import_cora(write(tmp_path / "cora.tgz", tar_bytes(files, "gz")), tmp_path / "cora")
    views = load_cora(data_home=tmp_path, views=["inbound", "outbound", "cites"], check=True)
    inbound = np.array([[0, 1, 0], [1, 0, 0], [0, 1, 0]])  # 7 cites 31 and 40
    np.testing.assert_array_equal(views["inbound"].toarray(), inbound)
    np.testing.assert_array_equal(views["outbound"].toarray(), inbound.T)
    np.testing.assert_array_equal(views["cites"].toarray(), inbound + inbound.T)
    assert [views.label_names[label] for label in views.labels] == [
        "Theory",
        "Case_Based",
        "Theory",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"content": PAGES.replace(b"staff", b"dean")}, "Line 2 .* the class 'dean'"),
        ({"content": PAGES + b"http://a/4\t0\tstaff\n"}, "Line 4 .* 3 times 0 or 1"),
        ({"content": PAGES.replace(b"\t0\t1\t1", b"\t0\t2\t1")}, "Line 3 .* 0 or 1"),
        ({"content": b"\n"}, "holds no documents"),
        ({"cites": b"http://a/1 http://b\n"}, "Line 1 .* two documents of the other file"),
        ({"cites": b"http://a/1\n"}, "Line 1 .* two documents"),
    ],
)
def test_a_wrong_webkb_is_explained(tmp_path, change, words):
    with refused(words):
        import_webkb(webkb(tmp_path, **change), tmp_path / "out", university="texas")
    assert not (tmp_path / "out").exists()


def test_a_page_that_is_there_twice_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a/1"):
        import_webkb(webkb(tmp_path, content=PAGES * 2), tmp_path / "out", university="texas")


def test_another_university_is_missing_from_the_archive(tmp_path):
    with refused(r"has no 'cornell\.content', 'cornell\.cites'"):
        import_webkb(webkb(tmp_path), tmp_path / "out")


@pytest.mark.parametrize("university", ["cornell", "washington"])
def test_the_real_pages_come_back(papers_data, tmp_path, university):
    views = load_webkb(university, data_home=papers_data, links="listed")
    files = {f"{university}.content": content_bytes(views), f"{university}.cites": links_of(views)}
    path = write(tmp_path / "WebKB.tgz", tar_bytes(files, "gz"))
    found, _ = import_dataset(f"webkb_{university}", path, tmp_path / "out")
    assert differences(f"webkb_{university}", found) == []
    assert found.equals(views)


def content_bytes(views):
    words = views["content"].toarray().astype(int)
    labels = [views.label_names[label] for label in views.labels]
    lines = (
        "\t".join([name, *map(str, row), label])
        for name, row, label in zip(views.ids, words, labels, strict=True)
    )
    return "\n".join(lines).encode()


def links_of(views):
    cites = views["cites"].tocoo()
    pairs = zip(views.ids[cites.row], views.ids[cites.col], strict=True)
    return "".join(f"{first} {second}\n" for first, second in pairs).encode()
