//! The page on the hybrid scheduler's paper: its figures with ours.

mod plots;

use super::Section;

pub(super) const HEAD: &str = "\
# Results: the hybrid scheduler

The figures of Soulé and others, *Dynamic expressivity with static optimization for streaming languages* (2013), with
the same axes: regions of static rates with dynamic queues between them. `ours` is the hybrid scheduler of native code.
A computation is one iteration of `x += i * 3.0 - 1.0`. `x` is the time per item, divided by that of the same pipeline
with static rates on one thread; the plots show its inverse, as the paper does. The numbers of threads are the powers of
two up to the machine's processors, and all of them: `cargo run --release -p thalweg-bench -- sweep hybrid.` measures
all figures.
";

pub(super) const SECTIONS: [Section; 11] = [
    Section {
        title: "Figure 5a: queues without batches",
        prefixes: &["hybrid.5a"],
        subject: "hybrid.5a",
        text: "A pipeline of n + 1 operators over n dynamic queues, on one thread, in batches of 1. The operators pass items on. [The\n\
               page on StreamIt](streamit.md#dynamic-rates-queues) has the nanoseconds for an item and queue.\n\
               \n\
               Why ours differs: our static pipeline is one loop over vectors, so it takes less than a nanosecond for an item,\n\
               whatever n is. A queue costs some nanoseconds: no thread is switched and no lock taken, unlike in the paper. The ratio\n\
               is larger only because the time that it refers to is shorter.",
        plots: plots::queues,
    },
    Section {
        title: "Figure 5b: work",
        prefixes: &["hybrid.5b"],
        subject: "hybrid.5b",
        text: "Two operators and one dynamic queue, on one thread, in batches of 1, with this many computations for each item in both\n\
               operators together. With `default batches` the scheduler chooses the size.\n\
               \n\
               Why ours differs: static code does the computations of several items at once, in the lanes of vectors. A batch of 1\n\
               has one item, and each of its additions waits for the one before. So work does not amortise the queue, as it does in\n\
               the paper; batches do.",
        plots: plots::work,
    },
    Section {
        title: "Figure 5c: queues and batches",
        prefixes: &["hybrid.5c"],
        subject: "hybrid.5c",
        text: "The pipelines of Figure 5a in batches of 10, 100 and 1000.\n\
               \n\
               Why ours differs: the reference is faster, as in Figure 5a. The last operator combines 64 items, and static code does\n\
               several of its firings at once, in the lanes of vectors. A batch that is smaller than all of them is left to scalar\n\
               code.",
        plots: plots::batches,
    },
    Section {
        title: "Figure 5d: batches beyond the caches",
        prefixes: &["hybrid.5d"],
        subject: "hybrid.5d",
        text: "Two operators over one queue, on one thread: nanoseconds for an item of 4 bytes. A batch of 16,777,216 items (16M in\n\
               the plot) has 64 MB.\n\
               \n\
               Why ours differs: the loss beyond the caches is larger than in the paper, since an item costs a tenth of a nanosecond\n\
               as long as the queue is in a cache, and then waits for memory. Each run also creates its queue, so the first batch of\n\
               a large size pays for new pages of memory.",
        plots: plots::large_batches,
    },
    Section {
        title: "Figure 6a: threads, 100 and 900 computations",
        prefixes: &["hybrid.6a"],
        subject: "hybrid.6a",
        text: "Three operators: the first does 100 computations, the second passes items on, the third does 900. In `ours` the second\n\
               has dynamic rates, in `static` it has static ones. The value is the speed, divided by that of static rates on one\n\
               thread.\n\
               \n\
               Why ours differs: the paper replicates only the third operator, so the first bounds the speed-up. Here the first has\n\
               no state and is replicated too. A run begins on one thread, which is part of its time.",
        plots: plots::less_work,
    },
    Section {
        title: "Figure 6b: threads, 1000 and 9000 computations",
        prefixes: &["hybrid.6b"],
        subject: "hybrid.6b",
        text: "The same with 1000 and 9000 computations.\n\
               \n\
               Why ours differs: as in Figure 6a. The paper's machine has 32 cores.",
        plots: plots::more_work,
    },
    Section {
        title: "Figure 7a: a thread for each operator",
        prefixes: &["hybrid.7a"],
        subject: "hybrid.7a",
        text: "Operators that pass items on, confined to one processor: nanoseconds per item. `os-thread` is a thread of the\n\
               operating system for each operator, with a lock around each queue.\n\
               \n\
               Why ours differs: the paper's hybrid scheduler has a thread for each operator too, and decides which one runs. Ours\n\
               runs all operators on one thread, without locks, and by default in batches.",
        plots: plots::os_threads,
    },
    Section {
        title: "Figure 7b: on demand",
        prefixes: &["hybrid.7b"],
        subject: "hybrid.7b",
        text: "Three operators of 1000, 0 and 1000 computations: nanoseconds per item by batch and threads. With `demand` a region runs\n\
               when it has input, on any thread, but on one thread at a time.\n\
               \n\
               Why ours differs: the second operator has dynamic rates, so the first and the third are regions, which `demand` runs on\n\
               two threads at once. More threads gain nothing with `demand`, while ours may replicate both regions. In batches of 1 and\n\
               10 the first operator does one item at a time and the third 64 in vectors, so the work is not balanced. Ours uses threads\n\
               after 10 ms of a run and if they are faster than one, `demand` always does. On one thread the two run the same code of\n\
               regions.",
        plots: plots::demand,
    },
    Section {
        title: "Figure 8a: Huffman encoder and decoder",
        prefixes: &["hybrid.8a"],
        subject: "hybrid.8a",
        text: "An encoder, three operators of 100 computations for each bit, and a decoder: nanoseconds per symbol by threads. The\n\
               paper does not state the work of its operators.\n\
               \n\
               Why ours differs: `demand` runs the same code of regions, each on one thread at a time; ours replicates those without\n\
               state. The decoder decides how many bits it takes, so it runs on one thread at a time in both.",
        plots: plots::huffman,
    },
    Section {
        title: "Figure 8b: bargain finder",
        prefixes: &["hybrid.8b"],
        subject: "hybrid.8b",
        text: "The average price in windows of `f` ticks, and two operators of 1000 computations for each window: nanoseconds per\n\
               tick. `no-op` is a program of static rates, fused and replicated, whose operators have an item for each tick. All but one\n\
               of a window are nonces, which an operator passes on. With `no-op in vectors` operators compute for nonces too, and the\n\
               results do not count. The paper does not state the work of its operators.\n\
               \n\
               Why ours differs: static code of a program without nonces does the computations of several items at once, in the lanes\n\
               of vectors. An operator that skips nonces branches for each item and does one item at a time, so `no-op` is slower than\n\
               in the paper where many items count; `no-op in vectors` has the same cost for all windows. For windows of 1 tick all\n\
               items count, and the static program avoids the queue. In ours the two operators behind the windows are a region of\n\
               their own, which waits until vectors are full.",
        plots: plots::bargains,
    },
    Section {
        title: "Figure 8c: predicate filter",
        prefixes: &["hybrid.8c"],
        subject: "hybrid.8c",
        text: "A filter that selects one of `i` heights, and two operators of 1000 computations for each of those: nanoseconds per\n\
               height. `no-op` and `no-op in vectors` are programs of static rates, as in Figure 8b. The paper does not state the work\n\
               of its operators.\n\
               \n\
               Why ours differs: as in Figure 8b. Ours keeps its distance where few heights are selected, since nonces are no items\n\
               there.",
        plots: plots::selected,
    },
];
