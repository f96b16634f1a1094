"""The table of the papers' data sets, and where they are looked for."""

import json
from pathlib import Path

import numpy as np
import pytest

from coview import Views, datasets
from coview.datasets import DATASETS, data_home, load_dataset
from coview.datasets.folders import _user_data_folder, check_manifest, find_folder
from coview.datasets.registry import dataset

NAMES = [
    "mfeat",
    "reuters1200",
    "20newsgroups",
    "newsgv2",
    "newsgv4",
    "cora",
    "wikipedia",
    "msrcv1",
]
NAMES += [f"webkb_{u}" for u in ("cornell", "texas", "washington", "wisconsin")]


@pytest.fixture
def no_settings(monkeypatch, tmp_path):
    for name in ("COVIEW_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


# -- the table --


def test_all_data_sets_are_there():
    assert set(NAMES) <= set(DATASETS)


@pytest.mark.parametrize("name", DATASETS)
def test_an_entry_is_complete_and_fits_itself(name):
    data = DATASETS[name]
    assert data.name == name
    assert len(set(data.classes)) == len(data.classes) > 1
    assert set(data.default_views) <= set(data.views)
    assert data.publisher.startswith("http")
    assert data.built_from is None or data.built_from in DATASETS
    assert all((data.title, data.terms, data.citation, data.archive))


@pytest.mark.parametrize("name", DATASETS)
def test_an_entry_goes_through_json(name):
    data = DATASETS[name].as_dict()
    assert json.loads(json.dumps(data)) == data


def test_an_unknown_name_is_answered_with_all_names():
    with pytest.raises(ValueError, match="no data set 'mfeet'; there are mfeat, "):
        dataset("mfeet")


def test_public_names_are_there():
    assert all(getattr(datasets, name) is not None for name in datasets.__all__)
    assert set(dir(datasets)) == set(datasets.__all__)
    with pytest.raises(AttributeError, match="no attribute 'load_nonsense'"):
        datasets.load_nonsense


# -- where they are --


def test_the_folder_is_the_argument_before_the_environment(monkeypatch):
    monkeypatch.setenv("COVIEW_DATA", "/there")
    assert data_home("/here") == Path("/here")
    assert data_home() == Path("/there")


def test_without_settings_it_is_the_users_data_folder(no_settings, monkeypatch):
    assert _user_data_folder("linux") == no_settings / ".local/share"
    assert _user_data_folder("darwin") == no_settings / "Library/Application Support"
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert _user_data_folder("win32") == Path("/local")
    monkeypatch.setenv("XDG_DATA_HOME", "/xdg")
    assert _user_data_folder("linux") == Path("/xdg")
    assert data_home() == Path("/xdg/coview")


def test_an_empty_folder_is_no_data_set(tmp_path):
    (tmp_path / "mfeat").mkdir()
    assert find_folder(DATASETS["mfeat"], tmp_path) is None
    np.save(tmp_path / "mfeat/view_pix.npy", np.ones((1, 1)))
    assert find_folder(DATASETS["mfeat"], tmp_path) == tmp_path / "mfeat"


@pytest.mark.parametrize("name", DATASETS)
def test_a_missing_data_set_is_answered_with_how_to_get_it(tmp_path, name):
    with pytest.raises(FileNotFoundError) as caught:
        load_dataset(name, data_home=tmp_path)
    data, words = DATASETS[name], str(caught.value)
    assert words.startswith(f"The data set {name!r}")
    assert data.publisher in words
    assert data.archive in words
    assert f"python -m experiments import {data.folder} ARCHIVE" in words
    assert "clone of coview's repository" in words
    assert str(tmp_path) in words
    assert "COVIEW_DATA" in words


# -- checksums --


@pytest.fixture
def folder(tmp_path):
    Views({"content": [[1, 2]], "cites": [[1]]}, labels=[0]).save(tmp_path / "cora")
    return tmp_path / "cora"


def test_a_folder_that_is_as_it_was_passes(folder):
    check_manifest(folder)


@pytest.mark.parametrize("damage", ["change", "remove"])
def test_a_file_that_is_not_as_it_was_is_named(folder, damage):
    path = folder / "labels.npy"
    path.unlink()
    if damage == "change":
        np.save(path, np.array([1]))
    with pytest.raises(ValueError, match=r"'labels\.npy'.*Import the data set again"):
        check_manifest(folder)


def test_a_manifest_beside_the_folders_will_do(folder):
    entries = json.loads((folder / "MANIFEST.json").read_text())
    (folder / "MANIFEST.json").unlink()
    beside = folder.parent / "MANIFEST.json"
    beside.write_text(json.dumps({"cora": entries}))
    check_manifest(folder)
    entries["labels.npy"]["sha256"] = "0" * 64
    beside.write_text(json.dumps({"cora": entries}))
    with pytest.raises(ValueError, match=r"labels\.npy"):
        check_manifest(folder)


def test_a_manifest_that_speaks_of_other_folders_is_not_believed(folder):
    entries = json.loads((folder / "MANIFEST.json").read_text())
    (folder.parent / "labels.npy").write_bytes((folder / "labels.npy").read_bytes())
    entries["../labels.npy"] = entries["labels.npy"]
    (folder / "MANIFEST.json").write_text(json.dumps(entries))
    with pytest.raises(ValueError, match=r"'\.\./labels\.npy'"):
        check_manifest(folder)


def test_checking_without_checksums_says_so(folder):
    (folder / "MANIFEST.json").unlink()
    with pytest.raises(FileNotFoundError, match="leave out check=True"):
        load_dataset("cora", data_home=folder.parent, check=True)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_manifest_that_is_none_is_named(folder, text):
    (folder / "MANIFEST.json").write_text(text)
    with pytest.raises(ValueError, match=r"MANIFEST\.json"):
        check_manifest(folder)


def test_a_check_comes_before_the_reading(folder):
    load_dataset("cora", data_home=folder.parent, check=True)
    np.save(folder / "labels.npy", np.array([1]))
    with pytest.raises(ValueError, match="not what MANIFEST"):
        load_dataset("cora", data_home=folder.parent, check=True)
