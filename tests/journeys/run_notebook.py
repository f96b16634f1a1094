"""Run the cells of a notebook in a fresh interpreter, without any package for notebooks.

    python run_notebook.py NOTEBOOK

Prints one line of JSON for each cell of code: what it printed, and its last value as text and as
HTML, which is what a notebook would show.
"""

import ast
import contextlib
import io
import json
import sys


def run_cell(source, names):
    """Run a cell; return what it printed and the value of its last expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


def main(path):
    names = {"__name__": "__main__"}
    with open(path, encoding="utf-8") as file:
        cells = [c for c in json.load(file)["cells"] if c["cell_type"] == "code"]
    for cell in cells:
        try:
            printed, value = run_cell("".join(cell["source"]), names)
        except Exception as error:  # shown below the cell; the next one is run all the same
            print(json.dumps({"printed": "", "text": f"{type(error).__name__}: {error}"}))
            continue
        html = value._repr_html_() if hasattr(value, "_repr_html_") else None
        text = "" if value is None else repr(value)
        print(json.dumps({"printed": printed, "text": text, "html": html}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
