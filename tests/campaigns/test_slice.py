"""A part of the campaign, from a seed of its own: about two minutes with two cores."""

import os
import subprocess
import sys

import pytest

from coview.reading.child_process import call_in_child, iterate_in_child
from tests.campaigns.cases import GOOD, VERDICTS, Outcome
from tests.campaigns.forked_reader import forked_reader
from tests.campaigns.generators import GENERATORS
from tests.campaigns.generators.lethal import LETHAL
from tests.campaigns.report import page
from tests.campaigns.runner import Worker, append_to_log, read_log, run_all, whole_campaign
from tests.reading import deaths

SEED = 20_240
SHARE = 0.02
FEWEST = 20_000  # inputs of a whole campaign


@pytest.mark.campaign
@pytest.mark.parametrize("name", GENERATORS)
def test_a_slice_of_the_campaign(name):
    wrong = []

    def each(outcome):
        if outcome.verdict not in GOOD:
            wrong.append(outcome)

    run_all(whole_campaign(SHARE, [name]), SEED, n_workers=1, each=each)
    assert not wrong, "\n".join(
        f"{o.verdict}: {o.what}: {o.detail} (--seed {SEED} --one {name}:{o.number})" for o in wrong
    )


def test_a_whole_campaign_has_enough_inputs_of_every_kind():
    inputs = list(whole_campaign(1.0))
    assert len(inputs) == len(set(inputs)) >= FEWEST
    assert {name for name, _ in inputs} == set(GENERATORS)


def test_the_kinds_take_turns():
    assert {name for name, _ in list(whole_campaign(1.0))[:2000]} == set(GENERATORS)


def test_a_campaign_resumes_from_its_log(tmp_path):
    log = tmp_path / "log.jsonl"
    done = [Outcome("matrices", 0, "right"), Outcome("frames", 3, "death", "a frame", "SIGSEGV")]
    with log.open("w") as file:
        for outcome in done:
            append_to_log(file, outcome)
        file.write('{"generator": "matrices", "numb')  # a kill cut this one short
    assert list(read_log(log).values()) == done


@pytest.mark.slow
def test_every_end_is_told_from_the_others_and_the_campaign_goes_on():
    found = []
    run_all([(kind, 0) for kind in LETHAL], 0, 1, found.append)
    assert {o.generator: o.verdict for o in found} == {
        "dies": "death",
        "hangs": "hang",
        "fine": "right",
        "wrong": "silently wrong",
        "refused": "refused",
        "unnamed": "foreign error",
        "foreign": "foreign error",
        "hungry": "memory",
    }
    assert {o.what for o in found} == {"an input"}
    assert next(o.detail for o in found if o.verdict == "death") == "SIGSEGV"


def test_two_lines_at_once_are_two_answers():
    """A loaded machine delivers both before they are looked for; that was taken for a hang."""
    code = """import os; os.write(1, b'"an input"\\n{"generator": "fine"}\\n')"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    process.wait()
    worker = Worker(seed=0)
    lines = [worker._answer(process, 0.0) for _ in range(3)]
    process.stdout.close()
    assert lines == [b'"an input"\n', b'{"generator": "fine"}\n', b""]


def test_a_forked_reader_answers_as_a_started_one_does(tmp_path):
    path = tmp_path / "a file"
    path.write_text("contents")
    with forked_reader():
        assert call_in_child(deaths.process, path) != os.getpid()
        assert list(iterate_in_child(deaths.many, path, 2000)) == list(range(2000))
        with pytest.raises(ValueError, match=r"a file: it is damaged.*SIGSEGV"):
            call_in_child(deaths.segfault, path)
        with pytest.raises(ValueError, match=r"Cannot read .*a file: of its own"):
            call_in_child(deaths.fail, path, "RuntimeError")


def test_the_page_counts_every_verdict_and_names_what_went_wrong():
    outcomes = [Outcome("frames", i, verdict, "some frame") for i, verdict in enumerate(VERDICTS)]
    text = page(outcomes, seed=3)
    assert f"{len(VERDICTS)} inputs, {len(VERDICTS) - len(GOOD)} went wrong" in text
    assert "`frames:4` foreign error: `some frame`" in text
    assert all(f"| {name}" in text for name in VERDICTS)
    assert "| 24 | a sparse matrix that points outside itself | `test_row_24_" in text
