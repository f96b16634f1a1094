"""The papers' experiments: `python -m experiments 004` runs one, `all` runs all of them.

What is where:

* `__main__`: the command;
* `paper`: `Paper`, `Table`, `Column` and `Figure`, of which the `spec.py` of a paper consists;
* `run_plans`: runs the plans with `coview.compare`; `quick_data`: small data for quick runs;
* `csv_files`: published.csv and results.csv;
* `paper_tables`: tables of published and measured numbers; `paper_readme`: the README with them;
* `reproduction_page`: the table of docs/reproduction.md;
* `importers`: data sets from their publishers' archives.
"""
