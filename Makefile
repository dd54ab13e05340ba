# `make` alone lists the targets. ARGS goes to the tool behind one: make test ARGS="-k retry"

SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
ARGS ?=
# The first of these that is 3.11, 3.12 or 3.13 and can make environments builds .venv.
PYTHON ?= python3.13 python3.12 python3.11 python3

FITS := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
NO_PYTHON := Set-up stopped. It needs Python 3.11, 3.12 or 3.13 with venv (on Debian: python3 and \
python3-venv); looked for: $(PYTHON). Install one, or name it: make setup PYTHON=/path/to/python3
# Only `make setup` itself says that nothing was left to do.
QUIET := $(if $(filter setup,$(MAKECMDGOALS)),,--quiet)

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Make .venv with packages, Java and jars; quick when nothing changed.
	@$(BIN)/python -I tools/setup.py --check $(QUIET) 2>/dev/null || { \
	  for python in $(PYTHON); do \
	    if $$python -c '$(FITS)' >/dev/null 2>&1; then exec $$python tools/setup.py; fi; \
	  done; \
	  echo '$(NO_PYTHON)' >&2; exit 1; }

.PHONY: demo
demo: setup ## Make a project with data in it and run it.
	@$(BIN)/goldsmith demo $(ARGS)

.PHONY: ui
ui: setup ## Build the page that `goldsmith serve` shows.
	@$(BIN)/python tools/ui.py

.PHONY: serve
serve: demo ui ## Make and run the demo, build the page, and serve both.
	@$(BIN)/goldsmith --project demo serve $(ARGS)

.PHONY: test
test: setup ## Run every test but the long ones (soak).
	@$(BIN)/pytest -m "not soak" -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

.PHONY: quick
quick: setup ## Run the tests that take seconds: unit and shape.
	@$(BIN)/pytest -m "not soak" $(wildcard tests/unit tests/shape) $(ARGS)

.PHONY: fmt
fmt: setup ## Format the code and fix what ruff can fix.
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

.PHONY: lint
lint: setup ## Check the code: ruff, its format, mypy, unused code.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy $(ARGS)
	@$(BIN)/python tools/dead_code.py

.PHONY: soak
soak: setup ## Run the long tests.
	@HYPOTHESIS_PROFILE=searching $(BIN)/pytest -m soak $(ARGS) || { code=$$?; [ $$code -eq 5 ] || exit $$code; }

.PHONY: bench
bench: setup ## Run every benchmark in bench/.
	@for file in bench/catalog.py bench/engine.py bench/checks.py bench/stop.py bench/lineage.py; do \
	  echo "== $$file"; $(BIN)/python $$file $(ARGS) || exit 1; \
	done

.PHONY: bench-catalog
bench-catalog: setup ## Run the benchmark of the catalog alone.
	@$(BIN)/python bench/catalog.py $(ARGS)

.PHONY: bench-digest
bench-digest: setup ## Run the benchmark of the digest alone.
	@$(BIN)/python bench/digest.py $(ARGS)

.PHONY: bench-engine
bench-engine: setup ## Run the benchmark of the engine alone.
	@$(BIN)/python bench/engine.py $(ARGS)

.PHONY: bench-checks
bench-checks: setup ## Run the benchmark of the checks alone.
	@$(BIN)/python bench/checks.py $(ARGS)

.PHONY: bench-lineage
bench-lineage: setup ## Run the benchmark of the lineage graph alone.
	@$(BIN)/python bench/lineage.py $(ARGS)

.PHONY: bench-service
bench-service: setup ## Run the benchmark of the service alone.
	@$(BIN)/python bench/service.py $(ARGS)

.PHONY: bench-throttle
bench-throttle: setup ## Run the benchmark of throttles alone; ARGS=--stages for real stages.
	@$(BIN)/python bench/throttle.py $(ARGS)

.PHONY: bench-stop
bench-stop: setup ## Run the benchmark of the kill switch alone.
	@$(BIN)/python bench/stop.py $(ARGS)

.PHONY: docs
docs: setup ## Write the generated pages of the documentation again.
	@$(BIN)/python tools/docs.py $(ARGS)

.PHONY: skill
skill: setup ## Build the folder that installs as a skill for pushing: build/goldsmith-push.
	@rm -rf build/goldsmith-push
	@$(BIN)/python tools/skill.py build/goldsmith-push
	@echo "Wrote build/goldsmith-push: copy it into your skills folder."

.PHONY: clean
clean: ## Remove what tools leave behind. .venv and the shared jars stay.
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
