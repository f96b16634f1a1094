"""A command imports what it needs and nothing else: heavy packages are most of a cold start."""

import json
import subprocess
import sys

import pytest

from coview import LinkPLSA, TopicClassifier, Views, load
from coview.inspection import read_for_display
from coview.reporting import summarize_topics
from coview.store import DamagedFile, read_sealed, write_sealed
from tests.contracts.models import MODELS

HEAVY = ("matplotlib", "numba", "pandas", "scipy", "sklearn")
PROBE = """
import json, sys
sys.argv = ["coview", *json.loads(sys.argv[1])]
from coview.cli import main
try:
    main()
except SystemExit as end:
    assert bool(end.code) == {fails}, end.code
print("LOADED", json.dumps([name for name in {heavy} if name in sys.modules]), file=sys.stderr)
"""


def heavy_packages(*args, fails=False):
    """Return which of the heavy packages a command has imported."""
    probe = PROBE.replace("{heavy}", repr(HEAVY)).replace("{fails}", repr(fails))
    command = [sys.executable, "-c", probe]
    ran = subprocess.run(
        [*command, json.dumps(list(map(str, args)))], capture_output=True, text=True, check=True
    )
    return json.loads(ran.stderr.split("LOADED ")[-1])


@pytest.fixture(scope="module")
def views():
    texts = {"en": ["ball goal team", "moon star orbit"] * 6, "de": ["tor spiel", "mond stern"] * 6}
    return Views.from_texts(texts, labels=["a", "b"] * 6, max_df=1.0)


@pytest.fixture(scope="module")
def files(views, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    LinkPLSA(2, random_state=0).fit(views).save(folder / "plain.coview")
    classifier = TopicClassifier(LinkPLSA(random_state=0)).fit(views, views.labels)
    classifier.save(folder / "classes.coview")
    return folder


@pytest.mark.parametrize("command", ["--help", "--version", "fit --help", "search --help"])
def test_help_imports_nothing_heavy(command):
    assert heavy_packages(*command.split()) == []


@pytest.mark.parametrize("file", ["plain.coview", "classes.coview"])
@pytest.mark.parametrize("command", ["topics", "info"])
def test_showing_a_model_imports_nothing_heavy(files, command, file):
    assert heavy_packages(command, files / file) == []
    assert heavy_packages(command, files / file, "--json") == []


def test_mistakes_are_noticed_before_models_and_readers_are_imported(files, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("en,de\na b,c d\n")
    late = {"numba", "pandas", "sklearn"}
    for wrong in (
        ("fit", tmp_path / "none.csv", "--text", "en"),
        ("fit", table, "--text", "fr", "--model", "link"),
        ("fit", table, "--text", "en", "--label", "kind"),
        ("search", files / "plain.coview"),
        ("search", files / "plain.coview", "a query", "--like", "d0"),
    ):
        assert not late & set(heavy_packages(*wrong, fails=True)), wrong


@pytest.mark.parametrize("file", ["plain.coview", "classes.coview"])
def test_what_is_shown_is_what_the_model_says(files, file):
    shown, model = read_for_display(files / file), load(files / file)
    assert type(shown).__name__ == type(model).__name__
    assert summarize_topics(shown) == summarize_topics(model)


@pytest.mark.parametrize("entry", MODELS, ids=str)
def test_every_model_can_be_shown(entry, views, tmp_path):
    model = entry(2, max_iter=3).fit(views.select("en") if entry.one_view else views)
    model.save(tmp_path / "m.coview")
    assert summarize_topics(read_for_display(tmp_path / "m.coview")) == summarize_topics(model)


def test_what_is_no_model_is_refused(files, tmp_path):
    header, tensors = read_sealed(files / "plain.coview", "model")
    write_sealed(tmp_path / "x.coview", "model", {**header, "class": "Pickle"}, tensors)
    with pytest.raises(DamagedFile, match="not a model"):
        read_for_display(tmp_path / "x.coview")
    name = next(n for n, t in tensors.items() if t.dtype.kind == "f" and t.ndim == 2)
    write_sealed(tmp_path / "y.coview", "model", header, {**tensors, name: -tensors[name]})
    with pytest.raises(DamagedFile, match="not probabilities"):
        read_for_display(tmp_path / "y.coview")
