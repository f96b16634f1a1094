"""A campaign of bad input against the whole library: `make campaign`.

cases.py        what an input is, and what can become of it
generators/     inputs by kind: each is made from a seed and says how it is judged
dense.py        readings of matrices and files that use no code of coview
damage.py       flipped bits, cut ends, re-sealed files
worker.py       the process that runs inputs, with a limit on its memory
runner.py       starts the workers, kills what hangs, keeps a log from which it resumes
report.py       docs/reliability.md
"""
