#!/usr/bin/env bash
# The runtime's unit tests under Miri, which looks for undefined behaviour in its unsafe code.
#
#   bash ci/miri.sh            all of them
#   bash ci/miri.sh ring       those with `ring` in their name
#
# Needs a nightly toolchain with Miri, and skips with a message where there is none; it installs
# nothing. To have it: rustup toolchain install nightly --component miri,rust-src
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "skipped: no Miri (rustup toolchain install nightly --component miri,rust-src)"
    exit 0
fi

# One seed each, for time. Tests read the clock and the folder they run in, hence no isolation.
export MIRIFLAGS="${MIRIFLAGS:--Zmiri-disable-isolation}"
export PROPTEST_CASES="${PROPTEST_CASES:-4}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/miri"
cargo +nightly miri test -p thalweg-runtime --lib "$@"
