"""Multi-omics data as views, and results written back."""

import json
import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from coview import DataWarning, LinkPLSA, PairwiseCoPLSA, Views
from coview.reading import mudata as reader
from coview.reading.mudata import to_mudata
from tests.reading import deaths

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mudata = pytest.importorskip("mudata")
    import anndata
    import pandas as pd

CELLS = [f"c{i}" for i in range(12)]
PROTEIN_CELLS = ["c3", "c1", "c10", "c11", "c5", "c0"]


@pytest.fixture
def rna():
    return np.random.default_rng(0).poisson(1.5, (10, 6))


@pytest.fixture
def protein():
    counts = np.random.default_rng(1).poisson(3, (6, 4))
    counts[0] = 0  # measured, and nothing was found
    return counts


@pytest.fixture
def mdata(rna, protein):
    """Ten cells with RNA, six with proteins, four of them with both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = {
            "rna": anndata.AnnData(
                sp.csr_matrix(rna.astype(np.float32)),
                obs=pd.DataFrame({"n": range(10)}, index=CELLS[:10]),
                var=pd.DataFrame(index=[f"gene{i}" for i in range(6)]),
                layers={"log": np.log1p(rna) - 1, "double": 2 * rna},
            ),
            "protein": anndata.AnnData(
                protein.astype(float),
                obs=pd.DataFrame(index=PROTEIN_CELLS),
                var=pd.DataFrame(index=[f"CD{i}" for i in range(4)]),
            ),
        }
        mdata = mudata.MuData(parts)
        kinds = [None, *np.array(["T", "B"])[np.arange(11) % 2]]
        mdata.obs["kind"] = pd.Categorical(kinds, categories=["T", "B"])
        mdata.obs["batch"] = np.arange(12) % 3
        return mdata


@pytest.fixture
def stored(mdata, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mdata.write(tmp_path / "cells.h5mu")
    return tmp_path / "cells.h5mu"


# -- reading --------------------------------------------------------------------------------------


def test_modalities_are_views_and_missing_cells_lack_them(mdata, rna, protein):
    views = Views.from_mudata(mdata)
    assert views.names == ("rna", "protein")
    assert views.ids.tolist() == mdata.obs_names.tolist()
    assert views.features["protein"].tolist() == ["CD0", "CD1", "CD2", "CD3"]
    for row, cell in enumerate(views.ids):
        in_rna, in_protein = cell in CELLS[:10], cell in PROTEIN_CELLS
        assert views.present[row].tolist() == [in_rna, in_protein]
        expected = rna[CELLS.index(cell)] if in_rna else np.zeros(6)
        np.testing.assert_array_equal(views["rna"].toarray()[row], expected)
        expected = protein[PROTEIN_CELLS.index(cell)] if in_protein else np.zeros(4)
        np.testing.assert_array_equal(views["protein"].toarray()[row], expected)


def test_a_cell_without_counts_is_there_and_empty(mdata):
    views = Views.from_mudata(mdata)
    row = views.ids.tolist().index("c3")
    assert views.present[row, 1]
    assert views["protein"][[row]].nnz == 0


def test_a_file_gives_the_same_as_the_object(mdata, stored):
    assert Views.from_mudata(str(stored)).equals(Views.from_mudata(mdata))


def test_modalities_and_layers_can_be_chosen(mdata, rna):
    views = Views.from_mudata(mdata, modalities=["rna"], layers={"rna": "double"})
    assert views.names == ("rna",)
    np.testing.assert_array_equal(views["rna"].toarray()[:10], 2 * rna)


def test_a_part_of_the_cells_can_be_read(mdata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some = mdata[["c1", "c11"]]
    views = Views.from_mudata(some)
    assert sorted(views.ids) == ["c1", "c11"]


def test_classes_come_from_a_column(mdata):
    views = Views.from_mudata(mdata, label="kind")
    assert views.label_names == ["T", "B"]
    assert views.labels.tolist() == [-1, *(np.arange(11) % 2).tolist()]
    assert Views.from_mudata(mdata, label="batch").labels.tolist() == [0, 1, 2] * 4
    with pytest.raises(ValueError, match=r"no column 'type'; it has .*'kind'"):
        Views.from_mudata(mdata, label="type")


def test_scaled_values_are_refused_and_the_layers_are_listed(mdata):
    with pytest.raises(ValueError, match=r"'log' of modality 'rna' has negative .*'log', 'double'"):
        Views.from_mudata(mdata, layers={"rna": "log"})
    mdata.mod["protein"].X = mdata.mod["protein"].X - 1
    with pytest.raises(ValueError, match=r"X of modality 'protein' has negative .* no layers"):
        Views.from_mudata(mdata)


def with_counts(mdata, rna, name="counts", x=np.log1p):
    """Return the data with logarithms in X and the counts in a layer."""
    part = mdata.mod["rna"]
    part.layers[name] = sp.csr_matrix(rna)
    part.X = None if x is None else sp.csr_matrix(x(rna.astype(np.float32)))
    return mdata


@pytest.mark.parametrize("name", ["counts", "Raw_Counts", "raw"])
@pytest.mark.parametrize("x", [np.log1p, lambda counts: counts - counts.mean(), None])
def test_counts_are_read_if_x_has_none(mdata, rna, name, x):
    with_counts(mdata, rna, name, x)
    with pytest.warns(DataWarning, match=f"X of modality 'rna' is not counts.*layer '{name}' is"):
        views = Views.from_mudata(mdata)
    np.testing.assert_array_equal(views["rna"].toarray()[:10], rna)


def test_the_choice_of_counts_is_said_for_a_file(mdata, rna, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with_counts(mdata, rna).write(tmp_path / "log.h5mu")
    with pytest.warns(DataWarning, match=r"such as .*layers=\{'rna': 'counts'\}.*'X'"):
        views = Views.from_mudata(tmp_path / "log.h5mu")
    np.testing.assert_array_equal(views["rna"].toarray()[:10], rna)


def test_a_layer_that_is_asked_for_is_read_without_a_word(mdata, rna):
    with_counts(mdata, rna)
    views = Views.from_mudata(mdata, layers={"rna": "counts"})
    np.testing.assert_array_equal(views["rna"].toarray()[:10], rna)


def test_x_can_be_asked_for_and_what_is_no_count_is_warned_of(mdata, rna):
    with_counts(mdata, rna)
    with pytest.warns(DataWarning, match=r"X of modality 'rna' is not counts.*logarithms.*counts"):
        views = Views.from_mudata(mdata, layers={"rna": "X"})
    np.testing.assert_allclose(views["rna"].toarray()[:10], np.log1p(rna), rtol=1e-6)


def test_whole_numbers_in_x_are_read_whatever_layers_there_are(mdata, rna):
    mdata.mod["rna"].layers["counts"] = 3 * rna
    np.testing.assert_array_equal(Views.from_mudata(mdata)["rna"].toarray()[:10], rna)


@pytest.mark.parametrize("name", ["scaled", "counts"])
def test_other_layers_are_no_counts(mdata, rna, name):
    with_counts(mdata, rna / 2, name)
    with pytest.warns(DataWarning, match="X of modality 'rna' is not counts.*Choose raw counts"):
        views = Views.from_mudata(mdata)
    np.testing.assert_allclose(views["rna"].toarray()[:10], np.log1p(rna / 2), rtol=1e-6)


def test_a_modality_without_a_matrix_is_named(mdata):
    mdata.mod["rna"].X = None
    with pytest.raises(ValueError, match=r"X of modality 'rna' is empty.*'double'"):
        Views.from_mudata(mdata)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"modalities": ["atac"]}, "modalities names 'atac'; there are 'rna', 'protein'"),
        ({"layers": {"atac": "raw"}}, "layers names 'atac'"),
        ({"layers": {"rna": "raw"}}, "'rna' has no layer 'raw'; it has the layers 'log', 'double'"),
        ({"modalities": []}, "no modality"),
    ],
)
def test_what_is_not_there_is_named(mdata, options, message):
    with pytest.raises(ValueError, match=message):
        Views.from_mudata(mdata, **options)


def test_names_that_repeat_are_refused_with_advice(mdata):
    mdata.mod["rna"].var_names = ["gene0"] * 2 + [f"gene{i}" for i in range(2, 6)]
    with pytest.raises(ValueError, match=r"variables of modality 'rna'.*var_names_make_unique"):
        Views.from_mudata(mdata)


def test_other_things_are_refused(mdata, tmp_path):
    with pytest.raises(TypeError, match=r"found AnnData\. An AnnData object is one modality"):
        Views.from_mudata(mdata.mod["rna"])
    with pytest.raises(TypeError, match="found dict"):
        Views.from_mudata({})
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere"):
        Views.from_mudata(tmp_path / "nowhere.h5mu")


def test_damaged_files_are_named(stored):
    whole = stored.read_bytes()
    for data in (b"", b"text" * 99, whole[: len(whole) // 2]):
        stored.write_bytes(data)
        with pytest.raises(ValueError, match=r"Cannot read .*cells\.h5mu"):
            Views.from_mudata(stored)


def test_files_that_claim_too_much_are_refused(stored, monkeypatch):  # 70
    import h5py

    with h5py.File(stored, "r+") as file:
        file.create_dataset("mod/rna/layers/bomb", (2**20, 2**25), dtype="f8", chunks=(1, 1024))
    with pytest.raises(MemoryError, match=r"cells\.h5mu: it claims"):
        Views.from_mudata(stored)
    monkeypatch.setattr(mudata, "read_h5mu", lambda path: pytest.fail("it was read"))
    with pytest.raises(MemoryError, match="it claims"):
        reader._load(stored)


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
@pytest.mark.parametrize("use", ["read", "write"])
def test_a_file_that_crashes_the_library_is_an_error(model, stored, use, monkeypatch):
    for name in ("_read_file", "_write_copy"):
        monkeypatch.setattr(reader, name, deaths.segfault)
    with pytest.raises(ValueError, match=r"Cannot read .*cells\.h5mu: it is damaged.*SIGSEGV"):
        Views.from_mudata(stored) if use == "read" else to_mudata(model, stored)


# -- writing --------------------------------------------------------------------------------------


@pytest.fixture
def model(mdata):
    return LinkPLSA(3, random_state=0).fit(Views.from_mudata(mdata))


def test_results_stand_where_others_look_for_them(model, mdata):
    result = to_mudata(model, mdata, key="plsa")
    assert result is mdata
    np.testing.assert_array_equal(mdata.obsm["X_plsa"], model.doc_topic_)
    assert mdata.obs["plsa"].tolist() == [str(topic) for topic in model.labels_]
    assert mdata.obs["plsa"].cat.categories.tolist() == ["0", "1", "2"]
    for view in ("rna", "protein"):
        topics = mdata.mod[view].varm["plsa_topics"]
        np.testing.assert_array_equal(topics, model.components_[view].T)
    settings = mdata.uns["plsa"]
    assert (settings["model"], settings["objective"]) == ("LinkPLSA", model.objective_)
    assert json.loads(settings["params"])["n_components"] == 3


def test_rows_are_matched_by_name(model, mdata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some = mdata[["c11", "c2", "c0"]].copy()
    result = to_mudata(model, some)
    rows = [model.doc_ids_.tolist().index(cell) for cell in result.obs_names]
    np.testing.assert_array_equal(result.obsm["X_coview"], model.doc_topic_[rows])


def test_a_view_of_the_data_is_copied(model, mdata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some = mdata[["c1", "c2"]]
    assert to_mudata(model, some).obsm["X_coview"].shape == (2, 3)
    assert "X_coview" not in mdata.obsm


def test_new_cells_are_folded_in(model, mdata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = mdata.copy()
        for part in other.mod.values():
            part.obs_names = [f"new_{name}" for name in part.obs_names]
        other.update()
    result = to_mudata(model, other)
    views = Views.from_mudata(other)
    np.testing.assert_array_equal(result.obsm["X_coview"], model.transform(views))
    assert result.obs["coview"].tolist() == [str(topic) for topic in model.predict(views)]


def test_new_cells_are_read_from_the_layer_asked_for(mdata, rna):
    views = Views({"rna": 2 * rna}, features={"rna": mdata.mod["rna"].var_names})
    model = LinkPLSA(2, random_state=0).fit(views)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = mudata.MuData({"rna": mdata.mod["rna"].copy()})
    result = to_mudata(model, other, layers={"rna": "double", "protein": "none"})
    np.testing.assert_array_equal(result.obsm["X_coview"], model.transform(views))


def test_variables_are_matched_by_name(model, mdata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = mdata.mod["rna"][:, ["gene4", "gene1"]].copy()
        part.var_names = ["gene4", "other"]
        narrow = mudata.MuData({"rna": part})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fold-in says what it does not know
        topics = to_mudata(model, narrow).mod["rna"].varm["coview_topics"]
    np.testing.assert_array_equal(topics, [model.components_["rna"][:, 4], [0, 0, 0]])


def test_views_become_modalities(model, mdata):
    views = Views.from_mudata(mdata)
    result = to_mudata(model, views)
    assert Views.from_mudata(result).equals(views)
    rows = [views.ids.tolist().index(cell) for cell in result.obs_names]
    np.testing.assert_array_equal(result.obsm["X_coview"], model.doc_topic_[rows])


def test_views_without_names_get_numbers():
    views = Views({"a": [[1, 0], [0, 2]]})
    model = LinkPLSA(2, random_state=0).fit(views)
    result = to_mudata(model, views)
    assert result.obs_names.tolist() == ["0", "1"]
    np.testing.assert_array_equal(result.obsm["X_coview"], model.transform(views))


def test_a_model_with_a_mixture_for_each_view_writes_their_consensus(mdata):
    model = PairwiseCoPLSA(2, random_state=0).fit(Views.from_mudata(mdata))
    np.testing.assert_array_equal(to_mudata(model, mdata).obsm["X_coview"], model.doc_topic_)


def test_no_modality_in_common_is_an_error(mdata):
    model = LinkPLSA(2, random_state=0).fit(Views({"atac": [[1, 2], [2, 1]]}))
    with pytest.raises(ValueError, match="views 'atac', the data have the modalities 'rna'"):
        to_mudata(model, mdata)


def test_a_file_is_written_and_read_back(model, stored):
    to_mudata(model, stored, stored.with_name("results.h5mu"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = mudata.read_h5mu(stored.with_name("results.h5mu"))
    np.testing.assert_array_equal(again.obsm["X_coview"], model.doc_topic_)
    assert again.obs["coview"].tolist() == [str(topic) for topic in model.labels_]
    assert again.uns["coview"]["views"].tolist() == ["rna", "protein"]
    assert sorted(os.listdir(stored.parent)) == ["cells.h5mu", "results.h5mu"]


def test_a_write_that_fails_leaves_the_old_file(model, stored, monkeypatch):  # 59
    before = stored.read_bytes()

    def fail(path, mdata):
        path.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(mudata, "write_h5mu", fail)
    with pytest.raises(OSError, match="No space left"):
        to_mudata(model, stored, stored)
    assert stored.read_bytes() == before
    assert os.listdir(stored.parent) == ["cells.h5mu"]


@pytest.fixture
def file_of_two(tmp_path):
    path = tmp_path / "cells.h5mu"
    with reader._quiet():
        parts = {"rna": anndata.AnnData(sp.csr_matrix(np.eye(6))), "prot": np.ones((4, 2))}
        parts["prot"] = anndata.AnnData(parts["prot"])
        mudata.MuData(parts).write(path)
    return path


@pytest.mark.parametrize("place", ["obs", "mod/rna/var", "mod/prot/obs", "mod/prot/obs/_index"])
def test_lost_names_of_cells_and_variables_are_not_made_up(file_of_two, place):
    """mudata numbers them instead, and cells of one modality are no cells of the other then."""
    with pytest.importorskip("h5py").File(file_of_two, "r+") as file:
        del file[place]
    with pytest.raises(ValueError, match=r"Cannot read .*cells\.h5mu: it has no names in"):
        Views.from_mudata(file_of_two)


def test_cells_that_the_file_does_not_list_are_refused(file_of_two):
    with pytest.importorskip("h5py").File(file_of_two, "r+") as file:
        names = file["mod/prot/obs/_index"]
        names[2] = "another"
    with pytest.raises(ValueError, match=r"cells\.h5mu: its modalities list 7 cells, its obs 6"):
        Views.from_mudata(file_of_two)


def test_a_damaged_sparse_matrix_in_a_file_is_named(file_of_two):
    """scipy's own functions answer by "vector::_M_default_append", or end the interpreter."""
    path = file_of_two
    with pytest.importorskip("h5py").File(path, "r+") as file:
        ends = file["mod/rna/X/indptr"]
        ends[3] = 0
    with pytest.raises(ValueError, match=r"cells\.h5mu: View 'rna' is a damaged sparse matrix"):
        Views.from_mudata(path)
