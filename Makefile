# Every target sets up what it needs: a fresh clone with Python 3.11, pip and a C++ compiler is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DIST ?= dist
NATIVE := CMakeLists.txt $(shell find cpp -name '*.cc' -o -name '*.h' -o -name '*.cmake')
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup fmt lint test nightly test-native test-slow sanitize bench demo docs wheel runtime-wheel clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

setup: $(VENV)/ready  ## Make .venv and install the package with everything the tests need

$(VENV)/ready: pyproject.toml constraints.txt $(NATIVE)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -c constraints.txt torch scikit-build-core nanobind cmake ninja
	$(BIN)/pip install --quiet -c constraints.txt --no-build-isolation -e '.[dev]'
	@touch $@

fmt: setup  ## Format Python and C++
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $$(find cpp -name '*.cc' -o -name '*.h')

lint: setup  ## Check style, types and dead code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $$(find cpp -name '*.cc' -o -name '*.h')
	$(BIN)/mypy
	$(BIN)/vulture

test: setup test-native  ## Run the tests (a few minutes)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 -m 'not slow'

test-native:  ## Run the C++ tests only; they are compiled again where C++ has changed
	cpp/tests/run.sh plain

test-slow: setup  ## Run the slow tests too
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2

sanitize:  ## Run the C++ tests under sanitizers and valgrind (a few minutes)
	cpp/tests/run.sh sanitize

nightly: sanitize test-slow  ## What is too long for each commit: sanitizers and slow tests

bench: setup  ## Measure the solver against its peers on a quiet machine (it takes long), and write docs/benchmarks.md
	$(BIN)/pip install --quiet -c constraints.txt --no-build-isolation -e '.[bench]'
	$(BIN)/python -m benchmarks.solver
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.epoch
	$(BIN)/python -m benchmarks.systems
	$(BIN)/python -m benchmarks.report

demo: setup  ## Train DeNOTS on a built-in data set and predict with it
	$(BIN)/python examples/demo.py

docs: setup  ## Build the documentation into site, without network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

wheel: setup  ## Build a wheel that installs without a compiler, into dist
	rm -rf $(DIST)/plain
	$(BIN)/pip wheel . --quiet --no-deps --no-build-isolation --wheel-dir $(DIST)/plain -C build-dir=$(abspath $(DIST))/build
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir $(DIST) $(DIST)/plain/*.whl

runtime-wheel: setup  ## Build the wheel of denots-runtime, which predicts beside NumPy alone, into dist
	rm -rf $(DIST)/runtime-plain
	$(BIN)/pip wheel packaging/runtime --quiet --no-deps --no-build-isolation --wheel-dir $(DIST)/runtime-plain -C build-dir=$(abspath $(DIST))/runtime-build
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir $(DIST) $(DIST)/runtime-plain/*.whl

clean:  ## Remove what was built, but not what was downloaded
	rm -rf build dist demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis
