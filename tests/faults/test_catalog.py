"""The catalogue is complete: every row has a test, or a reason why it has none yet."""

from pathlib import Path

from tests.campaigns.report import catalog
from tests.faults.catalog import ROWS, names_by_row

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def test_rows_are_numbered_without_gaps():
    assert list(ROWS) == list(range(1, 87))


def test_every_row_has_a_test_or_a_reason():
    found = names_by_row()
    assert set(found) <= set(ROWS)
    missing = [n for n, row in ROWS.items() if n not in found and not row.not_yet]
    assert not missing, f"rows without a test: {missing}"


def test_the_page_lists_the_tests_that_there_are():
    assert catalog() in PAGE.read_text(encoding="utf-8"), "write docs/reliability.md anew"
