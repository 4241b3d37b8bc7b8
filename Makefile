# Every target installs what it needs: a fresh clone with Python 3.11+, pip and make is enough.

PYTHON ?= python3
BIN := .venv/bin
# One BLAS thread each: the tests run in several processes.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

COMPILE := from coebl.backend.streams import compile_normals; compile_normals(); \
    from coebl.solver import compile_kernels as c; c((2, 2)); c((60, 60)); c((60, 60), many_ties=True)

.PHONY: reproduce test test-slow test-gpu test-lowest coverage dist kernels lint format bench bench-player bench-folders bench-gpu large-games ablation findings docs clean

reproduce: .venv/installed  ## a short version of the paper's experiments, a verdict on its claims, figures and a page: minutes
	@$(BIN)/coebl reproduce --quick

test: .venv/developing  ## everything that must pass: style, types, tests
	$(MAKE) --no-print-directory -j 2 --output-sync=target lint kernels
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-slow: .venv/developing  ## the tests that take minutes
	$(BIN)/python -m pytest -n 2 -m slow

test-lowest: export NUMBA_CACHE_DIR := $(abspath build/lowest/numba)
test-lowest: .venv/developing  ## the tests with the lowest versions that pyproject.toml allows: long
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct --editable '.[report,dask,interchange]'
	$(BIN)/uv pip install --quiet --python build/lowest/bin/python pytest pytest-xdist hypothesis duckdb
	build/lowest/bin/python -c "$(COMPILE)"
	build/lowest/bin/python -m pytest -n 2 --dist loadfile -m "not slow" -W default

coverage: .venv/developing kernels  ## which lines of src the tests run, except for compiled kernels
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "not slow"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --show-missing

dist: .venv/developing  ## wheel and sdist; the wheel is installed elsewhere, and runs a match, a study and a report
	rm -rf dist
	$(BIN)/uv build --quiet --out-dir dist
	BIN=$(abspath $(BIN)) .ci/try-wheel dist/*.whl

test-gpu: .venv/developing  ## the tests that need a GPU and CuPy: pip install -e '.[cuda]'
	$(BIN)/python -m pytest tests/gpu -m gpu -rs

bench-player: .venv/developing  ## players in euros, into benchmarks/PLAYER.md: ten minutes of one core
	$(BIN)/python benchmarks/player.py

bench-folders: .venv/developing  ## reading a folder of 20,000 cells, into benchmarks/FOLDERS.md: eight minutes
	$(BIN)/python benchmarks/folders.py

bench-gpu: .venv/developing  ## speed on a GPU, into benchmarks/GPU.md
	$(BIN)/python benchmarks/gpu.py

kernels: .venv/developing  ## compile the kernels, once for all processes of the tests
	$(BIN)/python -c "$(COMPILE)"

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

large-games: .venv/developing  ## games of 256 to 1024 actions, into benchmarks/LARGE_GAMES.md: three minutes of one core
	$(BIN)/python benchmarks/large_games.py

ablation: .venv/developing  ## the ablation study, into results/ablation and docs/ablation.md: fifteen minutes of one core
	$(BIN)/coebl run studies/ablation.toml --out build/ablation
	$(BIN)/python -m tools.ablation build/ablation

findings: .venv/developing  ## regenerate findings, ablation, which-learner and kin of docs/ from their templates and results/
	$(BIN)/python -m tools.findings
	$(BIN)/python -m tools.ablation
	$(BIN)/python -m tools.advice
	$(BIN)/python -m tools.kin

docs: .venv/developing  ## the documentation site, into build/site; a broken link or a gap in the reference fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo 'build/site/index.html; to search in it, serve it: python -m http.server --directory build/site'

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* dist build
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/installed: pyproject.toml constraints.txt
	@echo 'installing the package and what it needs into .venv: a minute or several'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[report]'
	@touch $@

.venv/developing: pyproject.toml constraints.txt
	@echo 'installing the package and what its development needs into .venv: a minute or several'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@ .venv/installed
