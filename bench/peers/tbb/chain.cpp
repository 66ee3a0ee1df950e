// The chain of serial in-order stages: parallel_pipeline, and a flow graph.
#include "work.hpp"

#include <memory>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_pipeline.h>

namespace flow = tbb::flow;

Row pipeline_chain(unsigned stages, u64 items, u64 steps) {
    std::vector<Stage> work(stages, Stage{steps});
    u64 next = 0, sum = 0;
    const auto serial = tbb::filter_mode::serial_in_order;
    auto chain = tbb::make_filter<void, u64>(serial, [&](tbb::flow_control &control) -> u64 {
        if (next == items) {
            control.stop();
            return 0;
        }
        return work.front().run(next++);
    });
    for (unsigned s = 1; s + 1 < stages; ++s) {
        chain = chain & tbb::make_filter<u64, u64>(serial, [&own = work[s]](u64 x) { return own.run(x); });
    }
    auto whole = chain & tbb::make_filter<u64, void>(serial, [&](u64 x) {
        sum = fold(sum, work.back().run(x));
    });
    return timed([&] {
        tbb::parallel_pipeline(in_flight, whole);
        return sum;
    });
}

namespace {
struct Item {
    u64 index, value;
};
using Node = flow::function_node<Item, Item>;
using Sequencer = flow::sequencer_node<Item>;
} // namespace

// A serial function node may forward two items in the wrong order, since it accepts the next one before it has put the
// previous result. So there is a sequencer before every stage.
Row graph_chain(unsigned stages, u64 items, u64 steps) {
    std::vector<Stage> work(stages, Stage{steps});
    u64 next = 0, sum = 0;
    flow::graph graph;
    auto index = [](const Item &item) -> std::size_t { return item.index; };
    flow::input_node<Item> source(graph, [&](tbb::flow_control &control) -> Item {
        if (next == items) {
            control.stop();
            return {};
        }
        u64 i = next++;
        return {i, work.front().run(i)};
    });
    flow::limiter_node<Item> limiter(graph, in_flight);
    flow::make_edge(source, limiter);
    std::vector<std::unique_ptr<Sequencer>> sequencers;
    std::vector<std::unique_ptr<Node>> nodes;
    flow::sender<Item> *upstream = &limiter;
    auto sequence = [&] {
        sequencers.push_back(std::make_unique<Sequencer>(graph, index));
        flow::make_edge(*upstream, *sequencers.back());
        upstream = sequencers.back().get();
    };
    for (unsigned s = 1; s + 1 < stages; ++s) {
        sequence();
        nodes.push_back(std::make_unique<Node>(graph, flow::serial, [&own = work[s]](const Item &item) -> Item {
            return {item.index, own.run(item.value)};
        }));
        flow::make_edge(*upstream, *nodes.back());
        upstream = nodes.back().get();
    }
    sequence();
    flow::function_node<Item, flow::continue_msg> sink(graph, flow::serial, [&](const Item &item) {
        sum = fold(sum, work.back().run(item.value));
        return flow::continue_msg();
    });
    flow::make_edge(*upstream, sink);
    flow::make_edge(sink, limiter.decrementer());
    return timed([&] {
        source.activate();
        graph.wait_for_all();
        return sum;
    });
}
