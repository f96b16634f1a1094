# Every target makes the environment it needs; nothing has to be done before.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint format bench papers papers-quick clean help
.DEFAULT_GOAL := help

help:  ## show the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# one stamp for each set of extras: made anew when pyproject.toml changes
$(VENV)/.run: $(BIN)/python pyproject.toml
	$(PIP) -e .
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.run

$(VENV)/.lint: $(BIN)/python pyproject.toml
	$(PIP) -e '.[lint,test]'
	@touch $@ $(VENV)/.run

$(VENV)/.bench: $(BIN)/python pyproject.toml
	$(PIP) -e '.[bench]'
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run  ## topics, clusters and cross-view search on the embedded data
	$(BIN)/coview demo

test: $(VENV)/.test  ## the tests; those on the papers' data run where COVIEW_DATA points to it
	$(BIN)/python -m pytest -q -n auto

lint: $(VENV)/.lint  ## ruff, mypy, codespell
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell src tests benchmarks docs *.md

format: $(VENV)/.lint  ## put the code into the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench  ## speed and memory against peers, as ratios
	$(BIN)/python benchmarks/bench_sweep.py
	$(BIN)/python benchmarks/bench_memory.py
	$(BIN)/python benchmarks/bench_search.py
	$(BIN)/python benchmarks/bench_reading.py

papers: $(VENV)/.test  ## the papers' experiments, published and measured side by side; resumes
	$(BIN)/python -m experiments all

papers-quick: $(VENV)/.test  ## a small version of them, into a temporary folder
	$(BIN)/python -m experiments all --quick

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
