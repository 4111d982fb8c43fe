# make run       opens the course
# make test      lint, types and every test, with all that they need
# make test-all  the same, with every shape of the kernel grid instead of a sample
# make lint      lint and types alone
# make bench     measures what the course promises, and says on which machine
# make train     trains the small model again
# make smollm    fetches a real LLM, SmolLM2-135M-Instruct, to run through the same cache (optional)
#
# Nothing is needed beforehand but make and Python 3.11 or newer. What is installed goes into .venv;
# stamps there remember it, so that the second call is quick.

VENV := .venv
PYTHON_IN_VENV := $(VENV)/bin/python
CANDIDATES := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python

.PHONY: run test test-all lint bench train smollm

run: $(VENV)/.app
	$(PYTHON_IN_VENV) -m streamlit run app.py

test: lint $(VENV)/.chromium
	$(PYTHON_IN_VENV) -m pytest -n auto

test-all: lint $(VENV)/.chromium
	$(PYTHON_IN_VENV) -m pytest -n auto --whole-grid

lint: $(VENV)/.dev
	$(PYTHON_IN_VENV) -m ruff check .
	$(PYTHON_IN_VENV) -m ruff format --check .
	$(PYTHON_IN_VENV) -m mypy

bench: $(VENV)/.dev $(VENV)/.chromium
	$(PYTHON_IN_VENV) -m tests.bench

train: $(VENV)/.app
	$(PYTHON_IN_VENV) -m pagedkv.model.train

smollm: $(VENV)/.smollm
	$(PYTHON_IN_VENV) -m pagedkv.llama.fetch

$(VENV)/.app: requirements.txt | $(PYTHON_IN_VENV)
	@echo "Installing requirements.txt: the first time some minutes, for about 2 GB ..."
	$(PYTHON_IN_VENV) -m pip install --quiet -r requirements.txt
	touch $@

$(VENV)/.dev: requirements-dev.txt requirements.txt | $(PYTHON_IN_VENV)
	@echo "Installing requirements-dev.txt: the first time some minutes, for about 2 GB ..."
	$(PYTHON_IN_VENV) -m pip install --quiet -r requirements-dev.txt
	touch $@ $(VENV)/.app

$(VENV)/.smollm: requirements-smollm.txt requirements.txt | $(PYTHON_IN_VENV)
	@echo "Installing requirements-smollm.txt ..."
	$(PYTHON_IN_VENV) -m pip install --quiet -r requirements-smollm.txt
	touch $@ $(VENV)/.app

$(PYTHON_IN_VENV):
	@for candidate in $(CANDIDATES); do \
	  if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Making $(VENV) with $$($$candidate --version) ..."; \
	    $$candidate -m venv $(VENV) && exit 0; \
	    rm -rf $(VENV); exit 1; \
	  fi; \
	done; \
	echo "The course needs Python 3.11 or newer, and none of these is: $(strip $(CANDIDATES))." >&2; \
	echo "Install one, or say where it is: make PYTHON=/path/to/python $(MAKECMDGOALS)" >&2; \
	exit 1

# The browser of the tests: the machine's own, else Debian's package, else Playwright's download.
$(VENV)/.chromium: | $(VENV)/.dev
	@if command -v chromium >/dev/null; then echo "Tests use $$(command -v chromium)."; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && apt-get update -qq \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium \
	  && command -v chromium >/dev/null; then echo "Tests use Debian's chromium."; \
	else $(PYTHON_IN_VENV) -m playwright install chromium; fi
	@touch $@
