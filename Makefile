# Everything a developer types. `make demo` and `make test` set themselves up.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help demo test lint format oracle oracle-record bench lock clean

help:            ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(READY): requirements.lock pyproject.toml
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "npu-review needs Python 3.11 or newer; set PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY)   ## review a sample pull request end to end, on this machine only
	@$(BIN)/python -m tests.demo

test: $(READY)   ## run all tests
	@$(BIN)/python -m pytest

lint: $(READY)   ## formatting, lint, types, import arrows
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(READY) ## format and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

oracle: $(READY) ## REPO=clone: every script of it under real bash and in the evaluator (HISTORY=folder: old versions too)
	@$(BIN)/python -m tests.oracle $(REPO) $(if $(HISTORY),--history $(HISTORY))

oracle-record: $(READY) ## write down anew what bash does with the fixture scripts
	@$(BIN)/python -m tests.oracle.test_fixtures

bench: $(READY)  ## REPO=clone: what evaluating its scripts costs, beside shfmt and bash -n
	@$(BIN)/python -m bench.shell $(REPO)

LOCK = uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras \
       --no-header --no-annotate --no-emit-index-url --no-emit-find-links

lock:            ## write the lock files anew (needs uv)
	$(LOCK) pyproject.toml deploy/build.in --all-extras -o requirements.lock
	$(LOCK) pyproject.toml deploy/build.in --extra server -c requirements.lock -o deploy/server.lock

clean:           ## remove what make made
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
