# The front door. On a fresh Debian 12 with make, each target works as the only command.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
PEERS ?=
PARTS ?= 1
PART ?=
CMAKE_FLAGS ?=

.NOTPARALLEL:
.PHONY: help run test bench bench-model bench-peers asan asan-part tsan fuzz format lint standalone docs reference install deb chroot check-all clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

run: build/default/build.ninja ## Build the command, then run a model: what a drawn digit is taken for, its kernels, the time
	cmake --build --preset default --target weft_cli
	build/default/bin/weft run models/digits.onnx --input image=models/7.png --top-k 3 --labels models/digits.txt --profile
	@echo
	@echo "Your own: build/default/bin/weft run MODEL.onnx --input NAME=image.png --top-k 3; weft inspect MODEL.onnx names its inputs"

test: build-default ## Build, then run all tests; DEV=INTERP: with new tensors on that device
	$(if $(DEV),DEV=$(DEV)) ctest --preset default -j $(JOBS)

bench: build-bench build/bench/tinygrad.json build/bench/tinygrad_graph.json ## Measure, and compare with tinygrad where it can be installed
	cd build/bench && for program in bin/bench_*; do $$program || exit; done
	scripts/time_build.sh

bench-model: build-bench ## Compare the cost model with the clock, over the kernels of many networks; MODEL="--regret 100 16 10"
	build/bench/bin/model_bench --random 1 300 --training $(patsubst %,--file %,$(networks)) $(MODEL)

bench-peers: build-bench ## Measure beside numpy, torch, onnxruntime, openvino and tinygrad; PEERS="--suite matmul --quick"
	python3 bench/peers/install.py $(peers_venv)
	$(peers_venv)/bin/python -B bench/peers/run.py $(PEERS)

asan: build-asan ## Run all tests under AddressSanitizer and UBSan (built by clang)
	ctest --preset asan -j $(JOBS)

asan-part: deps-build deps-clang ## The part of it in turn, without tests that compute for long: what CI does (PART=1 to 7)
	scripts/asan_part.sh $(PART)

tsan: build-tsan ## Run all tests under ThreadSanitizer (built by clang)
	ctest --preset tsan -j $(JOBS)

fuzz: build-fuzz ## Run each fuzzer for FUZZ_SECONDS (60)
	scripts/fuzz.sh $(FUZZ_SECONDS)

format: deps-check ## Format the sources in place
	scripts/format.sh

lint: deps-build deps-check deps-clang ## Check formatting, layers, names, and the core with clang-tidy (in CI: the part in turn)
	scripts/format.sh --check
	scripts/check_layers.sh
	scripts/check_names.sh
	cmake --preset clang -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF >/dev/null
	scripts/lint.sh build/lint $(PARTS)

standalone: deps-build deps-clang deps-bench ## Check that every source and header compiles by itself (in CI: the part in turn)
	cmake --preset clang -B build/standalone -DWEFT_UNITY=OFF -DWEFT_BENCH=ON >/dev/null
	scripts/check_standalone.sh build/standalone $(PARTS)

docs: build-default ## Regenerate what documents show: the worked example, line counts, the output of examples
	scripts/update_docs.sh build/default/bin/weft
	for page in README.md docs/guide/*.md docs/ops/*.md docs/topics/*.md; do \
	  tests/pages/check.sh --update build/default/bin $$page || exit; \
	done

reference: ## Write the reference of the public headers to build/reference; warnings are errors
	mkdir -p build/reference && doxygen docs/reference/Doxyfile

install: build-release ## Install into PREFIX (/usr/local)
	cmake --install build/release --prefix $(PREFIX)

deb: build-release ## Make packages for Debian in build/release/packages
	cd build/release && cpack -B packages

chroot: deps-chroot ## Run README's two commands in a bare Debian 12 that has make alone
	scripts/check_chroot.sh

check-all: deps-check deps-chroot deps-qemu test lint standalone asan tsan build-minimal build-clang build-release ## Everything that is too long for CI
	ctest --preset minimal -j $(JOBS)
	ctest --preset clang -j $(JOBS)
	WEFT_FULL=1 ctest --preset default -j $(JOBS)
	VALIDATE=1 ctest --preset default -j $(JOBS) -R "^Tensor"
	DEV=INTERP ctest --preset default -j $(JOBS)
	DEV=AARCH64 ctest --preset default -j $(JOBS) -R "golden.*cpu"
	DEV=CPU:LLVM:x86-64-v2 ctest --preset default -j $(JOBS) -R "^Tensor|golden.*cpu"
	DEV=CPU:LLVM:x86-64-v3 ctest --preset default -j $(JOBS) -R "^Tensor|golden.*cpu"
	scripts/check_install.sh build/default
	$(MAKE) fuzz FUZZ_SECONDS=300
	$(MAKE) chroot

clean: ## Remove everything that was built
	rm -rf build

# build-PRESET installs what that preset needs, configures it and builds it.

deps-%:
	@scripts/install_deps.sh $*

build-%: build/%/build.ninja
	$(if $(CMAKE_FLAGS),cmake --preset $* $(CMAKE_FLAGS))
	cmake --build --preset $*

build/%/build.ninja: CMakePresets.json | deps-build
	cmake --preset $* $(CMAKE_FLAGS)

build/bench/build.ninja: | deps-bench
build/asan/build.ninja build/tsan/build.ninja build/fuzz/build.ninja build/clang/build.ninja: | deps-clang

# What the benchmarks read: real index expressions, and how tinygrad simplifies them.

build/bench/corpus.weft: bench/make_corpus.py | build-bench
	python3 $< $@

# Those at hand.
networks = $(sort $(wildcard ../shared/data/*/*.onnx))
venv = build/bench/venv
build/bench/tinygrad.json: build/bench/corpus.weft bench/tinygrad_corpus.py bench/requirements.txt
	@python3 -m venv $(venv) && $(venv)/bin/pip install -q -r bench/requirements.txt || \
	  { echo "tinygrad cannot be installed here: weft is measured alone"; exit 0; }; \
	echo "tinygrad simplifies the corpus: this takes minutes"; \
	$(venv)/bin/python bench/tinygrad_corpus.py $< $@

build/bench/tinygrad_graph.json: bench/tinygrad_graph.py build/bench/tinygrad.json
	@test ! -x $(venv)/bin/python || $(venv)/bin/python $< $@

peers_venv = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/weft/peers/venv

.PRECIOUS: build/%/build.ninja
