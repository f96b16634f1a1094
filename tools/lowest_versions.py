"""Print pip constraints that pin every dependency to the lowest version pyproject.toml declares.

python tools/lowest_versions.py [EXTRA ...] > constraints.txt

The runtime dependencies are always included; each EXTRA adds the requirements of that extra,
including those of the extras it refers to (`coview[all]`).
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,-]+)\])?(>=(?P<floor>[\w.]+))?$")


def requirements(project: dict, extras: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the lowest version of each requirement."""
    listed = list(project["dependencies"])
    for extra in extras:
        listed += project["optional-dependencies"][extra]
    for text in listed:
        found = REQUIREMENT.match(text.partition(";")[0].replace(" ", ""))  # on any system
        if found is None:
            sys.exit(f"{PROJECT.name}: '{text}' is not of the form name>=version")
        if found["name"] == project["name"]:
            yield from requirements(project, found["extras"].split(","))
        elif found["floor"] is None:
            sys.exit(f"{PROJECT.name}: '{text}' has no lower bound; write name>=version")
        else:
            yield found["name"], found["floor"]


def main(extras: list[str]) -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    for name, floor in sorted(set(requirements(project, extras))):
        print(f"{name}=={floor}")


if __name__ == "__main__":
    main(sys.argv[1:])
