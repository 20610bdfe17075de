# `make demo` and `make test` need Python 3.11 and nothing else; the first run sets up .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-slow check format benchmark clean

demo: $(READY)
	$(BIN)/noiseproof demo

test: $(READY)
	$(BIN)/pytest -n 2 -m "not slow"

test-slow: $(READY)
	$(BIN)/pytest -n 2

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

benchmark: $(READY)
	$(BIN)/python benchmarks/loss_speed.py
	$(BIN)/python benchmarks/linear_speed.py
	$(BIN)/python benchmarks/train_speed.py
	$(BIN)/python benchmarks/sweep_speed.py
	$(BIN)/python benchmarks/fit_speed.py

# The stamp is written last, so an interrupted set-up starts again.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis noiseproof-demo*
