# The commands of a checkout. They need Python 3.11 or newer and nothing else: the first one that needs packages
# creates .venv and installs them there, pinned by constraints.txt; after that each starts at once.

PYTHON ?= python3
# Each worker takes one half of the tests, in order, so that neighbours, which compile the same functions, stay together;
# whoever is done first takes tests from the end of the other's.
PYTEST_ARGS ?= -n 2 --dist worksteal

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-extras test-integrations lint speed pictures clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1@\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F@ '{ printf "  make %-17s %s\n", $$1, $$2 }'

demo: $(STAMP) ## Play full four-player matches and print a table of results
	@$(BIN)/python -m training.demo

test: $(STAMP) ## Run the tests, all but the long ones; PYTEST_ARGS="-k bids" picks some
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PYTEST_ARGS)

test-long: $(STAMP) ## Run the long tests, which take minutes
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m long $(PYTEST_ARGS)

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

# The extras that docs/integrations.md gives for a fresh environment: they install together, beside the pinned versions.
EXTRAS := train,render,plots,data,sb3,torchrl,textarena,openspiel
test-extras: $(STAMP) ## Look whether every extra installs beside the pinned versions; changes nothing
	$(BIN)/python -m pip install --quiet --dry-run --ignore-installed -c constraints.txt -e ".[$(EXTRAS)]"

lint: $(STAMP) ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy ohhell_env training

speed: $(STAMP) ## Measure speed; worth reading on a quiet machine only
	@$(BIN)/python -m ohhell_env.speed

pictures: $(STAMP) ## Make the docs' pictures of play anew; needs Chromium
	$(BIN)/python tests/make_pictures.py

clean: ## Remove caches and build outputs; .venv and runs stay
	rm -rf build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage htmlcov
	find ohhell_env training tests -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for everything: touched last, so an installation that was interrupted is taken up again.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Python 3.11 or newer is needed, and $(PYTHON) is not that: name one that is, as in" >&2; \
	    echo "    make $(or $(MAKECMDGOALS),test) PYTHON=python3.12" >&2; exit 1; }
	@echo "Installing into $(VENV): a few minutes, this once"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[train,render,web,data,dev]"
	@touch $@
