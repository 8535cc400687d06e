# make demo       what contract-guard says about the history of examples/pad_free (light, no torch)
# make demo-gate  the same, and the example's tests and its gate, which need torch
# make test       everything that is tested here
# make docs       the parts of the documents that the program itself writes
#
# PYTHON= chooses the interpreter (3.11 or newer), TORCH= the torch requirement, JOBS= the number
# of test processes. Each target makes the environment that it needs in this directory.

PYTHON ?= python3
TORCH ?= torch==2.13.0
JOBS ?= 2

PIP_INSTALL = -m pip install -qq --disable-pip-version-check
PACKAGE = pyproject.toml $(shell find contract_guard rules -type f -not -name '*.pyc')
define check_python
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo \
  "contract-guard needs Python 3.11 or newer, and '$(PYTHON)' is not:" \
  "name another, as in: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
endef

.PHONY: demo demo-gate test docs clean

demo: .venv-demo/installed
	@.venv-demo/bin/python examples/pad_free/demo.py

demo-gate: .venv-demo/installed-gate
	@.venv-demo/bin/python examples/pad_free/demo.py --run-tests

test: .venv/installed
	.venv/bin/python -m pytest -n $(JOBS)

docs: .venv/installed
	.venv/bin/python docs/build.py

clean:
	rm -rf .venv .venv-demo

.venv-demo/installed: $(PACKAGE)
	$(check_python)
	@echo "Making .venv-demo ..."
	@$(PYTHON) -m venv .venv-demo
	@.venv-demo/bin/python $(PIP_INSTALL) .
	@touch $@

.venv-demo/installed-gate: .venv-demo/installed
	@echo "Adding $(TORCH) to .venv-demo ..."
	@.venv-demo/bin/python $(PIP_INSTALL) "$(TORCH)" pytest
	@.venv-demo/bin/python $(PIP_INSTALL) ".[gate]"
	@touch $@

# torch comes first, so that the extra [gate] takes the one chosen here.
.venv/installed: pyproject.toml Makefile
	$(check_python)
	@echo "Making .venv ..."
	@$(PYTHON) -m venv .venv
	@.venv/bin/python $(PIP_INSTALL) --upgrade 'pip>=25.1'
	@.venv/bin/python $(PIP_INSTALL) "$(TORCH)"
	@.venv/bin/python $(PIP_INSTALL) --editable '.[gate,against]' --group test --group lint
	@touch $@
