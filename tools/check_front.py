"""Check that the explorer's built page is what `frontend/` builds, and that it is small."""

import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "src" / "coview" / "explorer" / "static"
FILES = ("explorer.js", "explorer.css", "licenses.txt")
MOST = 60_000  # bytes of all code, gzipped


def rebuilt(folder: str) -> dict[str, bytes]:
    """Return what `frontend/build.mjs` writes into a folder."""
    subprocess.run(["node", str(ROOT / "frontend" / "build.mjs"), folder], check=True)
    return {name: (Path(folder) / name).read_bytes() for name in FILES}


def main() -> int:
    """Compare, and say what to do."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = rebuilt(folder)
    committed = {name: (BUILT / name).read_bytes() for name in FILES}
    stale = [name for name in FILES if fresh[name] != committed[name]]
    if stale:
        print(f"{', '.join(stale)}: not what frontend/ builds. Run `make front` and commit it.")
        return 1
    size = sum(len(gzip.compress(committed[name], 9)) for name in FILES[:2])
    print(f"the explorer's code is {size:,} bytes gzipped; {MOST:,} are allowed")
    return int(size > MOST)


if __name__ == "__main__":
    sys.exit(main())
