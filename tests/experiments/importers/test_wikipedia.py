"""Wikipedia: lists, texts and a MATLAB file."""

import io

import numpy as np
import pytest
import scipy.io

from coview.datasets import load_documents, load_wikipedia
from experiments.importers import import_wikipedia
from tests.experiments.importers.packing import refused, write, zip_bytes

TEXTS = {
    "b31-3": ("Moon_&amp;_Sun", "Moon &amp; sun over the moon"),
    "c6-6": ("Football", "A goal, a goal in the sun"),
    "d9-2.1": ("War", "The moon and the goal"),
}


def xml(title, text):
    return (
        f'<document id="x" name="{title}" cat="2">\n<text>\n{text}\n</text>\n</document>'.encode()
    )


def wikipedia_files():
    images, topics = np.arange(9.0).reshape(3, 3), np.eye(3)
    buffer = io.BytesIO()
    blocks = {"I_tr": images[:2], "I_te": images[2:], "T_tr": topics[:2], "T_te": topics[2:]}
    scipy.io.savemat(buffer, blocks)
    files = {f"texts/{name}.xml": xml(*parts) for name, parts in TEXTS.items()}
    files["raw_features.mat"] = buffer.getvalue()
    files["trainset_txt_img_cat.list"] = b"Ab31-3\timg1\t6\nc6-6\timg2\t9\n"
    files["testset_txt_img_cat.list"] = b"d9-2.1\timg3\t10\n"
    files["images/sport/img2.jpg"] = bytes(100)
    return files


def wikipedia(folder, **changes):
    files = {f"wikipedia_dataset/{n}": d for n, d in {**wikipedia_files(), **changes}.items() if d}
    return write(folder / "wikipedia_dataset.zip", zip_bytes(files))


def test_wikipedia(tmp_path):
    import_wikipedia(wikipedia(tmp_path), tmp_path / "wikipedia", min_df=2)
    names = ["text_words", "image_sift128", "text_lda10"]
    views, is_test = load_wikipedia(data_home=tmp_path, views=names, return_split=True, check=True)
    assert views.features["text_words"].tolist() == ["goal", "moon", "sun"]
    assert views["text_words"].toarray().tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
    assert views["image_sift128"].toarray().tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert views["text_lda10"].toarray().tolist() == np.eye(3).tolist()
    assert is_test.tolist() == [False, False, True]
    assert [views.label_names[label] for label in views.labels] == ["media", "sport", "warfare"]
    assert views.ids.tolist() == ["b31-3", "c6-6", "d9-2.1"]
    assert load_documents("wikipedia", data_home=tmp_path)[0] == {
        "id": "b31-3",
        "image": "img1",
        "group": "media",
        "split": "train",
        "title": "Moon_&_Sun",
        "text": "Moon & sun over the moon",
    }


def test_stop_words_of_the_archive_are_left_out(tmp_path):
    path = wikipedia(tmp_path, **{"stopwords.txt": b"moon\ndon't\n"})
    views = import_wikipedia(path, tmp_path / "out", min_df=1)
    assert views.features["text_words"].tolist() == ["goal", "sun"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"raw_features.mat": None}, "must hold the file 'raw_features.mat'"),
        ({"testset_txt_img_cat.list": None}, "must hold the file 'testset_txt_img_cat.list'"),
        ({"testset_txt_img_cat.list": b"d9-2.1 img3 11\n"}, "category from 1 to 10"),
        ({"testset_txt_img_cat.list": b"d9-2.1 img3\n"}, "Line 1 of testset"),
        ({"testset_txt_img_cat.list": b"\n"}, "I_te of raw_features.mat must be .* 0 rows"),
        ({"texts/c6-6.xml": None}, "must hold the text 'c6-6'.xml"),
        ({"texts/c6-6.xml": b"<document/>"}, "'c6-6'.xml .* has no <text>"),
    ],
)
def test_a_wrong_wikipedia_is_explained(tmp_path, changes, words):
    with refused(words):
        import_wikipedia(wikipedia(tmp_path, **changes), tmp_path / "out", min_df=1)
    assert not (tmp_path / "out").exists()


def test_entities_are_never_expanded(tmp_path):
    bomb = (
        b'<!DOCTYPE d [<!ENTITY a "moon moon moon">]><document name="x"><text>&a;</text></document>'
    )
    path = wikipedia(tmp_path, **{"texts/c6-6.xml": bomb})
    views = import_wikipedia(path, tmp_path / "out", min_df=1)
    assert views["text_words"][[1]].nnz == 0
