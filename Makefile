# `make` sets everything up and runs the default workflow; `make test` sets everything up and tests.
PYTHON ?= python3
CONFIG ?= config/config.yaml
CLUSTER ?= test_results.py
SIZES  ?= 2000 4000 8000
CORES  ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
BIN    := .venv/bin
RUN    := PATH="$(CURDIR)/$(BIN):$$PATH"
SHOWN  := --rerun-incomplete --show-failed-logs --configfile $(CONFIG) --logger lindrop
LOCK   := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
          --generate-hashes --no-header --no-annotate --no-emit-index-url --upgrade
CODE   := workflow tests benchmarks
PEERS  := benchmarks/peers/environments
SMK    := Snakefile workflow/Snakefile workflow/rules

.DEFAULT_GOAL := run
.PHONY: run test test-cluster lint format deep bench report shell docs lock clean distclean help

run: .venv/ready  ## set up, then run CONFIG (the default target; CONFIG=config/config.yaml)
	@$(RUN) snakemake --cores $(CORES) $(SHOWN)
	@sed -n 3p results/scorecard.md
	@echo "All of it, figures and tables included: results/report/index.html"

test: .venv/ready-dev lint  ## set up, then lint and run all tests
	@$(RUN) OPENBLAS_NUM_THREADS=1 python -m pytest --durations=15

test-cluster: .venv/ready-dev .venv/ready-cluster  ## on a Slurm of two nodes, as root; CLUSTER= for every fault
	@$(RUN) python -m pytest --numprocesses=0 tests/cluster/$(CLUSTER)

lint: .venv/ready-dev  ## formatting, style, types, Snakemake's own lint
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/ruff format --quiet --check $(CODE)
	@$(BIN)/snakefmt --check $(SMK) 2> .venv/lint.log || { cat .venv/lint.log; exit 1; }
	@$(BIN)/mypy
	@$(RUN) snakemake --lint > .venv/lint.log 2>&1 || { cat .venv/lint.log; exit 1; }

format: .venv/ready-dev  ## rewrite the code in the project's format
	@$(BIN)/ruff check --quiet --fix $(CODE)
	@$(BIN)/ruff format --quiet $(CODE)
	@$(BIN)/snakefmt $(SMK)

deep: .venv/ready-deep  ## set up PyTorch, too, train the deep networks (Table 1, Figure 2 of Pal 2020), then run
	@$(RUN) OMP_WAIT_POLICY=passive snakemake --cores $(CORES) deep $(SHOWN)
	@$(MAKE) --no-print-directory run

bench: .venv/ready  ## EASE by four other libraries and by ours; SIZES="2000 4000 8000" items
	@PYTHONPATH=workflow:benchmarks $(BIN)/python -m peers $(SIZES)

report: run  ## run CONFIG, then write Snakemake's report of it: results/report.html
	@$(RUN) snakemake --cores 1 $(SHOWN) --report results/report.html

shell: .venv/ready  ## a shell in which `snakemake` and `import lindrop` work
	@$(RUN) PYTHONPATH="$(CURDIR)/workflow" $${SHELL:-sh} || true

docs: .venv/ready  ## regenerate config/README.md from the schema
	@PYTHONPATH=workflow $(BIN)/python -m lindrop.config_docs

lock: .venv/ready-dev  ## resolve every requirements*.in anew
	@$(LOCK) requirements.in --output-file requirements.lock
	@$(LOCK) requirements-dev.in --output-file requirements-dev.lock
	@$(LOCK) requirements-cluster.in --output-file requirements-cluster.lock
	@for peer in lenskit rectools cornac recpack; do \
	  $(LOCK) --excludes $(PEERS)/without-pytorch.txt $(PEERS)/$$peer.in --output-file $(PEERS)/$$peer.lock; done

clean:  ## delete results; downloads are kept
	@[ ! -d results ] || find results -mindepth 1 -maxdepth 1 ! -name downloads ! -name .gitkeep -exec rm -rf {} +
	@rm -rf .snakemake

distclean: clean  ## delete the environments and the downloads, too
	@rm -rf .venv .venv-peers .venv-recbole .venv-slim results/downloads

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1|/p' Makefile | awk -F'|' '{printf "make %-13s %s\n", $$1, $$2}'

# Hashes pin every file; a stamp makes the second run instant.
.venv/ready: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lindrop needs Python 3.11 or newer: run 'make PYTHON=/path/to/python3'" >&2; exit 1; }
	@case "$(CURDIR)" in *\ *) \
	  echo "lindrop: error: $(CURDIR): clone into a folder whose path has no space" >&2; exit 1;; esac
	@echo "Setting up .venv (a minute or two, once)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	@echo "Adding the test tools to .venv"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

.venv/ready-cluster: .venv/ready requirements-cluster.lock
	@echo "Adding what submits jobs to a cluster to .venv"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-cluster.lock
	@touch $@

.venv/ready-deep: .venv/ready requirements-deep.txt requirements-deep.in
	@echo "Adding PyTorch to .venv"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-deep.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements-deep.in
	@touch $@
