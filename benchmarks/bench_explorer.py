"""The explorer's page in a browser: size, time until it can be used, frames, answers to keys.

    python benchmarks/bench_explorer.py [--model demo.coview --data VIEWS] [--copies 29]

The demo's functions (3,426 documents in two views, 50 topics), and the same documents 29 times over
(99,354), with the room for counts that a page has. Needs the extra `browser` and chromium. The
columns:

size       megabytes of the file
code       kilobytes of script and style in it, gzipped
usable     seconds from opening the file to the drawn page, median of three (CPU of its thread)
frame      milliseconds of script for one frame while the map is dragged and zoomed, the median
           (CPU of the thread for a frame, with layout and events); 60 a second leave 16.7
answer     milliseconds from a key to the answers, computed and drawn, the median (CPU)

CPU times are more reliable on a shared machine.
"""

import argparse
import gzip
import os
import statistics
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from playwright.sync_api import sync_playwright

import coview
from coview import Views
from coview.datasets import load_python_api
from coview.explorer.arrays import sparse_counts
from coview.explorer.budget import Budget, fit_counts
from coview.explorer.container import Payload
from coview.explorer.explore import explorer_payload
from coview.explorer.page import ExplorerPage, static_file

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
QUERY = "sparse matrix of distances"

# script time of each frame: every callback of requestAnimationFrame is timed
WATCH = """() => {
  const ask = window.requestAnimationFrame.bind(window);
  window.frames_ = new Map();
  window.requestAnimationFrame = (call) => ask((t) => {
    const before = performance.now();
    call(t);
    frames_.set(t, (frames_.get(t) ?? 0) + performance.now() - before);
  });
}"""
# from the key to the end of the frame in which the answers are drawn
TYPE = """async (texts) => {
  const box = document.getElementById('search'), times = [];
  for (const text of texts) {
    await new Promise((done) => setTimeout(done, 150));
    const before = performance.now();
    box.value = text;
    box.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    }));
    times.push(performance.now() - before);
  }
  return times;
}"""


# -- data -----------------------------------------------------------------------------------------


def demo(model_file, views_file):
    """Return a model of the demo's data and its documents."""
    views = Views.load(views_file) if views_file else load_python_api()
    model = (
        coview.load(model_file) if model_file else coview.LinkPLSA(50, random_state=0).fit(views)
    )
    return model, views


def copied(payload, model, views, times):
    """Return the payload of the documents several times over, with the room that a page has."""
    tiled = {name: sp.vstack([views[name]] * times, format="csr") for name in views.names}
    kept, notes = fit_counts(model, {n: sp.csr_array(m) for n, m in tiled.items()}, Budget())
    arrays = {}
    for name, values in payload.arrays.items():
        root, _, part = name.rpartition(".")
        if name.startswith("counts."):
            continue
        if part == "indptr":
            sizes = np.tile(np.diff(values.astype(np.int64)), times)
            arrays[name] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)
        elif root.startswith(("theta", "searched")) or len(values) == views.n_docs:
            arrays[name] = np.concatenate([values] * times)
        else:
            arrays[name] = values
    for v, name in enumerate(model.view_names_):
        arrays |= sparse_counts(f"counts.{v}", kept[name])
    docs = payload.meta["docs"]
    more = {key: docs[key] and docs[key] * times for key in ("ids", "labels")}
    meta = {
        **payload.meta,
        "n_docs": views.n_docs * times,
        "docs": {**docs, **more},
        "notes": notes,
    }
    return Payload(meta, arrays)


# -- measurements ---------------------------------------------------------------------------------


class Opened:
    """A page, and the processor time of its thread."""

    def __init__(self, browser, path):
        self.page = browser.new_page(viewport={"width": 1440, "height": 900})
        self._session = self.page.context.new_cdp_session(self.page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = self.cpu()
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", state="attached")
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        self.usable = self.page.evaluate("performance.now()") / 1000, self.cpu() - before

    def cpu(self):
        """Return the seconds that the page's thread has worked."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def frames(opened):
    """Drag and zoom the map; return milliseconds of script for a frame, and of processor time."""
    page = opened.page
    page.evaluate(WATCH)
    box = page.locator(".panel").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.evaluate("() => { frames_.clear(); }")
    before = opened.cpu()
    page.mouse.down()
    page.mouse.move(x + 150, y + 90, steps=60)
    page.mouse.move(x - 80, y - 60, steps=40)
    page.mouse.up()
    for _ in range(20):
        page.mouse.wheel(0, -60)
    seconds = opened.cpu() - before
    times = [t for t in page.evaluate("[...frames_.values()]") if t > 0]
    return statistics.median(times), 1000 * seconds / len(times)


def answers(opened):
    """Type a query key by key; return milliseconds until answers were drawn, and of CPU."""
    opened.page.evaluate(TYPE, [QUERY[:3]])  # the first search prepares what all others use
    before = opened.cpu()
    times = opened.page.evaluate(TYPE, [QUERY[: i + 1] for i in range(3, len(QUERY))])
    return statistics.median(times), 1000 * (opened.cpu() - before) / len(times)


def measure(browser, name, path):
    """Print one row."""
    pages = [Opened(browser, path) for _ in range(3)]
    wall, cpu = (statistics.median(times) for times in zip(*(p.usable for p in pages), strict=True))
    for other in pages[1:]:
        other.page.close()
    moving, answering = frames(pages[0]), answers(pages[0])
    code = sum(len(gzip.compress(static_file(f"explorer.{x}").encode(), 9)) for x in ("js", "css"))
    print(
        f"| {name} | {path.stat().st_size / 1e6:.1f} | {code / 1e3:.0f} | "
        f"{wall:.2f} ({cpu:.2f}) | {moving[0]:.0f} ({moving[1]:.0f}) | "
        f"{answering[0]:.0f} ({answering[1]:.0f}) |",
        flush=True,
    )
    pages[0].page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a fitted model of the demo's data, to save the time")
    parser.add_argument("--data", help="its views, as Views.save writes them")
    parser.add_argument("--copies", type=int, default=29)
    options = parser.parse_args()
    model, views = demo(options.model, options.data)
    payload = explorer_payload(model, views, title="The Python API")
    print("| documents | size | code | usable | frame | answer |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for times in (1, options.copies):
            path = Path(folder) / f"page{times}.html"
            many = payload if times == 1 else copied(payload, model, views, times)
            ExplorerPage(many).save(path)
            measure(browser, f"{views.n_docs * times:,}", path)
        browser.close()


if __name__ == "__main__":
    main()
