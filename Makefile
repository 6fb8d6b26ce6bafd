# What can be done here? `make` lists it; everything CI does is one of these.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help install demo dev test check lint format coverage soak lock clean

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DATA ?= data

export DAGSTER_DISABLE_TELEMETRY := yes
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP) ## put everything into .venv; asks the network for nothing it already has
	@echo "The command is $(BIN)/brokerbi."

# The rest hangs on this file: without a change in what is wanted, nothing is installed again.
$(STAMP): requirements.txt pyproject.toml
	@test -x $(BIN)/python || { \
	  for python in python3 python3.13 python3.12 python3.11 python3.14; do \
	    if $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then \
	      echo "Making $(VENV) with $$($$python --version)"; exec $$python -m venv $(VENV); \
	    fi; \
	  done; \
	  echo "No Python 3.11 or newer was found; install one and run make again." >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## from nothing to a published file, against the sandbox
	$(BIN)/brokerbi demo

test: $(STAMP) ## every test, then the demo from end to end in a directory of its own
	$(BIN)/python -m pytest
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && BROKERBI_DATA_DIR="$$data" $(BIN)/brokerbi demo

check: lint $(STAMP) ## format, lint, types, import walls, definitions load
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/dg check defs

lint: $(STAMP) ## format and lint only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: $(STAMP) ## let ruff format, and mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

coverage: $(STAMP) ## every test, and which branches none of them took
	$(BIN)/python -m pytest --cov --cov-report=term-missing

soak: $(STAMP) ## the tests again and again, in new orders, with many more examples (ROUNDS=5)
	@for round in $$(seq $${ROUNDS:-5}); do \
	  echo "Round $$round"; $(BIN)/python -m pytest --hypothesis-profile=soak || exit 1; done

lock: ## write requirements.txt anew from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-strip-extras --no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file requirements.txt

clean: ## remove what tools left behind; keeps .venv and the data directory
	rm -rf build dist .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache \
	  .import_linter_cache .hypothesis .tmp_dagster_home_*
	find assets pipelines warehouse tests -name __pycache__ -type d -prune -exec rm -rf {} +
