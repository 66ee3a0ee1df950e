#!/usr/bin/env bash
# The runtime's unit tests under Miri, which looks for undefined behaviour in its unsafe code.
#
#   bash ci/miri.sh            all of them
#   bash ci/miri.sh ring       those with `ring` in their name
#
# Needs a nightly toolchain with Miri; exits with status 77 where there is none. It installs nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh
find_cargo

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    skip "no nightly toolchain with Miri" "rustup toolchain install nightly --component miri,rust-src"
fi

# One seed each, for time. Tests read the clock and the folder they run in, hence no isolation.
export MIRIFLAGS="${MIRIFLAGS:--Zmiri-disable-isolation}"
export PROPTEST_CASES="${PROPTEST_CASES:-4}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/miri"
cargo +nightly miri test -p thalweg-runtime --lib "$@"
