"""Checkpoints that are sealed well but hold wrong arrays: refused before a kernel sees them."""

import pytest

from coview import Checkpoint, DamagedFile
from coview.datasets import make_views
from coview.em.checkpoint import describe_file
from coview.models import model_class
from tests.crafted_files import ARRAY_FAULTS, outcomes_in_a_child, rewrite

COMMON = {"init": "random", "random_state": 0, "tol": 0.0, "max_iter": 6, "n_init": 2}

# goes on from each state in turn; prints how it was refused, or that it was not
CHILD = """
import sys, warnings
from pathlib import Path
from coview import Checkpoint
from tests.em.test_crafted_states import resumed
for folder in sys.argv[1:]:
    try:
        resumed(Path(folder))
        print("accepted", flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\\n", " "), flush=True)
"""


def data_of(name):
    views = make_views(60, 3, [40, 30], random_state=0)
    return views.concat() if name == "dual" else views


def resumed(folder):
    name = folder.name.split("-")[0]
    model = model_class(name)(3, **COMMON)
    return model.fit(data_of(name), checkpoint=Checkpoint(folder / "run", resume=True))


def written(name, folder):
    """Return a state in the middle of the second run."""
    states = []

    def stop(attributes):
        states.append(attributes)
        if len(states) == 9:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        model_class(name)(3, **COMMON).fit(
            data_of(name), checkpoint=folder / "run", on_iteration=stop
        )
    # the newest holds both a finished run and one in the middle
    files = sorted(Checkpoint(folder / "run").files, key=lambda f: f.stat().st_mtime_ns)
    return files[-1]


def in_tensor(tensor, fault):
    def change(header, tensors):
        tensors[tensor] = ARRAY_FAULTS[fault](tensors[tensor])

    return change


def without(*keys):
    def change(header, tensors):
        for key in keys[:-1]:
            header = header[key]
        del header[keys[-1]]

    return change


def replaced(value, *keys):
    def change(header, tensors):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return change


def too_long(header, tensors):
    header["current"]["history"] *= 5


TENSORS = [
    *("best.theta0", "current.theta0", "current.emission0.by_term", "best.emission1.by_term"),
    "labels0",
]
CHANGES = {
    **{f"link-{t}-{f}": in_tensor(t, f) for t in TENSORS for f in ARRAY_FAULTS},
    **{
        f"mvplsa-{t}-{f}": in_tensor(f"current.emission0.{t}", f)
        for t in ("p_y_z", "p_w_y_by_term")
        for f in ARRAY_FAULTS
    },
    **{
        f"link-without-{key}": without(key)
        for key in ("objectives", "best", "current", "fingerprint", "seed", "generation")
    },
    **{
        f"link-current-without-{key}": without("current", key)
        for key in ("history", "parameters", "candidates", "carried_penalty")
    },
    "link-seed-text": replaced("x", "seed"),
    "link-seed-negative": replaced(-1, "seed"),
    "link-generation-list": replaced([], "generation"),
    "link-no-history": replaced([], "current", "history"),
    "link-history-of-none": replaced([None], "current", "history"),
    "link-too-long": too_long,
    "link-objectives-nan": replaced(["nan"], "objectives"),
    "link-objectives-many": replaced(["-0x1p3"] * 5, "objectives"),
    "link-no-best": replaced(None, "best"),
    "link-run-list": replaced([1], "current"),
    "link-no-tensors": lambda header, tensors: tensors.clear(),
    "dual-labels": in_tensor("labels0", "one negative"),
}
# zeros are labels, and so are labels of another width that hold the same numbers
HARMLESS = {"link-labels0-zeros"}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    base = tmp_path_factory.mktemp("states")
    states = {}
    for name in {change.split("-")[0] for change in CHANGES}:
        (base / name).mkdir()
        states[name] = written(name, base / name)
    folders = {}
    for number, (what, change) in enumerate(CHANGES.items()):
        name = what.split("-")[0]
        folders[what] = base / f"{name}-{number}"
        folders[what].mkdir()
        rewrite(states[name], folders[what] / "run.0", "checkpoint", change)
    return outcomes_in_a_child(CHILD, folders.values(), folders)


@pytest.mark.parametrize("change", CHANGES)
def test_a_crafted_state_is_refused_as_damaged(change, outcomes):
    if change in HARMLESS:
        assert outcomes[change] == "accepted"
    else:
        assert outcomes[change].startswith("DamagedFile: No state can be read"), outcomes[change]


def test_the_state_before_a_crafted_one_is_used(tmp_path):
    newest = written("link", tmp_path)
    rewrite(newest, newest, "checkpoint", in_tensor("current.theta0", "half of the rows"))
    with pytest.warns(UserWarning, match="The state before it is used"):
        found = model_class("link")(3, **COMMON).fit(
            data_of("link"), checkpoint=Checkpoint(tmp_path / "run", resume=True)
        )
    undisturbed = model_class("link")(3, **COMMON).fit(data_of("link"))
    assert (found.doc_topic_ == undisturbed.doc_topic_).all()


@pytest.mark.parametrize(
    "change",
    [
        without("seed"),
        replaced(["x"], "objectives"),
        replaced(3, "current"),
        replaced(["x"], "current", "history"),
        without("current", "history", -1, "log_likelihoods"),
    ],
)
def test_a_crafted_state_cannot_be_described(change, tmp_path):
    newest = written("link", tmp_path)
    rewrite(newest, newest, "checkpoint", change)
    with pytest.raises(DamagedFile, match="no checkpoint that coview understands"):
        describe_file(newest)
