"""Fingerprints: equal for equal values, and for no others."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import LatentDirichletAllocation

from coview import PLSA, Checkpoint, LinkPLSA, Views
from coview.datasets import make_views
from coview.fingerprints import fingerprint_of
from coview.store import read_header

DIFFERENT = [
    *(None, True, False, 0, 1, -1, 10**30, 1.0, 0.0, -0.0, np.nan, np.inf, "", "1", "a", b"a"),
    *([], (), {}, set(), [1], (1,), [1, 2], [[1], 2], ["ab"], ["a", "b"], ["a", ["b"]], [None]),
    *({"a": 1}, {"a": "1"}, {1: "a"}, {"a": {"b": 1}}, {"a", "b"}, Path("a"), "\ud800", "\ud801"),
    *(np.zeros(2), np.zeros((2, 1)), np.zeros(3), np.zeros(2, "f4"), np.zeros(2, int)),
    *(np.array(["a", "b"]), np.array(["a", "b"], object), np.array(["a", None], object)),
    *(sp.eye_array(3), sp.eye_array(3, 4), 2 * sp.eye_array(3), np.eye(3)),
    *(np.random.default_rng(0), np.random.default_rng(1), np.random.RandomState(0)),
    *(PLSA(2), PLSA(3), LatentDirichletAllocation(2), len, PLSA, np.float32),
]


def test_different_values_have_different_fingerprints():
    known = [v for v in DIFFERENT if v is not len and v is not PLSA]
    found = [fingerprint_of(value) for value in known]
    for value, mark in zip(known, found, strict=True):
        assert found.count(mark) == 1, value


def test_equal_values_have_equal_fingerprints():
    assert fingerprint_of({"a": 1, "b": 2}) == fingerprint_of({"b": 2, "a": 1})
    assert fingerprint_of({"x", "y", "z"}) == fingerprint_of({"z", "y", "x"})
    assert fingerprint_of(np.int64(3)) == fingerprint_of(3)
    assert fingerprint_of(sp.eye_array(3, format="coo")) == fingerprint_of(
        sp.eye_array(3, format="lil")
    )
    assert fingerprint_of(PLSA(2, n_jobs=1, verbose=1)) == fingerprint_of(PLSA(2))


def test_every_entry_of_a_long_array_counts():
    labels = np.array(["a", "b"] * 5000, dtype=object)
    other = labels.copy()
    other[5000] = "b"
    assert repr(labels) == repr(other)
    assert fingerprint_of(labels) != fingerprint_of(other)


def test_what_cannot_be_told_apart_is_an_error():
    with pytest.raises(TypeError, match="the type object cannot be told from others"):
        fingerprint_of({"a": [object()]})


def test_another_process_finds_the_same(tmp_path):
    code = (
        "from coview.fingerprints import fingerprint_of; from coview import PLSA\n"
        "print(fingerprint_of([{'a', 'b', 'c'}, {'x': 1.5}, PLSA(3, init='random')]))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout


# -- fits ------------------------------------------------------------------------------------------


def make(**params):
    common = {"random_state": 0, "max_iter": 3, "tol": 0, "init": "random"}
    return LinkPLSA(3, **{**common, **params})


@pytest.fixture
def views():
    return make_views(60, 3, {"a": 30, "b": 20}, random_state=0)


def copy_of(views, **changes):
    parts = {"data": dict(views.matrices), "labels": views.labels, "present": views.present}
    return Views(**{**parts, **changes})


def wider(views):
    """Return the same entries in a matrix with one more column."""
    a = views["a"]
    wide = sp.csr_array((a.data, a.indices, a.indptr), shape=(60, 31))
    return copy_of(views, data={"a": wide, "b": views["b"]})


def named(views, first):
    names = [first, *(f"w{i}" for i in range(1, 30))]
    return copy_of(views, features={"a": names})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (lambda v: v, wider),
        (lambda v: named(v, "x"), lambda v: named(v, "y")),
        (lambda v: v, lambda v: named(v, "y")),
        (lambda v: copy_of(v, ids=[f"{i}" for i in range(60)]), lambda v: v),
        (lambda v: v, lambda v: copy_of(v, data={"a": v["a"].astype("f8"), "b": v["b"]})),
    ],
)
def test_a_fit_of_other_data_is_not_resumed(views, tmp_path, before, after):
    make().fit(before(views), checkpoint=tmp_path / "run")
    again = Checkpoint(tmp_path / "run", resume=True)
    with pytest.raises(ValueError, match="other data or with other parameters"):
        make().fit(after(views), checkpoint=again)
    make().fit(before(views), checkpoint=again)


def test_many_labels_of_objects_are_told_apart(tmp_path):
    views = make_views(1500, 3, [20, 15], random_state=0)
    labels = np.array([0, 1, 2] * 500, dtype=object)
    other = labels.copy()
    other[700] = (other[700] + 1) % 3
    make().fit(views, labels=labels, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="other data"):
        make().fit(views, labels=other, checkpoint=Checkpoint(tmp_path / "run", resume=True))


def test_a_model_given_as_a_start_is_told_from_another(views, tmp_path):
    starts = [make(random_state=seed).fit(views) for seed in (1, 2)]
    make(init=starts[0]).fit(views, checkpoint=tmp_path / "run")
    again = Checkpoint(tmp_path / "run", resume=True)
    make(init=starts[0]).fit(views, checkpoint=again)
    with pytest.raises(ValueError, match="other data or with other parameters"):
        make(init=starts[1]).fit(views, checkpoint=again)


def test_a_checkpoint_of_an_earlier_version_says_so(views, tmp_path):
    from tests.crafted_files import rewrite

    make().fit(views, checkpoint=tmp_path / "run")
    file = tmp_path / "run.0"
    assert read_header(file)["header"]["fingerprint"].startswith("2:")
    rewrite(file, file, "checkpoint", lambda h, t: h.update(fingerprint=h["fingerprint"][2:]))
    with pytest.raises(ValueError, match="written by an earlier version"):
        make().fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True))
