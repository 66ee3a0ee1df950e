#!/usr/bin/env bash
# Finds words in comments, docs and messages that hide the actor or the number; docs/checks.md (Prose) says what to
# write instead. Reads the tracked files with the extensions below, whole lines, code included.
#
#   bash ci/prose.sh                 checks the repository
#   bash ci/prose.sh --self-test     checks this script, in a temporary repository
#
# ci/prose.allow lists the lines that may use such a word, each as path:line with a comment above it that gives the
# reason. An entry that no line needs is an error. Needs git. Exits with status 77 outside a git repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

words='who|whoever|nobody|somebody|he|his|so many'
files=('*.rs' '*.md' '*.sh' '*.c' '*.h' '*.toml')

# read_allowed: reads ci/prose.allow into `allowed`, by entry, and counts its errors in `errors`.
read_allowed() {
    local entry above='' number=0
    while IFS= read -r entry || [ -n "$entry" ]; do
        number=$((number + 1))
        if [[ $entry == *:* && $entry != '#'* ]]; then
            if [[ $above != '#'* ]]; then
                printf 'ci/prose.allow:%d:%s\nerror: entry without a reason\nhelp: add a comment line above it\n' \
                    "$number" "$entry"
                errors=$((errors + 1))
            fi
            allowed[$entry]=0
        elif [[ -n $entry && $entry != '#'* ]]; then
            printf 'ci/prose.allow:%d:%s\nerror: neither a comment nor path:line\n' "$number" "$entry"
            errors=$((errors + 1))
        fi
        above=$entry
    done <ci/prose.allow
}

# check: prints the lines that use a word and are not allowed. Fails if there are any.
check() {
    local -A allowed=()
    local path number text entry errors=0 found=0 status=0
    if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        skip "no git repository" "run this script in a clone"
    fi
    if [ -f ci/prose.allow ]; then
        read_allowed
    fi
    matches=$(mktemp)
    trap 'rm -f "$matches"' EXIT
    # -z: paths are verbatim and end in NUL, as do line numbers, so that any name can be read back.
    git grep -zInwiE -e "$words" -- "${files[@]}" >"$matches" || status=$?
    if [ "$status" -gt 1 ]; then # 1: no match
        exit "$status"
    fi
    while IFS= read -r -d '' path && IFS= read -r -d '' number && IFS= read -r text; do
        entry=$path:$text
        if [ -n "${allowed[$entry]+set}" ]; then
            allowed[$entry]=1
        else
            printf '%s:%s:%s\n' "$path" "$number" "$text"
            found=$((found + 1))
        fi
    done <"$matches"
    for entry in "${!allowed[@]}"; do
        if [ "${allowed[$entry]}" -eq 0 ]; then
            printf 'ci/prose.allow:%s\nerror: no line needs this entry\nhelp: remove it\n' "$entry"
            errors=$((errors + 1))
        fi
    done
    if [ "$found" -gt 0 ]; then
        printf 'error: %d lines use one of: %s\n' "$found" "${words//|/, }"
        printf 'help: name the actor or the number; see Prose in docs/checks.md\n'
    fi
    [ $((found + errors)) -eq 0 ]
}

# expect STATUS TEXT: runs the copy of this script in the temporary repository; checks its status and that it prints
# TEXT.
expect() {
    local status=0 output
    output=$(bash "$folder/ci/prose.sh" 2>&1) || status=$?
    if [ "$status" -ne "$1" ] || [[ $output != *"$2"* ]]; then
        printf 'error: status %d, expected %d with: %s\n%s\n' "$status" "$1" "$2" "$output" >&2
        exit 1
    fi
}

self_test() {
    local word=${words%%|*} phrase=${words##*|} name='it'\''s "a" b.rs' line
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    mkdir "$folder/ci"
    cp ci/prose.sh ci/common.sh "$folder/ci/"
    git -C "$folder" init -q
    # Longer words, identifiers, files of other kinds and untracked files are no finding.
    printf '// %sse, the, this_%s\n' "$word" "$word" >"$folder/clean.rs"
    printf '%s\n' "$word" >"$folder/program.str"
    git -C "$folder" add clean.rs program.str
    printf '// %s\n' "$word" >"$folder/untracked.rs"
    expect 0 ''
    # An injected line is found, with its place, in any case of letters and under any name of the file.
    line="    // ${word^} asks \"$phrase\" \\times [0] \$x \`y\`"
    printf '\n%s\n' "$line" >"$folder/$name"
    git -C "$folder" add -- "$name"
    expect 1 "$name:2:$line"
    expect 1 'docs/checks.md'
    # The allow-list permits this line, with a reason, and no other.
    printf '# A quotation.\n%s:%s\n' "$name" "$line" >"$folder/ci/prose.allow"
    expect 0 ''
    printf '%s more\n' "$line" >>"$folder/$name"
    expect 1 "$name:3:$line more"
    printf '\n%s\n' "$line" >"$folder/$name"
    printf '%s:%s\n' "$name" "$line" >"$folder/ci/prose.allow"
    expect 1 'entry without a reason'
    printf '# A quotation.\n%s:%s\n# Gone.\nclean.rs:none\n' "$name" "$line" >"$folder/ci/prose.allow"
    expect 1 'no line needs this entry'
    echo "self-test passed"
}

case "${1-}" in
    "") check ;;
    --self-test) self_test ;;
    *)
        echo "error: unknown argument \`$1\`, expected --self-test or none" >&2
        exit 2
        ;;
esac
