"""A folder of pictures with captions, fitted and searched by the real commands."""

import json
import random

import numpy as np
import pytest

from tests.cli.command import coview, run_process
from tests.cli.test_journeys import CAPTIONS, draw, sentence

pytestmark = pytest.mark.slow  # real processes
cv2 = pytest.importorskip("cv2", reason="pictures need coview[images]")


@pytest.fixture(scope="module")
def journey(tmp_path_factory):
    """A folder of pictures, a model of them, and what fitting it said."""
    folder = tmp_path_factory.mktemp("journey")
    photos, rng, words = folder / "photos", np.random.default_rng(0), random.Random(0)
    photos.mkdir()
    for i in range(30):
        kind = list(CAPTIONS)[i % 3]
        cv2.imwrite(str(photos / f"{kind}{i}.png"), draw(kind, rng))
        (photos / f"{kind}{i}.txt").write_text(sentence(words, CAPTIONS[kind], 6))
    said = coview("fit", photos, "-k", 3, "-o", folder / "m.coview").stderr
    return folder, said


def test_the_views_of_the_pictures_are_said(journey):
    _, said = journey
    for view in ("image", "image_color", "caption"):
        assert view in said
    assert "30 documents" in said
    assert "coview topics" in said  # what to do next


def test_topics_are_words_of_captions(journey):
    folder, _ = journey
    shown = coview("topics", folder / "m.coview", "--terms", 5).stdout
    for line in (line for line in shown.splitlines() if "zebra" in line):
        assert "chess" not in line
    assert "zebra" in shown
    assert "chess" in shown


def test_a_caption_finds_pictures_and_shows_where_they_are(journey):
    folder, _ = journey
    command = ("search", folder / "m.coview", "--view", "caption", "--in", "image")
    shown = coview(*command, "chess board", "--top", 3).stdout
    assert shown.count("squares") >= 3
    assert ".png" in shown  # the path, to open it


def test_a_new_picture_finds_its_like(journey):
    folder, _ = journey
    query = folder / "query.png"
    cv2.imwrite(str(query), draw("discs", np.random.default_rng(5)))
    command = ("search", folder / "m.coview", "--view", "image", "--in", "caption", query)
    hits = json.loads(coview(*command, "--top", 3, "--json").stdout)
    assert all(hit["document"].startswith("discs") for hit in hits)


def test_a_damaged_picture_is_named(journey, tmp_path):
    (tmp_path / "good.png").write_bytes(next((journey[0] / "photos").glob("*.png")).read_bytes())
    (tmp_path / "bad.png").write_bytes((tmp_path / "good.png").read_bytes()[:200])
    ran = run_process("fit", tmp_path, "-k", 2, "-o", tmp_path / "m.coview")
    assert ran.returncode == 1
    assert "bad.png" in ran.stderr
    assert "Traceback" not in ran.stderr
