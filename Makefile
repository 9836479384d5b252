# make demo    set up .venv and show what hinge does
# make test    set up .venv and run the tests, on a few cases where a test has many
# make sweep   run the tests on the other cases; PART=2/3 is the second third of them
# make fuzz    feed spoilt files to all readers in turn, TIME seconds together, from SEED; what breaks one is kept
# make mutants  change N places of src/hinge, or of ONLY one package, drawn by SEED; list what no close test notices
# make lowest  set up .venv-lowest with the oldest versions allowed, and run some tests there
# make machines  run some tests as on other processors: the OpenBLAS kernels this one can execute, and AVX2 code
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
# tests whose results pass through NumPy's linear algebra or depend on how many states a vector holds
MACHINE_TESTS := $(addprefix tests/, identify/test_excitation.py identify/test_base_parameters.py identify/test_fitting.py \
	docs/test_notebooks.py laws/test_dynamics_laws.py kernels/test_same_bits.py motion/test_joint_motions.py \
	mechanisms/test_overconstrained_loops.py optimal/test_lqr.py)
MACHINES := $(addprefix OPENBLAS_CORETYPE=, Prescott Sandybridge Haswell SkylakeX) HINGE_CPU_FEATURES=-avx512f
# a processor without AVX-512 stops at the first instruction of SkylakeX
RUNS_HERE := -c 'import numpy as np; a = np.eye(64) + 1; np.linalg.svd(np.linalg.solve(a, a @ a))'
WORKERS ?= auto
PART ?=
TIME ?= 3600
SEED ?= $(shell date +%s)
N ?= 50

.PHONY: demo test sweep fuzz mutants lowest machines lint docs stub bench clean

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

# as many workers as cores run; a BLAS with threads of its own would only wait for them
test sweep machines lowest: export OPENBLAS_NUM_THREADS = 1

demo: $(VENV)/.ready
	$(BIN)/hinge demo --force

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not sweep'

sweep: $(VENV)/.installed
	HINGE_SWEEP_PART=$(PART) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m sweep

fuzz: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz.py --time $(TIME) --seed $(SEED)

mutants: $(VENV)/.installed
	$(BIN)/python tests/mutants/mutants.py --number $(N) --seed $(SEED) --package '$(ONLY)'

lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n $(WORKERS) --dist worksteal -m 'not sweep' $(LOWEST_TESTS)

machines: $(VENV)/.installed
	for machine in $(MACHINES); do \
		if ! env $$machine $(BIN)/python $(RUNS_HERE) 2> /dev/null; then echo "$$machine: not on this processor"; continue; fi; \
		echo "$$machine"; \
		env $$machine $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not sweep' $(MACHINE_TESTS) || exit 1; \
	done

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
