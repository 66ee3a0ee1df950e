#!/usr/bin/env bash
# Runs the tests of the back end with generated C under GCC's address and undefined-behaviour sanitizers. Runs on
# request. A compiler wrapper adds the sanitizers. An access outside of buffers or arrays, or undefined behaviour,
# ends a test with a report of its location.
#
#   bash ci/sanitize.sh                                all tests of the back end, 300 random programs
#   THALWEG_CASES=5000 bash ci/sanitize.sh random      only random programs, more of them
#   bash ci/sanitize.sh suite                          the program suite
#
# The engine allocates buffers and queues. LD_PRELOAD replaces its allocator by that of the sanitizer, so that they
# have guarded edges too. -O1 is used because there are many small functions. Checks of intended behaviour are
# disabled: shifts, which are defined under -fwrapv, and arithmetic on null pointers, for nodes without items. Exits
# with status 77 if GCC has no sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh
find_cargo

gcc=${CC:-gcc}
asan=$("$gcc" -print-file-name=libasan.so)
if ! [ -f "$asan" ] || ! [ -f "$("$gcc" -print-file-name=libubsan.so)" ]; then
    skip "$gcc has no sanitizers" "install libasan and libubsan for $gcc, or set CC to a GCC that has them"
fi

# All tests, the random programs, or a module of tests/native.
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
# No detection of use after return, because the sanitizer does not know when the stack of a suspended firing is left
# or dropped.
runner="env LD_PRELOAD=$asan ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:${ASAN_OPTIONS:-} \
UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}"
host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
export "CARGO_TARGET_${host}_RUNNER=$runner" CC="$folder/cc" XDG_CACHE_HOME="$folder/cache"
cargo test -p thalweg-codegen "${select[@]}"
