# make demo   the main job on the bundled application (a window where there is a display, otherwise headless)
# make test   every check there is
# make check  lint, types, and the tests nearest to what changed since main
# make setup  what both do first: system packages where they lack, .venv with the workbench in it

# Debian's own Python, where it is new enough, is built with optimisations that one from pyenv lacks: it takes half the time.
PYTHON ?= $(shell sh resources/setup/python.sh)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile

PYTEST := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest

# mypy without a look for garbage: a quarter of its time, for 1.7 GB of memory in place of 0.8
MYPY := import gc; gc.enable = gc.disable; from mypy.__main__ import console_entry; console_entry()

.PHONY: demo test check setup python system lint tests clean

setup: system $(VENV)/.ready

# `make test` installs the system's packages and those of Python side by side.
python:
	@PYTHON=$(PYTHON) sh resources/setup/system.sh python

system: | python
	@PYTHON=$(PYTHON) sh resources/setup/system.sh

# uv takes 9 s of processor time for what pip takes 30; pip goes on where uv finds no packages (a mirror in pip.conf).
$(VENV)/.ready: pyproject.toml setup.py | python
	$(PYTHON) -m venv $(VENV)
	$(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python -e '.[dev,window]' || $(PIP) -e '.[dev,window]'
	@touch $@

demo: setup
	$(BIN)/workbench demo --out demo

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -c "$(MYPY)" $(if $(CI),--cache-dir=/dev/null)
	$(BIN)/lint-imports

# Two processes more than cores: a test often waits for a program that it started. tests/conftest.py puts files in order.
# All modules are compiled once before, which else each process would do.
tests: setup
	$(PYTEST) --collect-only -qq >/dev/null || : # what fails is said below
	$(PYTEST) --numprocesses $$(( $$(nproc) + 2 )) --maxprocesses 4 --dist loadfile --no-loadscope-reorder

check: lint
	files=$$($(BIN)/python tests/affected.py) && { [ -z "$$files" ] || $(BIN)/python -m pytest --numprocesses $$(nproc) $$files; }

test:
	+$(MAKE) --jobs=2 lint tests

clean:
	rm -rf $(VENV) demo build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
