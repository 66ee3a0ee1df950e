#!/usr/bin/env bash
# Checks the crates that the workspace builds on by deny.toml: licences, sources, wildcard versions, and crates that are there
# in several versions (a warning). Advisories need a database from the network: cargo deny check advisories
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

find_cargo
if ! cargo deny --version >/dev/null 2>&1; then
    skip "no cargo-deny" "cargo install --locked cargo-deny"
fi
cargo deny --log-level error check --hide-inclusion-graph bans licenses sources
