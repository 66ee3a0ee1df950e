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

# The kernels of loops, with the flags that build.rs compiles them with: crates/codegen/src/build/flags.rs.
kernels() {
    cc -std=gnu11 -O3 -march=native -fwrapv -ffp-contract=off -fno-math-errno -fno-strict-aliasing -fno-tree-ter -fPIC \
        -Wno-psabi -c -o target/kernels.o loops/kernels.c
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
    c++ -std=c++17 -O3 -march=native -o target/tbb tbb/main.cpp tbb/chain.cpp tbb/farm.cpp tbb/owned.cpp $flags && echo "built: tbb"
    # shellcheck disable=SC2086
    kernels && c++ -std=c++17 -O3 -march=native -o target/tbb-loops tbb/loops.cpp target/kernels.o $flags &&
        echo "built: tbb-loops"
    # shellcheck disable=SC2086
    c++ -std=c++17 -O3 -march=native -o target/tbb-tasks tasks/tbb.cpp $flags && echo "built: tbb-tasks"
    # shellcheck disable=SC2086
    c++ -std=c++17 -O3 -march=native -fPIC -shared -o target/tbb-each.so each/tbb.cpp $flags && echo "built: tbb-each.so"
    # shellcheck disable=SC2086
    c++ -std=c++17 -O3 -march=native -fPIC -shared -o target/tbb-danbi.so danbi/tbb.cpp $flags && echo "built: tbb-danbi.so"
else
    echo "missing: oneTBB (apt-get install libtbb-dev, or pip install tbb-devel)"
fi

# Taskflow has headers only, in a folder that the caller names.
if [ -f "${TASKFLOW:-}/taskflow/taskflow.hpp" ]; then
    c++ -std=c++20 -O3 -march=native -pthread "-I$TASKFLOW" -o target/taskflow tasks/taskflow.cpp &&
        echo "built: taskflow"
else
    echo "missing: Taskflow (TASKFLOW=<the folder that has taskflow/taskflow.hpp>)"
fi

if echo 'int main(void) { return 0; }' | cc -fopenmp -o target/openmp -x c - 2>/dev/null; then
    kernels && cc -std=gnu11 -O3 -march=native -fopenmp -o target/openmp openmp/main.c target/kernels.o &&
        echo "built: openmp"
    cc -std=gnu11 -O3 -march=native -fopenmp -fPIC -shared -o target/openmp-each.so each/openmp.c &&
        echo "built: openmp-each.so"
else
    rm -f target/openmp
    echo "missing: a C compiler with OpenMP (apt-get install gcc)"
fi

# Archivers are installed programs; nothing is built.
for pair in tar:tar zstd:zstd borg:borgbackup restic:restic; do
    if command -v "${pair%:*}" >/dev/null; then
        echo "installed: ${pair%:*}"
    else
        echo "missing: ${pair%:*} (apt-get install ${pair#*:})"
    fi
done
