#!/usr/bin/env bash
# Fuzzes the targets of fuzz/. Runs on request.
#
#   bash ci/fuzz.sh                                    all targets, 60 s each
#   SECONDS_EACH=3600 bash ci/fuzz.sh archive          one target, for an hour
#
# Needs a nightly toolchain, a C++ compiler and cargo-fuzz (cargo install cargo-fuzz). Exits with
# status 77 if one is missing, and installs nothing. Keeps the inputs it finds in fuzz/corpus/, and
# those that fail in fuzz/artifacts/. Begins with the inputs in fuzz/seeds/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh
find_cargo

if ! cargo +nightly --version >/dev/null 2>&1; then
    skip "no nightly toolchain" "rustup toolchain install nightly"
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    skip "no cargo-fuzz" "cargo install cargo-fuzz"
fi
if ! command -v "${CXX:-c++}" >/dev/null; then
    skip "no C++ compiler" "on Debian: apt-get install g++"
fi

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(cargo +nightly fuzz list)
fi
for target in "${targets[@]}"; do
    echo "==> $target"
    seeds=() dictionary=()
    if [ "$target" = parse ] || [ "$target" = elaborate ]; then
        mkdir -p "fuzz/corpus/$target"
        seeds=("fuzz/corpus/$target" crates/lang/tests/syntax/programs)
        dictionary=(-dict=fuzz/parse.dict)
    fi
    if [ -d "fuzz/seeds/$target" ]; then
        mkdir -p "fuzz/corpus/$target"
        cp fuzz/seeds/"$target"/* "fuzz/corpus/$target/"
    fi
    case "$target" in
        report) example=crates/report/tests/example.json ;;
        timeline) example=crates/report/tests/timeline.json ;;
        *) example='' ;;
    esac
    if [ -n "$example" ]; then
        mkdir -p "fuzz/corpus/$target"
        cp "$example" "fuzz/corpus/$target/"
    fi
    cargo +nightly fuzz run "$target" "${seeds[@]}" -- "${dictionary[@]}" \
        -max_total_time="${SECONDS_EACH:-60}" -rss_limit_mb=2048
done
