"""The papers' experiments: `python -m experiments 004` runs one, `all` runs them all.

What is where: `paper` says what an experiment is; `running` runs its plans with `coview.compare`;
`records` reads and writes the two CSV files of a paper; `reporting` makes its README of them.
"""
