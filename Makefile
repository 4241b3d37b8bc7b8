# Every target makes what it needs: a fresh clone with Python 3.11+, pip and make is enough.

PYTHON ?= python3
BIN := .venv/bin
# One BLAS thread each: the tests run in several processes.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.PHONY: reproduce test test-slow test-gpu bench-gpu kernels lint format bench findings clean

reproduce: .venv/installed  ## a short version of the paper's experiments, a verdict on its claims, figures and a page: minutes
	@$(BIN)/coebl reproduce --quick

test: .venv/developing  ## everything that must pass: style, types, tests
	$(MAKE) --no-print-directory -j 2 --output-sync=target lint kernels
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-slow: .venv/developing  ## the tests that take minutes
	$(BIN)/python -m pytest -n 2 -m slow

test-gpu: .venv/developing  ## the tests that need a graphics processor, and CuPy: pip install -e '.[cuda]'
	$(BIN)/python -m pytest tests/gpu -m gpu -rs

bench-gpu: .venv/developing  ## speed on a graphics processor, into benchmarks/GPU.md
	$(BIN)/python benchmarks/gpu.py

kernels: .venv/developing  ## compile the solver, once for all processes of the tests
	$(BIN)/python -c "from coebl.solver import compile_kernels as c; c((2, 2)); c((60, 60)); c((60, 60), many_ties=True)"

lint: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/developing
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/developing  ## speed against peers, into benchmarks/RESULTS.md
	$(BIN)/python benchmarks/solvers.py
	$(BIN)/python benchmarks/learners.py

findings: .venv/developing  ## docs/findings.md and docs/which-learner.md anew, from their templates and results/
	$(BIN)/python -m coebl.papers.ijcai2025.findings
	$(BIN)/python -m coebl.tournament.advice

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[report]'
	@touch $@

.venv/developing: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@ .venv/installed
