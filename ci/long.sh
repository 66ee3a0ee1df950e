#!/usr/bin/env bash
# The long run of the tests, on request: the same tests as always, with more cases and at all levels.
#
#   bash ci/long.sh                                    20000 cases of each test file
#   THALWEG_CASES=1000000 bash ci/long.sh              more
#   bash ci/long.sh random_graphs                      tests with this in their name only
#
# THALWEG_CASES is the number of cases of the engine's own random tests, PROPTEST_CASES that of
# those written with proptest; where a test fixes its own number, that number stays. THALWEG_LONG=1 has
# every StreamIt program compiled at all levels, of which `cargo test` takes two (the program suite: one).
# Tests that `cargo test` ignores run, too. A failure prints the seed or the case that repeats it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export THALWEG_CASES="${THALWEG_CASES:-20000}"
export THALWEG_LONG=1
export PROPTEST_CASES="${PROPTEST_CASES:-$THALWEG_CASES}"
echo "cases: $THALWEG_CASES (proptest: $PROPTEST_CASES)"
cargo test --workspace --release --tests "$@" -- --include-ignored
