# Everything runs in .venv, made from nothing but Python 3.11 to 3.14 (PYTHON=python3.13 make test takes another one).

PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check --quiet
READY := $(VENV)/.ready
MCP_SERVERS := $(VENV)/mcp-servers
LITELLM_PROXY := $(VENV)/litellm-proxy

.DEFAULT_GOAL := help
.PHONY: help demo test soak fuzz check bench mcp-servers litellm-proxy clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY) ## one visible conversation with an agent, offline, and a change of its file under it
	@$(VENV)/bin/python -P examples/demo.py

test: $(READY) ## the tests
	@$(VENV)/bin/python -m pytest -q -n 2 --dist loadgroup

soak: EXAMPLES ?= 1000
soak: $(READY) ## random configurations, picks, reloads and turns for a long time (EXAMPLES=1000)
	@AGENTOML_EXAMPLES=$(EXAMPLES) $(VENV)/bin/python -m pytest -q --timeout 0 tests/stateful

check: $(READY) ## lint, format and types
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

fuzz: EXAMPLES ?= 20000
fuzz: $(READY) ## broken and odd configurations: nothing but problems may come out (EXAMPLES=20000)
	@AGENTOML_EXAMPLES=$(EXAMPLES) $(VENV)/bin/python -m pytest -q tests/fuzz --timeout=0

bench: $(READY) ## the benchmarks: figures beside a baseline of the same run
	@$(VENV)/bin/python tests/benchmarks

mcp-servers: $(MCP_SERVERS)/.ready ## the MCP servers that tests use where they are installed (needs Node and npm)

litellm-proxy: $(READY) $(LITELLM_PROXY)/.ready ## turns through a real LiteLLM proxy (installs 750 MB)
	@AGENTOML_LITELLM_PROXY=$(LITELLM_PROXY)/bin/litellm $(VENV)/bin/python -m pytest -q -m litellm_proxy

clean: ## remove .venv and all caches
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@echo "setting up $(VENV) (once, and whenever pyproject.toml changes; this takes a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade pip
	@$(PIP) install --editable . --group dev
	@touch $@

$(MCP_SERVERS)/.ready: | $(READY)
	@$(PYTHON) -m venv $(MCP_SERVERS)
	@$(MCP_SERVERS)/bin/python -m pip --disable-pip-version-check --quiet install \
	  mcp-server-git==2026.10.19 mcp-server-time==2026.10.19
	@npm install --global --prefix $(MCP_SERVERS) --loglevel=error --no-fund --no-audit \
	  @modelcontextprotocol/server-everything@2026.8.31
	@touch $@

$(LITELLM_PROXY)/.ready:
	@$(PYTHON) -m venv $(LITELLM_PROXY)
	@$(LITELLM_PROXY)/bin/python -m pip --disable-pip-version-check --quiet install 'litellm[proxy]>=1.100,<1.106.3'
	@touch $@
