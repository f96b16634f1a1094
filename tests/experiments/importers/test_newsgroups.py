"""20 Newsgroups: one file for each post."""

import numpy as np
import pytest

from coview.datasets import load_20newsgroups, load_documents
from experiments.importers import import_20newsgroups
from tests.experiments.importers.packing import refused, tar_bytes, write

POSTS = {
    "20news-bydate-test/sci.space/9": b"From: d\n\nThe moon, the moon2 and the sun",
    "20news-bydate-train/sci.space/101": b"From: a\nSubject: moon\n\nSun and moon\n\nsun moon",
    "20news-bydate-train/sci.space/20": b"From: b\n\nthe moon Z\xfcrich sun",
    "20news-bydate-train/alt.atheism/7": b"Newsgroups: alt.atheism\n\nof the and",
}


def test_20newsgroups(tmp_path):
    path = write(tmp_path / "20news-bydate.tar.gz", tar_bytes(POSTS, "gz"))
    import_20newsgroups(path, tmp_path / "20newsgroups", min_df=2)
    views, is_test = load_20newsgroups(data_home=tmp_path, return_split=True, check=True)
    assert views.ids.tolist() == ["alt.atheism/7", "sci.space/20", "sci.space/101", "sci.space/9"]
    assert is_test.tolist() == [False, False, False, True]
    assert views.features["words"].tolist() == ["moon", "sun"]
    assert views["words"].toarray().tolist() == [[0, 0], [1, 1], [2, 2], [1, 1]]
    assert views.present[:, 0].tolist() == [False, True, True, True]
    assert [views.label_names[label] for label in views.labels[:2]] == ["alt.atheism", "sci.space"]
    documents = load_documents("20newsgroups", data_home=tmp_path)
    assert documents[1] == {
        "id": "20",
        "group": "sci.space",
        "split": "train",
        "text": "From: b\n\nthe moon Zürich sun",
    }


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"20_newsgroups/sci.space/9": b""}, "must hold files such as 20news-bydate-train"),
        ({"20news-bydate-test/sci.time/9": b""}, "none of the 20: 'sci.time'"),
        ({**POSTS, "x/20news-bydate-test/sci.space/9": b""}, "twice"),
        ({"20news-bydate-test/sci.space/9": b"From: a\n\n1 2 3"}, "no word"),
    ],
)
def test_a_wrong_20newsgroups_is_explained(tmp_path, files, words):
    with refused(words):
        import_20newsgroups(write(tmp_path / "a.tar", tar_bytes(files)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_pickle_is_not_read(tmp_path):
    path = write(tmp_path / "20news-bydate_py3.pkz", b"\x80\x04\x95 a pickle")
    with refused("no zip or tar archive"):
        import_20newsgroups(path, tmp_path / "out")


def test_the_real_words_of_newsgroups_come_back(papers_data, tmp_path):
    posts = load_documents("20newsgroups", data_home=papers_data)
    rows = range(0, len(posts), 40)
    files = {
        f"20news-bydate-{p['split']}/{p['group']}/{p['id']}": p["text"].encode("latin-1")
        for p in (posts[row] for row in rows)
    }
    path = write(tmp_path / "20news.tar.gz", tar_bytes(files, "gz"))
    found = import_20newsgroups(path, tmp_path / "out", min_df=1)
    views = load_20newsgroups(data_home=papers_data)[list(rows)]
    # the folder has words of five posts or more of all, which are a part of those found here
    words = {word: column for column, word in enumerate(found.features["words"])}
    known = np.flatnonzero([word in words for word in views.features["words"]])
    columns = [words[word] for word in views.features["words"][known]]
    assert abs(found["words"][:, columns] - views["words"][:, known]).nnz == 0
    assert views["words"].sum() == views["words"][:, known].sum()
    np.testing.assert_array_equal(found.labels, views.labels)
