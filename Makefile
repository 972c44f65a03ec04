# Every target prepares the environment by itself when it is missing.
PYTHON ?= python3
BIN := .venv/bin
# make itself sets AS to the assembler
ifeq ($(origin AS),default)
AS := alice
endif
PLATFORM ?= feishu
SOURCES := handlers agent connectors rag simulator evaluation tests

.DEFAULT_GOAL := help
.PHONY: help setup connections demo ask test check cov fmt lint types imports size bench floors leakcheck lock clean

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

# --- environment ------------------------------------------------------------------------------
# uv when it is on the PATH, else venv and pip; the pins carry hashes either way.
define install
	@if command -v uv >/dev/null 2>&1; then \
	  test -x $(BIN)/python || uv venv -q --python $(PYTHON) .venv; \
	  uv pip install -q --python $(BIN)/python --require-hashes -r requirements/$(1).txt && \
	  uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
	  test -x $(BIN)/pip || $(PYTHON) -m venv .venv; \
	  $(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/$(1).txt && \
	  $(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
	@touch $@
endef

.venv/.local: requirements/local.txt pyproject.toml
	@echo "Preparing .venv (once; about a minute) ..."
	$(call install,local)

.venv/.dev: requirements/dev.txt .venv/.local
	@echo "Adding the development set to .venv (once) ..."
	$(call install,dev)

.venv/.connections: requirements/connections.txt .venv/.local
	@echo "Adding the platforms' own clients to .venv (once) ..."
	$(call install,connections)

connections: .venv/.connections ## what plumbline serve needs for long connections

setup: .venv/.local ## prepare the environment, nothing else

FAST := not live and not slow and not browser and not needs_opensearch

# --- for people -------------------------------------------------------------------------------
demo: .venv/.local ## simulator and bot on 127.0.0.1 with a chat page
	@$(BIN)/plumbline demo

ask: .venv/.local ## one question in the terminal: make ask Q="..." AS=alice PLATFORM=feishu
	@$(BIN)/plumbline ask "$$Q" --as $(AS) --platform $(PLATFORM)

test: .venv/.dev ## the whole test suite, slow parts included
	@$(BIN)/python -m pytest -m "not live"

# --- for contributors -------------------------------------------------------------------------
check: lint types imports size ## the one gate: lint, types, imports, core size, fast tests
	@$(BIN)/python -m pytest -m "$(FAST)"

fmt: .venv/.dev ## format the code
	@$(BIN)/ruff format -q $(SOURCES) && $(BIN)/ruff check -q --fix $(SOURCES)

lint: .venv/.dev
	@$(BIN)/ruff format --check -q $(SOURCES) && $(BIN)/ruff check $(SOURCES)

types: .venv/.dev
	@$(BIN)/basedpyright

imports: .venv/.dev
	@$(BIN)/lint-imports --no-cache | tail -n 3

size: ## the core stays small (AL12): agent/ without models/ and stores/ under 5,000 lines, blank ones aside
	@find agent -name '*.py' -not -path 'agent/models/*' -not -path 'agent/stores/*' | xargs cat | \
	  awk 'NF { n++ } END { print "core: " n " lines of at most 5000, blank ones aside"; exit n >= 5000 }'

cov: .venv/.dev ## coverage of the fast tests, by branch
	@$(BIN)/python -m pytest -m "$(FAST)" --cov --cov-report=term:skip-covered

bench: .venv/.dev ## overhead beside five agent frameworks (shared harness needed); writes docs/performance.md
	@$(BIN)/python -m evaluation.bench.run

leakcheck: .venv/.local ## nobody sees a word that is not for them: 50 people, 2,000 documents, 500 questions
	@$(BIN)/plumbline leakcheck --full

lock: ## compile the pins anew (needs uv)
	@for s in receiving worker ingest local connections dev; do \
	  uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate \
	    --no-emit-index-url --custom-compile-command "make lock" \
	    requirements/$$s.in -o requirements/$$s.txt || exit 1; done

clean: ## remove the environment and the embedded stores
	@rm -rf .venv .plumbline .pytest_cache .ruff_cache .hypothesis
