// The work of bench/src/work.rs, and the result of a timed region.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

using u64 = std::uint64_t;

struct Row {
    double seconds;
    u64 checksum;
};

// Loaded at run time, so that neither the compiler nor the processor knows that it is zero.
inline volatile u64 zero_source = 0;

// Four dependent multiply-xors per step; bench/src/work.rs explains this loop.
[[gnu::noinline]] inline u64 spin(u64 x, u64 steps, u64 zero) {
    auto next = [](u64 x) { return (x * 6364136223846793005u) ^ 1442695040888963407u; };
    for (u64 left = steps; left != 0; left = left - 1 + (x & zero)) {
        x = next(next(next(next(x))));
    }
    return x;
}

// A serial stage of the chain: each piece of work depends on the previous one. On cache lines of its own.
struct alignas(128) Stage {
    u64 steps, zero = zero_source, last = 0;

    u64 run(u64 x) {
        if (steps == 0) {
            return x + 1;
        }
        return last = spin(x + 1 + (last & zero), steps, zero);
    }
};

inline u64 fold(u64 h, u64 x) { return h * 0x9E3779B97F4A7C15u + x; }

inline u64 mix(u64 i) {
    u64 z = i + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

template <typename Body> Row timed(Body body) {
    auto start = std::chrono::steady_clock::now();
    u64 checksum = body();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), checksum};
}

// The limit on items in flight: the tokens of a pipeline, the threshold of a flow graph's limiter.
constexpr std::size_t in_flight = 1024;

Row pipeline_chain(unsigned stages, u64 items, u64 steps);
Row graph_chain(unsigned stages, u64 items, u64 steps);
// Lines through the pipeline of this mode.
Row owned(const std::string &mode, u64 items);
Row pipeline_farm(u64 items, const std::vector<u64> &table);
Row graph_farm(u64 items, const std::vector<u64> &table);
