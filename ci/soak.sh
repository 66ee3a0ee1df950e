#!/usr/bin/env bash
# Random graphs and networks, failures and circles beside what runs, for as long as is asked, with
# a new seed each time round; stops at the first failure, which prints its seed.
#
#   bash ci/soak.sh            an hour
#   bash ci/soak.sh 480        minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minutes="${1:-60}"
export THALWEG_CASES="${THALWEG_CASES:-50000}"
tests=(cargo test -q -p thalweg --release --test random_processes --test random_graphs --test failures
    --test local_deadlocks --test deadlocks --test processes)
"${tests[@]}" --no-run
rounds=0
while [ "$SECONDS" -lt "$((minutes * 60))" ]; do
    THALWEG_SEED="$((RANDOM * 32768 + RANDOM))" "${tests[@]}" >/dev/null
    rounds=$((rounds + 1))
    echo "$rounds rounds of $THALWEG_CASES cases in $SECONDS s: no failure"
done
