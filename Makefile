# Two commands: `make demo` (build into an environment of its own, then the main job) and `make check` (all tests).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH ?= torch
SOURCES := $(shell git ls-files CMakeLists.txt cmake dialects include lib tools python pyproject.toml)

.PHONY: demo check install
install: $(VENV)/.installed

$(VENV)/.installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	scripts/install.sh $(VENV)
	touch $@

demo: install
	scripts/demo.sh $(BIN)

check: install
	scripts/check.sh $(BIN)
