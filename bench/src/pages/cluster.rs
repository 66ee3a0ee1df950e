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
               cluster, on two threads; `p1`: with a cluster of one process. What bounds the misses was not\n\
               profiled: system time is a fifth of what is more than `thalweg`, so connections are not most of it.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Word count",
        prefixes: &["cluster.words.", "cluster.every_word."],
        subject: "",
        text: "24 million words, 60,000 of them different. With a table of each process, only tables cross. `timely`: raw timely with\n\
               its own sockets in as many processes, which limits nothing of what is under way; `timely(p1)`: in one. What bounds the misses of the table\n\
               of each process was not profiled: `p1` has a third of what is more than `thalweg`, so two thirds come with the second process.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Overhead",
        prefixes: &["cluster.keyed."],
        subject: "",
        text: "Numbers become one of 100,000 keys in a parallel stage, each key's numbers are counted, and the counts are written\n\
               in order. Processor time of all processes for an item, with batches of 1, 64 and 4096. What bounds the misses: a\n\
               batch passes six threads in each process, of which Thalweg's have two thirds of the time, a fifth of it asleep and woken; an item\n\
               is encoded and decoded twice by serde, one by one. The targets come from a sketch that sent whole batches as one item, to which\n\
               raw timely was as fast as 7.8 us, 274 ns and 40 ns.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Memory",
        prefixes: &["cluster.peak."],
        subject: "",
        text: "The same in batches of 4096, with a window of 32. What bounds the miss: an empty run of this program has 14 MB in memory, and of a\n\
               program with these jobs alone 8 MB, of which the whole peak is 19 MB.",
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
