// The benchmark's jobs on oneTBB.
//
//   tbb calibrate
//   tbb pipeline-chain|graph-chain STAGES ITEMS STEPS THREADS
//   tbb pipeline-farm|graph-farm ITEMS THREADS TABLE
//   tbb owned-stages|owned-map|owned-words ITEMS THREADS
//
// Each prints the seconds of its timed region and the checksum.
#include "work.hpp"

#include <algorithm>
#include <cstdio>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <sstream>
#include <string>

namespace {
Row calibrate() {
    constexpr u64 steps = 50000;
    const u64 zero = zero_source;
    Row best{1e9, 0};
    for (u64 run = 0; run < 60; ++run) {
        Row row = timed([&] { return spin(run, steps, zero); });
        best = {std::min(best.seconds, row.seconds), best.checksum + row.checksum};
    }
    return {best.seconds / steps, best.checksum};
}

std::vector<u64> numbers(const std::string &text) {
    std::vector<u64> table;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        table.push_back(std::stoull(word));
    }
    return table;
}

// Starts the library's threads before the timed region.
void warm_up(unsigned threads) {
    tbb::parallel_for(0u, threads * 64, [](unsigned i) { (void)spin(i, 25000, zero_source); });
}

Row run(const std::vector<std::string> &args) {
    const std::string mode = args.empty() ? "" : args[0];
    const bool chain = args.size() == 5 && (mode == "pipeline-chain" || mode == "graph-chain");
    const bool farm = args.size() == 4 && (mode == "pipeline-farm" || mode == "graph-farm");
    const bool owns = args.size() == 3 && (mode == "owned-stages" || mode == "owned-map" || mode == "owned-words");
    if (mode == "calibrate") {
        return calibrate();
    }
    if (!chain && !farm && !owns) {
        std::fprintf(stderr, "usage: tbb calibrate | pipeline-chain|graph-chain STAGES ITEMS STEPS THREADS"
                             " | pipeline-farm|graph-farm ITEMS THREADS TABLE"
                             " | owned-stages|owned-map|owned-words ITEMS THREADS\n");
        std::exit(2);
    }
    const unsigned threads = std::stoul(args[chain ? 4 : 2]);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    warm_up(threads);
    if (chain) {
        const unsigned stages = std::stoul(args[1]);
        const u64 items = std::stoull(args[2]), steps = std::stoull(args[3]);
        return mode[0] == 'p' ? pipeline_chain(stages, items, steps) : graph_chain(stages, items, steps);
    }
    const u64 items = std::stoull(args[1]);
    if (owns) {
        return owned(mode, items);
    }
    const std::vector<u64> table = numbers(args[3]);
    return mode[0] == 'p' ? pipeline_farm(items, table) : graph_farm(items, table);
}
} // namespace

int main(int argc, char **argv) {
    Row row = run({argv + 1, argv + argc});
    std::printf("%.12f %llu\n", row.seconds, static_cast<unsigned long long>(row.checksum));
}
