# What can be done here? `make` lists it; everything CI does is one of these.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help install demo dev test check lint types format coverage bench night browser lock clean

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# `make dev` keeps everything of its own here, apart from the data of a real service.
DEV := .dev
SANDBOX_PORT ?= 8765
UI_PORT ?= 3000
FILES_PORT ?= 8766
# What a shell starts in the background ignores Ctrl-C, and Dagster's code server then ignores SIGTERM as well.
WITH_SIGNALS := $(BIN)/python -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); \
  os.execv(sys.argv[1], sys.argv[1:])'

# Tests run in several processes over a few rows: more than one thread in each, of polars and of DuckDB (which
# reads the second name), costs a tenth of the time. So does compiling all of Python's files in each of them.
OF_SMALL_FILES := POLARS_MAX_THREADS=1 SLURM_CPUS_ON_NODE=1 PYTHONDONTWRITEBYTECODE=

export DAGSTER_DISABLE_TELEMETRY := yes
export DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS := yes
export DAGSTER_BACKFILL_RETRY_DEFINITION_CHANGED_ERROR := yes
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

demo: $(STAMP) ## from nothing to a published file, against the sandbox (in .demo)
	$(BIN)/brokerbi demo

dev: $(STAMP) $(DEV)/dagster/dagster.yaml ## the sandbox and the Dagster UI together (in .dev), until Ctrl-C
	@for name in $$(env | sed -n 's/^\(BROKERBI_[A-Za-z0-9_]*\)=.*/\1/p'); do unset $$name; done; \
	: >$(DEV)/sandbox.log; mkdir -p $(DEV)/public; ln -sfn ../report.html ../operators.html \
	  ../dictionary.html ../offices ../brands ../regions ../warehouse.duckdb $(DEV)/public/; \
	$(BIN)/brokerbi sandbox --port $(SANDBOX_PORT) --from $${FROM:-2023-01} $(SANDBOX) >$(DEV)/sandbox.log 2>&1 & sandbox=$$!; \
	$(BIN)/python -m http.server $(FILES_PORT) --bind 127.0.0.1 --directory $(DEV)/public >/dev/null 2>&1 & files=$$!; \
	sockets=$$(mktemp -d); \
	trap 'kill $$sandbox $$files $$daemon $$ui $$(ps -A -o pid= -o ppid= | awk -v code=$$code '"'"'$$2 == code { print $$1 }'"'"') \
	  $$code 2>/dev/null; wait; rm -rf "$$sockets"' EXIT; \
	trap 'exit 0' INT TERM; \
	until grep -q '^Customers: ' $(DEV)/sandbox.log; do \
	  kill -0 $$sandbox 2>/dev/null || { cat $(DEV)/sandbox.log >&2; exit 1; }; sleep 0.2; done; \
	export BROKERBI_CONFIG=/dev/null BROKERBI_DATA_DIR=$(DEV) BROKERBI_START=$${FROM:-2023-01} \
	  BROKERBI_BASE_URL=http://127.0.0.1:$(SANDBOX_PORT) BROKERBI_USERNAME=sandbox BROKERBI_PASSWORD=sandbox \
	  BROKERBI_REQUESTS_PER_SECOND=200 BROKERBI_PUBLISHED_URL=http://127.0.0.1:$(FILES_PORT) \
	  BROKERBI_NIGHTLY="$${NIGHTLY:-0 5 * * *}" $${REPORTS:+BROKERBI_REPORTS=$$REPORTS} \
	  BROKERBI_CUSTOMERS=$${CUSTOMERS:-$$(sed -n 's/^Customers: //p' $(DEV)/sandbox.log)} \
	  DAGSTER_HOME=$(abspath $(DEV))/dagster DAGSTER_CODE_SOCKET=$$sockets/code; \
	$(WITH_SIGNALS) $(BIN)/dagster code-server start --socket $$DAGSTER_CODE_SOCKET --module-name assets.definitions \
	  --location-name brokerbi --log-level warning >$(DEV)/code.log 2>&1 & code=$$!; \
	until test -S $$DAGSTER_CODE_SOCKET; do \
	  kill -0 $$code 2>/dev/null || { cat $(DEV)/code.log >&2; exit 1; }; sleep 0.2; done; \
	$(BIN)/dagster-daemon run --workspace deploy/workspace.yaml --log-level warning >$(DEV)/daemon.log 2>&1 & daemon=$$!; \
	printf '%s\n' '' \
	  "The sandbox answers on $$BROKERBI_BASE_URL for the customers $$BROKERBI_CUSTOMERS." \
	  "In some ten seconds the Dagster UI is at http://127.0.0.1:$(UI_PORT):" \
	  '  1. Catalog, tick the reports, Materialize selected' \
	  '  2. choose customers and months, Launch backfill' \
	  '  3. watch the partitions turn green; the file for analysts is then $(DEV)/warehouse.duckdb' \
	  'The logs of the others are sandbox.log, code.log and daemon.log in $(DEV). Ctrl-C ends them all.' ''; \
	$(BIN)/dagster-webserver --workspace deploy/workspace.yaml --host 127.0.0.1 --port $(UI_PORT) --log-level warning & ui=$$!; wait $$ui

test: $(STAMP) ## every test, the demo from end to end among them
	$(OF_SMALL_FILES) $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

check: lint types $(DEV)/dagster/dagster.yaml ## format, lint, types, import walls, definitions load
	$(BIN)/lint-imports
	env -u BROKERBI_REPORTS BROKERBI_CONFIG=/dev/null BROKERBI_CUSTOMERS=M1,G1 BROKERBI_START=2024-01 \
	  BROKERBI_DATA_DIR=$(DEV)/check DAGSTER_HOME=$(abspath $(DEV))/dagster $(BIN)/dg check defs

types: $(STAMP) ## types only
	$(BIN)/mypy

lint: $(STAMP) ## format and lint only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: $(STAMP) ## let ruff format, and mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

coverage: $(STAMP) ## every test, and which branches none of them took
	$(OF_SMALL_FILES) $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --cov --cov-report=term-missing

bench: $(STAMP) ## race a sync against a floor without guarantees: BENCH="--help" lists the options
	$(BIN)/python -m tests.tools.bench.race $(BENCH)

night: $(STAMP) ## measure a nightly run of twenty customers, by the command line and by Dagster
	$(BIN)/python -m tests.tools.night.night

browser: $(STAMP) ## backfills of 252 and 70 squares by clicking in a real browser; pictures in SHOTS=.dev/shots
	$(BIN)/python -m tests.tools.browser.backfill --shots $${SHOTS:-$(DEV)/shots}
	$(BIN)/python -m tests.tools.browser.backfill --shots $${SHOTS:-$(DEV)/shots}/70 --customers M30011,M30012 --months 35

lock: ## write requirements.txt, and that of the image, anew from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --group dev --extra lake --universal --python-version 3.11 --generate-hashes \
	  --no-strip-extras --no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file requirements.txt
	uv pip compile pyproject.toml deploy/container/requirements.in --constraint requirements.txt --universal \
	  --python-version 3.11 --generate-hashes --no-strip-extras --no-header --no-annotate --no-emit-index-url \
	  --no-emit-find-links --output-file deploy/container/requirements.txt

# Dagster reads its settings from the directory it keeps its history in.
# Its storage is made here: two processes that make it at the same moment trip over each other.
$(DEV)/dagster/dagster.yaml: dagster.yaml | $(STAMP)
	@mkdir -p $(@D)
	@cp dagster.yaml $@
	@DAGSTER_HOME=$(abspath $(@D)) $(BIN)/dagster instance migrate >/dev/null

clean: ## remove what tools left behind; keeps .venv and the data of a real service
	rm -rf .demo .dev build dist .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache \
	  .import_linter_cache .hypothesis .tmp_dagster_home_*
	find assets pipelines warehouse tests -name __pycache__ -type d -prune -exec rm -rf {} +
