#!/usr/bin/env bash
# Packages the crates that are meant for publishing, and builds each from its package. On request: it needs the
# network, for the index of crates.io.
#
#   bash ci/package.sh                 all of them
#   bash ci/package.sh --no-verify     without building
#   bash ci/package.sh --list          the files of each
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

find_cargo
# Those for tests and benchmarks inherit `publish = false`.
exec cargo package --workspace --exclude thalweg-str --exclude thalweg-sim \
    --exclude thalweg-lang-testgen --exclude thalweg-compile-fail --exclude thalweg-logs --exclude thalweg-bench "$@"
