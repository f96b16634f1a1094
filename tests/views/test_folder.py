"""A views folder: what is written is what is read, and damage is named."""

import gzip
import json
import os
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coview import DataWarning, Views, store
from coview.reading import plain_files as readers
from coview.reading.recipes import RECIPES
from coview.reading.text import TokensRecipe
from coview.store import DamagedFile
from coview.views import folder as folder_module
from coview.views.manifest import MANIFEST
from tests.reading.claims import write_archive

DATASETS = {  # documents, views, classes
    "20newsgroups": (18846, ["words"], 20),
    "cora": (2708, ["cites", "content", "inbound", "outbound"], 7),
    "msrcv1": (210, ["centrist254", "cm24", "gist512", "hog576", "lbp256"], 7),
    "reuters1200": (1200, ["en", "fr", "gr", "it", "sp"], 6),
    "webkb_cornell": (195, ["cites", "content"], 5),
    "webkb_texas": (187, ["cites", "content"], 5),
    "webkb_washington": (230, ["cites", "content"], 5),
    "webkb_wisconsin": (265, ["cites", "content"], 5),
    "wikipedia": (2866, ["image_sift128", "text_lda10", "text_tfidf1000", "text_words"], 10),
}


@pytest.fixture
def views():
    return Views(
        {"text": [[1, 0, 2], [0, 3, 0], [0, 0, 0]], "image": np.array([[0.5], [0], [0]])},
        ids=["a", "b\u2028b", "ç"],
        labels=[0, 1, -1],
        label_names=["cat", "dog"],
        features={"text": ["w", "e\u0301", "x\x85y\rz"]},
        present=[[1, 1], [1, 0], [1, 1]],
    )


@pytest.fixture
def saved(views, tmp_path):
    views.save(tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def unsealed(saved):
    """The folder without its manifest, as others write it, so that its files may be changed."""
    (saved / MANIFEST).unlink()
    return saved


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


# -- there and back -------------------------------------------------------------------------------


def test_what_is_saved_is_loaded(views, saved):
    assert Views.load(saved).equals(views)
    assert Views.load(str(saved)).equals(views)


def test_the_files_are_those_of_the_format(saved):
    assert listing(saved) == [
        MANIFEST,
        "features_text.txt.gz",
        "ids.txt.gz",
        "label_names.txt",
        "labels.npy",
        "present.npy",
        "view_image.npz",
        "view_text.npz",
        "views.txt",
    ]
    assert sp.load_npz(saved / "view_text.npz").shape == (3, 3)
    assert gzip.decompress((saved / "ids.txt.gz").read_bytes()).decode() == "a\nb\u2028b\nç\n"
    assert (saved / "label_names.txt").read_bytes() == b"cat\ndog\n"


def test_the_mask_is_stored_in_alphabetical_order_of_the_views(views, saved):
    np.testing.assert_array_equal(np.load(saved / "present.npy"), views.present[:, ::-1])


def test_nothing_beside_the_folder_is_left(saved):
    assert listing(saved.parent) == ["data"]


def test_the_same_views_give_the_same_bytes(views, saved, tmp_path):
    views.save(tmp_path / "again")
    for name in ("ids.txt.gz", "features_text.txt.gz", "views.txt", "present.npy"):
        assert (saved / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert (saved / "ids.txt.gz").read_bytes()[4:8] == bytes(4)  # no time stamp


def test_a_bare_container_needs_few_files(tmp_path):
    Views(np.eye(3)).save(tmp_path / "deep" / "er")
    assert listing(tmp_path / "deep" / "er") == [MANIFEST, "present.npy", "view_X.npz", "views.txt"]
    assert Views.load(tmp_path / "deep" / "er").equals(Views(np.eye(3)))


@pytest.mark.parametrize("labels", [["b", "a", "b"], np.array(["b", "a", "é"]), [3, -1, 0]])
def test_labels_of_any_kind_come_back(labels, tmp_path):
    Views(np.eye(3), labels=labels).save(tmp_path / "data")
    loaded = Views.load(tmp_path / "data").labels
    assert loaded.dtype.kind in "Ui"
    assert loaded.tolist() == list(labels)


def test_labels_that_text_cannot_keep_are_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be saved as text"):
        Views(np.eye(2), labels=np.array(["a", "nul\0"], dtype=object)).save(tmp_path / "data")
    assert listing(tmp_path) == []


def test_some_views_in_the_order_asked_for(views, saved):
    assert Views.load(saved, views=["image"]).equals(views.select("image"))
    assert Views.load(saved, views=["image", "text"]).equals(views.select("image", "text"))


def test_the_precision_is_kept(tmp_path):
    given = Views([np.full((2, 2), 1 / 3, np.float32), np.full((2, 1), 1 / 3)])
    given.save(tmp_path / "data")
    assert Views.load(tmp_path / "data").equals(given)


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(text, min_size=3, max_size=3, unique=True))
def test_names_come_back_to_the_letter_or_are_refused(tmp_path, names):
    views = Views(np.eye(3), ids=names, features=names)
    if any("\n" in name or name.endswith("\r") for name in names):
        with pytest.raises(ValueError, match="line break"):
            views.save(tmp_path / "data", overwrite=True)
    else:
        views.save(tmp_path / "data", overwrite=True)
        assert Views.load(tmp_path / "data").equals(views)


@pytest.mark.parametrize("name", ["a\nb", "a\r"])
def test_names_with_a_line_break_are_refused(name, tmp_path):
    for where in ({"ids": [name]}, {"features": [name]}, {"labels": [0], "label_names": [name]}):
        with pytest.raises(ValueError, match="line break"):
            Views([[1]], **where).save(tmp_path / "data")


def test_repeated_rows_with_ids_are_refused_because_they_could_not_be_read(views, tmp_path):
    with pytest.raises(ValueError, match="ids must be unique"):
        views[[0, 0]].save(tmp_path / "data")


@pytest.mark.parametrize("name", ["a/b", "..\\a", "a\0", ".a", "a" * 201, "ü" * 101, "a:b", "a."])
def test_view_names_that_are_no_file_names_are_refused(name, tmp_path):
    with pytest.raises(ValueError, match="cannot be saved under its name"):
        Views({name: [[1]]}).save(tmp_path / "data")
    assert listing(tmp_path) == []


@pytest.mark.parametrize("name", ["a b", "ü" * 100, "x.npy", "view_x", "-", "日本語"])
def test_other_view_names_come_back(name, tmp_path):
    views = Views({name: [[1]], "other": [[2]]}, features={name: ["w"]})
    views.save(tmp_path / "data")
    assert Views.load(tmp_path / "data").equals(views)


def test_view_names_that_differ_in_case_only_are_refused(tmp_path):
    with pytest.raises(ValueError, match="upper and lower case"):
        Views({"a": [[1]], "A": [[1]]}).save(tmp_path / "data")


# -- an existing folder ---------------------------------------------------------------------------


def test_a_folder_with_something_in_it_is_not_overwritten_unasked(views, saved):
    with pytest.raises(FileExistsError, match="overwrite=True"):
        views.save(saved)


def test_an_empty_folder_may_be_filled(views, tmp_path):
    (tmp_path / "data").mkdir()
    views.save(tmp_path / "data")
    assert Views.load(tmp_path / "data").equals(views)


def test_a_folder_that_is_replaced_while_it_is_read_is_not_mixed(tmp_path, monkeypatch):
    """Files are verified and then opened by name: another folder may have come between."""
    old, new = (
        Views({n: [[k, 0], [0, k]] for n in "ab"}, ids=[f"{k}-0", f"{k}-1"]) for k in (1, 2)
    )
    old.save(tmp_path / "x")
    read, places = folder_module._read_view, iter(range(9))

    def replaced_in_between(*given):
        if next(places) == 1:  # after the first view
            new.save(tmp_path / "x", overwrite=True)
        return read(*given)

    monkeypatch.setattr(folder_module, "_read_view", replaced_in_between)
    found = Views.load(tmp_path / "x")
    assert found.ids.tolist() == ["2-0", "2-1"]
    assert found["a"].max() == found["b"].max() == 2


def test_a_folder_between_two_others_is_waited_for(tmp_path, monkeypatch):
    """For a moment of its replacement a folder has no place; that is not its absence."""
    Views({"a": [[1, 2]]}).save(tmp_path / "x")
    aside = tmp_path / f".x.{time.time_ns():020d}-1.old"
    (tmp_path / "x").rename(aside)
    monkeypatch.setattr(store.time, "sleep", lambda _: aside.rename(tmp_path / "x"))
    assert Views.load(tmp_path / "x")["a"].sum() == 3


def test_overwrite_replaces_all(saved):
    Views({"new": [[1]]}).save(saved, overwrite=True)
    assert listing(saved) == [MANIFEST, "present.npy", "view_new.npz", "views.txt"]
    assert listing(saved.parent) == ["data"]


def test_overwrite_never_takes_a_folder_with_other_files(views, saved):
    (saved / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"thesis\.tex"):
        views.save(saved, overwrite=True)
    assert (saved / "thesis.tex").exists()


def test_a_file_is_not_a_folder(views, tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(FileExistsError, match="is a file"):
        views.save(tmp_path / "data", overwrite=True)


@pytest.mark.parametrize("step", ["_write_lines", "_plain_labels"])
def test_a_save_that_fails_leaves_the_old_folder(views, saved, step, monkeypatch):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}

    def fail(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr(folder_module, step, fail)
    with pytest.raises(OSError, match="No space left"):
        views[:2].save(saved, overwrite=True)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert listing(saved.parent) == ["data"]


def test_a_folder_that_cannot_be_moved_into_place_is_put_back(views, saved, monkeypatch):
    rename = type(saved).rename

    def fail_for_new(self, target):
        if self.name == "new":
            raise OSError("busy")
        return rename(self, target)

    monkeypatch.setattr(type(saved), "rename", fail_for_new)
    with pytest.raises(OSError, match="busy"):
        views[:2].save(saved, overwrite=True)
    assert Views.load(saved).equals(views)
    assert listing(saved.parent) == ["data"]


def test_a_views_folder_is_known_by_the_matrices_in_it(saved, tmp_path):
    assert folder_module.is_views_folder(saved)
    assert folder_module.is_views_folder(str(saved))
    for other in (tmp_path, saved / "views.txt", tmp_path / "nowhere"):
        assert not folder_module.is_views_folder(other)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_to_a_folder_stays_a_link(views, saved, tmp_path):
    (tmp_path / "link").symlink_to(saved)
    views[:2].save(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert len(Views.load(saved)) == 2


# -- folders written by others --------------------------------------------------------------------


def test_dense_views_and_alphabetical_order(tmp_path):
    np.save(tmp_path / "view_b.npy", np.eye(2, dtype=np.uint8))
    sp.save_npz(tmp_path / "view_a.npz", sp.coo_matrix([[1, 2], [0, 4]]))
    (tmp_path / "README.md").write_text("other files do not matter")
    views = Views.load(tmp_path)
    assert views.names == ("a", "b")
    assert views["b"].dtype == np.float32
    np.testing.assert_array_equal(views["a"].toarray(), [[1, 2], [0, 4]])


def test_the_mask_belongs_to_the_views_in_alphabetical_order(tmp_path):
    for name in "cab":
        np.save(tmp_path / f"view_{name}.npy", np.zeros((1, 1)))
    np.save(tmp_path / "present.npy", np.array([[True, False, True]]))
    assert Views.load(tmp_path).present.tolist() == [[True, False, True]]
    assert Views.load(tmp_path, views=["b", "c"]).present.tolist() == [[False, True]]


def test_a_view_added_by_hand_comes_last(views, unsealed):
    np.save(unsealed / "view_aaa.npy", np.ones((3, 1)))
    (unsealed / "present.npy").unlink()
    assert Views.load(unsealed).names == ("text", "image", "aaa")


def test_lines_may_end_as_on_windows(tmp_path):
    np.save(tmp_path / "view_a.npy", np.eye(2))
    np.save(tmp_path / "labels.npy", [0, 1])
    (tmp_path / "label_names.txt").write_bytes(b"cat\r\ndog\r\n")
    assert Views.load(tmp_path).label_names == ["cat", "dog"]


# -- damage ---------------------------------------------------------------------------------------


def test_missing_folders_and_views_are_named(views, saved, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        Views.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="no view_<name>"):
        Views.load(tmp_path)
    with pytest.raises(ValueError, match="no view 'words'; it has 'text', 'image'"):
        Views.load(saved, views=["words"])
    with pytest.raises(TypeError, match=r"views=\['text'\]"):
        Views.load(saved, views="text")


def test_no_views_asked_for_is_an_error(saved):
    with pytest.raises(ValueError, match="At least one view"):
        Views.load(saved, views=[])


def test_a_view_there_twice_is_an_error(unsealed):
    np.save(unsealed / "view_text.npy", np.eye(3))
    with pytest.raises(ValueError, match=r"twice.*view_text\.npy.*view_text\.npz"):
        Views.load(unsealed)


def test_a_listed_view_without_file_is_an_error(unsealed):
    (unsealed / "view_text.npz").unlink()
    with pytest.raises(ValueError, match=r"views\.txt lists 'text'"):
        Views.load(unsealed)


FILES = [
    "view_text.npz",
    "labels.npy",
    "present.npy",
    "ids.txt.gz",
    "features_text.txt.gz",
    "label_names.txt",
]


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_other_bytes_is_named(unsealed, name):
    (unsealed / name).write_bytes(b"\xff\xfe not what it should be")
    with pytest.raises(ValueError, match=f"Cannot read .*{name}"):
        Views.load(unsealed)


@pytest.mark.parametrize("name", FILES[:5])
def test_a_file_cut_short_is_named(unsealed, name):
    data = (unsealed / name).read_bytes()
    (unsealed / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=f"Cannot read .*{name}"):
        Views.load(unsealed)


@pytest.mark.parametrize("name", ["labels.npy", "ids.txt.gz", "features_text.txt.gz"])
def test_a_file_of_the_wrong_length_is_named(unsealed, name):
    if name == "labels.npy":
        np.save(unsealed / name, np.zeros(2, int))
    else:
        (unsealed / name).write_bytes(gzip.compress(b"a\nb\n"))
    with pytest.raises(ValueError, match=rf"{name} must have the shape \(3,\), found \(2,\)"):
        Views.load(unsealed)


def test_a_mask_of_the_wrong_shape_is_named(unsealed):
    np.save(unsealed / "present.npy", np.ones((3, 3), bool))
    with pytest.raises(ValueError, match=r"present\.npy must have the shape \(3, 2\)"):
        Views.load(unsealed)


def test_views_with_different_documents_are_named(unsealed):
    sp.save_npz(unsealed / "view_image.npz", sp.csr_array(np.ones((2, 1))))
    with pytest.raises(ValueError, match=r"view_text\.npz has 3 documents.*view_image\.npz has 2"):
        Views.load(unsealed)


def test_labels_that_make_no_sense_name_the_folder(unsealed):
    np.save(unsealed / "labels.npy", np.array([0, 7, 0]))
    with pytest.raises(ValueError, match=r"In .*data: Labels must be.*found 7 at row 1"):
        Views.load(unsealed)


class Explosive:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("name", ["view_text.npy", "labels.npy", "present.npy"])
def test_pickles_are_refused_and_not_run(unsealed, name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (unsealed / "view_text.npz").unlink()
    np.save(unsealed / "view_text.npy", np.eye(3))
    np.save(unsealed / name, np.array([Explosive()], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=f"Cannot read .*{name}"):
        Views.load(unsealed)
    assert not (tmp_path / "exploded").exists()


def test_a_header_that_claims_too_much_is_refused(unsealed):  # 70
    (unsealed / "view_text.npz").unlink()
    with open(unsealed / "view_text.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (3, 2**45)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(ValueError, match=r"Cannot read .*view_text\.npy"):
        Views.load(unsealed)


def test_a_damaged_matrix_in_a_sound_file_is_named(unsealed):  # 24
    matrix = sp.csr_matrix(np.ones((3, 3)))
    matrix.indices[4] = 77
    sp.save_npz(unsealed / "view_text.npz", matrix)
    with pytest.raises(ValueError, match=r"view_text\.npz: View 'text' is a damaged sparse"):
        Views.load(unsealed)


def test_an_archive_that_claims_too_much_is_refused_before_it_is_read(unsealed, monkeypatch):  # 70
    write_archive(unsealed / "view_text.npz", data=(2**45,), indices=(1,))
    monkeypatch.setattr(sp, "load_npz", lambda file: pytest.fail("it was read"))
    with pytest.raises(ValueError, match=r"view_text\.npz: data\.npy claims 2.* but holds 8"):
        Views.load(unsealed)


def test_an_archive_larger_than_memory_is_refused_before_it_is_read(unsealed, monkeypatch):  # 68
    monkeypatch.setattr(readers, "available_memory", lambda: 50.0)
    monkeypatch.setattr(sp, "load_npz", lambda file: pytest.fail("it was read"))
    with pytest.raises(MemoryError, match=r"view_text\.npz: it claims"):
        Views.load(unsealed)


def test_lines_that_unfold_without_end_are_refused(unsealed, monkeypatch):  # 68
    (unsealed / "ids.txt.gz").write_bytes(gzip.compress(bytes(1 << 27)))
    with pytest.raises(ValueError, match=r"ids\.txt\.gz: it becomes more than 100 times"):
        Views.load(unsealed)
    monkeypatch.setattr(readers, "TEXT_RATIO", 2000.0)
    monkeypatch.setattr(readers, "available_memory", lambda: 2e8)
    with pytest.raises(MemoryError, match=r"ids\.txt\.gz: it claims"):
        Views.load(unsealed)


@pytest.mark.parametrize("name", ["labels.npy", "present.npy"])
def test_arrays_that_claim_too_much_are_refused(unsealed, name):  # 70
    with open(unsealed / name, "wb") as file:
        header = {"descr": "<i8", "fortran_order": False, "shape": (2**45,)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(ValueError, match=f"Cannot read .*{name}"):
        Views.load(unsealed)


# -- the manifest ---------------------------------------------------------------------------------


def flip_a_bit(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", [*FILES, "views.txt"])
def test_a_flipped_bit_in_any_file_is_noticed(saved, name):
    flip_a_bit(saved / name)
    with pytest.raises(DamagedFile, match=rf"not as it was written: '{name}' changed.*MANIFEST"):
        Views.load(saved)


def test_a_flipped_bit_in_the_manifest_is_noticed(saved):
    whole = (saved / MANIFEST).read_bytes()
    for at in range(len(whole)):
        (saved / MANIFEST).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ValueError, match=r"MANIFEST\.json"):
            Views.load(saved)


def test_a_flipped_bit_in_a_recipe_is_noticed(cooked):
    folder, _ = cooked
    for name in ("recipe_tags.json", "recipe_size_shifts.npy"):
        before = (folder / name).read_bytes()
        flip_a_bit(folder / name)
        with pytest.raises(DamagedFile, match=name):
            Views.load(folder)
        (folder / name).write_bytes(before)
    Views.load(folder)


@pytest.mark.parametrize("name", ["labels.npy", "views.txt", "view_text.npz", "present.npy"])
def test_a_file_that_was_removed_is_noticed(saved, name):
    (saved / name).unlink()
    with pytest.raises(DamagedFile, match=f"'{name}' removed"):
        Views.load(saved)


def test_a_file_that_was_added_is_noticed(saved, tmp_path):
    Views(np.eye(3), labels=[0, 1, 2]).save(tmp_path / "bare")
    (tmp_path / "bare" / "ids.txt.gz").write_bytes((saved / "ids.txt.gz").read_bytes())
    with pytest.raises(DamagedFile, match=r"'ids\.txt\.gz' added"):
        Views.load(tmp_path / "bare")


def test_files_that_are_no_part_of_the_format_are_ignored(views, saved):
    (saved / "README.md").write_text("what this is")
    (saved / ".DS_Store").write_bytes(b"")
    assert Views.load(saved).equals(views)


def test_without_its_manifest_a_folder_is_read_as_it_is(unsealed):
    np.save(unsealed / "labels.npy", np.array([1, 1, -1]))
    assert Views.load(unsealed).labels.tolist() == [1, 1, -1]


def test_a_damaged_view_can_be_left_out(saved):
    flip_a_bit(saved / "view_image.npz")
    assert Views.load(saved, views=["text"]).names == ("text",)
    with pytest.raises(DamagedFile, match=r"view_image\.npz"):
        Views.load(saved, views=["image"])


def test_views_whose_names_begin_alike_are_told_apart(tmp_path):
    recipes = {n: TokensRecipe(n, np.array(["t"], dtype=object)) for n in ("a", "a_b")}
    views = Views({"a": [[1]], "a_b": [[1]]}, features={"a": ["t"], "a_b": ["t"]}, recipes=recipes)
    views.save(tmp_path / "data")
    flip_a_bit(tmp_path / "data" / "recipe_a_b.json")
    assert Views.load(tmp_path / "data", views=["a"]).recipes["a"] is not None
    with pytest.raises(DamagedFile, match=r"recipe_a_b\.json"):
        Views.load(tmp_path / "data", views=["a_b"])


def test_overwriting_writes_a_new_manifest(views, saved):
    flip_a_bit(saved / "labels.npy")
    views.select("text").save(saved, overwrite=True)
    assert Views.load(saved).equals(views.select("text"))


# -- recipes --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Shifted:
    """A recipe with an array: numbers, one a document, moved by an amount for each feature."""

    kind: ClassVar[str] = "shifted"
    source: str
    shifts: np.ndarray

    def counts(self, items):
        rows = np.array([[0.0] if item is None else [item] for item in items])
        present = np.array([item is not None for item in items])
        return sp.csr_array((rows + self.shifts) * present[:, None]), present

    def as_data(self):
        if self.source == "code":
            raise ValueError("it holds a function.")
        return {"source": self.source}, {"shifts": self.shifts}

    @classmethod
    def from_data(cls, settings, arrays, features):
        if arrays["shifts"].shape != (len(features),):
            raise ValueError("There must be a shift for each feature.")
        return cls(settings["source"], arrays["shifts"])


@pytest.fixture
def cooked(tmp_path, monkeypatch):
    """A saved container with two recipes, and what it was."""
    monkeypatch.setitem(RECIPES, Shifted.kind, (__name__, "Shifted"))
    recipes = {
        "tags": TokensRecipe("tags", np.array(["a", "ü"], dtype=object)),
        "size": Shifted("größe", np.array([0.5, 1.5])),
    }
    views = Views(
        {"tags": [[1, 0], [0, 2]], "size": [[1, 2], [3, 4]], "plain": [[1], [1]]},
        features={"tags": ["a", "ü"], "size": ["low", "high"]},
        recipes=recipes,
    )
    views.save(tmp_path / "data")
    return tmp_path / "data", views


def test_recipes_read_new_documents_as_before(cooked):
    folder, views = cooked
    raw = {"tags": [["a", "a", "other"], None], "size": [2.0, None]}
    loaded = Views.load(folder)
    assert loaded.equals(views)
    assert loaded.recipes["plain"] is None
    for name, items in raw.items():
        expected, mask = views.recipes[name].counts(items)
        found, found_mask = loaded.recipes[name].counts(items)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
        np.testing.assert_array_equal(found_mask, mask)
        assert loaded.recipes[name].source == views.recipes[name].source


def test_the_files_of_a_recipe_hold_no_code(cooked):
    folder, _ = cooked
    files = [name for name in listing(folder) if name.startswith("recipe_")]
    assert files == ["recipe_size.json", "recipe_size_shifts.npy", "recipe_tags.json"]
    contents = json.loads((folder / "recipe_size.json").read_bytes())
    assert contents == {
        "version": 1,
        "kind": "shifted",
        "settings": {"source": "größe"},
        "arrays": ["shifts"],
    }


def test_only_the_recipes_of_the_views_asked_for_are_read(cooked):
    folder, _ = cooked
    (folder / "recipe_size.json").write_text("damaged")
    assert Views.load(folder, views=["tags"]).recipes["tags"].kind == "tokens"


def test_a_folder_with_recipes_can_be_overwritten(cooked):
    folder, views = cooked
    views.drop("size").save(folder, overwrite=True)
    assert [name for name in listing(folder) if "size" in name] == []


def test_a_recipe_that_holds_code_is_left_out_with_a_warning(cooked, tmp_path):
    _, views = cooked
    bad = Views(views, recipes={**views.recipes, "size": Shifted("code", np.zeros(2))})
    with pytest.warns(DataWarning, match="recipe of view 'size' is not saved: it holds a function"):
        bad.save(tmp_path / "other")
    assert Views.load(tmp_path / "other").recipes["size"] is None
    assert Views.load(tmp_path / "other").recipes["tags"] is not None


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"kind": "magic"}, "knows no recipe 'magic'"), ({"version": 2}, "newer version of coview")],
)
def test_a_recipe_from_elsewhere_is_left_out_and_the_counts_are_read(cooked, change, reason):
    folder, views = cooked
    (folder / MANIFEST).unlink()
    path = folder / "recipe_size.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))
    with pytest.warns(DataWarning, match=reason):
        loaded = Views.load(folder)
    assert loaded.equals(views)
    assert loaded.recipes["size"] is None


def test_a_recipe_without_its_vocabulary_is_left_out(cooked):
    folder, _ = cooked
    (folder / MANIFEST).unlink()
    (folder / "features_tags.txt.gz").unlink()
    with pytest.warns(DataWarning, match="names of the view's features are not there"):
        assert Views.load(folder).recipes["tags"] is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "7",
        '{"version": 1, "kind": "shifted", "settings": {}}',
        '{"version": 1, "kind": "shifted", "settings": {}, "arrays": ["../secret"]}',
        '{"version": 1, "kind": "shifted", "settings": {}, "arrays": ["shifts"]}',
    ],
)
def test_a_damaged_recipe_is_named(cooked, text):
    folder, _ = cooked
    (folder / MANIFEST).unlink()
    (folder / "recipe_size.json").write_text(text)
    with pytest.raises(ValueError, match=r"Cannot read .*recipe_size\.json"):
        Views.load(folder)


def test_damaged_arrays_of_a_recipe_are_named(cooked):
    folder, _ = cooked
    (folder / MANIFEST).unlink()
    array = folder / "recipe_size_shifts.npy"
    np.save(array, np.zeros(3))
    with pytest.raises(ValueError, match=r"recipe_size\.json: There must be a shift for each"):
        Views.load(folder)
    array.write_bytes(array.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"Cannot read .*recipe_size_shifts\.npy"):
        Views.load(folder)
    array.unlink()
    with pytest.raises(FileNotFoundError, match=r"no file .*recipe_size_shifts\.npy"):
        Views.load(folder)


# -- the papers' data -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", DATASETS)
def test_the_papers_data_load_as_they_are(papers_data, name):
    n_docs, names, n_classes = DATASETS[name]
    views = Views.load(papers_data / name)
    assert (len(views), list(views.names)) == (n_docs, names)
    assert len(views.label_names) == n_classes
    assert set(views.labels) == set(range(n_classes))
    assert all(matrix.dtype == np.float32 for matrix in views.matrices.values())


def test_names_in_the_papers_data_are_read(papers_data):
    words = Views.load(papers_data / "20newsgroups").features["words"]
    assert (words[0], words[-1], len(words)) == ("aa", "zzzzzz", 28769)
    pages = Views.load(papers_data / "webkb_texas").ids
    assert pages[0] == "http://www.cs.utexas.edu"


def test_a_view_with_negative_counts_is_named_with_how_to_leave_it_out(tmp_path):
    np.save(tmp_path / "view_a.npy", np.eye(3))
    np.save(tmp_path / "view_b.npy", -np.eye(3))
    with pytest.raises(ValueError, match=r"'b': -1 at row 0, column 0.*views=\['a'\]"):
        Views.load(tmp_path)
    assert Views.load(tmp_path, views=["a"]).names == ("a",)


def test_real_views_of_the_papers_data_are_read_with_their_negative_values(papers_data, tmp_path):
    views = Views.load(papers_data / "mfeat")
    assert views.shape == (2000, 216 + 76 + 64 + 6 + 240 + 47)
    assert views["kar"].min() < 0
    views.save(tmp_path / "copy")
    assert Views.load(tmp_path / "copy").equals(views)


def test_the_papers_data_survive_a_round_trip(papers_data, tmp_path):
    views = Views.load(papers_data / "webkb_texas")
    views.save(tmp_path / "copy")
    assert Views.load(tmp_path / "copy").equals(views)


def test_a_folder_that_a_killed_writer_moved_aside_is_not_overwritten_unasked(tmp_path):
    target = tmp_path / "kept"
    Views([[1, 2]]).save(target)
    target.rename(tmp_path / f".kept.{1:020d}-7.old")  # killed between the two moves
    with pytest.raises(FileExistsError, match="not empty"):
        Views([[3, 4]]).save(target)
    assert Views.load(target)["X"].toarray().tolist() == [[1, 2]]
