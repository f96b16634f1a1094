"""Penalties on a cluster: workers have the penalty of the fit, or the fit is refused."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from coview import LinkPLSA, write_shards
from coview.datasets import make_views
from coview.em.penalties.base import Penalty
from coview.em.penalties.divergence import DivergenceAgreement
from coview.em.shard_step import AcrossDocuments, at_work, read_parameters, write_parameters
from coview.em.simplex import row_normalize
from coview.runners.disk import DiskRunner
from coview.views import blocks
from tests.runners.test_disk import _steps_by_jobs
from tests.same import assert_same

rng = np.random.default_rng(0)
STRENGTHS = rng.uniform(0.5, 3.0, 20)


@dataclass(frozen=True, eq=False)
class Leaning(Penalty):
    """- sum_d s_d log h_d,0: each document leans to the first topic; made for this test."""

    strengths: np.ndarray
    factor: float = 1.0

    def at(self, docs):
        return replace(self, strengths=self.strengths[docs])

    def value(self, thetas, present):
        return -float((self.factor * self.strengths * np.log(thetas[0][:, 0])).sum())

    def m_step(self, counts, thetas, present, pinned):
        for own in counts:
            own[:, 0] += (self.factor * self.strengths).astype(own.dtype)
        return tuple(row_normalize(c, old, pinned) for c, old in zip(counts, thetas, strict=True))

    def pack(self):
        return {"factor": self.factor}, {}, {"strengths": self.strengths}


class Silent(Leaning):
    """The same, but it does not say how it is taken to a cluster."""

    pack = Penalty.pack


PENALTIES = {
    "none": Penalty(),
    "skl": DivergenceAgreement("skl", STRENGTHS),
    "l1, paper, pairs": DivergenceAgreement(
        "l1", STRENGTHS, "paper", np.array([[0, 0.3], [0.3, 0]])
    ),
    "own": Leaning(STRENGTHS, 0.1 + 0.2),
}


def subclasses(kind):
    return {kind}.union(*(subclasses(one) for one in kind.__subclasses__()))


def test_every_penalty_says_how_it_is_taken_to_a_cluster_or_refuses():
    import coview.models  # noqa: F401

    tried = {type(penalty) for penalty in PENALTIES.values()}
    for kind in subclasses(Penalty) - tried - {AcrossDocuments}:
        across = getattr(kind, "row_local", True) is not True
        assert across or kind.pack is Penalty.pack, f"{kind.__name__} is not tried here"


@pytest.mark.parametrize("name", PENALTIES)
def test_what_workers_make_of_a_penalty_has_its_bits(name):
    penalty, docs = PENALTIES[name], slice(5, 14)
    settings, shared, by_document = penalty.pack()
    arrays = {**shared, **{n: a[docs] for n, a in by_document.items()}}
    made = type(penalty).unpack(json.loads(json.dumps(settings)), arrays)
    counts = tuple(rng.random((9, 3)) for _ in range(2))
    thetas = tuple(rng.dirichlet(np.ones(3), 9) for _ in range(2))
    present = np.ones((9, 2), bool)
    own = penalty.at(docs)
    assert made.value(thetas, present) == own.value(thetas, present)
    steps = [p.m_step(tuple(c.copy() for c in counts), thetas, present, None) for p in (made, own)]
    assert_same(*steps, "mixtures")


@pytest.fixture
def views(monkeypatch):
    monkeypatch.setattr(blocks, "MIN_NONZEROS", 200)
    monkeypatch.setattr(blocks, "MAX_NONZEROS", 200)
    return make_views(60, 3, [30, 20], random_state=0)


def leaning(penalty, monkeypatch):
    """Return a model whose documents have this penalty."""
    model = LinkPLSA(3, init="random", max_iter=3, tol=0.0, random_state=0, dtype="float64")
    plain = LinkPLSA._problem
    made = lambda *given: replace(plain(*given), penalty=penalty)  # noqa: E731
    monkeypatch.setattr(LinkPLSA, "_problem", made)
    return model


def test_a_penalty_of_one_s_own_has_the_same_bits_everywhere(views, tmp_path, monkeypatch):
    penalty = Leaning(rng.uniform(0.5, 3.0, 60), 0.3)
    sharded = write_shards(views, tmp_path / "x.shards")
    wanted = leaning(penalty, monkeypatch).fit(views)
    plain = LinkPLSA(3, init="random", max_iter=3, tol=0.0, random_state=0, dtype="float64")
    on_disk = plain.fit(sharded)
    assert_same(on_disk.doc_topic_, wanted.doc_topic_, "on disk")
    found = []

    def by_jobs(run, problem, update):
        if update == "both":
            folder = tmp_path / f"step{len(found)}"  # workers remember what they have read
            folder.mkdir()
            found.append(_steps_by_jobs(folder, None)(run, problem, update))
        taken = step(run, problem, update)
        if update == "both":
            assert_same(found[-1].values, taken.values, "values")
        return taken

    step = DiskRunner.step
    monkeypatch.setattr(DiskRunner, "step", by_jobs)
    again = plain.fit(sharded)
    assert_same(again.doc_topic_, wanted.doc_topic_, "by jobs")
    assert len(found) >= 3
    assert all(one.values.penalty for one in found)


def test_a_penalty_that_does_not_say_how_is_refused(views, tmp_path, monkeypatch):
    sharded = write_shards(views, tmp_path / "x.shards")
    model = leaning(Silent(np.ones(60)), monkeypatch)

    def writing(run, problem, update):
        write_parameters(f"{tmp_path}/parameters", problem, run._recipe)

    monkeypatch.setattr(DiskRunner, "step", writing)
    with pytest.raises(TypeError, match="Silent cannot be taken to a cluster"):
        model.fit(sharded)


def test_penalties_across_documents_stay_with_the_driver(views, tmp_path, monkeypatch):
    class Across(Leaning):
        row_local = False

    assert isinstance(at_work(Across(np.ones(60))), AcrossDocuments)
    sharded, found = write_shards(views, tmp_path / "x.shards"), []

    def writing(run, problem, update):
        problem = replace(problem, penalty=Across(np.ones(60)))
        write_parameters(f"{tmp_path}/parameters", problem, run._recipe)
        found.append(read_parameters(f"{tmp_path}/parameters"))
        raise KeyboardInterrupt

    monkeypatch.setattr(DiskRunner, "step", writing)
    with pytest.raises(KeyboardInterrupt):
        LinkPLSA(3, init="random", random_state=0).fit(sharded)
    assert (found[0].settings, found[0].shared) == ({}, {})
