"""The process that runs inputs: reads their names, one per line, and answers with verdicts.

    python -m tests.campaigns.worker SEED MEGABYTES

It may die or hang of an input; `runner` sees that and starts another.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
from dataclasses import asdict


def main(seed: int, megabytes: int) -> None:
    """Answer each line "generator number" of standard input by what it is and what became of it."""
    answers = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # what an input prints is no answer
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    from tests.campaigns.verdicts import run_input

    limit = megabytes << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    def answer(value: object) -> None:
        print(json.dumps(value), file=answers, flush=True)

    answer("ready")
    for line in sys.stdin:
        generator, number = line.split()
        # said before it is run: an input that ends the process cannot say what it was
        outcome = run_input(generator, int(number), seed, answer)
        answer(asdict(outcome))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
