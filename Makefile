# The whole project in one place: every target first sets up .venv from requirements.lock if necessary.

ifneq ($(words $(CURDIR)),1)
$(error The path of this folder has a space ($(CURDIR)), which Python's environments cannot have: move it)
endif

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
READY := $(VENV)/.compiled
ALL_READY := $(VENV)/.all_compiled
CORES ?= all
RUN ?= quick
CONFIG ?= config/$(RUN:paper=config).yaml
MODERN ?= config/modern.yaml
SUITE ?= 99
ARGS ?=
PROFILE ?=
WHERE = $(if $(PROFILE),--profile $(PROFILE),--cores $(CORES))
SNAKEMAKE = $(BIN)/snakemake $(WHERE) --quiet all --logger joints
PIP = $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-compile
# ten times faster than pip, which is the fallback for package indexes that uv cannot use
UV = $(BIN)/python -m uv pip install --quiet --python $(BIN)/python $(if $(PIP_INDEX_URL),--default-index $(PIP_INDEX_URL))

.DEFAULT_GOAL := quick
.PHONY: quick paper reference auto modern verify config suite costs test lint docs bench environment help

quick: $(READY) ## a first look at the paper, without OpenML (the default target)
	@$(SNAKEMAKE) --configfile config/quick.yaml $(ARGS)
	@[ ! -f results/quick/summary.txt ] || { echo; cat results/quick/summary.txt; }

paper: $(READY) ## the whole paper, with its data from OpenML
	@$(SNAKEMAKE) --configfile config/config.yaml $(ARGS)
	@[ ! -f results/paper/summary.txt ] || { echo; cat results/paper/summary.txt; }

reference: $(READY) ## regenerate results/reference, the committed run, and its numbers in *.md
	@$(SNAKEMAKE) --configfile config/reference.yaml $(ARGS)
	@[ ! -f results/reference/summary.txt ] || $(BIN)/python -m joints.render.documents config/reference.yaml README.md REPRODUCTION.md

auto: $(ALL_READY) ## regenerate results/auto, the forests that set themselves, and their numbers in AUTO.md
	@$(SNAKEMAKE) --configfile config/auto.yaml $(ARGS)
	@[ ! -f results/auto/summary.txt ] || $(BIN)/python -m joints.render.documents config/auto.yaml AUTO.md

modern: $(ALL_READY) ## the study of today: more mechanisms, metrics and rivals; it ends with its numbers in MODERN.md
	@$(SNAKEMAKE) --configfile $(MODERN) $(ARGS) -- modern
	@[ $(MODERN) != config/modern.yaml ] || [ ! -f results/modern/pairs.csv ] || $(BIN)/python -m joints.render.documents $(MODERN) MODERN.md

verify: $(STAMP) ## does a finished run agree with itself as committed, or else with results/reference?  RUN=quick
	@$(BIN)/python -m joints.study.verify results/$(RUN)

config: $(STAMP) ## show a configuration with everything it extends: RUN=quick, or CONFIG=my.yaml
	@$(BIN)/python -m joints.runtime.config $(CONFIG)

suite: $(STAMP) ## the datasets of an OpenML suite as a configuration: SUITE=99; CONFIG= names what it extends
	@$(BIN)/python -m joints.data.suite $(SUITE) $(CONFIG)

costs: $(STAMP) ## remember in config/costs.yaml what a finished run has measured: RUN=quick, paper or reference
	@$(BIN)/python -m joints.study.costs $(CONFIG)

test: $(STAMP) ## run all tests
	@$(BIN)/python -m pytest -n auto --dist loadgroup $(ARGS)

lint: $(STAMP) ## check style, types and the workflow
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/snakefmt --check Snakefile workflow
	@$(BIN)/snakemake --lint

docs: $(ALL_READY) ## build the site into docs/_build/html; warnings are errors
	@$(BIN)/sphinx-build -W --keep-going --quiet docs docs/_build/html

bench: $(STAMP) ## run every script in benchmarks/
	@failed=; for script in $(filter-out benchmarks/tables.py benchmarks/targets.py,$(wildcard benchmarks/*.py)); do \
		echo "$$script"; $(BIN)/python $$script $(ARGS) || failed="$$failed $$script"; \
	done; if [ -n "$$failed" ]; then echo "targets missed in:$$failed"; exit 1; fi

environment: $(STAMP) ## regenerate environment.yml from requirements.lock
	@$(BIN)/python .ci/environment.py requirements.lock environment.yml

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): requirements.lock
	@set -e; \
	found=; \
	for python in $(PYTHON) python3 python python3.14 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "joints needs Python 3.11 or newer: install one, or name it as in 'make PYTHON=python3.12'." >&2; exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$($$found --version); this takes a few minutes ..."; \
	[ -x $(BIN)/python ] || $$found -m venv $(VENV)
	@awk '/^uv==/ {on = 1} on {print} on && !/\\$$/ {exit}' requirements.lock > $(VENV)/uv.lock
	@$(PIP) --requirement $(VENV)/uv.lock
	@$(UV) --requirement requirements.lock || $(PIP) --requirement requirements.lock
	@$(UV) --no-deps --editable . || $(PIP) --no-deps --editable .
	@touch $@

# numerical code is compiled once, before any job starts
$(READY): $(STAMP) $(wildcard src/joints/*/*.py)
	@$(BIN)/python -m joints.prepare paper
	@touch $@

$(ALL_READY): $(READY)
	@$(BIN)/python -m joints.prepare
	@touch $@
