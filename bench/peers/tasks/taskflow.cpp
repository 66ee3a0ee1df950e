// Tasks without work in Taskflow: a wavefront. Arguments: MODE SIZE THREADS.
#include "times.hpp"

#include <cstdlib>
#include <cstring>
#include <taskflow/taskflow.hpp>

namespace {
void build(tf::Taskflow &graph, std::size_t side) {
    std::vector<tf::Task> nodes;
    nodes.reserve(side * side);
    for (std::size_t at = 0; at < side * side; ++at) {
        nodes.push_back(graph.emplace([] {}));
    }
    for (std::size_t at = 0; at < side * side; ++at) {
        if (at % side + 1 < side) {
            nodes[at].precede(nodes[at + 1]);
        }
        if (at + side < side * side) {
            nodes[at].precede(nodes[at + side]);
        }
    }
}
} // namespace

int main(int count, char **arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: taskflow wavefront|build SIZE THREADS\n");
        return 2;
    }
    const auto side = std::strtoul(arguments[2], nullptr, 10);
    tf::Executor executor(std::strtoul(arguments[3], nullptr, 10));
    if (std::strcmp(arguments[1], "build") == 0) {
        return print_median([=] {
            tf::Taskflow graph;
            build(graph, side);
            return static_cast<unsigned long>(graph.num_tasks() != side * side);
        });
    }
    tf::Taskflow graph;
    build(graph, side);
    return print_median([&] {
        executor.run(graph).wait();
        return 0ul;
    });
}
