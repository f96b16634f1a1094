"""The README's example runs and says what it says."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.S)
    names: dict = {}
    exec(compile(code, "README.md", "exec"), names)
    model, views = names["model"], names["views"]
    assert model.components_["pixels"].shape == (10, 64)
    assert model.doc_topic_.shape == (len(views), 10) == (1797, 10)


def test_it_opens_with_the_two_commands():
    first = README.read_text().split("```")[1]
    assert [line.split("#")[0].strip() for line in first.strip().splitlines()] == [
        "make demo",
        "make test",
    ]
