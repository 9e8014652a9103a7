# make demo   sets up and shows every system at work, without a language model (minutes)
# make test   sets up and runs the fast tests
# make help   lists the rest
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.naisei-installed
GAMES  := $(VENV)/.naisei-games
SITE   := $(VENV)/.naisei-docs
DEMO_FLAGS ?=

.PHONY: help setup demo demo-model test test-slow lint types check docs constraints bench sbom licences attack chaos clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' $(MAKEFILE_LIST)
	@echo "make demo-model  the demo with a language model: that of NAISEI_MODEL, or the embedded one (1.1 GB)"
	@echo "make test-slow  runs the slow tests, and many more examples of the property tests"
	@echo "make check      lint, types and generated docs"
	@echo "make docs       builds the documentation, in Japanese and English, into build/docs"
	@echo "make bench      runs the benchmarks"
	@echo "make attack     attacks naisei as strangers would, for ATTACK_SECONDS (120)"
	@echo "make chaos      kills, full disks, flipped bits and more under running programs, for CHAOS_HOURS (0.05)"
	@echo "make sbom       writes build/naisei.cdx.json (CycloneDX); make licences renews the pages of licences"
	@echo "make constraints  renews constraints.txt from pyproject.toml (needs uv)"

$(STAMP): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "naisei needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "Could not make a virtual environment. On Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# The games engine is C code: where there is neither a wheel nor a compiler, all else goes on.
$(GAMES): $(STAMP) constraints-games.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints-games.txt || \
	  echo "naisei: the games engine (textworld) could not be installed; text games are left out. With a C compiler (Debian: apt install gcc python3-dev), run: make clean setup" >&2
	@touch $@

$(SITE): $(STAMP) constraints-docs.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints-docs.txt
	@touch $@

setup: $(STAMP) $(GAMES)

demo: setup
	$(BIN)/naisei demo $(DEMO_FLAGS)

demo-model: setup
	$(BIN)/naisei demo --model "$${NAISEI_MODEL:-local:}" $(DEMO_FLAGS)

# Tests of a file stay together, for what its fixtures made, and files in their order: the browser
# of the last ones keeps an event loop running. Each worker reads all the files, so eight are enough. Where Python is told to keep nothing compiled, each process compiles it all.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

test: setup
	$(PYTEST)

# The slow tests, and all that draw their inputs, with many more of them.
test-slow: setup
	$(PYTEST) -m "(slow or hypothesis) and not embedded" --hypothesis-profile=many

# ATTACK_SECONDS=3000 for a night.
ATTACK_SECONDS ?= 120
CHAOS_HOURS ?= 0.05
attack: $(STAMP)
	$(BIN)/python -m benchmarks.attack --seconds $(ATTACK_SECONDS)

chaos: $(STAMP)
	$(BIN)/python -m benchmarks.chaos --hours $(CHAOS_HOURS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

docs: $(SITE)
	$(BIN)/python tools/cli_reference.py
	$(BIN)/python tools/build_docs.py --fresh

check: lint types

bench: $(STAMP)
	$(BIN)/python -m benchmarks

constraints:
	uv pip compile pyproject.toml --extra dev --extra local --extra plots --universal --generate-hashes \
	  --no-header --no-annotate --no-emit-index-url -o constraints.txt
	uv pip compile pyproject.toml --extra textgame --universal --generate-hashes -c constraints.txt \
	  --no-header --no-annotate --no-emit-index-url -o constraints-games.txt
	uv pip compile pyproject.toml --extra docs --universal --generate-hashes -c constraints.txt \
	  --no-header --no-annotate --no-emit-index-url -o constraints-docs.txt

# CycloneDX 1.6, from the versions that are tested.
sbom: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom
	@mkdir -p build
	$(BIN)/cyclonedx-py requirements constraints.txt --pyproject pyproject.toml --output-reproducible -o build/naisei.cdx.json

licences: $(STAMP)
	$(BIN)/python tools/licences.py > docs/reference/licences.md
	$(BIN)/python tools/licences.py --ja > docs/ja/reference/licences.md

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
