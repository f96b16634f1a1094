"""What all importers have in common: where they write, and what they never touch."""

import json

import pytest

from coview import Views
from coview.datasets import DATASETS, load_webkb
from experiments.importers import ArchiveLimits, differences, import_dataset
from tests.experiments.importers.packing import refused, tar_bytes, webkb, write


def test_an_import_goes_where_the_loader_looks(tmp_path, monkeypatch):
    monkeypatch.setenv("COVIEW_DATA", str(tmp_path / "home"))
    views, folder = import_dataset("webkb_texas", webkb(tmp_path))
    assert folder == tmp_path / "home/webkb_texas"
    assert load_webkb("texas", links="listed").equals(views)


def test_what_is_built_from_another_imports_that_one(tmp_path, monkeypatch):
    monkeypatch.setenv("COVIEW_DATA", str(tmp_path))
    posts = {f"20news-bydate-train/sci.med/{i}": b"a\n\nword" for i in range(5)}
    _, folder = import_dataset("newsgv2", write(tmp_path / "a.tar", tar_bytes(posts)))
    assert folder == tmp_path / "20newsgroups"


def test_every_data_set_has_an_importer(tmp_path):
    for name in DATASETS:
        with pytest.raises(FileNotFoundError, match="no archive"):
            import_dataset(name, tmp_path / "nothing.zip", tmp_path / name)


def test_limits_are_passed_on(tmp_path):
    with refused("more than 2 members"):
        import_dataset(
            "webkb_texas", webkb(tmp_path), tmp_path / "x", limits=ArchiveLimits(members=2)
        )


def test_what_is_there_is_not_replaced_unless_told(tmp_path):
    path, out = webkb(tmp_path), tmp_path / "out"
    import_dataset("webkb_texas", path, out)
    before = (out / "MANIFEST.json").read_text()
    with pytest.raises(FileExistsError, match="not empty"):
        import_dataset("webkb_texas", path, out)
    webkb(tmp_path, cites=b"")
    import_dataset("webkb_texas", path, out, overwrite=True)
    assert (out / "MANIFEST.json").read_text() != before
    assert {p.name for p in tmp_path.iterdir()} == {"WebKB.tgz", "out"}


def test_other_peoples_files_are_never_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("all of it")
    with pytest.raises(FileExistsError, match="not replaced"):
        import_dataset("webkb_texas", webkb(tmp_path), tmp_path / "out", overwrite=True)
    assert (tmp_path / "out/thesis.tex").read_text() == "all of it"


def test_a_file_in_the_place_of_the_folder(tmp_path):
    with pytest.raises(FileExistsError, match="is a file"):
        import_dataset("webkb_texas", webkb(tmp_path), tmp_path / "WebKB.tgz")


def test_an_import_that_fails_leaves_what_was_there(tmp_path):
    import_dataset("webkb_texas", webkb(tmp_path), tmp_path / "out")
    before = Views.load(tmp_path / "out")
    with refused("Line 1"):
        import_dataset(
            "webkb_texas", webkb(tmp_path, cites=b"no"), tmp_path / "out", overwrite=True
        )
    assert Views.load(tmp_path / "out").equals(before)


def test_the_manifest_lists_every_file(tmp_path):
    import_dataset("webkb_texas", webkb(tmp_path), tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert set(json.loads((tmp_path / "out/MANIFEST.json").read_text())) == names - {
        "MANIFEST.json"
    }


def test_differences_to_what_was_published(tmp_path):
    views, _ = import_dataset("webkb_texas", webkb(tmp_path), tmp_path / "out")
    assert differences("webkb_texas", views) == [
        "3 documents, expected 187",
        "view content has 3 columns, expected 1,703",
        "view cites has 3 columns, expected 187",
    ]
    assert "no view content" in differences("webkb_texas", views.select("cites"))
