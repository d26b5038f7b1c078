# The commands of a checkout. They need Python 3.11 or newer and nothing else: the first one that needs packages
# creates .venv and installs them there, pinned by constraints.txt; after that each starts at once.

PYTHON ?= python3
PYTEST_ARGS ?= -n 2

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Numba's cache does not notice edits in other files that a cached function calls: stale machine code was reproduced.
# So each state of the package's sources has a cache folder of its own, named by their hash.
# `=`, not `:=`: the hash is looked up only by the recipes that use it, after $(VENV) is there.
CACHES := .numba_cache
HASH_SOURCES := import hashlib, pathlib; \
    files = sorted(pathlib.Path("ohhell_env").rglob("*.py")); \
    text = b"".join(bytes(file) + b"\0" + file.read_bytes() + b"\0" for file in files); \
    print(hashlib.sha256(text).hexdigest()[:16])
CACHE = $(CACHES)/$(shell $(BIN)/python -c '$(HASH_SOURCES)')
RUN = NUMBA_CACHE_DIR="$(CURDIR)/$(CACHE)" $(BIN)/python

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-integrations lint bench clean drop-stale-caches

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1@\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F@ '{ printf "  make %-17s %s\n", $$1, $$2 }'

demo: $(STAMP) drop-stale-caches ## Play full four-player matches and print a table of results
	@$(RUN) -m training.demo

test: $(STAMP) drop-stale-caches ## Run the tests, all but the long ones; PYTEST_ARGS="-k bids" picks some
	OMP_NUM_THREADS=1 $(RUN) -m pytest $(PYTEST_ARGS)

test-long: $(STAMP) drop-stale-caches ## Run the long tests, which take minutes
	OMP_NUM_THREADS=1 $(RUN) -m pytest -m long $(PYTEST_ARGS)

# Examples with other people's libraries: integrations/NAME.txt pins an environment, tests/integrations/NAME runs in it.
INTEGRATIONS := $(patsubst integrations/%.txt,%,$(wildcard integrations/*.txt))
.PHONY: $(INTEGRATIONS:%=test-integration-%)

test-integrations: $(INTEGRATIONS:%=test-integration-%) ## Run the examples with other libraries, in environments of their own

$(INTEGRATIONS:%=test-integration-%): test-integration-%: .integrations/%/.installed
	OHHELL_INTEGRATION=$* OMP_NUM_THREADS=1 .integrations/$*/bin/python -m pytest tests/integrations/$*

.integrations/%/.installed: integrations/%.txt
	@echo "Installing integrations/$*.txt into .integrations/$*: a few minutes, this once"
	@rm -rf .integrations/$*
	@$(PYTHON) -m venv .integrations/$*
	@.integrations/$*/bin/python -m pip install --quiet --no-deps -r $<
	@.integrations/$*/bin/python -m pip install --quiet --no-deps -e .
	@touch $@

.PRECIOUS: .integrations/%/.installed

lint: $(STAMP) ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy ohhell_env training

bench: $(STAMP) drop-stale-caches ## Measure speed; worth reading on a quiet machine only
	@$(RUN) -m ohhell_env.speed

clean: ## Remove caches and build outputs; .venv and runs stay
	rm -rf build dist .numba_cache .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage htmlcov
	find ohhell_env training tests -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for everything: touched last, so an installation that was interrupted is taken up again.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Python 3.11 or newer is needed, and $(PYTHON) is not that: name one that is, as in" >&2; \
	    echo "    make $(or $(MAKECMDGOALS),test) PYTHON=python3.12" >&2; exit 1; }
	@echo "Installing into $(VENV): a few minutes, this once"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[train,render,dev]"
	@touch $@

drop-stale-caches: $(STAMP)
	@mkdir -p $(CACHES)
	@find $(CACHES) -mindepth 1 -maxdepth 1 ! -name $(notdir $(CACHE)) -exec rm -rf {} +
