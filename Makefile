# butlerctl: `make verify` proves the embedded household end to end, `make test` runs the tests.
# Both set up everything they need from Python 3.11, make and git alone.

PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name))))
BIN    := .venv/bin
READY  := .venv/.ready
PLUGIN := extensions/FR4M3W0RK-tools
DEBIAN := nodejs npm openssl jq build-essential python3
# Many tests wait, for a timeout or for an object that comes late: more of them at once than a small machine has cores.
ATONCE := -n 4 --dist worksteal
# The first start of a real server installs it: minutes in a fixture, none of them in a test.
STACK  := --timeout 300 -o timeout_func_only=true

.PHONY: help verify test lint format faults test-slow test-stack stack-full bench lock ci-deps clean

help: ## show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "butlerctl needs Python 3.11 or newer (PYTHON=…)" >&2; exit 1; }
	@echo "setting up .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@$(BIN)/python -m compileall -q butlerctl
	@touch $@

verify: $(READY) ## prove all twelve routes on the lab and write a signed report
	@mkdir -p reports
	@$(BIN)/butlerctl verify --lab --state-dir reports/state --report reports/verify.json
	@$(BIN)/butlerctl report verify reports/verify.json --key reports/verify.json.pub

test: $(READY) ## run the tests (the real n8n and OpenClaw stay out: make test-stack)
	@$(BIN)/python -m pytest $(ATONCE) -m 'not stack and not slow'

lint: $(READY) ## ruff, mypy, import layers, the gateway's image and its compose file
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@if [ -x $(BIN)/hadolint ]; then $(BIN)/hadolint $(PLUGIN)/Dockerfile; else echo "NOT LINTED: $(PLUGIN)/Dockerfile (no hadolint for this machine)" >&2; fi
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec $(PLUGIN)/compose.yaml

format: $(READY) ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

faults: $(READY) ## the whole matrix of planted faults, as a table
	@$(BIN)/python -m pytest -q -m slow tests/faults

test-slow: $(READY) ## the long tests that need no real server
	@$(BIN)/python -m pytest -n 2 -m 'slow and not stack'

test-stack: $(READY) ## the same contracts against the real n8n and the real OpenClaw from npm: ten minutes
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m 'stack and not slow' $(STACK) tests/stack

stack-full: $(READY) ## every contract and every fault on the real servers; writes the tables in docs/
	@BUTLERCTL_WRITE_DOCS=1 BUTLERCTL_DEPLOY_SEQUENCES=200 $(BIN)/python -m pytest -n 2 --dist loadfile -m stack $(STACK) tests/stack

bench: $(READY) ## the benchmarks behind the numbers in the docs
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script; done

lock: $(READY) ## write requirements.lock anew: hashes, no addresses
	@$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --quiet --output-file requirements.lock

ci-deps: ## the Debian packages that the tests need (root)
	@command -v node >/dev/null && command -v npm >/dev/null && command -v openssl >/dev/null && command -v g++ >/dev/null \
		|| { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(DEBIAN); }

clean: ## remove what make made
	@rm -rf .venv reports .pytest_cache .mypy_cache .ruff_cache .hypothesis
