"""Kills checkpointed fits at random moments and lets them go on, until they end.

    python tests/campaigns/kill_campaign.py FOLDER N_KILLS SEED

Prints one line of JSON: how many fits were finished, how many kills they took, and how many ended
in other bits than an undisturbed fit. Children are forked, so that none has to import anything.
"""

import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from coview import MGGM, Checkpoint, DivergenceCoPLSA, LinkPLSA, VotedPLSA
from coview.datasets import make_views

COMMON = {"random_state": 0, "n_init": 2, "max_iter": 60, "tol": 0.0, "n_jobs": 2}
MODELS = [
    LinkPLSA(5, init="auto", **COMMON),
    MGGM(5, init="kmeans", **COMMON),
    DivergenceCoPLSA(5, init="kmeans", **COMMON),
    VotedPLSA(5, init="random", **COMMON),
]


def state(model):
    return b"".join(
        a.tobytes() for a in (model.doc_topic_, *model.components_.values(), model.trace_.objective)
    )


def fit_in_child(model, views, path: Path, out: Path) -> int:
    """Process id of a child that resumes the fit and writes its bits to `out`."""
    child = os.fork()
    if child:
        return child
    try:
        checkpoint = Checkpoint(path, every=2, resume=True)
        bits = state(model.fit(views, checkpoint=checkpoint))
        part = out.with_suffix(".part")
        part.write_bytes(bits)
        part.rename(out)
    finally:
        os._exit(0)


def run_until_done(model, views, folder: Path, longest: float, rng: random.Random) -> int:
    """Kills, each after a random while, until the fit ends by itself."""
    kills, out = 0, folder / "out"
    while not out.exists():
        assert kills < 300, "the fit does not get on"
        child = fit_in_child(model, views, folder / "run", out)
        # later kills wait longer: a fit that is killed too early every time never ends
        time.sleep(rng.uniform(0.0, longest * (1 + kills / 20)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills += not out.exists()
    return kills


def main(folder: str, n_kills: int, seed: int) -> None:
    warnings.simplefilter("ignore")
    rng, views = random.Random(seed), make_views(400, 5, [200, 150], random_state=0, missing=0.1)
    expected, seconds = [], []
    for model in MODELS:
        model.fit(views)  # compiles what is not compiled yet
        began = time.perf_counter()
        expected.append(state(model.fit(views)))
        seconds.append(time.perf_counter() - began)
    fits = kills = wrong = 0
    while kills < n_kills or fits < len(MODELS):  # every model once, however slow the machine is
        which = fits % len(MODELS)
        own = Path(folder, f"fit{fits}")
        own.mkdir()
        kills += run_until_done(MODELS[which], views, own, seconds[which] / 2, rng)
        wrong += (own / "out").read_bytes() != expected[which]
        fits += 1
    print(json.dumps({"fits": fits, "kills": kills, "wrong": wrong}))


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
