# make demo   two AIs play a match of Circuit Wars, to be watched in the browser
# make test   style, types and all tests
# make hub    a site with people, bots and matches, to look around in
# All set up a virtual environment of their own in $(VENV).

PYTHON ?= python3
VENV ?= .venv
DEMO ?=
HUB ?=
TESTS ?=

BIN := $(VENV)/bin
HUB_READY := $(VENV)/hub-ready
DEMO_READY := $(VENV)/demo-ready
TEST_READY := $(VENV)/test-ready

.PHONY: demo serve hub test soak requirements clean

demo: $(DEMO_READY)
	$(BIN)/python -m cw demo $(DEMO)

serve: $(DEMO_READY)
	$(BIN)/python -m cw serve

hub: $(HUB_READY)
	$(BIN)/python -m cw hub demo $(HUB)

test: $(TEST_READY)
	$(BIN)/python -m tests $(TESTS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Circuit Wars needs Python 3.11 or newer: make demo PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(DEMO_READY): $(BIN)/python pyproject.toml requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.txt --editable .
	@touch $@

$(HUB_READY): $(DEMO_READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.txt --editable ".[hub]"
	@touch $@

$(TEST_READY): $(DEMO_READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@touch $@

# The hub under fire, for about an hour.
soak: $(TEST_READY)
	CW_KILLS=60 $(BIN)/python -m pytest -n 0 tests/soak tests/hub/test_campaign.py

requirements:
	$(PYTHON) -m uv pip compile --quiet pyproject.toml --extra hub --extra dev --extra envs --universal --python-version 3.11 \
	  --no-emit-index-url --output-file requirements.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
