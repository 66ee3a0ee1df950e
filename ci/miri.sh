#!/usr/bin/env bash
# Runs the unit tests of the runtime under Miri, which detects undefined behaviour in unsafe code.
#
#   bash ci/miri.sh            all tests
#   bash ci/miri.sh ring       tests with `ring` in their name
#
# Needs a nightly toolchain with Miri. Exits with status 77 if there is none, and installs nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh
find_cargo

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    skip "no nightly toolchain with Miri" "rustup toolchain install nightly --component miri,rust-src"
fi

# Only one seed for each test, to save time. No isolation, because tests read the clock and the current folder.
export MIRIFLAGS="${MIRIFLAGS:--Zmiri-disable-isolation}"
export PROPTEST_CASES="${PROPTEST_CASES:-4}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/miri"
cargo +nightly miri test -p thalweg-runtime --lib "$@"
