# make demo      two AIs play a match of Circuit Wars, to be watched in the browser
# make test      style, types and the fast suite of tests
# make test-all  all tests, and types for every platform
# make docs      the documents as a site, searchable, in build/docs
# make hub       a site with people, bots and matches, to look around in
# make sbom      the packages of a hub's image, with versions and licences, in build/sbom.json
# All set up a virtual environment of their own in $(VENV).

PYTHON ?= python3
VENV ?= .venv
DEMO ?=
SERVE ?=
HUB ?=
TESTS ?=
GAMEDAY ?= gameday.md

BIN := $(VENV)/bin
HUB_READY := $(VENV)/hub-ready
DEMO_READY := $(VENV)/demo-ready
TEST_READY := $(VENV)/test-ready

ENGINE ?= $(shell command -v podman || command -v docker)
REGISTRY ?=

.PHONY: demo serve hub test test-all docs sbom campaign composed gameday soak engine hub-image kit-images images test-containers push requirements clean

# A command that people end with Ctrl-C, which is no "Error 130" of make then.
run = @trap : INT; $(BIN)/python -m cw $(1) || [ $$? -eq 130 ]

demo: $(DEMO_READY)
	$(call run,demo $(DEMO))

serve: $(DEMO_READY)
	$(call run,serve $(SERVE))

hub: $(HUB_READY)
	$(call run,hub demo $(HUB))

test: $(TEST_READY)
	$(BIN)/python -m tests $(TESTS)

test-all: $(TEST_READY)
	$(BIN)/python -m tests --all $(TESTS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Circuit Wars needs Python 3.11 or newer: make demo PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(DEMO_READY): $(BIN)/python pyproject.toml requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.txt --editable .
	@touch $@

$(HUB_READY): $(DEMO_READY) hub/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.txt --editable . --editable hub
	@touch $@

# The arena is tested without the site, too.
$(TEST_READY): $(DEMO_READY) $(wildcard hub/pyproject.toml)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@[ ! -d hub ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable hub
	@touch $@

# The documents as a site, to be opened from disk: build/docs/index.html. A broken link is an error.
docs: $(TEST_READY)
	rm -rf build/docs
	$(BIN)/python docs/site/build.py --quiet --fail-on-warning --keep-going build/docs
	@echo "Open build/docs/index.html"

# What the image of a hub installs from PyPI, with versions and licences, as CycloneDX: build/sbom.json, held to the
# schema, which the tool brings along.
sbom: $(BIN)/python
	rm -rf build/image build/sbom
	$(PYTHON) -m venv build/image
	build/image/bin/python -m pip install --quiet --disable-pip-version-check --constraint requirements.txt . ./hub
	$(PYTHON) -m venv build/sbom
	build/sbom/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0
	build/sbom/bin/python -m cyclonedx_py environment build/image/bin/python --pyproject hub/pyproject.toml \
	  --output-reproducible --validate --output-file build/sbom.json
	@echo "Wrote build/sbom.json"

# A hub of several processes plays, while all that plays and keeps its matches falls again and again.
campaign: $(TEST_READY)
	CW_REQUIRE_SERVICES=1 $(BIN)/python -m pytest -n 0 --log-cli-level INFO hub/tests/soak/test_fault_campaign.py

# What hub/deploy/compose.yaml starts, without an engine, up to a replay in the browser.
composed: $(TEST_READY)
	CW_REQUIRE_SERVICES=1 $(BIN)/python -m pytest -n 0 hub/tests/soak/test_compose.py

# Each part of a hub is killed and hung, each disk filled, each key replaced; the hub is restored elsewhere. GAMEDAY is the report.
gameday: $(TEST_READY)
	$(BIN)/python -m hub.tests.soak.gameday $(GAMEDAY)
	@cat $(GAMEDAY)

# What takes too long for each change: all random games, all screens, and the hub under fire; about two hours.
soak: export CW_MATCHES ?= 10000
soak: $(TEST_READY)
	CW_GAMES=10000 $(BIN)/python -m pytest -n auto tests/games -k agree_with_the_reference
	CW_ALL_SCREENS=1 CW_REQUIRE_BROWSER=1 $(BIN)/python -m pytest -n auto tests/browser hub/tests/browser
	CW_THOROUGH=1 CW_FORM_CASES=20000 $(BIN)/python -m pytest -n auto hub/tests/site/test_pages_fuzzed.py
	CW_REQUIRE_SERVICES=1 $(BIN)/python -m pytest -n 0 --log-cli-level INFO hub/tests/soak

# ENGINE is podman or docker.
engine:
	@test -n "$(ENGINE)" || { echo "Images need podman or docker, and there is neither."; exit 1; }
	@$(ENGINE) info >/dev/null 2>&1 || { echo "Images need an engine that runs: see $(ENGINE) info."; exit 1; }

# The image of all roles of a hub.
hub-image: engine
	$(ENGINE) build -f hub/deploy/Containerfile -t circuit-wars .

# An image for each kit that is a web service.
kit-images: engine $(TEST_READY)
	$(BIN)/python -m tests.kits.containers $(ENGINE)

images: hub-image kit-images

# Two kits play a signed match of Code Battle in their containers.
test-containers: kit-images
	$(BIN)/python -m tests.kits.containers $(ENGINE) --match

push: hub-image
	@test -n "$(REGISTRY)" || { echo "make push REGISTRY=registry.example/you"; exit 1; }
	$(ENGINE) tag circuit-wars $(REGISTRY)/circuit-wars
	$(ENGINE) push $(REGISTRY)/circuit-wars

requirements:
	$(PYTHON) -m uv pip compile --quiet pyproject.toml hub/pyproject.toml --extra dev --extra docs --extra envs --universal --python-version 3.11 \
	  --no-emit-package circuit-wars --no-emit-index-url --output-file requirements.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
