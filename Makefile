# make demo    set up .venv and show what hinge does
# make test    set up .venv and run the tests, on a few cases where a test has many
# make sweep   run the tests on the other cases
# make fuzz    feed spoilt files to all readers in turn, TIME seconds together, from SEED; what breaks one is kept
# make lowest  set up .venv-lowest with the oldest versions allowed, and run some tests there
# make lint    ruff and mypy
# make stub    write src/hinge/robot/algorithms.pyi from the registry of algorithms
# make docs    build the site in docs/_build/html; warnings are errors
# make bench   measure the figures of speed in README and docs, ONLY some of them, and write them there

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
LOWEST_TESTS := $(addprefix tests/, kernels golden laws/test_dynamics_laws.py laws/test_energy_laws.py \
	sim/test_records.py sim/test_sweeps.py sim/test_pictures.py backends/test_equations.py contact/test_contact_forces.py \
	contact/test_scene.py $(addprefix cli/test_, commands.py run_command.py simulate_command.py count_command.py))
WORKERS ?= auto
TIME ?= 3600
SEED ?= $(shell date +%s)

.PHONY: demo test sweep fuzz lowest lint docs stub bench clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,dev,docs]'
	touch $@

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot,view]'
	touch $@

$(VENV)/.documented: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs,plot,solve,equations,gym,sweep]'
	touch $@

$(LOWEST)/.installed: pyproject.toml tests/house/lowest.py
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tests/house/lowest.py > $(LOWEST)/pins.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(LOWEST)/pins.txt --editable .
	touch $@

demo: $(VENV)/.ready
	$(BIN)/hinge demo --force

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not sweep'

sweep: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m sweep

fuzz: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz.py --time $(TIME) --seed $(SEED)

lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n $(WORKERS) --dist worksteal -m 'not sweep' $(LOWEST_TESTS)

lint: $(VENV)/.installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

docs: $(VENV)/.documented
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

stub: $(VENV)/.installed
	$(BIN)/python -m hinge.robot.stub

bench: $(VENV)/.installed
	$(BIN)/python bench/figures.py $(ONLY)

clean:
	rm -rf $(VENV) $(LOWEST)
