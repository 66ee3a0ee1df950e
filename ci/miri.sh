#!/usr/bin/env bash
# Runs the unit tests of the runtime and of task graphs under Miri, which detects undefined behaviour in unsafe code, and
# then random task graphs.
#
#   bash ci/miri.sh            all tests
#   bash ci/miri.sh ring       unit tests with `ring` in their name
#
# A process of Miri uses one core, so all tests are run by several processes: one for each core, or THALWEG_MIRI_PROCESSES.
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
# Many tests panic, and a backtrace takes Miri several seconds.
export RUST_BACKTRACE=0
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/miri"
processes=${THALWEG_MIRI_PROCESSES:-$(nproc)}
# The tests of one process: few, so that all processes end at about the same time; not one, since each takes a second to
# start.
batch=8

# miri ARGUMENT...: runs tests of one program.
miri() {
    cargo +nightly miri test "$@"
}

# batches ARGUMENT... [-- FILTER...]: prints the arguments of `miri` for each batch of a program's tests, one in a line.
batches() {
    local program=() names
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        program+=("$1")
        shift
    done
    miri "${program[@]}" --no-run >&2
    names=$(miri "${program[@]}" "${@:---}" --list --format terse 2>/dev/null | sed -n 's/: test$//p')
    if [ -z "$names" ]; then
        echo "error: no tests in ${program[*]}" >&2
        return 1
    fi
    xargs -n "$batch" echo "${program[@]}" -- --exact <<<"$names"
}

# run_batch ARGUMENT...: runs a batch, and prints what it prints as a whole.
run_batch() {
    local output status=0
    output=$(miri "$@" -Zunstable-options --report-time 2>&1) || status=$?
    printf '%s\n' "$output"
    return "$status"
}

if [ $# -gt 0 ]; then
    miri -p thalweg-runtime -p thalweg-tasks --lib "$@"
    exit
fi
# The other modules of `all` have graphs that are too large for Miri.
batches=$(
    batches -p thalweg-runtime --lib &&
        batches -p thalweg-tasks --lib &&
        batches -p thalweg-tasks --test all -- random:: keys::
)
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT
while read -ra arguments; do
    while [ "$(jobs -rp | wc -l)" -ge "$processes" ]; do
        wait -n || true # the file has the failures
    done
    { run_batch "${arguments[@]}" </dev/null || echo "${arguments[*]}" >>"$failures"; } &
done <<<"$batches"
wait
if [ -s "$failures" ]; then
    printf 'error: tests failed under Miri; a batch is run again by: cargo +nightly miri test ...\n' >&2
    cat "$failures" >&2
    exit 1
fi
