# The front door: each target installs what is missing, configures, builds and runs. `make` lists them.

STEPS ?= 1200
JOBS ?= $(shell nproc)
# Warnings are errors in CI; a newer compiler's new warning must not stop a user's build.
WERROR := $(if $(filter true 1,$(CI)),ON,OFF)
FUZZ_SECONDS ?= 60
BIN := build/release/bin

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build test wheel browser-test conformance api mnist bench cluster-test asan tsan fuzz fuzz-ops lint format clean packages clang-packages

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages:
	@tools/install_packages.sh

clang-packages:
	@tools/install_packages.sh clang

# configure-<preset>, build-<preset>: the steps that the targets below share.
configure-%: packages
	@cmake --preset $* -DWEIR_WERROR=$(WERROR) >/dev/null

build-%: configure-%
	@cmake --build --preset $* -j $(JOBS)

# The Python package is built for the interpreter of .venv, which has what it is built and tested with.
VENV := .venv
$(VENV)/ready: python/requirements.txt tools/make_venv.sh
	@tools/install_packages.sh python
	@tools/make_venv.sh $(VENV)

build: packages $(VENV)/ready  ## build everything: programs into build/release/bin, the Python package into .venv
	@cmake --preset release -DWEIR_WERROR=$(WERROR) -DWEIR_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python >/dev/null
	@cmake --build --preset release -j $(JOBS)

test: build  ## build and run the tests
	@ctest --preset release -j $(JOBS)

PYTHONS ?= $(VENV)/bin/python
wheel: build  ## make and test wheels, in build/wheels; PYTHONS="python3.10 python3.13" for other interpreters
	@tools/wheels.sh build/release/lib build/wheels $(PYTHONS)

browser-test: build  ## look at the pages (graphs, TensorBoard) in headless Chromium, which it installs
	@tools/install_packages.sh browser
	@PYTHONPATH=python $(VENV)/bin/python -m pytest -q python/tests/browser

api: build  ## show how much of TensorFlow's interface is there; tools/api_coverage.py --missing for the rest
	@$(VENV)/bin/python tools/api_coverage.py

conformance: build  ## compare with TensorFlow (kept outside this folder); writes docs/conformance.md
	@$(VENV)/bin/python tests/conformance/run.py $$(tests/conformance/make_env.sh)

mnist: configure-release  ## train the MNIST network; STEPS=6000 for the whole tutorial
	@cmake --build --preset release -j $(JOBS) --target mnist
	@$(BIN)/mnist --steps $(STEPS)

bench: build  ## measure the workloads and the kernels
	@tools/bench.sh $(BIN)

cluster-test: build  ## try clusters with faults, under load and on MNIST; the namespaces need root
	@WEIR_FAULT_RUNS=3000 $(BIN)/test_distributed --gtest_filter='Faults.*'
	@PYTHONPATH=python $(VENV)/bin/python tests/cluster/network.py 20
	@PYTHONPATH=python $(VENV)/bin/python tests/cluster/fuzz_services.py 20
	@PYTHONPATH=python $(VENV)/bin/python tests/cluster/load.py 32 200
	@PYTHONPATH=python $(VENV)/bin/python tests/cluster/mnist.py

asan: build-asan  ## run the tests under the address and undefined-behaviour sanitizers
	@ctest --preset asan -j $(JOBS)

tsan: build-tsan  ## run the tests under the thread sanitizer
	@ctest --preset tsan -j $(JOBS)

fuzz-ops: build  ## run random calls of every operation for FUZZ_SECONDS=60, of every function with wrong arguments, and networks
	@PYTHONPATH=python $(VENV)/bin/python tests/fuzz/fuzz_ops.py --seed $$$$ --seconds $(FUZZ_SECONDS)
	@PYTHONPATH=python $(VENV)/bin/python tests/fuzz/fuzz_binding.py --seed $$$$ --calls 40
	@PYTHONPATH=python $(VENV)/bin/python tests/fuzz/fuzz_networks.py --seed $$$$ --seconds $(FUZZ_SECONDS)

fuzz: clang-packages build-fuzz  ## fuzz each target of tests/fuzz for FUZZ_SECONDS=60
	@tools/fuzz.sh build/fuzz/bin $(FUZZ_SECONDS)

lint: clang-packages build-lint  ## check the format (clang-format) and the code (clang-tidy)
	@tools/lint.sh build/lint $(JOBS)

format: clang-packages  ## rewrite the sources with clang-format
	@git ls-files -co --exclude-standard -- '*.cc' '*.h' '*.inc' | xargs clang-format -i

clean:  ## delete what was built
	@rm -rf build $(VENV) python/weir/_weir*.so python/weir/_descriptors.bin
	@find python/weir -name '*.pyi' -delete
