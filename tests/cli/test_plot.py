"""`coview plot`: pictures from a model file and its documents."""

import pytest

from tests.cli.command import inside

pytest.importorskip("matplotlib", reason="plots need matplotlib")

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plot")
    rows = [("rain and wind", "Regen und Wind"), ("butter and garlic", "Butter und Knoblauch")]
    lines = ["id,en,de", *(f"{i},{rows[i % 2][0]},{rows[i % 2][1]}" for i in range(12))]
    lines[-1] = "11,butter and garlic,"
    table = folder / "news.csv"
    table.write_text("\n".join(lines) + "\n")
    model = folder / "news.coview"
    options = ("--text", "en", "--text", "de", "--id", "id", "--topics", "2", "--model", "link")
    code, _, err = inside("fit", table, *options, "-o", model)
    assert code == 0, err
    return model, table


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("terms", ("--topic", "1", "--terms", "3")),
        ("matrix", ("--pair", "de,en")),
        ("mixtures", ("--row", "0", "--row", "11")),
        ("coverage", ()),
    ],
)
def test_a_picture_is_written(kind, options, news, tmp_path):
    model, table = news
    code, out, err = inside("plot", kind, model, "--data", table, *options, "-o", tmp_path / "x.png")
    assert code == 0, err
    assert out == ""
    assert "Wrote" in err
    assert (tmp_path / "x.png").read_bytes().startswith(PNG)


def test_convergence_needs_no_data(news, tmp_path):
    code, _, err = inside("plot", "convergence", news[0], "-o", tmp_path / "x.svg", "--quiet")
    assert code == 0, err
    assert "<svg" in (tmp_path / "x.svg").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "x.jpeg"), "must be one of .png, .svg, .pdf"),
        (("-o", "x.png", "--pair", "en"), "--pair takes two views"),
    ],
)
def test_wrong_options_are_named(options, words, news):
    model, table = news
    code, _, err = inside("plot", "matrix", model, "--data", table, *options)
    assert code == 2
    assert words in err
