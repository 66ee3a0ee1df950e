//! The page of items that own memory.

use super::Section;

pub(super) const HEAD: &str = "\
# Results: items that own memory

Strings, vectors, parsed JSON and blocks of bytes, beside the plain loop over the same items. A value with an `x` is the
contestant's time divided by the loop's: below 1 is faster than the loop. `loops` are as many loops at once as threads,
each over all items, divided by their number: no contestant can be much faster on this machine. In the rows of `peers`
the values are nanoseconds per item, and the loop and `loops` stand under \"also measured\". rayon's bridge has no order,
so it is a peer of `map` and `json` only. Rows named `mimalloc` have that allocator, the others glibc's. Go has an
allocator of its own.
";

pub(super) const SECTIONS: [Section; 4] = [
    Section {
        title: "Sequential stages",
        prefixes: &["owned.maps.", "owned.processes."],
        subject: "",
        text: "Lines of about 90 bytes: capital letters, then underscores, then the length, and the sum. As maps, and as\n\
               processes.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Parallel stages",
        prefixes: &["owned.map.", "owned.words.", "owned.json.", "owned.vectors.", "owned.keyed."],
        subject: "",
        text: "A source that makes lines, one parallel stage, and a sequential end in the order of the lines: both changes of the\n\
               maps above at once; a split into words, which are counted or joined again; a parser of JSON; sums by key.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Calibrated work",
        prefixes: &["owned.stage."],
        subject: "",
        text: "A parallel stage that does the same work on each line, and adds a byte to the line.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Blocks of bytes",
        prefixes: &["owned.blocks."],
        subject: "",
        text: "Blocks of text: a parallel stage for the checksum, and one that compresses with zstd at level 1.",
        plots: |_| Vec::new(),
    },
];
