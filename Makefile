# make demo      set up, train a first model, score it, draw it
# make test      set up, lint, and run the tests (minutes)
# make test-all  the tests and the long checks
# make test-lowest  the tests on the lowest versions that pyproject.toml allows
# make lint      ruff and the type checker
# make docs      build the documentation site: build/docs/index.html
# make notebooks  execute the notebooks and store their outputs
# make clean     remove the virtual environment and the demo's run

PYTHON ?= python3
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-all test-lowest lint docs notebooks clean

# One thread gives the same picture on every run. In two minutes a β-TCVAE separates hues, scale and shape.
demo: .venv/installed
	$(BIN)/unweave train beta-tcvae --beta 6 --loss gaussian --data rooms3d:size=32 --width 0.5 --steps 4000 --threads 1 --out runs/demo
	$(BIN)/unweave evaluate runs/demo --preset fast --metrics mig sap dci factor-vae-score linearity axis-alignment
	$(BIN)/unweave report runs/demo
	@echo "to move its latents in a browser: $(BIN)/unweave explore runs/demo --open"

# One torch thread per test worker: two workers share two cores without fighting over them. A test that hangs fails.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow" --timeout 400

test-all: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

# Old packages may call functions that newer ones have deprecated; such warnings are not about unweave.
test-lowest: .venv-lowest/installed
	OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -n 2 -m "not slow" -W ignore::DeprecationWarning

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

# The source folder is the repository itself, so that links between pages are the same here and on GitHub.
docs: .venv/installed-dev
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c docs . build/docs
	@echo "built: build/docs/index.html"

notebooks: .venv/installed-dev
	$(BIN)/python benchmarks/notebooks.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "unweave needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[web]'
	-@$(BIN)/python -c 'from unweave.metrics import dci; dci([[0.0], [1.0]] * 30, [[0], [1]] * 30)'  # compiles, once
	@touch $@

.venv/installed-dev: .venv/installed
	$(INSTALL) --editable '.[dev]'
	@touch $@

# Each lower bound, as in "polars>=1.30", becomes a constraint, "polars==1.30".
.venv-lowest/installed: pyproject.toml
	$(PYTHON) -m venv --clear .venv-lowest
	sed -nE 's/^ *"?[^"]*"([A-Za-z0-9-]+)>=([0-9.]+).*/\1==\2/p' pyproject.toml | grep -v hatchling > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-lowest/lowest.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .venv-lowest runs/demo
