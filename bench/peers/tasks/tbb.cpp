// Tasks without work in oneTBB: fib by task_group, and a wavefront as a flow graph. Arguments: MODE SIZE THREADS.
#include "times.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>

namespace {
namespace flow = tbb::flow;
using node = flow::continue_node<flow::continue_msg>;

unsigned long fib(unsigned long n) {
    if (n < 2) {
        return n;
    }
    unsigned long a = 0, b = 0;
    tbb::task_group group;
    group.run([&] { b = fib(n - 2); });
    a = fib(n - 1);
    group.wait();
    return a + b;
}

struct wavefront {
    flow::graph graph;
    std::vector<std::unique_ptr<node>> nodes;

    explicit wavefront(std::size_t side) {
        nodes.reserve(side * side);
        for (std::size_t at = 0; at < side * side; ++at) {
            nodes.push_back(std::make_unique<node>(graph, [](const flow::continue_msg &message) { return message; }));
        }
        for (std::size_t at = 0; at < side * side; ++at) {
            if (at % side + 1 < side) {
                flow::make_edge(*nodes[at], *nodes[at + 1]);
            }
            if (at + side < side * side) {
                flow::make_edge(*nodes[at], *nodes[at + side]);
            }
        }
    }
};
} // namespace

int main(int count, char **arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: tbb-tasks fib|wavefront|build SIZE THREADS\n");
        return 2;
    }
    const auto size = std::strtoul(arguments[2], nullptr, 10);
    const auto threads = std::strtoul(arguments[3], nullptr, 10);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    if (std::strcmp(arguments[1], "fib") == 0) {
        return print_median([=] { return fib(size); });
    }
    if (std::strcmp(arguments[1], "build") == 0) {
        return print_median([=] {
            wavefront built(size);
            return static_cast<unsigned long>(built.nodes.size() != size * size);
        });
    }
    wavefront built(size);
    return print_median([&] {
        built.nodes[0]->try_put(flow::continue_msg());
        built.graph.wait_for_all();
        return 0ul;
    });
}
