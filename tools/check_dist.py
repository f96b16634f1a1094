"""Check the sdist and the wheel in a folder, and try the wheel in an empty environment.

python tools/check_dist.py dist
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

IN_WHEEL = ["coview/__init__.py", "coview/py.typed", "coview/reading/stopwords.txt"]
IN_SDIST = [
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile"),
    *("src/coview/py.typed", "src/coview/reading/stopwords.txt", "tools/lowest_versions.py"),
    *("tests/conftest.py", "tests/contracts/test_models.py", "tests/golden/runs.json"),
]
IMPORT = """
import coview, sys
assert not coview.__file__.startswith(sys.argv[1]), coview.__file__
missing = [name for name in coview.__all__ if getattr(coview, name, None) is None]
assert not missing, missing
views = coview.Views({"words": [[2, 1, 0], [0, 1, 3], [4, 0, 0], [0, 0, 2]]})
print("coview", coview.__version__, "labels", coview.PLSA(2, random_state=0).fit(views).labels_)
"""


def the_one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder}: expected one {pattern}; found {len(found)}")
    return found[0]


def check_contents(archive: Path, names: set[str], expected: list[str]) -> None:
    missing = [name for name in expected if name not in names]
    if missing:
        sys.exit(f"{archive.name} lacks {', '.join(missing)}")
    print(f"{archive.name}: {len(names)} files, nothing missing")


def try_wheel(wheel: Path) -> None:
    """Install the wheel in an empty environment outside the tree and run it there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "env"), with_pip=True)
        commands = Path(folder, "env", "Scripts" if os.name == "nt" else "bin")
        python = commands / "python"
        outside = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        tree = str(Path(__file__).resolve().parents[1])
        for command in (
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel],
            [python, "-W", "ignore", "-c", IMPORT, tree],
            [commands / "coview", "demo"],
        ):
            subprocess.run(command, cwd=folder, env=outside, check=True)


def main(folder: Path) -> None:
    wheel, sdist = the_one(folder, "*.whl"), the_one(folder, "*.tar.gz")
    check_contents(wheel, set(zipfile.ZipFile(wheel).namelist()), IN_WHEEL)
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    check_contents(sdist, names, IN_SDIST)
    try_wheel(wheel.resolve())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
