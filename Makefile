# Two commands for newcomers: `make demo` and `make test`. Each makes .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: help install demo installs test slow mutate reach refusals bench docs check format clean

help:
	@echo "make demo    see it work          make check   lint, types, import rules"
	@echo "make test    run the tests        make slow    the longer tests"
	@echo "make bench   measure speed        make format  tidy the code"
	@echo "make mutate  plant random faults       make refusals  which refusals no fast test reaches"
	@echo "make docs    build the pages      make installs  try the core and each extra, installed afresh"

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --group dev
	@touch $@

install: $(INSTALLED)

demo: $(INSTALLED)
	$(BIN)/entwined demo demo

installs:
	$(PYTHON) tests/installs.py

# Hundreds of processes start in the tests; each would compile us again if bytecode were not kept.
# Four for two cores: while some wait for a disk, a database or a browser, two others work.
test: $(INSTALLED)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -m "not slow" --numprocesses 4 --dist loadfile --no-loadscope-reorder

slow: $(INSTALLED)
	$(BIN)/python -m pytest -m slow --durations 10

# Which fast test runs which line is noted once in .reach; `make reach` notes it anew.
N ?= 20
MUTANTS := PYTHONPATH=tests $(BIN)/python -m mutants
mutate: $(INSTALLED)
	$(MUTANTS) mutate --number $(N) $(if $(SEED),--seed $(SEED))

reach: $(INSTALLED)
	rm -rf .reach
	$(MUTANTS) reach

refusals: $(INSTALLED)
	$(MUTANTS) refusals

docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(INSTALLED)
	$(BIN)/python -m bench

check: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .reach demo site
