"""The page: one file that loads nothing, whatever the documents are called."""

import base64
import gzip
import hashlib
import html
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from coview import LinkPLSA, Views
from coview.cli import app
from coview.explorer.container import unpack
from coview.explorer.page import ExplorerPage, page_html, served_html, static_file
from tests.explorer.conftest import NEWS

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "'\"><img src=x onerror=alert(3)>",
    "\u202egnp.exe\u202c",
    "👩‍👩‍👧 ﷽",
    "<!-- --><style>*{display:none}</style>",
    "a" * 100_000,
]


def data_in(page):
    found = re.findall(
        r'<script type="application/octet-stream" id="coview-data">(.*?)</script>', page
    )
    assert len(found) == 1
    return unpack(gzip.decompress(base64.b64decode(found[0])))


@pytest.fixture(scope="module")
def news_html(news_payload):
    return page_html(news_payload)


def test_the_page_holds_its_data(news_html, news_payload):
    found = data_in(news_html)
    assert found.meta == news_payload.meta
    assert list(found.arrays) == list(news_payload.arrays)


def test_the_policy_allows_this_script_and_style_alone(news_html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', news_html)[1]
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert parts["default-src"] == "'none'"
    assert set(parts) == {
        *("default-src", "script-src", "style-src", "img-src", "worker-src", "base-uri"),
        "form-action",
    }
    for kind, tag in (("script-src", "script"), ("style-src", "style")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", news_html, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert parts[kind] == f"'sha256-{digest}'"
    assert news_html.index("Content-Security-Policy") < news_html.index("<style>")


def test_the_page_loads_nothing(news_html):
    shell = re.sub(r"<(script|style)\b.*?</\1>", "", news_html, flags=re.DOTALL)
    assert not re.findall(r"\b(?:src|href)\s*=", shell)
    assert not re.findall(r"@import|url\((?!['\"]?data:)", static_file("explorer.css"))


def test_the_code_is_small():
    size = sum(len(gzip.compress(static_file(f"explorer.{s}").encode())) for s in ("js", "css"))
    assert size <= 60_000


def test_hostile_names_are_only_data():
    n = len(HOSTILE)
    rng = np.random.default_rng(0)
    views = Views(
        {HOSTILE[0][:20]: rng.poisson(2, (n, n)) + np.eye(n), "b": rng.poisson(2, (n, n)) + 1},
        ids=HOSTILE,
        features={HOSTILE[0][:20]: HOSTILE, "b": HOSTILE},
        labels=HOSTILE,
    )
    model = LinkPLSA(2, init="random", max_iter=2, tol=0, random_state=0).fit(views)
    model.topic_names_ = HOSTILE[:2]
    page = model.explore(views, title=HOSTILE[1], texts={"b": [*HOSTILE[1:], "\ud800 half a pair"]})
    assert page.html.count("<script") == 2  # the data and the code
    assert page.html.count("</script>") == 2
    assert "alert(2)</script>" not in page.html
    meta = data_in(page.html).meta
    assert meta["docs"]["ids"] == HOSTILE
    assert meta["docs"]["snippets"]["b"][-1] == "\ud800 half a pair"
    assert meta["topics"][0]["name"] == HOSTILE[0]
    assert "&lt;script&gt;alert(2)" in page.html  # the title of the page
    frame = page._repr_html_()
    assert frame.count("<") == 2  # the frame and its end: everything else is in an attribute
    assert frame.count('"') % 2 == 0


def test_a_notebook_shows_the_page_in_a_sandbox(news_payload):
    page = ExplorerPage(news_payload)
    assert repr(page) == "<ExplorerPage: 120 documents, 6 topics>"
    frame = page._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    inner = re.search(r'srcdoc="([^"]*)"', frame)[1]
    assert html.unescape(inner) == page.html


def test_explore_writes_the_file(news_model, news, news_texts, tmp_path):
    path = news_model.explore(news, tmp_path / "news.html", texts=news_texts, title="News")
    assert path == tmp_path / "news.html"
    again = news_model.explore(news, texts=news_texts, title="News")
    assert path.read_text(encoding="utf-8") == again.html  # the same page from the same model
    assert path.stat().st_size < 400_000
    with pytest.raises(OSError, match="no folder"):
        news_model.explore(news, tmp_path / "nowhere" / "news.html")


def test_texts_may_be_a_frame(news_model, news, news_texts):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(news_texts)
    found = news_model.explore(news, texts=frame).payload.meta["docs"]["snippets"]
    assert (
        found["de"]
        == news_model.explore(news, texts=news_texts).payload.meta["docs"]["snippets"]["de"]
    )


def test_pictures_are_small_copies(news_model, news):
    cv2 = pytest.importorskip("cv2")
    picture = np.zeros((400, 300, 3), np.uint8)
    picture[:, :, 0] = 255
    given = [picture, "data:image/png;base64,AAAA", *[None] * 118]
    page = news_model.explore(news, pictures={"en": given})
    first, second, third = page.payload.meta["docs"]["pictures"]["en"][:3]
    small = base64.b64decode(first.removeprefix("data:image/jpeg;base64,"))
    shown = cv2.imdecode(np.frombuffer(small, np.uint8), cv2.IMREAD_COLOR)
    assert max(shown.shape) == 128
    assert shown[5, 5, 2] > 200  # red is last there
    assert (second, third) == (given[1], None)
    with pytest.raises(ValueError, match="data:image/png"):
        news_model.explore(news, pictures={"en": ["data:text/html,<b>", *[None] * 119]})
    with pytest.raises(ValueError, match="1 pictures of view 'en' for 120"):
        news_model.explore(news, pictures={"en": [None]})


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model_file(news_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "news.coview"
    news_model.save(path)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_the_command_writes_a_page_with_texts_and_labels(model_file, tmp_path):
    page = tmp_path / "news.html"
    options = ["--data", NEWS, "--id", "id", "--label", "topic"]
    result = run("explore", model_file, *options, "-o", page)
    assert result.exit_code == 0, result.output
    meta = data_in(page.read_text(encoding="utf-8")).meta
    assert meta["title"] == "news - coview"
    assert meta["docs"]["ids"][0] == "weather-01"
    assert "weather" in meta["docs"]["label_names"]
    assert meta["docs"]["snippets"]["de"][0].startswith("Die Hitze")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([NEWS], "Say where the page goes"),
        ([NEWS, "-o", "x.pdf"], "call it x.html"),
        ([NEWS, "--data", NEWS, "-o", "x.html"], "once"),
        ([NEWS, "-o", "x.html", "--serve"], "Say where the page goes"),
    ],
)
def test_the_command_says_what_is_wrong(model_file, options, message):
    result = run("explore", model_file, *options)
    assert result.exit_code != 0
    assert message in f"{result.output}{result.exception}"


def test_the_served_page_may_ask_its_server():
    page = served_html("a <b>")
    assert "connect-src 'self'" in page
    assert 'data-server="1"' in page
    assert "coview-data" not in re.sub(r"<script>.*</script>", "", page, flags=re.DOTALL)
    assert "<title>a &lt;b&gt;</title>" in page
