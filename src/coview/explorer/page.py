"""One HTML file: code, style and data of the explorer, with a policy that forbids everything else.

The data are base64 of gzip, so no text of a document can end the element that holds them, and
everything the page shows is text that its code sets as text. The policy names the hashes of the one
script and the one style; no network, no other script, no frame, no form.
"""

from __future__ import annotations

import base64
import hashlib
import html
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from os import PathLike
from pathlib import Path

from coview.escaping import for_html
from coview.explorer.container import Payload, compress, pack
from coview.store import replacing

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="coview"{attributes}><noscript>This page needs JavaScript.</noscript></div>
{data}<script>{code}</script>
</body>
</html>
"""
_DATA = '<script type="application/octet-stream" id="coview-data">{data}</script>\n'
_IFRAME = (
    '<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" '
    'style="width: 100%; height: {height}px; border: 1px solid #ccc" title="{title}"></iframe>'
)


@dataclass(frozen=True)
class ExplorerPage:
    """The explorer of a model as one page; a notebook shows it in a frame of its own.

    Attributes
    ----------
    payload : Payload
    height : int
        Of the frame in a notebook, in pixels.
    """

    payload: Payload
    height: int = 720

    @cached_property
    def html(self) -> str:
        """The page."""
        return page_html(self.payload)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, and return its path."""
        with replacing(path) as beside:
            beside.write_text(self.html, encoding="utf-8", newline="\n")
        return Path(path)

    def __repr__(self) -> str:
        meta = self.payload.meta
        return f"<ExplorerPage: {meta['n_docs']:,} documents, {meta['n_topics']} topics>"

    def _repr_html_(self) -> str:
        # the frame has an origin of its own: the page can touch neither notebook nor cookies
        title = for_html(self.payload.meta["title"])
        return _IFRAME.format(page=html.escape(self.html), height=int(self.height), title=title)


def page_html(payload: Payload) -> str:
    """Return the page of a payload."""
    data = base64.b64encode(compress(pack(payload))).decode("ascii")
    return _page(payload.meta["title"], _DATA.format(data=data), "", connect=False)


def served_html(title: str) -> str:
    """Return the page that asks the server for its data."""
    return _page(title, "", ' data-server="1"', connect=True)


def _page(title: str, data: str, attributes: str, *, connect: bool) -> str:
    code, style = static_file("explorer.js"), static_file("explorer.css")
    return _PAGE.format(
        policy=policy(code, style, connect=connect),
        title=for_html(title),
        style=style,
        attributes=attributes,
        data=data,
        code=code,
    )


def policy(code: str, style: str, *, connect: bool = False) -> str:
    """Return the content security policy for one script and one style."""
    parts = [
        "default-src 'none'",
        f"script-src '{_hash(code)}'",
        f"style-src '{_hash(style)}'",
        "img-src data: blob:",
        "worker-src blob:",
        *(["connect-src 'self'"] if connect else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(parts)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def static_file(name: str) -> str:
    """Return a file of the front end, which `frontend/build.mjs` makes."""
    text = (files("coview.explorer") / "static" / name).read_text(encoding="utf-8")
    # a browser hashes what it reads, and it reads other line ends as \n
    text = text.replace("\r\n", "\n")
    if "</script" in text.lower() or "</style" in text.lower() or "<!--" in text:
        raise ValueError(f"{name} of the explorer would end its element: build it again.")
    return text
