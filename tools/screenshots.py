"""Draw the explorer's pictures in docs/images anew: `make screenshots`.

The demo's model is fitted first, unless --model and --data name a saved one.
"""

import argparse
import os
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import sync_playwright

import coview
from coview import Views
from coview.datasets import load_python_api

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
WIDE, NARROW = (1440, 900), (390, 844)
MOST = 300_000  # bytes of a picture

# name: (size, color scheme, state of the page)
PICTURES = {
    "explorer-light": (WIDE, "light", {"q": "sparse matrix factorization", "side": "results"}),
    "explorer-dark": (WIDE, "dark", {"topic": 28}),
    "explorer-twin": (WIDE, "light", {"mode": "twin", "panel": "document", "doc": 300}),
    "explorer-arrows": (WIDE, "dark", {"mode": "arrows", "side": "lists"}),
    "explorer-matrix": (WIDE, "light", {"mode": "matrix", "panel": "compare", "compare": "t3,t4"}),
    "explorer-phone-light": (NARROW, "light", {}),
    "explorer-phone-dark": (NARROW, "dark", {"tab": "read", "topic": 28}),
}


def fewer(picture: Image.Image) -> Image.Image:
    """Return a picture in 256 colors, rare ones kept: a third of the bytes, and it looks alike."""
    return picture.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)


def main() -> None:
    """Write all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model")
    parser.add_argument("--data")
    options = parser.parse_args()
    views = Views.load(options.data) if options.data else load_python_api()
    model = (
        coview.load(options.model)
        if options.model
        else coview.LinkPLSA(50, random_state=0).fit(views)
    )
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        model.explore(views, path, title="The Python API: docstrings and code")
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        for name, ((width, height), scheme, state) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto(f"{path.as_uri()}#{urlencode(state)}")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.wait_for_timeout(1000)
            target = IMAGES / f"{name}.png"
            page.screenshot(path=target)
            page.close()
            fewer(Image.open(target).convert("RGB")).save(target, optimize=True)
            if target.stat().st_size > MOST:
                raise SystemExit(f"{target.name} has more than {MOST:,} bytes.")
        browser.close()


if __name__ == "__main__":
    main()
