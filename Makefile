# `make` sets everything up and runs the default workflow; `make test` sets everything up and tests.
PYTHON ?= python3
CONFIG ?= config/config.yaml
CLUSTER ?= test_results.py
SIZES  ?= 2000 4000 8000
MINUTES ?= 1
HOURS  ?= 1
FUZZERS := 9
CORES  ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
BIN    := .venv/bin
# Python must be allowed to write bytecode, else every job compiles the libraries again.
RUN    := PYTHONDONTWRITEBYTECODE= PATH="$(CURDIR)/$(BIN):$$PATH"
SHOWN  := --configfile $(CONFIG) --logger lindrop
# Snakemake reads CONFIG before the workflow can check it, and answers some files by a traceback.
CHECK  := $(BIN)/python -m lindrop.configuration.config_text $(CONFIG)
LOCK   := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
          --generate-hashes --no-header --no-annotate --no-emit-index-url --upgrade
# --no-compile: modules are compiled when first imported, and most modules never are.
PIP    := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile
# All of a lock file, which pins each download by a hash. A pip takes one core, so two share the file.
define locked
	@for half in 0 1; do \
	  awk -v half=$$half '/^[^ #]/ {n++} n % 2 == half' $(1) > .venv/half-$$half.txt; done
	@$(PIP) --no-deps --require-hashes -r .venv/half-0.txt & other=$$!; \
	  $(PIP) --no-deps --require-hashes -r .venv/half-1.txt; ended=$$?; \
	  wait $$other && exit $$ended
endef
CODE   := workflow tests benchmarks
PEERS  := benchmarks/peers/environments
SMK    := Snakefile workflow/Snakefile workflow/rules

.DEFAULT_GOAL := run
.PHONY: run compare plan test fuzz test-extras test-cluster lint format deep bench report docs wheel lock clean distclean help

run: .venv/ready  ## set up, then run CONFIG (the default target; CONFIG=config/config.yaml)
	@$(CHECK)
	@$(RUN) snakemake --cores $(CORES) $(SHOWN)
	@$(BIN)/python -m lindrop.claims.summary results

test: .venv/ready-dev lint  ## set up, then lint and run all tests
	@$(RUN) OPENBLAS_NUM_THREADS=1 python -m pytest --durations=15 --ignore=tests/fuzz

# Tests that `make test` skips if PyTorch, Chromium or the Slurm executor is missing, and the fuzzers.
EXTRAS := tests/dropout/test_deep.py tests/models/torch tests/workflow/test_deep_runs.py \
          tests/claims/test_page_in_browser.py \
          tests/workflow/test_planned_runs.py::test_slurm_groups_as_a_plan_for_any_cluster_does tests/fuzz

test-extras: .venv/ready-dev  ## run the fuzzers, and the tests that need PyTorch, Chromium or the Slurm executor
	@$(RUN) OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive python -m pytest $(EXTRAS)

test-cluster: .venv/ready-dev .venv/ready-cluster  ## as root: test on a Slurm of two nodes; CLUSTER= also tests every fault
	@$(RUN) python -m pytest --numprocesses=0 tests/cluster/$(CLUSTER)

fuzz: .venv/ready-dev  ## run the fuzzers of tests/fuzz for HOURS=1 in all; counts in benchmarks/results/fuzz.csv
	@$(RUN) LINDROP_FUZZ_SECONDS=$$(( $(HOURS) * 3600 / $(FUZZERS) )) \
	  python -m pytest --numprocesses=0 tests/fuzz

lint: .venv/ready-dev  ## check formatting, style and types, and run Snakemake's lint
	@echo "Style and formatting (ruff, snakefmt)"
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/ruff format --quiet --check $(CODE)
	@$(BIN)/snakefmt --check $(SMK) 2> .venv/lint.log || { cat .venv/lint.log; exit 1; }
	@echo "Types (mypy; half a minute the first time)"
	@$(BIN)/mypy
	@echo "Rules (snakemake --lint)"
	@$(RUN) snakemake --lint > .venv/lint.log 2>&1 || { cat .venv/lint.log; exit 1; }

format: .venv/ready-dev  ## rewrite the code in the project's format
	@$(BIN)/ruff check --quiet --fix $(CODE)
	@$(BIN)/ruff format --quiet $(CODE)
	@$(BIN)/snakefmt $(SMK)

deep: .venv/ready-deep  ## set up PyTorch, train the deep networks (Table 1; Pal 2020, Fig. 2), then run CONFIG
	@$(CHECK)
	@$(RUN) OMP_WAIT_POLICY=passive snakemake --cores $(CORES) deep $(SHOWN)
	@$(MAKE) --no-print-directory run

bench: .venv/ready  ## compare EASE, EDLAE and SLIM with nine other libraries; SIZES="2000 4000 8000" items, MINUTES=1 for a fit
	@PYTHONPATH=benchmarks $(BIN)/python -m peers $(SIZES) --minutes $(MINUTES)

compare: .venv/ready  ## set up, then compare models on the datasets of CONFIG alone
	@$(CHECK)
	@$(RUN) snakemake --cores $(CORES) compare $(SHOWN)
	@echo results/report/compare.html

plan: .venv/ready  ## print jobs, time, memory and disk of a run of CONFIG, before anything starts
	@$(CHECK)
	@$(RUN) snakemake --cores $(CORES) plan --configfile $(CONFIG) --quiet

report: run  ## run CONFIG, then write Snakemake's report of the run, results/report.html
	@$(RUN) snakemake --cores 1 $(SHOWN) --report results/report.html

docs: .venv/ready  ## regenerate config/README.md from the schema, docs/results.md and its pictures from benchmarks/results
	@$(BIN)/python -m lindrop.configuration.config_docs
	@$(BIN)/python benchmarks/real_data.py

wheel: .venv/ready-dev  ## build dist/*.whl, install it into a new environment, run the first example of docs/library.md
	@rm -rf build dist .venv-wheel
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist > .venv/wheel.log 2>&1 || { cat .venv/wheel.log; exit 1; }
	@$(PYTHON) -m venv .venv-wheel
	@.venv-wheel/bin/python -m pip install -qq --disable-pip-version-check dist/*.whl
	@LINDROP_INSTALLED=.venv-wheel/bin/python $(BIN)/python -m pytest --numprocesses=0 tests/workflow/test_package.py

lock: .venv/ready-dev  ## update the lock files from pyproject.toml
	@$(LOCK) pyproject.toml --extra workflow --output-file requirements.lock
	@for group in dev cluster; do \
	  $(LOCK) --group $$group --constraints requirements.lock --output-file requirements-$$group.lock; done
	@for peer in irspack skrecsys rusket lenskit rectools cornac recpack sansa fastslim; do \
	  $(LOCK) --excludes $(PEERS)/without-pytorch.txt $(PEERS)/$$peer.in --output-file $(PEERS)/$$peer.lock; done

clean:  ## delete all results but the downloads
	@[ ! -d results ] || find results -mindepth 1 -maxdepth 1 ! -name downloads ! -name .gitkeep -exec rm -rf {} +
	@rm -rf .snakemake

distclean: clean  ## also delete the environments and the downloads
	@rm -rf .venv .venv-metrics .venv-peers .venv-recbole .venv-slim .venv-wheel build dist results/downloads

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*  ## /\1|/p' Makefile | awk -F'|' '{printf "make %-13s %s\n", $$1, $$2}'

# The stamp file .venv/ready makes later runs skip the setup.
.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lindrop needs Python 3.11 or newer: run 'make PYTHON=/path/to/python3'" >&2; exit 1; }
	@case "$(CURDIR)" in *\ *) \
	  echo "lindrop: error: $(CURDIR): clone into a folder whose path has no space" >&2; exit 1;; esac
	@echo "Setting up .venv (a minute or two, once)"
	@$(PYTHON) -m venv .venv
	$(call locked,requirements.lock)
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	@echo "Adding the test tools to .venv"
	$(call locked,requirements-dev.lock)
	@touch $@

.venv/ready-cluster: .venv/ready requirements-cluster.lock
	@echo "Adding what submits jobs to a cluster to .venv"
	$(call locked,requirements-cluster.lock)
	@touch $@

.venv/ready-deep: .venv/ready requirements-deep.txt requirements-deep.in
	@echo "Adding PyTorch to .venv"
	@$(PIP) --require-hashes -r requirements-deep.txt
	@$(PIP) -r requirements-deep.in
	@touch $@
