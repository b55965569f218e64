# make help says what there is.
PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo
TARGET ?= $(or $(CARGO_TARGET_DIR),target)
FULLBORE = $(TARGET)/release/fullbore
OUT ?= out

# Python with what the tests of the package need, where it could be installed.
PYTHON = $(shell test -e $(TOOLS)/python/complete && echo $(TOOLS)/python/bin/python || echo python3)
TOOLS = $(abspath $(TARGET))/test-tools
STATIC = $(abspath $(TARGET))/$(shell uname -m)-unknown-linux-musl/tests/fullbore
WHEEL_PROFILE ?= release
WHEELS ?= $(abspath $(TARGET))/wheels

.PHONY: build static deb deny libraries demo test test-packages test-python wheel test-tools sanitize miri asan fuzz ports ports-short bench bench-python bench-spark bench-reindexer bench-check lint lint-rust lint-python install uninstall clean help

build: ## build the release binary (the default)
	$(CARGO) build --release --package fullbore

static: ## build one file that needs no library, with musl, for ARCHITECTURE (needs rustup and musl-tools)
	scripts/static $(ARCHITECTURE)

deb: build ## make a Debian package in target/debian (needs cargo-deb)
	scripts/deb

deny: ## check licences, versions, origin and known faults of all dependencies
	scripts/deny

libraries: ## build the published libraries with each feature alone and with the oldest Rust, and as packages
	scripts/libraries

demo: build ## count words in some hundreds of MB of real sources, and report
	scripts/demo $(FULLBORE) $(OUT)

test: test-tools ## install what the tests need, and run all tests
	$(CARGO) test --workspace --profile tests
	CARGO=$(abspath scripts/cargo-tested) $(MAKE) --no-print-directory wheel WHEEL_PROFILE=tests WHEELS=$(abspath $(TARGET))/wheels-tests
	$(MAKE) --no-print-directory test-python WHEELS=$(abspath $(TARGET))/wheels-tests FULLBORE=$(or $(FULLBORE_BIN),$(TARGET)/tests/fullbore)

test-packages: test-tools ## build the static binary and the Debian package with little optimization, and test both
	scripts/static $$(uname -m) tests
	$(CARGO) build --workspace --profile tests --bins
	scripts/deb tests
	FULLBORE_STATIC=$(STATIC) FULLBORE_DEB=$$(ls $(abspath $(TARGET))/debian/fullbore_*.deb) \
		$(CARGO) test --workspace --profile tests --test packages
	FULLBORE_BIN=$(STATIC) $(CARGO) test --workspace --profile tests --test main -- transparency

test-python: ## run the tests of the Python package alone, with the binary FULLBORE and the wheel in WHEELS, if there is one
	cd python && FULLBORE=$(abspath $(FULLBORE)) FULLBORE_WHEELS=$(WHEELS) FULLBORE_TOOLS=$(TOOLS) PYTHONPATH=src PYTHONDONTWRITEBYTECODE=1 \
		$(PYTHON) -m unittest discover --top-level-directory . --start-directory tests

wheel: ## build the Python package, with the binary in it, into WHEELS (needs python3-venv)
	test -e $(TOOLS)/python/complete || test -x $(TOOLS)/wheel/bin/maturin || \
		{ python3 -m venv $(TOOLS)/wheel && $(TOOLS)/wheel/bin/pip install --quiet --disable-pip-version-check maturin==1.9.6; }
	rm -rf $(WHEELS)
	cd python && CARGO_TARGET_DIR=$(abspath $(TARGET)) $(firstword $(wildcard $(TOOLS)/python/bin/maturin) $(TOOLS)/wheel/bin/maturin) \
		build --quiet --profile $(WHEEL_PROFILE) --out $(WHEELS)

test-tools:
	scripts/install-test-tools

fuzz: ## run every fuzz target for FUZZ_SECONDS (30; needs rustup, installs what else it needs)
	scripts/fuzz $(or $(FUZZ_SECONDS),30)

sanitize: ## run the bookkeeping under Miri and what lends or shares memory under AddressSanitizer (needs Rust nightly)
	scripts/install-nightly miri
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target miri asan

# Miri runs on one CPU and takes a minute, while the other is built. It is slow: few cases.
miri:
	MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=4 $(CARGO) +nightly miri test --package fullbore-pipe --lib -- cursor

asan:
	CARGO_PROFILE_DEV_OPT_LEVEL=1 RUSTFLAGS=-Zsanitizer=address $(CARGO) +nightly test --package fullbore-pipe --package fullbore-apparatus --package fullbore-feed \
		--target $$(rustc -vV | sed -n 's/^host: //p') --target-dir $(TARGET)/sanitize --lib --test writer --test exchange --test options --test integrity --test pages --test passing --test memory --test flow

ports: ## run the tests under QEMU on other CPUs (AArch64, RISC-V, s390x, old x86-64) and kernels (hours; installs what it needs)
	CARGO="$(CARGO)" scripts/ports $(PLATFORMS)

ports-short: ## the same, but only what differs, and less of it (a few minutes for each platform once it is built)
	CARGO="$(CARGO)" scripts/ports --short $(PLATFORMS)

bench: ## measure every claim; writes docs/claims.md, docs/zero-copy.md, docs/stages.md (an hour)
	scripts/install-test-tools bench
	scripts/real-text
	$(CARGO) install --quiet --root $(TARGET)/peers --version 0.1.0 ripmors
	$(CARGO) install --quiet --root $(TARGET)/peers --version 2.7.0 huniq
	$(CARGO) install --quiet --root $(TARGET)/peers --version 3.1.2 --locked jaq
	CARGO="$(CARGO)" scripts/json-peers $(TARGET) $(CLAIMS)
	$(CARGO) build --release --package fullbore --bins --examples
	PATH="$(abspath $(TARGET)/peers/bin):$$PATH" $(CARGO) bench --package fullbore --bench claims -- $(CLAIMS)

bench-python: build test-tools ## measure the claims of the Python package (a few minutes)
	FULLBORE=$(abspath $(FULLBORE)) $(PYTHON) python/benches/claims.py $(CLAIMS)

bench-spark: build test-tools ## measure the claims of Spark (a few minutes)
	FULLBORE=$(abspath $(FULLBORE)) $(PYTHON) python/benches/spark_claims.py $(CLAIMS)

bench-reindexer: build test-tools ## measure the claims of load and query (a few minutes)
	FULLBORE=$(abspath $(FULLBORE)) $(PYTHON) python/benches/reindexer_claims.py $(CLAIMS)

bench-check: test-tools ## run every measurement of `make bench` once, small, to see that it works; judges no number
	$(CARGO) bench --profile tests --workspace --bench claims -- --check $(CLAIMS)

lint: lint-rust lint-python ## check format, lints, documentation and the lock file of the peers; warnings are errors

lint-rust:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items
	$(CARGO) metadata --locked --format-version 1 --manifest-path peers/json/Cargo.toml >/dev/null

lint-python:
	if test -e $(TOOLS)/python/complete; then cd python && $(PYTHON) -m mypy --strict src tests benches; fi

install: build ## install binary, manual pages and completions under PREFIX
	install -D -m 755 $(FULLBORE) $(DESTDIR)$(PREFIX)/bin/fullbore
	rm -rf $(TARGET)/install
	$(FULLBORE) man --directory $(TARGET)/install/man1
	$(FULLBORE) completions bash > $(TARGET)/install/fullbore.bash
	$(FULLBORE) completions zsh > $(TARGET)/install/_fullbore
	$(FULLBORE) completions fish > $(TARGET)/install/fullbore.fish
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(TARGET)/install/man1/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -D -m 644 $(TARGET)/install/fullbore.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/fullbore
	install -D -m 644 $(TARGET)/install/_fullbore $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_fullbore
	install -D -m 644 $(TARGET)/install/fullbore.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/fullbore.fish

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/fullbore
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/fullbore.1 $(DESTDIR)$(PREFIX)/share/man/man1/fullbore-*.1
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/fullbore
	rm -f $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_fullbore
	rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/fullbore.fish

clean: ## remove everything that was built
	$(CARGO) clean
	rm -rf $(OUT)

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24
