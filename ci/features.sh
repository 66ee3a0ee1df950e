#!/usr/bin/env bash
# Builds and runs ci/features, which uses what each feature of the facade adds; checks the facade for other systems and with
# the oldest compiler that it names.
#
#   bash ci/features.sh           no feature, and all of them
#   bash ci/features.sh all       every combination
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

find_cargo
export CARGO_TARGET_DIR=$PWD/target/features
run() {
    echo "features: ${1:-none}"
    cargo run --quiet --locked --manifest-path ci/features/Cargo.toml --features "$1"
}

features=(coroutines machine policies report tasks timeline tokens)
if [ "${1:-}" = all ]; then
    for ((set = 0; set < 1 << ${#features[@]}; set++)); do
        list=""
        for ((i = 0; i < ${#features[@]}; i++)); do
            ((set >> i & 1)) && list+="${features[i]},"
        done
        run "$list"
    done
else
    run ""
    run "$(IFS=,; echo "${features[*]}")"
fi

# The facade alone: tests and benchmarks may need more.
check() {
    cargo "${@:2}" check --quiet -p thalweg --lib
    cargo "${@:2}" check --quiet -p thalweg --lib --features full
    echo "checked: $1"
}

missing=()
# Needs the standard library of the other system.
for target in x86_64-pc-windows-gnu aarch64-apple-darwin; do
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        CARGO_BUILD_TARGET=$target check "$target"
    else
        missing+=("$target (rustup target add $target)")
    fi
done

oldest=$(sed -n 's/^rust-version *= *"\(.*\)"$/\1/p' Cargo.toml)
if rustup run "$oldest.0" cargo --version >/dev/null 2>&1; then
    check "Rust $oldest" "+$oldest.0"
else
    missing+=("Rust $oldest (rustup toolchain install $oldest.0 --profile minimal)")
fi
if [ "${#missing[@]}" -gt 0 ]; then
    skip "not checked for ${missing[*]}" "install these; the features have passed"
fi
