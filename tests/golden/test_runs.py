"""The golden runs give the numbers that were recorded: see `runs.py`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.runs import header, recorded

RUNS = Path(__file__).parent / "runs.py"


@pytest.mark.slow
def test_every_golden_run_gives_what_was_recorded():
    then, now = recorded()["header"], header()
    others = [f"{n} {now.get(n)} instead of {then[n]}" for n in then if now.get(n) != then[n]]
    if others:
        pytest.skip(f"bits depend on processor and libraries; here {', '.join(others)}")
    ran = subprocess.run([sys.executable, RUNS, "compare"], capture_output=True, text=True)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
