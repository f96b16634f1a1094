"""Errors of the command: one line, the right exit code, no traceback."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.command import failing, inside, run_process, working

TABLE = "id,en,de,topic\n" + "\n".join(
    f"d{i},{en},{de},{topic}"
    for i in range(12)
    for en, de, topic in [
        [
            ("goal match team goal", "tor spiel mannschaft tor", "sport"),
            ("moon rocket star moon", "mond rakete stern mond", "space"),
            ("bread soup oven bread", "brot suppe ofen brot", "food"),
        ][i % 3]
    ]
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def model(table):
    out = table.with_name("news.coview")
    working("fit", table, "--text", "en", "--text", "de", "--id", "id", "-k", 3, "-o", out)
    return out


def test_wrong_usage_ends_with_2_and_says_what_to_do(table, model):
    for args, words in [
        (["fit", table], "--text en --text de"),
        (["fit"], "Give the data"),
        (["fit", table, "--text", "en", "--text", "en"], "twice"),
        (["fit", table, "--text", "en", "-o", table.parent], "is a folder"),
        (["fit", table, "--text", "en", "-o", table.parent / "no" / "x"], "There is no folder"),
        (["fit", table, "--text", "en", "--text", "de", "--model", "plsa"], "--concat"),
        (["fit", table, "--text", "en", "--set", "magic=1"], "no parameter magic"),
        (
            ["fit", table, "--text", "en", "--model", "ltm", "--strength=-1"],
            "of at least 0, or auto",
        ),
        (["fit", table, "--text", "en", "--model", "ltm", "--strength", "much"], "got 'much'"),
        (["fit", table, "--text", "en", "--strength", "auto"], "--model mggm"),
        (["fit", table, "--text", "en", "--classify"], "--label"),
        (["fit", table, "--text", "en", "--label", "topic", "--classify", "-k", 3], "--topics"),
        (["fit", table, "--text", "en", "--view", "a=b.mtx"], "not both"),
        (["search", model], "either a query"),
        (["search", model, "moon"], "--view en"),
        (["search", model, "moon", "--view", "en", "--in", "fr"], "the views en, de"),
        (["convert", table, "--text", "en"], "-o FOLDER"),
        (["fit", table, "--text", "en", "-o", table], "is an input"),
        (["fit", "--view", f"a={table}", "-o", table], "is an input"),
        (["predict", model, table, "-o", table], "is an input"),
        (["search", model, "moon", "--view", "en", "--show", table], "--id"),
        (["fit", "--model", "frobnicate"], "frobnicate"),
    ]:
        assert words in failing(2, *args), args


def test_bad_data_end_with_1_and_no_traceback(table, model):
    other = table.with_name("other.csv")
    other.write_text("a,b\n1,2\n")
    for args, words in [
        (["fit", "nothing.csv", "--text", "en"], "There is no nothing.csv"),
        (["fit", table, "--text", "english"], "no column 'english'"),
        (["topics", table], "not a coview file"),
        (["topics", "nothing.coview"], "nothing.coview"),
        (["info", table], "not a coview file"),
        (["predict", model, other], "reads the columns de, en"),
        (["search", model, "--view", "en", "zebra"], "zebra"),
        (["search", model, "--like", "d99"], "d99"),
    ]:
        said = failing(1, *args)
        assert words in said, args
        assert "Traceback" not in said


def test_debug_shows_the_traceback_wherever_it_stands(table):
    ran = run_process("topics", table, "--debug")
    assert ran.returncode == 1
    assert "Traceback" in ran.stderr
    with pytest.raises(ValueError, match="not a coview file"):
        inside("--debug", "topics", table)


def test_a_damaged_model_is_refused(model):
    model.write_bytes(model.read_bytes()[:-1])
    assert "damaged" in failing(1, "topics", model)


def test_names_from_the_data_cannot_write_to_the_terminal(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("id,t\n" + "".join(f"x{i}\x1b[31m,moon star\n" for i in range(4)))
    out = tmp_path / "m.coview"
    working("fit", path, "--text", "t", "--id", "id", "-k", 1, "-o", out, "--max-df", 1)
    shown = working("predict", out, path, "--id", "id")
    assert "\x1b" not in shown
    assert "\\x1b[31m" in shown
    assert "\x1b" not in failing(1, "fit", path, "--text", "no\x1b[31m")


def test_formulas_are_disarmed_in_csv_unless_raw(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "m.coview"
    path.write_text("id,t\n" + "".join(f"=cmd({i}),moon star sun{i % 2}\n" for i in range(6)))
    working("fit", path, "--text", "t", "--id", "id", "-k", 2, "-o", out, "--max-df", 1)
    working("predict", out, path, "--id", "id", "-o", tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines()[1].startswith("'=cmd(0)")
    working("predict", out, path, "--id", "id", "--raw", "-o", tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines()[1].startswith("=cmd(0)")


def long_fit(folder, *more):
    """A fit that would take minutes, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "coview", "fit", folder / "t.csv", "--text", "t", "-k", "3", "-o",
         folder / "m.coview", "--max-df", "1", "--max-iter", "20000000", "--tol", "0", "--set",
         "init=random", "--every", "5", *more],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for(path, process):
    for _ in range(600):
        if path.exists() or process.poll() is not None:
            return
        time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_fit_keeps_its_state_and_says_how_to_resume(number, tmp_path):
    (tmp_path / "t.csv").write_text("t\n" + "moon star\nbread soup\ngoal match\n" * 4)
    process = long_fit(tmp_path)
    wait_for(tmp_path / "m.coview.checkpoint.1", process)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "--resume" in said
    assert "Traceback" not in said
    assert not (tmp_path / "m.coview").exists()
    args = ["fit", tmp_path / "t.csv", "--text", "t", "-k", 3, "-o", tmp_path / "m.coview",
            "--max-df", 1]  # fmt: skip
    assert "--fresh" in failing(2, *args)
    assert "other parameters" in failing(1, *args, "--resume")
    working(*args, "--fresh")
    assert (tmp_path / "m.coview").exists()
    assert not list(tmp_path.glob("*checkpoint*"))


def test_resuming_ends_in_the_same_bits(tmp_path):
    (tmp_path / "t.csv").write_text("t\n" + "moon star sun\nbread soup sun\ngoal match\n" * 4)
    args = ["fit", tmp_path / "t.csv", "--text", "t", "-k", 2, "--max-df", 1, "--max-iter", 400,
            "--tol", 0, "--set", "init=random"]  # fmt: skip
    working(*args, "-o", tmp_path / "whole.coview")
    args += ["--every", 1]
    process = subprocess.Popen(
        [sys.executable, "-m", "coview", *map(str, args), "-o", str(tmp_path / "part.coview")],
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(tmp_path / "part.coview.checkpoint.1", process)
    process.kill()
    process.communicate(timeout=60)
    working(*args, "-o", tmp_path / "part.coview", "--resume")
    assert (tmp_path / "part.coview").read_bytes() == (tmp_path / "whole.coview").read_bytes()


def test_documents_that_say_nothing_get_no_topic(table, model):
    new = table.with_name("new.csv")
    new.write_text("id,en\na,moon rocket\nb,qwertz\nc,\n")
    code, out, said = inside("predict", model, new, "--id", "id", "--json")
    rows = json.loads(out)
    assert [row["topic"] is None for row in rows] == [False, True, True]
    assert "2 of 3 documents have no feature that the model knows" in said
    assert code == 0


def test_an_index_answers_only_what_it_was_made_for(table, model):
    index = table.with_name("news.index")
    args = ["search", model, "moon", "--view", "en", "--index", index]
    working(*args, "--in", "de")
    working(*args)
    assert "made with --in de" in failing(2, *args, "--in", "en")
    assert "made with --metric evidence" in failing(2, *args, "--metric", "cosine")
    assert "leave out --among" in failing(2, *args, "--among", table, "--id", "id")


def test_reasons_are_in_every_output(table, model):
    args = ["search", model, "moon", "--view", "en", "--in", "de", "--explain", "--top", 2]
    found = json.loads(working(*args, "--json", "--show", table, "--id", "id"))
    assert set(found[0]) == {"rank", "document", "score", "text", "explanation"}
    working(*args, "-o", table.with_name("why.csv"))
    assert "→ mond" in table.with_name("why.csv").read_text().splitlines()[1]
    assert "mond" in working(*args)


def test_what_is_no_encoding_of_texts_is_named(table):
    said = failing(1, "fit", table, "--text", "en", "--encoding", "hex", "-o", "x.coview")
    assert "There is no encoding 'hex'" in said


def test_a_loop_of_links_is_no_place_to_write_to(table):
    loop = table.with_name("loop")
    loop.symlink_to("loop")
    said = failing(1, "fit", table, "--text", "en", "--topics", 2, "-o", loop)
    assert "symbolic links" in said
    assert "bug" not in said


def test_a_column_with_an_equals_sign_has_a_name_of_its_own(table):
    table.write_text(TABLE.replace("id,en,de", "id,a=b,de"))
    said = failing(1, "fit", table, "--text", "a=b", "-o", table.with_name("m.coview"))
    assert "NAME=a=b is the column 'a=b'" in said
    args = ("fit", table, "--text", "x=a=b", "--topics", 2, "-o", table.with_name("m.coview"))
    assert inside(*args)[0] == 0
