#!/usr/bin/env bash
# Runs the unit tests of the runtime and of task graphs under Miri, which detects undefined behaviour in unsafe code, and
# then random task graphs.
#
#   bash ci/miri.sh            all tests
#   bash ci/miri.sh ring       unit tests with `ring` in their name
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
cargo +nightly miri test -p thalweg-runtime -p thalweg-tasks --lib "$@"
if [ $# -eq 0 ]; then
    # The other modules of this program have graphs that are too large for Miri.
    cargo +nightly miri test -p thalweg-tasks --test all -- random:: keys::
fi
