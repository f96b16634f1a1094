"""Check that every internal link of a built site leads somewhere, anchors included.

python tools/check_links.py docs/_build/html

Links to other hosts are not followed: the check needs no network.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ATTRIBUTES = {"a": "href", "img": "src", "script": "src", "link": "href", "iframe": "src"}


@dataclass
class Page(HTMLParser):
    """The links and the anchors of a page."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and what it can be found by."""
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        link = given.get(ATTRIBUTES.get(tag, ""))
        if link:
            self.links.append(link)


@cache
def read(path: Path) -> Page:
    """Return what is in a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8", errors="replace"))
    return page


def broken(root: Path, path: Path) -> list[str]:
    """Return the internal links of a page that lead nowhere."""
    found = []
    for link in read(path).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or link.startswith(("#top", "data:", "blob:")):
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_relative_to(root) or not target.exists():
            found.append(f"{path.relative_to(root)}: {link} is not there")
        elif parts.fragment and target.suffix == ".html" and _lacks(target, parts.fragment):
            found.append(f"{path.relative_to(root)}: {link} has no such anchor")
    return found


def _lacks(target: Path, fragment: str) -> bool:
    return unquote(fragment) not in read(target).anchors


def main(folder: str) -> int:
    """Check all pages of a folder; print what is broken."""
    root = Path(folder).resolve()
    pages = sorted(p for p in root.rglob("*.html") if "_static" not in p.parts)
    problems = [line for page in pages for line in broken(root, page)]
    print("\n".join(problems) or f"{len(pages)} pages: all internal links lead somewhere")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
