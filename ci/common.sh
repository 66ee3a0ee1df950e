# For the scripts beside this one and .ci/run, which source it; not to be run.

# The channel of rust-toolchain.toml.
toolchain() {
    sed -n 's/^channel *= *"\(.*\)"$/\1/p' rust-toolchain.toml
}

# Puts cargo on the path where rustup was installed after this shell began.
find_cargo() {
    local env="${CARGO_HOME:-$HOME/.cargo}/env"
    if ! command -v cargo >/dev/null && [ -f "$env" ]; then
        # shellcheck disable=SC1090 # written by rustup
        source "$env"
    fi
}

# Checks that the tools are there, and installs the toolchain where parts of it are missing.
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

# The exit status of a script whose tool is absent, as with Automake.
NOT_RUN=77
# Steps that were not run, with the reason.
not_run=()

# skip REASON HELP: ends a script that cannot run here, in a way that is neither a pass nor a failure.
skip() {
    printf 'NOT RUN: %s\nhelp: %s\n' "$1" "$2" >&2
    if [ -n "${SKIP_REASON_FILE:-}" ]; then
        printf '%s' "$1" >"$SKIP_REASON_FILE"
    fi
    exit "$NOT_RUN"
}

# step NAME COMMAND...: runs a step and says what it is and how long it took. A step that ends by
# `skip` is noted and does not end the run; the bare status of `skip`, without a reason, is a failure.
step() {
    local name=$1 start=$SECONDS status=0 reason
    shift
    printf '\n==> %s: %s\n' "$name" "$*"
    # Not as a condition, which would switch `set -e` off inside a function that is a step.
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

# The last line of a run in which no step failed.
summary() {
    local IFS=,
    local list="${not_run[*]-}"
    echo "all steps passed in $SECONDS s${list:+; NOT RUN: ${list//,/, }}"
}
