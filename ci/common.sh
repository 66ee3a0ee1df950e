# Functions for the scripts in this folder and for .ci/run, which source this file.

# toolchain: prints the channel of rust-toolchain.toml.
toolchain() {
    sed -n 's/^channel *= *"\(.*\)"$/\1/p' rust-toolchain.toml
}

# find_cargo: adds cargo to the path if rustup was installed after this shell started.
find_cargo() {
    local env="${CARGO_HOME:-$HOME/.cargo}/env"
    if ! command -v cargo >/dev/null && [ -f "$env" ]; then
        # shellcheck disable=SC1090 # written by rustup
        source "$env"
    fi
}

# find_tools: checks that cargo and a C compiler exist, and installs the toolchain if parts of it are missing.
find_tools() {
    if ! command -v cargo >/dev/null; then
        echo "error: no cargo: install rustup from https://rustup.rs" >&2
        return 1
    fi
    if ! command -v "${CC:-cc}" >/dev/null; then
        echo "error: no C compiler: install one (on Debian: apt-get install gcc libc6-dev)" >&2
        return 1
    fi
    if ! { cargo --version && cargo clippy --version && cargo fmt --version; } >/dev/null 2>&1; then
        rustup toolchain install "$(toolchain)" --profile minimal \
            --component clippy --component rustfmt --no-self-update
    fi
    cargo --version
    cargo clippy --version
    cargo fmt --version
}

# The exit status of a script that lacks its tool, as in Automake.
NOT_RUN=77
# The steps that were skipped, with the reason.
not_run=()

# skip REASON HELP: exits a script that cannot run, with a status that is neither a pass nor a failure.
skip() {
    printf 'NOT RUN: %s\nhelp: %s\n' "$1" "$2" >&2
    if [ -n "${SKIP_REASON_FILE:-}" ]; then
        printf '%s' "$1" >"$SKIP_REASON_FILE"
    fi
    exit "$NOT_RUN"
}

# step NAME COMMAND...: runs a command and prints its name and its time. A step that ends by `skip` is
# recorded and does not end the run. The status of `skip` without a reason counts as a failure.
step() {
    local name=$1 start=$SECONDS status=0 reason
    shift
    printf '\n==> %s: %s\n' "$name" "$*"
    # The command is not part of a condition, which would disable `set -e` inside a function.
    set +e
    reason=$(mktemp)
    (
        set -e
        export SKIP_REASON_FILE=$reason
        "$@"
    )
    status=$?
    set -e
    if [ "$status" -eq "$NOT_RUN" ] && [ -s "$reason" ]; then
        not_run+=("$name ($(cat "$reason"))")
        rm -f "$reason"
        printf '<== %s SKIPPED\n' "$name"
        return
    fi
    rm -f "$reason"
    if [ "$status" -ne 0 ]; then
        printf '<== %s FAILED (status %d) after %d s\n' "$name" "$status" $((SECONDS - start))
        exit "$status"
    fi
    printf '<== %s: %d s\n' "$name" $((SECONDS - start))
}

# summary: prints the last line of a run in which no step failed.
summary() {
    local IFS=,
    local list="${not_run[*]-}"
    echo "all steps passed in $SECONDS s${list:+; NOT RUN: ${list//,/, }}"
}
