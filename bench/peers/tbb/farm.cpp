// The ordered farm: parallel_pipeline, and a flow graph with a sequencer.
#include "work.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_pipeline.h>

namespace flow = tbb::flow;

namespace {
u64 heavy(u64 i, const u64 *table, u64 zero) {
    u64 scattered = mix(i);
    return spin(scattered, table[scattered >> 54], zero);
}

struct Item {
    u64 index, value;
};
} // namespace

Row pipeline_farm(u64 items, const std::vector<u64> &table) {
    const u64 zero = zero_source;
    const u64 *steps = table.data();
    u64 next = 0, sum = 0;
    const auto serial = tbb::filter_mode::serial_in_order;
    auto whole = tbb::make_filter<void, u64>(serial,
                                             [&](tbb::flow_control &control) -> u64 {
                                                 if (next == items) {
                                                     control.stop();
                                                     return 0;
                                                 }
                                                 return next++;
                                             }) &
                 tbb::make_filter<u64, u64>(tbb::filter_mode::parallel,
                                            [=](u64 i) { return heavy(i, steps, zero); }) &
                 tbb::make_filter<u64, void>(serial, [&](u64 x) { sum = fold(sum, x); });
    return timed([&] {
        tbb::parallel_pipeline(in_flight, whole);
        return sum;
    });
}

Row graph_farm(u64 items, const std::vector<u64> &table) {
    const u64 zero = zero_source;
    const u64 *steps = table.data();
    u64 next = 0, sum = 0;
    flow::graph graph;
    flow::input_node<u64> source(graph, [&](tbb::flow_control &control) -> u64 {
        if (next == items) {
            control.stop();
            return 0;
        }
        return next++;
    });
    flow::limiter_node<u64> limiter(graph, in_flight);
    flow::function_node<u64, Item> worker(graph, flow::unlimited, [=](u64 i) -> Item {
        return {i, heavy(i, steps, zero)};
    });
    flow::sequencer_node<Item> sequencer(graph, [](const Item &item) -> std::size_t { return item.index; });
    flow::function_node<Item, flow::continue_msg> sink(graph, flow::serial, [&](const Item &item) {
        sum = fold(sum, item.value);
        return flow::continue_msg();
    });
    flow::make_edge(source, limiter);
    flow::make_edge(limiter, worker);
    flow::make_edge(worker, sequencer);
    flow::make_edge(sequencer, sink);
    flow::make_edge(sink, limiter.decrementer());
    return timed([&] {
        source.activate();
        graph.wait_for_all();
        return sum;
    });
}
