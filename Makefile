# A short front for CMake (CMakeLists.txt, CMakePresets.json) and the scripts.
PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 600

.PHONY: all demo web test docs coverage install debug sanitize bench soak fuzz dist wheel reproducible format check-format clean help

all: ## build libraries and command into build/release
	@scripts/setup build
	@scripts/build release product

demo: ## build, then show what Hamel does
	@scripts/demo

web: ## build the parts of pages (hamel report) from web/; needs node and npm
	@scripts/setup web
	@scripts/web

test: ## build and run every test, plain and under the sanitizers
	@scripts/run-tests

docs: ## make the generated documentation anew: validation table, figures, gallery, transcripts
	@scripts/setup
	@scripts/validation
	@scripts/figures
	@scripts/refresh-golden

coverage: ## run the tests once more, counting: lines and branches of src/ that they reach
	@scripts/coverage

install: all ## install below PREFIX (default /usr/local)
	@cmake --install build/release --prefix "$(PREFIX)"

debug sanitize: ## build everything with that preset
	@scripts/setup
	@scripts/build $@

bench: ## run the benchmarks, against hand-written C and peers; kept in bench/results
	@scripts/setup bench
	@scripts/bench

soak: ## long runs: a million steps, a million periods (minutes)
	@scripts/setup
	@scripts/build release bench
	@build/release/bench/bench_soak

fuzz: ## run each fuzzer for FUZZ_SECONDS (default 600)
	@scripts/setup
	@scripts/fuzz $(FUZZ_SECONDS)

dist: all ## the archive of a release with its SBOM, in build/dist
	@scripts/dist

wheel: ## the Python module as a wheel, in build/dist
	@scripts/setup
	@scripts/wheel

reproducible: ## build in two folders and compare every byte (minutes)
	@scripts/setup build
	@scripts/check-reproducible

format: ## format the C sources in place
	@scripts/format

check-format: ## say which C sources are not formatted
	@scripts/format --check

clean: ## remove everything that was built
	@rm -rf build

help: ## this list
	@awk -F':.*## ' '/^[a-z -]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile
