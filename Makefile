# Every target makes the environment it needs; nothing has to be done before.
PYTHON ?= python3
VENV := .venv
VENV_MIN := .venv-min
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

CHROMIUM := /usr/bin/chromium
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# British spellings in src that stand in saved files or are numpy's: they stay
BRITISH_DATA := grey,centre,centres,colour,image_colour,labelled,writeable
# what `make test-min` runs by default; PARTS="tests/cli tests/views" names other files or folders
PARTS ?= tests

.PHONY: demo test test-all test-browser front screenshots test-slow test-min campaign campaign-slice lint format dist docs bench bench-quick papers papers-quick clean help
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

# what only slow tests need
$(VENV)/.test-all: $(VENV)/.test
	$(PIP) -e '.[test,fuzz,cloud]'
	@touch $@

$(VENV)/.lint: $(BIN)/python pyproject.toml
	$(PIP) -e '.[lint,test]'
	@touch $@ $(VENV)/.run

$(VENV)/.browser: $(BIN)/python pyproject.toml
	$(PIP) -e '.[browser]'
	@touch $@ $(VENV)/.run

# Debian's browser and node, where they are missing
$(CHROMIUM):
	$(SUDO) apt-get update -qq
	$(SUDO) apt-get install -qq -y chromium

frontend/node_modules/.package-lock.json: frontend/package-lock.json
	command -v npm > /dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -qq -y npm; }
	npm --prefix frontend ci --silent --no-audit --no-fund
	@touch $@

$(VENV)/.bench: $(BIN)/python pyproject.toml
	$(PIP) -e '.[bench]'
	@touch $@ $(VENV)/.run

$(VENV)/.docs: $(BIN)/python pyproject.toml
	$(PIP) -e '.[docs]'
	@touch $@ $(VENV)/.run

$(VENV)/.dist: $(BIN)/python pyproject.toml
	$(PIP) 'build>=1.2' 'twine>=6.1'
	@touch $@

$(VENV_MIN)/.test: pyproject.toml tools/lowest_versions.py
	$(PYTHON) -m venv $(VENV_MIN)
	$(VENV_MIN)/bin/python tools/lowest_versions.py test > $(VENV_MIN)/constraints.txt
	$(VENV_MIN)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c $(VENV_MIN)/constraints.txt -e '.[test]'
	@touch $@

demo: $(VENV)/.run  ## topics, clusters and cross-view search on the embedded data
	$(BIN)/coview demo

test: $(VENV)/.test  ## the quick tests; those on the papers' data need COVIEW_DATA
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow and not campaign and not browser"

test-all: $(VENV)/.test-all  ## all tests but slices of the campaign
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not campaign and not browser"

test-slow: $(VENV)/.test-all  ## only what `make test` leaves out
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m slow

# the explorer's page: `make front` after a change in frontend/, and commit what it builds
front: frontend/node_modules/.package-lock.json  ## build the explorer's page into the package
	node frontend/build.mjs

test-browser: $(VENV)/.browser $(CHROMIUM) frontend/node_modules/.package-lock.json  ## the explorer: built code, node and browser tests
	$(BIN)/python tools/check_front.py
	npm --prefix frontend test --silent
	$(BIN)/python -m pytest -q -m browser tests/browser

screenshots: $(VENV)/.browser $(CHROMIUM)  ## draw the explorer's pictures in docs/images anew
	$(BIN)/python tools/screenshots.py

campaign-slice: $(VENV)/.test  ## a fiftieth of the campaign, as tests
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m campaign tests/campaigns

# Old releases run with today's releases of what they depend on: deprecations there are not ours.
# Two versions of numba cannot share one cache. scikit-learn 1.6 wants its array API asked for.
test-min: $(VENV_MIN)/.test  ## the quick tests with the lowest versions that pyproject.toml allows
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV_MIN)/numba $(VENV_MIN)/bin/python -m pytest -q -n auto \
		--dist worksteal -m "not slow and not campaign and not browser" -W ignore::DeprecationWarning $(PARTS)

campaign: $(VENV)/.test  ## over 20,000 generated bad inputs; hours; resumes; writes docs/reliability.md
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.campaigns --report docs/reliability.md

lint: $(VENV)/.lint  ## ruff, mypy, codespell (American spelling in src)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell src frontend/src frontend/test tests tools benchmarks docs *.md
	$(BIN)/codespell --builtin clear,rare,en-GB_to_en-US -L $(BRITISH_DATA) src frontend/src

format: $(VENV)/.lint  ## put the code into the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

dist: $(VENV)/.dist  ## sdist and wheel in dist/, checked, and the wheel tried in an empty environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

bench: $(VENV)/.bench  ## speed and memory against peers, each in an environment of its own; hours; resumes; writes docs/benchmarks.md
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.bench_roofline
	$(BIN)/python -m benchmarks.bench_slopes
	$(BIN)/python benchmarks/bench_sweep.py
	$(BIN)/python benchmarks/bench_memory.py
	$(BIN)/python benchmarks/bench_search.py
	$(BIN)/python benchmarks/bench_reading.py

bench-quick: $(VENV)/.run  ## the machinery of it on a small corpus, results not kept: two minutes after installing
	$(BIN)/python -m benchmarks.peers --quick

# -E: all pages anew, since pages that did not change keep their warnings to themselves
docs: $(VENV)/.docs  ## the documentation as a site, docs/_build/html: executed examples, links checked
	rm -rf docs/_build docs/api/generated
	MPLBACKEND=agg $(BIN)/python -m sphinx -q -E -W --keep-going -b html -c docs . docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html

papers: $(VENV)/.test  ## the papers' experiments, published and measured side by side; resumes
	$(BIN)/python -m experiments all

papers-quick: $(VENV)/.test  ## a small version of them, into a temporary folder, and one recorded cell of each again
	$(BIN)/python -m experiments all --quick
	$(BIN)/python -m experiments recheck

clean:  ## remove the environments, dist/ and all caches
	rm -rf $(VENV) $(VENV_MIN) .bench dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
