#!/usr/bin/env bash
# Runs random graphs and networks, failures and deadlocks for a given time, with a new seed in each round.
# Stops at the first failure, which prints its seed.
#
#   bash ci/soak.sh            an hour
#   bash ci/soak.sh 480        480 minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minutes="${1:-60}"
export THALWEG_CASES="${THALWEG_CASES:-50000}"
tests=(cargo test -q -p thalweg --release --test all)
modules=(random_processes:: random_graphs:: random_loops:: failures:: local_deadlocks:: deadlocks:: processes::)
"${tests[@]}" --no-run
rounds=0
while [ "$SECONDS" -lt "$((minutes * 60))" ]; do
    THALWEG_SEED="$((RANDOM * 32768 + RANDOM))" "${tests[@]}" -- "${modules[@]}" >/dev/null
    rounds=$((rounds + 1))
    echo "$rounds rounds of $THALWEG_CASES cases in $SECONDS s: no failure"
done
