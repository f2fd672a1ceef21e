# Needs make and Python 3.11 or newer with its venv module; everything else is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# The goal is text, not shell and not make: it reaches the recipe through the environment, unexpanded.
RUN_GOAL := $(value GOAL)
export RUN_GOAL
unexport GOAL

.DEFAULT_GOAL := help
.PHONY: help setup run test lint types imports unit coverage bench chaos fmt clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## Install into .venv, once and after a change of pyproject.toml or constraints.txt
	@:

run: $(STAMP) ## Run a goal: make run GOAL="..." [ARGS="--json ..."]
	@if [ -z "$$RUN_GOAL" ]; then echo 'No goal. Usage: make run GOAL="..." [ARGS="--json ..."]' >&2; exit 2; fi
	@$(BIN)/python starter.py --goal="$$RUN_GOAL" $(ARGS)

test: lint types imports coverage ## Check everything that CI checks

lint: $(STAMP) ## Check style and formatting
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check

types: $(STAMP) ## Check types
	$(BIN)/python -m mypy

imports: $(STAMP) ## Check that imports point one way
	$(BIN)/python $(BIN)/lint-imports --no-logo

unit: $(STAMP) ## Run tests: make unit [ARGS="-k budget"]
	$(BIN)/python -m pytest $(ARGS)

# Those of workflows wait for a server most of the time, so they run beside the others; their output comes last.
coverage: $(STAMP) ## Run all tests; harness must be covered to the last branch
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m coverage run --parallel-mode -m pytest tests/workflows tests/replay > .coverage.log 2>&1 & \
	workflows=$$!; \
	$(BIN)/python -m coverage run --parallel-mode -m pytest --ignore=tests/workflows --ignore=tests/replay; \
	others=$$?; wait $$workflows; status=$$?; cat .coverage.log; rm -f .coverage.log; test $$others -eq 0 -a $$status -eq 0
	@$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

bench: $(STAMP) ## Measure against raw Temporal: make bench [ARGS="--quick"], see docs/speed.md
	@$(BIN)/python -m bench $(ARGS)

chaos: $(STAMP) ## Kill workers and the server under runs: make chaos [ARGS="--rounds 100"], see docs/chaos.md
	@$(BIN)/python -m chaos $(ARGS)

fmt: $(STAMP) ## Format, and mend what can be mended by rule
	$(BIN)/python -m ruff format
	$(BIN)/python -m ruff check --fix

clean: ## Remove .venv, builds and caches; .whippletree with its histories stays
	rm -rf $(VENV) build dist *.egg-info .coverage .coverage.* htmlcov
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp goes first and comes back last: whatever is interrupted in between starts again from an empty .venv.
$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found: install Python 3.11 or newer, or name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "Python %d.%d is too old: install 3.11 or newer, or name one with PYTHON=..." % v[:2])'
	@if [ ! -e $@ ]; then echo "Setting up $(VENV), this takes a minute ..." >&2; $(PYTHON) -m venv --clear $(VENV) >&2; fi
	@rm -f $@
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]' --constraint constraints.txt >&2
	@touch $@
