# make demo    set up .venv and show what hinge does
# make test    set up .venv and run the tests, on a few cases where a test has many
# make sweep   run the tests on the other cases
# make lint    ruff and mypy
# make stub    write src/hinge/algorithms.pyi from the registry of algorithms
# make docs    build the site in docs/_build/html; warnings are errors
# make bench   time hinge against Pinocchio

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto

.PHONY: demo test sweep lint docs stub bench clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,dev,docs]'
	touch $@

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot,view]'
	touch $@

demo: $(VENV)/.ready
	$(BIN)/hinge demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not sweep'

sweep: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m sweep

lint: $(VENV)/.installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

docs: $(VENV)/.installed
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

stub: $(VENV)/.installed
	$(BIN)/python -m hinge.stub

bench: $(VENV)/.installed
	$(BIN)/python bench/against_pinocchio.py

clean:
	rm -rf $(VENV)
