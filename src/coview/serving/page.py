"""A page that describes the routes: one file, no scripts, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from coview.escaping import for_html

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}code,pre{font:14px/1.4 ui-monospace,monospace}"
    "pre{background:#f4f4f4;padding:.8rem;overflow:auto}h2{border-top:1px solid #ccc;"
    "padding-top:1rem}td,th{text-align:left;padding:.1rem .8rem .1rem 0;vertical-align:top}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}pre{background:#262626}"
    "a{color:#8cf}}"
)
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
PAGE_POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; frame-ancestors 'none'"


def docs_page(described: dict[str, Any]) -> str:
    """Return the page of an OpenAPI description.

    Parameters
    ----------
    described : dict
        As `describe` returns it.
    """
    info = described["info"]
    title = for_html(f"{info['title']} {info['version']}")
    routes = "\n".join(_routes(described["paths"]))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{_STYLE}</style></head><body>
<h1>{title}</h1>
<p>{for_html(info["description"])} The complete description, for programs:
<a href="openapi.json">openapi.json</a>.</p>
<p>A document is an object: for some views of the model (<code>GET /topics</code> lists them) a
text, an object of terms with counts, a list of terms, a row of numbers, or a picture as
<code>{{"base64": "..."}}</code>. Errors are
<code>{{"error": {{"code", "message", "request"}}}}</code>.</p>
{routes}
</body></html>
"""


def _routes(paths: dict[str, Any]) -> Iterator[str]:
    for path, methods in paths.items():
        for method, route in methods.items():
            yield f"<h2><code>{for_html(method.upper())} {for_html(path)}</code></h2>"
            yield f"<p>{for_html(route.get('description', ''))}</p>"
            if "requestBody" in route:
                example = route["requestBody"]["content"]["application/json"]["example"]
                yield f"<pre>{for_html(json.dumps(example, ensure_ascii=False))}</pre>"
            rows = "".join(
                f"<tr><td>{for_html(status)}</td><td>{for_html(answer['description'])}</td></tr>"
                for status, answer in route["responses"].items()
            )
            yield f"<table><tr><th>status</th><th>meaning</th></tr>{rows}</table>"
