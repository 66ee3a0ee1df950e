#!/usr/bin/env bash
# Runs the tests of the engine under Valgrind's memcheck. Runs on request. Memcheck detects invalid reads and writes,
# use of uninitialised values, and leaks, in the machine code of all threads.
#
#   bash ci/valgrind.sh                                all tests
#   bash ci/valgrind.sh failures coroutines            the modules and programs of crates/thalweg/tests with these names
#   bash ci/valgrind.sh runtime::team tasks            unit tests of a module of crates/runtime, all tests of crates/tasks
#   THALWEG_CASES=1000 bash ci/valgrind.sh random_graphs
#
# Needs Valgrind (Debian: apt-get install valgrind). Exits with status 77 if there is none. Memcheck runs one
# thread at a time, 20 to 50 times slower, so it finds no races, and random tests have few cases here.
# ci/valgrind.supp lists what it reports and is no fault.
# docs/checks.md has the result of the last run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh
find_cargo

if ! command -v valgrind >/dev/null; then
    skip "no valgrind" "on Debian: apt-get install valgrind"
fi

# Test files that are left out:
# - layout and examples run cargo or other programs,
# - conformance runs hundreds of graphs, for more than five minutes, and uses
#   memory in no other way than the random tests,
# - overflow makes stacks overflow, in its own processes,
# - idle measures processor time.
without=" main layout examples conformance overflow idle "
# Test files that are programs of their own. All others are modules of the program `all`.
programs=" adaptors memory "
# Tests that measure time, that fail if a deadlock is found late, as it is at this speed, or that may take longer here
# than their watchdog allows.
skips=(--skip a_full_cycle_is_opened_beside_a_long_ring --skip several_requests_at_a_time_are_answered_at_once
    --skip each_attempt_of_a_turn_takes_the_entry_that_was_shared_for_it --skip adaptors_in_a_row_some_dropped_early
    --skip every_policy_completes_small_runs)
# Test files that leak on purpose (ends of processes, panic payloads), so leaks are not errors.
leaky=" cases off_task_drops later_room "

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    names=(runtime tasks)
    for file in crates/thalweg/tests/*.rs; do
        name=$(basename "$file" .rs)
        [[ $without == *" $name "* ]] || names+=("$name")
    done
fi
alone=() tight=() loose=() runtime=() tasks=()
for name in "${names[@]}"; do
    if [[ $name == runtime || $name == runtime::* ]]; then
        runtime+=("${name#runtime}")
    elif [[ $name == tasks || $name == tasks::* ]]; then
        tasks+=("${name#tasks}")
    elif [[ $programs == *" $name "* ]]; then
        alone+=(--test "$name")
    elif [[ $leaky == *" $name "* ]]; then
        loose+=("$name::")
    else
        tight+=("$name::")
    fi
done

host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
memcheck="valgrind --quiet --error-exitcode=99 --fair-sched=yes --num-callers=40 --suppressions=$PWD/ci/valgrind.supp"
leaks="--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite"
# Without libc, rustix looks for the vDSO of the kernel, which Valgrind hides.
export RUSTFLAGS="--cfg rustix_use_libc"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/valgrind"
export THALWEG_CASES="${THALWEG_CASES:-500}"
export PROPTEST_CASES="${PROPTEST_CASES:-8}"
export RUST_BACKTRACE=0

status=0
# under RUNNER ARGUMENTS...: runs cargo test with a runner. A failure does not end the script.
under() {
    local runner=$1
    shift
    env "CARGO_TARGET_${host}_RUNNER=$runner" cargo test "$@" || status=$?
}
# unit_tests CRATE TARGETS MODULES...: runs the tests of a crate's modules, each `::` and its path, or nothing for all.
unit_tests() {
    local crate=$1 targets=$2 module filters=()
    shift 2
    for module in "$@"; do
        filters+=("${module:+${module#::}::}")
    done
    # shellcheck disable=SC2086 # several arguments
    under "$memcheck $leaks" -p "$crate" $targets --no-fail-fast -- "${skips[@]}" "${filters[@]}"
}
if [ ${#runtime[@]} -gt 0 ]; then
    unit_tests thalweg-runtime --lib "${runtime[@]}"
fi
if [ ${#tasks[@]} -gt 0 ]; then
    unit_tests thalweg-tasks "--lib --test all" "${tasks[@]}"
fi
if [ ${#alone[@]} -gt 0 ]; then
    under "$memcheck $leaks" -p thalweg "${alone[@]}" --no-fail-fast -- "${skips[@]}"
fi
if [ ${#tight[@]} -gt 0 ]; then
    under "$memcheck $leaks" -p thalweg --test all -- "${skips[@]}" "${tight[@]}"
fi
if [ ${#loose[@]} -gt 0 ]; then
    under "$memcheck" -p thalweg --test all -- "${skips[@]}" "${loose[@]}"
fi
exit "$status"
