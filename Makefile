# make demo      set up, train a first model, score it, draw it
# make test      set up, lint, and run the tests (minutes)
# make test-all  the tests and the long checks
# make lint      ruff and the type checker
# make clean     remove the virtual environment and the demo's run

PYTHON ?= python3
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-all lint clean

demo: .venv/installed
	$(BIN)/unweave train beta-vae --data rooms3d --steps 1200 --out runs/demo
	$(BIN)/unweave evaluate runs/demo --preset fast --metrics mig sap dci factor-vae-score linearity axis-alignment
	$(BIN)/unweave report runs/demo

# One torch thread per test worker: two workers share two cores without fighting over them.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow"

test-all: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "unweave needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) --editable .
	-@$(BIN)/python -c 'from unweave.metrics import dci; dci([[0.0], [1.0]] * 30, [[0], [1]] * 30)'  # compiles, once
	@touch $@

.venv/installed-dev: .venv/installed
	$(INSTALL) --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv runs/demo
