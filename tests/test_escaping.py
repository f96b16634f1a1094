"""Texts from data in each medium: shown as they are, and never obeyed."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest

from coview import Views
from coview.compare import Results, Run
from coview.compare.result_table import FORMATS
from coview.escaping import (
    for_html,
    for_json,
    for_latex,
    for_markdown,
    for_plot,
    for_spreadsheet,
    for_terminal,
    from_spreadsheet,
    one_line,
)
from tests.cli.command import failing, inside, working

EVIL = "\x1b]0;owned\x07\x9b31m<script>alert(1)</script>\u202e|$x_1$ `a` *b* [c](http://d) & \udcff"
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e\ud800-\udfff]")
PLAIN = ["LinkPLSA", "view_0 of 5", "größer, 日本語", "a - b (10 %)", "MGGM_SV", "R&D", "x > 0"]
FUNCTIONS = [for_terminal, for_markdown, for_latex, for_html, for_plot, one_line, for_json]


@pytest.mark.parametrize("escape", FUNCTIONS)
def test_no_control_code_passes(escape):
    assert not CONTROL.search(escape(EVIL).replace("\n", ""))


@pytest.mark.parametrize("text", PLAIN)
def test_plain_texts_stay_as_they_are(text):
    for escape in (for_terminal, for_spreadsheet, for_plot, for_markdown):
        assert escape(text) == text


def test_json_keeps_its_value():
    value = {EVIL: [EVIL, 1, None], "\n": "a\nb\u2028"}
    assert json.loads(for_json(value, indent=2)) == value


@pytest.mark.parametrize(
    "text",
    ["=1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1", " =1", "\u3000=1", "\u200b=1", "\ufeff=1",
     "＝1", "＋1", "－1", "＠a", "\n\t ＝1", "﹢1"],
)  # fmt: skip
def test_formulas_get_an_apostrophe(text):
    assert for_spreadsheet(text) == f"'{text}"
    assert from_spreadsheet(for_spreadsheet(text)) == text
    assert from_spreadsheet(for_spreadsheet(f"'{text}")) == f"'{text}"


@pytest.mark.parametrize("value", ["a=1", "1-2", "(=1)", "", "'tis", -1.5, None, 3, "a\nb", "ü\t"])
def test_other_cells_stay_as_they_are(value):
    assert for_spreadsheet(value) == value


def test_a_control_code_does_not_hide_a_formula():
    assert for_spreadsheet("\x1b=1") == "\\x1b=1"  # the backslash is what a spreadsheet sees first
    assert for_spreadsheet("a\x07") == "a\\x07"


def test_html_shows_the_text():
    found = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append(tag)

    Parser().feed(for_html(EVIL))
    assert not found


def results(name):
    runs = [
        Run(name, "link", f"{name} 2", {"a": name}, seed, values={"": {"accuracy": 0.5}})
        for seed in range(2)
    ]
    return Results([*runs, Run(name, "link", "broken", {}, 0, error=name)])


@pytest.mark.parametrize("format", FORMATS)
def test_tables_of_comparisons_escape_names(format):
    made = results(EVIL).table("accuracy", format=format)
    assert not CONTROL.search(made.replace("\n", ""))
    if format != "markdown":
        return
    assert "<script" not in made
    assert len({line.count("|") - line.count(r"\|") for line in made.splitlines()[:4]}) == 1


@pytest.mark.parametrize("name", [EVIL, "=1+1", "\n=1", "＝1", "'=1", "-x", "plain"])
def test_files_of_results_escape_names_and_are_read_again(tmp_path, name):
    path = tmp_path / "r.csv"
    results(name).to_csv(path)
    text = path.read_bytes().decode()
    # marks of the direction of writing are data, no codes of a terminal
    assert not CONTROL.search(re.sub("[\r\n\u202e]", "", text))
    for row in csv.DictReader(io.StringIO(text, newline="")):
        assert not row["label"].lstrip().startswith(("=", "-", "＝"))
    again = Results.from_csv(path)
    again.to_csv(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()
    if name != EVIL:
        assert set(again.labels) == {f"{name} 2", "broken"}


def test_negative_values_of_a_comparison_are_numbers(tmp_path):
    runs = [Run("d", "link", "l", {}, 0, values={"": {"coherence": -0.25}})]
    Results(runs).to_csv(tmp_path / "r.csv")
    assert ",coherence,-0.25," in (tmp_path / "r.csv").read_text()


def test_plots_show_dollar_signs():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    from coview.plot import SensitivityDisplay

    runs = [
        Run("d", "m", r"$\bad{$", {"strength": s}, 0, values={"": {"accuracy": s}})
        for s in (0.1, 0.2)
    ]
    display = SensitivityDisplay.from_results(Results(runs))
    display.figure_.canvas.draw()  # would raise
    pyplot.close("all")


# -- what the commands print and write --


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("escaping")
    names = ["=1+1", "\x1b[31mred\x07", "＝1", "d3"]
    rows = "".join(f'"{name}",moon star\n' for name in names)
    (made / "t.csv").write_text("id,t\n" + rows)
    return made


def test_file_names_cannot_write_to_the_terminal(folder):
    out = folder / "m\x1b[31m\x07.coview"
    fit = ("fit", folder / "t.csv", "--text", "t", "--id", "id", "-k", 1, "--max-df", 1)
    code, shown, said = inside(*fit, "-o", out)
    assert code == 0
    assert "saved it as" in said
    assert not CONTROL.search((shown + said).replace("\n", ""))
    code, shown, said = inside("topics", out, "-o", folder / "x\x1b.csv")
    assert "\\x1b" in said
    assert not CONTROL.search((shown + said).replace("\n", ""))
    assert not CONTROL.search(failing(1, "info", folder / "no\x1b").replace("\n", ""))
    assert not CONTROL.search(failing(2, "data", "info", "no\x1b").replace("\n", ""))


def test_cells_of_written_tables_are_disarmed(folder):
    out = folder / "n.coview"
    fit = ("fit", folder / "t.csv", "--text", "t", "--id", "id", "-k", 1, "--max-df", 1)
    working(*fit, "-o", out)
    predict = ("predict", out, folder / "t.csv", "--id", "id", "-o")
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        working(*predict, folder / f"p{suffix}")
        with (folder / f"p{suffix}").open(newline="") as file:
            cells = [row[0] for row in csv.reader(file, delimiter=delimiter)][1:]
        assert cells == ["'=1+1", "\\x1b[31mred\\x07", "'＝1", "d3"]
    working(*predict, folder / "raw.csv", "--raw")
    assert "\n=1+1," in (folder / "raw.csv").read_text().replace("\r", "")


def test_the_summary_in_a_notebook_shows_markup():
    views = Views({"<b>": [[1, 2]]})
    assert "<b>" not in views._repr_html_()
    assert "&lt;b&gt;" in views._repr_html_()
