# Verbs without logic: `make demo` shows the whole thing, `make test` proves it.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := "$(BIN)/python" -m pip --disable-pip-version-check install --quiet -c constraints.txt
# Where PyTorch publishes builds without CUDA; empty (make TORCH_INDEX=) to take PyPI's, with CUDA.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
# One more than two cores: many tests wait for a limit, a server or a disk.
WORKERS ?= 3

.PHONY: help setup demo test test-all test-gpu labs verify bench docs clean

help:           ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

setup: $(VENV)/.ready   ## a virtual environment with everything in it

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; say make PYTHON=python3.11")'
	@echo "== setting up $(VENV): PyTorch without CUDA (the first time downloads about 200 MB)"
	@$(PYTHON) -m venv "$(VENV)"
	@test -n "$(TORCH_INDEX)" && $(PIP) --no-deps --retries 1 --timeout 15 --index-url "$(TORCH_INDEX)" torch 2>"$(VENV)/torch.log" || \
		echo "== not found there ($(VENV)/torch.log says why), so PyPI's follows: on Linux, with CUDA, about 2.7 GB to download"
	@echo "== the other packages (the first time about 250 MB)"
	@$(PIP) -e '.[staff,cluster,dev]'
	@touch $@

demo: setup     ## lab 1 from its source to the gradebook, with a class of about ninety
	@$(BIN)/python demo/run.py

test: setup     ## lint, types, every test but the slow ones
	@echo "== style and types"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@echo "== tests"
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not slow" -q

test-all: setup ## the slow tests, too
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-gpu: setup ## the tests that need a GPU, on this machine's
	@$(BIN)/python -m pytest -m gpu -q

labs: setup     ## rebuild the notebooks from their sources
	@$(BIN)/lab build

verify: setup   ## every mistake caught, no right answer rejected
	@$(BIN)/lab verify

# ARGS goes to each script: all of them know --quick.
bench: setup    ## the grader beside nbgrader and Otter, our models beside those of torch and two packages, ways to train (50 minutes; ARGS=--quick: 15)
	@missed=; for name in grading models training loops cluster; do \
		echo "== $$name"; "$(BIN)/python" benchmarks/$$name.py $(ARGS) || missed="$$missed $$name"; done; \
	test -z "$$missed" || { echo "== failed, or missed a budget:$$missed"; exit 1; }

docs: setup     ## the documentation as a site, in build/site
	@$(BIN)/python docs/make_site.py && echo "build/site/index.html opens in a browser"

clean:          ## what make made
	rm -rf $(VENV) build
