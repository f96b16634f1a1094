"""An `.h5mu` file whose X is log-normalized, with the counts in a layer or without them."""

import warnings

import numpy as np
import pytest

from tests.cli.command import coview, run_process

pytestmark = pytest.mark.slow  # real processes
mudata = pytest.importorskip("mudata", reason=".h5mu needs coview[scverse]")
anndata = pytest.importorskip("anndata")
N_CELLS = 60


def counts(width, seed):
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.full(width, 0.2), 3)
    cells = [rng.multinomial(200, profiles[i % 3]) for i in range(N_CELLS)]
    return np.array(cells, dtype=np.float32)


def write(path, with_counts):
    rna, protein = counts(40, 0), counts(12, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shares = rna / rna.sum(axis=1, keepdims=True) * 1e4
        one, two = anndata.AnnData(np.log1p(shares)), anndata.AnnData(protein)
        if with_counts:
            one.layers["counts"] = rna
        for part, letter in ((one, "g"), (two, "p")):
            part.obs_names = [f"cell{i}" for i in range(N_CELLS)]
            part.var_names = [f"{letter}{i}" for i in range(part.n_vars)]
        mudata.MuData({"rna": one, "prot": two}).write(path)
    return rna


def topics_of(path):
    import coview as library

    return library.load(path)


def test_the_layer_of_counts_is_used_and_said(tmp_path):
    rna = write(tmp_path / "cells.h5mu", with_counts=True)
    said = coview("fit", tmp_path / "cells.h5mu", "-k", 3, "-o", tmp_path / "m.coview").stderr
    assert "counts" in " ".join(line for line in said.splitlines() if "rna" in line), said
    np.testing.assert_allclose(
        topics_of(tmp_path / "m.coview").term_counts_["rna"], rna.sum(axis=0)
    )


def test_the_layer_can_be_chosen(tmp_path):
    rna = write(tmp_path / "cells.h5mu", with_counts=True)
    given = ("--layer", "rna=counts", "-k", 3, "-o", tmp_path / "m.coview")
    coview("fit", tmp_path / "cells.h5mu", *given)
    np.testing.assert_allclose(
        topics_of(tmp_path / "m.coview").term_counts_["rna"], rna.sum(axis=0)
    )
    ran = run_process("fit", tmp_path / "cells.h5mu", "--layer", "rna=raw", *given[2:])
    assert ran.returncode != 0
    assert "raw" in ran.stderr
    assert "counts" in ran.stderr


def test_without_counts_there_is_a_warning(tmp_path):
    write(tmp_path / "cells.h5mu", with_counts=False)
    said = coview("fit", tmp_path / "cells.h5mu", "-k", 3, "-o", tmp_path / "m.coview").stderr
    warned = [line for line in said.splitlines() if "Warning" in line]
    assert any("rna" in line for line in warned), said


def test_results_go_back_into_the_file(tmp_path):
    write(tmp_path / "cells.h5mu", with_counts=True)
    coview("fit", tmp_path / "cells.h5mu", "-k", 3, "-o", tmp_path / "m.coview", "--quiet")
    out = tmp_path / "out.h5mu"
    coview("transform", tmp_path / "m.coview", tmp_path / "cells.h5mu", "-o", out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        back = mudata.read(out)
    assert back.obsm["X_coview"].shape == (N_CELLS, 3)
    np.testing.assert_allclose(np.asarray(back.obsm["X_coview"]).sum(axis=1), 1, atol=1e-4)
