# `make demo` and `make test` need Python 3.11 and nothing else; the first run sets up .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-slow test-oldest check format benchmark clean

demo: $(READY)
	$(BIN)/noiseproof demo

test: $(READY)
	$(BIN)/pytest -n 2 -m "not slow"

test-slow: $(READY)
	$(BIN)/pytest -n 2

# The core of the suite with the oldest versions that pyproject.toml allows. They may warn of their
# own future, so warnings are no errors here.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) scripts/oldest_versions.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/pip install --quiet --constraint .venv-oldest/constraints.txt \
		--editable '.[fit,bench,boosting,search]' pytest pytest-xdist hypothesis expecttest
	.venv-oldest/bin/pytest -n 2 -m "not slow" -o filterwarnings=default tests \
		--ignore tests/bench --ignore tests/install --ignore tests/test_demo.py

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
	$(BIN)/python benchmarks/encode_speed.py
	$(BIN)/python benchmarks/boosting.py

# The stamp is written last, so an interrupted set-up starts again.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .venv-oldest .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis noiseproof-demo*
