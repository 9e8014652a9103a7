# make demo   sets up and shows every system at work, without a language model (minutes)
# make test   sets up and runs the fast tests
# make help   lists the rest
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.naisei-installed
GAMES  := $(VENV)/.naisei-games
SITE   := $(VENV)/.naisei-docs
ALL    := $(VENV)/.naisei-all
DEMO_FLAGS ?=

.PHONY: help setup setup-all demo demo-model test test-slow lint types check docs figures constraints bench sbom attack chaos clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' $(MAKEFILE_LIST)
	@echo "make demo-model  the demo with a language model: that of NAISEI_MODEL, or the embedded one (1.1 GB)"
	@echo "make setup-all  installs all that a test may ask for: every extra, a PostgreSQL server, Chromium, Java"
	@echo "make test-slow  runs the slow tests, and many more examples of the property tests"
	@echo "make check      lint and types"
	@echo "make docs       builds the documentation, in Japanese and English, into build/docs"
	@echo "make figures    measures anew every figure that needs no hand (ten minutes), and shows what differs"
	@echo "make bench      runs the benchmarks"
	@echo "make attack     attacks naisei as strangers would, for ATTACK_SECONDS (120)"
	@echo "make chaos      kills, full disks, flipped bits and more under running programs, for CHAOS_HOURS (0.05)"
	@echo "make sbom       writes build/naisei.cdx.json (CycloneDX)"
	@echo "make constraints  renews the constraints from pyproject.toml (needs uv)"

# They come as anybody's would: installed, and found by their entry points.
PLUGINS := $(wildcard plugins/*/pyproject.toml)

$(STAMP): constraints.txt pyproject.toml $(PLUGINS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "naisei needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "Could not make a virtual environment. On Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . $(PLUGINS:%/pyproject.toml=-e ./%)
	@touch $@

# The games engine is C code: where there is neither a wheel nor a compiler, all else goes on.
$(GAMES): $(STAMP) constraints-games.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints-games.txt || \
	  echo "naisei: the games engine (textworld) could not be installed; text games are left out. With a C compiler (Debian: apt install gcc python3-dev), run: make clean setup" >&2
	@touch $@

$(SITE): $(STAMP) constraints-docs.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints-docs.txt
	@touch $@

# The versions stand together in constraints-ci.txt (some against bounds that packages declare, see
# tools/ci-overrides.txt), so pip does not judge them again. PyTorch: the CPU build where pip finds one.
$(ALL): $(GAMES) $(SITE) constraints-ci.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes --no-deps -r constraints-ci.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile torch==2.13.0
	@touch $@

setup: $(STAMP) $(GAMES)

DEBIAN := chromium default-jre-headless fonts-noto-cjk
setup-all: $(ALL)
	@if { command -v chromium && command -v java && fc-list :lang=ja | grep .; } >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(DEBIAN) >/dev/null; \
	else echo "naisei: as root, also: apt-get install $(DEBIAN)" >&2; fi

demo: setup
	$(BIN)/naisei demo $(DEMO_FLAGS)

demo-model: setup
	$(BIN)/naisei demo --model "$${NAISEI_MODEL:-local:}" $(DEMO_FLAGS)

# Tests of a file stay together, for what its fixtures made. Each worker reads all the files, so eight
# are enough. Where Python is told to keep nothing compiled, each process compiles it all.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile

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
	$(BIN)/python tools/build_docs.py --fresh
	$(BIN)/python tools/notebooks.py build/docs

# What is left by hand ends it with an error, after the differences from what is committed.
figures: $(STAMP)
	$(BIN)/python tools/results.py
	@$(BIN)/python tools/card_figures.py; left=$$?; \
	  git --no-pager diff --unified=0 -- docs src README.md README_ja.md; exit $$left

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
	uv pip compile pyproject.toml --all-extras --group ci --override tools/ci-overrides.txt --universal --generate-hashes \
	  -c constraints.txt -c constraints-games.txt -c constraints-docs.txt \
	  --no-header --no-annotate --no-emit-index-url -o constraints-ci.txt

# CycloneDX 1.6, from the versions that are tested.
sbom: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom
	@mkdir -p build
	$(BIN)/cyclonedx-py requirements constraints.txt --pyproject pyproject.toml --output-reproducible -o build/naisei.cdx.json

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
