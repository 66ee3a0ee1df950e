#!/usr/bin/env bash
# Generated C under GCC's address and undefined-behaviour sanitizers, on request: the tests of the back end as
# they are, with a compiler that adds the checks. What generated code does outside of its buffers, its arrays
# and the language ends a test with a report of where.
#
#   bash ci/sanitize.sh                                all tests of the back end, 300 random programs
#   THALWEG_CASES=5000 bash ci/sanitize.sh random      more random programs, and nothing else
#   bash ci/sanitize.sh suite                          the program suite
#
# Buffers and queues are the engine's own memory: its allocator is the sanitizer's, by LD_PRELOAD, so that these
# have guarded edges too. Functions are small and many, hence -O1. Left out are checks of what is meant:
# shifts, which have C's and the processor's meaning under -fwrapv, and pointers that count from nothing where
# a node has no items. Exits with status 77 where GCC has no sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh
find_cargo

gcc=${CC:-gcc}
asan=$("$gcc" -print-file-name=libasan.so)
if ! [ -f "$asan" ] || ! [ -f "$("$gcc" -print-file-name=libubsan.so)" ]; then
    skip "$gcc has no sanitizers" "install libasan and libubsan for $gcc, or set CC to a GCC that has them"
fi

# A module of the tests in tests/native, or the random programs, or all.
case "${1-}" in
    "") select=(--test native --test text --test random) ;;
    random) select=(--test random) ;;
    *) select=(--test native "$1::") ;;
esac
export THALWEG_CASES="${THALWEG_CASES:-300}" THALWEG_LONG=1
cargo test -p thalweg-codegen "${select[@]}" --no-run

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/cc" <<END
#!/bin/sh
unset LD_PRELOAD
exec "$gcc" "\$@" -O1 -g -fsanitize=address,undefined -fno-sanitize=shift,pointer-overflow \\
    -fno-sanitize-recover=undefined
END
chmod +x "$folder/cc"
# Stacks of suspended firings are left and dropped without the sanitizer's knowing, hence no use-after-return.
runner="env LD_PRELOAD=$asan ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:${ASAN_OPTIONS:-} \
UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}"
host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
export "CARGO_TARGET_${host}_RUNNER=$runner" CC="$folder/cc" XDG_CACHE_HOME="$folder/cache"
cargo test -p thalweg-codegen "${select[@]}"
