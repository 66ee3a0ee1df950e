//! The page of several processes.

use super::Section;

pub(super) const HEAD: &str = "\
# Results: several processes

One machine: the processes connect by its loopback interface, and two threads are divided among them. Real machines were not
measured. Times of the processor and bytes are those of all processes together, and peaks of memory those of the largest.
";

pub(super) const SECTIONS: [Section; 5] = [
    Section {
        title: "Ordered compression",
        prefixes: &["cluster.compress."],
        subject: "",
        text: "Blocks of 1 MiB of a text, compressed in all processes and written in order by process 0. `thalweg`: the same without a\n\
               cluster, on two threads; `p1`: with a cluster of one process.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Word count",
        prefixes: &["cluster.words.", "cluster.every_word."],
        subject: "",
        text: "24 million words, 60,000 of them different. With a table of each process, only tables cross. `timely`: raw timely with\n\
               its own sockets in as many processes, which limits nothing of what is under way; `timely(p1)`: in one. What bounds four processes,\n\
               by a profile: each of them has a table of 2.6 MB, so four tables share the caches of two cores. Look-ups in them are half of what four\n\
               processes take beyond two, and starting, page faults and merging two more tables the rest. Without a cluster, four threads take 1.2 times\n\
               the processor time of two, for the same reason.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Overhead",
        prefixes: &["cluster.keyed."],
        subject: "",
        text: "Numbers become one of 100,000 keys in a parallel stage, each key's numbers are counted, and the counts are written\n\
               in order. Processor time of all processes for an item, with batches of 1, 64 and 4096. What bounds the misses, by a profile of two\n\
               processes: the kernel has 30 % of the time, for threads that sleep and are woken, for sockets and the output. With batches of one, allocation\n\
               has a fifth, and the dataflow's thread 29 %. With batches of 4096 the table of keys has 14 %, and encoding, decoding and putting\n\
               the shares of two processes back into order 25 %: an item crosses once on average. The targets come from a sketch, in whose\n\
               runs raw timely took 7.8 us, 274 ns and 40 ns.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Memory",
        prefixes: &["cluster.peak."],
        subject: "",
        text: "The same in batches of 4096, with a window of 32. What bounds the miss: an empty run of this program has 14 MB in memory. An empty\n\
               run of a program with these jobs alone has 6 MB, and its peak is 14 MB.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Failures, start and end",
        prefixes: &["cluster.kill.", "cluster.stop.", "cluster.empty."],
        subject: "",
        text: "A signal to one of four processes until the last of the others has ended, with an error.",
        plots: |_| Vec::new(),
    },
];
