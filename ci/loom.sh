#!/usr/bin/env bash
# Runs the loom models: all interleavings of the lock-free protocols, up to a number of preemptions.
#
#   LOOM_MAX_PREEMPTIONS=3 bash ci/loom.sh             all models, with a deeper search (the default is 2)
#   bash ci/loom.sh loom_sleep                         the models with this in their name
#
# Models are the tests of thalweg-runtime and thalweg-tasks with names that begin with `loom_`. They have their own target
# folder, because `--cfg loom` rebuilds all crates.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export RUSTFLAGS="--cfg loom"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-2}"
# Link-time optimisation would take more time than it saves.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=0
models=(cargo test -p thalweg-runtime -p thalweg-tasks --lib --release "${1:-loom_}")

# Counts the models first, because a test run with no matching test passes.
count=$("${models[@]}" -- --list | grep -c ': test$' || true)
if [ "$count" -eq 0 ]; then
    echo "error: no loom models with \`${1:-loom_}\` in their name" >&2
    exit 1
fi
echo "$count models, at most $LOOM_MAX_PREEMPTIONS preemptions each"
"${models[@]}"
