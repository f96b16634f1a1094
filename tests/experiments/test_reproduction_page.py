"""The table in docs/reproduction.md says what the results say."""

import pytest
from experiments.__main__ import main
from experiments.reproduction_page import BEGIN, CLAIMS, END, PAGE, summary, updated

pytestmark = pytest.mark.slow  # reads the results of all papers


def test_the_page_has_the_numbers_of_the_results():
    text = PAGE.read_text(encoding="utf-8")
    assert text == updated(text), "python -m experiments summary"


def test_a_stale_number_does_not_stay():
    old = f"Above.\n{BEGIN}\n| 99.9 |\n{END}\nBelow.\n"
    new = updated(old)
    assert "99.9 |" not in new
    assert new.startswith("Above.")
    assert new.endswith("Below.\n")


def test_every_claim_has_a_line_with_a_verdict_and_a_rival():
    lines = summary().splitlines()[2:]
    assert len(lines) == len(CLAIMS)
    for line in lines:
        *_, marks, rival = (cell.strip() for cell in line.strip("|").split("|"))
        assert set(marks) <= set("✓≈✗")
        assert marks
        assert ":" in rival


def test_the_command_writes_the_page(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}{END}", encoding="utf-8")
    monkeypatch.setattr("experiments.reproduction_page.PAGE", page)
    assert main(["summary"]) == 0
    assert "| paper |" in page.read_text(encoding="utf-8")


def test_a_page_without_the_marks_is_refused():
    with pytest.raises(ValueError):
        updated("no table here")
