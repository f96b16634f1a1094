"""A notebook, cell by cell, and what each cell shows."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.words import rows, write_table

HERE = Path(__file__).parent
pytestmark = pytest.mark.slow  # a fresh interpreter


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """What the cells show, and the folder of the notebook."""
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copy(HERE / "notebook.ipynb", folder)
    write_table(folder / "news.csv", rows(60, columns=("title", "beschreibung")))
    command = [sys.executable, HERE / "run_notebook.py", "notebook.ipynb"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()], folder, ran.stderr


def test_views_and_models_are_shown_as_tables(cells):
    (views, model, *_), _, _ = cells
    assert "60 documents" in views["text"]
    assert "<table" in views["html"]
    assert "beschreibung" in views["html"]
    assert len(model["html"]) > 100


def test_a_trace_is_a_short_summary(cells):
    trace = cells[0][2]["text"]
    assert len(trace.splitlines()) < 25
    assert len(trace) < 2000
    assert "array(" not in trace
    assert "iteration" in trace


def test_topics_have_no_stop_words(cells):
    words = re.findall(r"\w+", cells[0][3]["text"])
    assert not {"the", "of", "and", "der", "und", "mit"} & set(words)
    assert {"rocket", "orbit", "planet", "moon", "launch", "star"} & set(words)  # of one topic


def test_views_are_selected_by_a_list(cells):
    assert cells[0][4]["text"] == "('title',)"


def test_new_texts_get_topics_and_hits_are_lines(cells):
    topics = re.findall(r"\d+", cells[0][5]["text"])
    assert len(set(topics)) == 2
    assert len(cells[0][6]["printed"].splitlines()) == 3


def test_a_plot_is_saved_before_it_is_shown(cells):
    shown, folder, _ = cells
    assert (folder / "convergence.png").read_bytes().startswith(b"\x89PNG")
    assert shown[8]["text"] == "True"  # a loaded model gives the same bits


def test_nothing_disturbs_the_notebook(cells):
    said = cells[2]
    assert "\x1b" not in said
    assert not [cell["text"] for cell in cells[0] if "Error: " in cell["text"]]
    assert "DeprecationWarning" not in said
