#!/usr/bin/env bash
# Runs the tests of `cargo test` with more random cases and at all optimisation levels. Runs on request.
#
#   bash ci/long.sh                                    20000 cases of each test file
#   THALWEG_CASES=1000000 bash ci/long.sh              more cases
#   bash ci/long.sh random_graphs                      only tests with this in their name
#
# THALWEG_CASES is the number of cases of the engine's own random tests, and of the kills and changed
# files of the command's; PROPTEST_CASES is that of tests written with proptest. A test that fixes its number of cases keeps it. With THALWEG_LONG=1 every
# StreamIt program is compiled at all levels, with the C compiler flags that users get (`cargo test` compiles half of the
# programs at two levels and the others at one, three quarters of them with -O1).
# Tests that `cargo test` ignores run, too. A failure prints the seed or the case to repeat it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export THALWEG_CASES="${THALWEG_CASES:-20000}"
export THALWEG_LONG=1
export PROPTEST_CASES="${PROPTEST_CASES:-$THALWEG_CASES}"
echo "cases: $THALWEG_CASES (proptest: $PROPTEST_CASES)"
cargo test --workspace --release --tests "$@" -- --include-ignored
