# Everything runs in .venv, made from nothing but Python 3.11 to 3.14 (PYTHON=python3.13 make test takes another one).

PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check --quiet
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY) ## one visible conversation with an agent, offline, and a change of its file under it
	@$(VENV)/bin/python -P examples/demo.py

test: $(READY) ## the tests
	@$(VENV)/bin/python -m pytest -q -n 2

check: $(READY) ## lint, format and types
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

bench: $(READY) ## the benchmarks: figures beside a baseline of the same run
	@$(VENV)/bin/python tests/benchmarks

clean: ## remove .venv and all caches
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@echo "setting up $(VENV) (once, and whenever pyproject.toml changes; this takes a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade pip
	@$(PIP) install --editable . --group dev
	@touch $@
