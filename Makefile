# make setup      .venv with everything that the tests and the benchmarks need
# make demo       the main job: a paper's headline result, its stages, claims and figures
# make test       lint, format, types, layers, tests
# make verify     the slow tests, new random examples, other CPUs, the whole claims table
# make docs       the documentation as a site: site/index.html, which needs no network
# make test-cpus  the tests that depend on rounding, under other instruction sets

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
STAMP := $(VENV)/.ready
DOCS := $(VENV)/.docs
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Some environments forbid Python to keep compiled modules: every process would then compile
# JAX again, four times as long as its import takes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo docs test test-cpus verify lint browser clean

setup: $(STAMP)

# The package alone, which is what the demo needs. Of the 6,600 modules in it some 2,000
# are imported, and these are compiled when they are.
$(INSTALLED): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "attnflow needs Python 3.11 or newer; set PYTHON=/path/to/python."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile -e .
	@touch $@

# PyTorch by its exact version first: any other build brings gigabytes of CUDA.
$(STAMP): $(INSTALLED)
	$(PIP) "torch==2.13.0"
	$(PIP) -e ".[test]"
	@touch $@

$(DOCS): $(INSTALLED)
	$(PIP) -e ".[docs]"
	@touch $@

# Pages by hand and from the ledger into build/docs, then the site; any warning is an error.
docs: $(DOCS)
	$(BIN)/python -m tools.documentation
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

demo: $(INSTALLED)
	$(BIN)/attnflow demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

# Debian's Chromium, for the tests that look at pages in a browser.
browser:
	@command -v chromium >/dev/null \
	  || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } \
	  || echo "Chromium could not be installed: the tests in a browser are skipped."

# Most programs run once here, on small sizes, and compiling them is most of the time: they
# are optimised less, and made by XLA's older emitters, which take half as long. The slow
# tests run what users run.
FAST := --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false

test: export XLA_FLAGS = $(FAST)
test: lint browser
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile

# Other CPUs round otherwise. XLA, OpenBLAS and PyTorch each choose their instructions by
# the CPU they find: here they are told of one with AVX2 but no AVX-512, and of an old one.
test-cpus: setup
	XLA_FLAGS="$(FAST) --xla_cpu_max_isa=AVX2" OPENBLAS_CORETYPE=Haswell \
	  ATEN_CPU_CAPABILITY=avx2 $(BIN)/python -m pytest -m "cpus and not slow"
	XLA_FLAGS="$(FAST) --xla_cpu_max_isa=SSE4_2" OPENBLAS_CORETYPE=Nehalem \
	  ATEN_CPU_CAPABILITY=default $(BIN)/python -m pytest -m "cpus and not slow"

# The slow tests of claims judge the runs that the claims table has computed.
RUNS := build/verify

verify: setup browser test-cpus
	ATTNFLOW_STORE=$(RUNS) $(BIN)/attnflow verify --seeds 5
	$(BIN)/python -m pytest -m "slow or hypothesis" -n 2 --dist loadfile \
	  --hypothesis-profile=search --runs=$(RUNS)

clean:
	rm -rf $(VENV) attnflow-output dist build site
