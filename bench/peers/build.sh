#!/bin/sh
# Builds the peers that need another toolchain into peers/target/, if the tools are installed.
# All of them are optional: the benchmark leaves out a peer that was not built.
set -u
cd "$(dirname "$0")" || exit 1
mkdir -p target

# Include and library flags of oneTBB: from the system, or from the wheels tbb-devel and tbb.
tbb_flags() {
    if echo '#include <oneapi/tbb/version.h>' | c++ -E -x c++ - >/dev/null 2>&1; then
        echo "-ltbb"
        return
    fi
    for python in "${PYTHON:-python3}" python; do
        prefix=$("$python" -c 'import sys; print(sys.prefix)' 2>/dev/null) || continue
        user=$("$python" -c 'import site; print(site.getuserbase())' 2>/dev/null)
        for root in "$prefix" "$user"; do
            [ -f "$root/include/oneapi/tbb/version.h" ] || continue
            echo "-I$root/include -L$root/lib -Wl,-rpath,$root/lib -ltbb"
            return
        done
    done
    return 1
}

if command -v go >/dev/null; then
    (cd go && GOFLAGS=-mod=mod go build -o ../target/go .) && echo "built: go"
else
    echo "missing: go (apt-get install golang-go, or https://go.dev/dl)"
fi

if ! command -v c++ >/dev/null; then
    echo "missing: a C++ compiler, needed for oneTBB (apt-get install g++)"
elif flags=$(tbb_flags); then
    # shellcheck disable=SC2086 # the flags must be split into words
    c++ -std=c++17 -O3 -march=native -o target/tbb tbb/main.cpp tbb/chain.cpp tbb/farm.cpp $flags && echo "built: tbb"
else
    echo "missing: oneTBB (apt-get install libtbb-dev, or pip install tbb-devel)"
fi
