"""The memory of a conversion is bounded by its setting, not by the table."""

import subprocess
import sys

import pytest

CODE = """
import sys
import coview
from tests.process_memory import process_memory

how, table, folder = sys.argv[1:]
options = {"tokens": "t", "min_df": 2, "max_df": 1.0, "id": "i"}
if how == "stream":
    coview.convert_table(table, folder, memory="300MB", **options)
else:
    coview.write_shards(coview.Views.from_table(table, **options), folder)
print(process_memory("VmHWM"))
"""


def peak(how, table, folder):
    """Return the peak memory of a process that converts a table, in bytes."""
    command = [sys.executable, "-c", CODE, how, str(table), str(folder)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_bounded_by_the_setting_and_not_by_the_table(tmp_path):
    table = tmp_path / "t.csv"
    with table.open("w") as file:
        file.write("i,t\n")
        for i in range(20_000):  # almost every token is a term of its own, the worst case
            words = " ".join(f"token{i}x{j}" for j in range(100))
            file.write(f"document number {i},a{i % 90} b{i % 7} {words}\n")
    ours = peak("stream", table, tmp_path / "a")
    theirs = peak("memory", table, tmp_path / "b")
    assert ours < 320e6 < 500e6 < theirs
    for name in ("manifest.json", "shard-00000/v0.data.npy"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
