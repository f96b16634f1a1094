"""Known faults of text and reports: rows 74 and 81 to 86 of the catalogue."""

import csv
import json
import unicodedata

import numpy as np
import pytest

from coview import PLSA, Views, load, top_terms
from tests.cli.command import inside, working

QUICK = {"init": "random", "max_iter": 3, "tol": 0.0, "random_state": 0}
ESCAPE, BELL = "\x1b[31m", "\x07"


def saved(path, names, ids=None):
    views = Views({"en": np.eye(len(names)) + 1}, features={"en": names}, ids=ids)
    PLSA(2, **QUICK).fit(views).save(path)
    return path


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "a", "body": ',
        '{"id": "a", "body": NaN}',
        '{"id": "a", "body": Infinity}',
        '{"id": "a", "body": ' + "[" * 100_000,
        '["a", "bread"]',
        "bread",
    ],
)
def test_row_74_malformed_json(line, tmp_path):
    """In tables of JSON Lines; `test_service.py` has requests."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "x", "body": "bread and water"}\n' + line + "\n")
    with pytest.raises(ValueError, match=r"t\.jsonl, line 2"):
        Views.from_table(path, text="body", id="id")


@pytest.mark.parametrize(
    "name", ["é", "e\u0301", "\u202eright to left", "😀", "nul\0", "\ufeffmark", "a\nb", " "]
)
def test_row_81_names_are_kept_to_the_byte(name, tmp_path):
    path = saved(tmp_path / "m.coview", [name, "other"])
    assert load(path).feature_names_["en"][0].encode() == name.encode()


def test_row_81_two_spellings_are_two_names():
    names = [unicodedata.normalize(form, "é") for form in ("NFC", "NFD")]
    assert Views(np.eye(2), features=names).features["X"].tolist() == names


def test_row_81_a_lone_surrogate():
    with pytest.raises(ValueError, match="surrogate"):
        Views(np.eye(2), features=["a", "\ud800"])


def test_row_82_a_name_of_a_megabyte(tmp_path):
    path = saved(tmp_path / "m.coview", ["x" * 10**6, "y"])
    assert load(path).feature_names_["en"][0] == "x" * 10**6
    shown = working("topics", path)
    assert len(shown) < 20_000


def test_row_83_markup_in_names():
    views = Views(
        {"<script>alert(1)</script>": np.eye(2)}, labels=[0, 1], label_names=["<b>", "&amp;"]
    )
    html = views._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n=", "＝", "＋", "－", "＠"])
def test_row_84_formulas_in_csv(start, tmp_path):
    name = f"{start}1+1"
    table, path = tmp_path / "new.jsonl", saved(tmp_path / "m.coview", ["bread", "water"])
    recipe = Views.from_texts({"en": ["bread", "water"]}, languages=None)
    PLSA(2, **QUICK).fit(recipe).save(path)
    rows = [{"id": name, "en": "bread"}, {"id": "fine", "en": "water"}]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    working("transform", path, table, "--id", "id", "-o", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        cell = list(csv.reader(file))[1][0]
    assert cell.lstrip()[:1] not in tuple("=+-@＝＋－＠")
    assert cell.lstrip("'").strip() == name.strip()


def test_row_85_control_characters_on_the_terminal(tmp_path):
    name = f"{ESCAPE}red{BELL}"
    path = saved(tmp_path / "m.coview", [name, "water"], ids=[name, "b"])
    for command in (["topics", path], ["info", path], ["topics", tmp_path / f"{name}.coview"]):
        _, out, said = inside(*command)
        assert ESCAPE not in out + said
        assert BELL not in out + said


def test_row_86_line_breaks_in_names():
    names = ["a\nERROR: all is lost", "a\nERROR: all is lost"]
    with pytest.raises(ValueError, match="unique") as caught:
        Views(np.eye(2), features=names)
    assert "\nERROR" not in str(caught.value)


def test_row_86_line_breaks_in_topics(tmp_path):
    path = saved(tmp_path / "m.coview", ["a\nERROR: all is lost", "water"])
    assert "\nERROR" not in working("topics", path)
    assert top_terms(load(path), 1)["en"]
