//! The page of small jobs: what a run costs before and after its work.

use super::Section;

pub(super) const HEAD: &str = "\
# Results: small jobs

What a run costs before and after its work, and what iterator adaptors reach. What bounds these figures, and what was
tried, is in [docs/small_jobs.md](../small_jobs.md).
";

pub(super) const SECTIONS: [Section; 3] = [
    Section {
        title: "One item",
        prefixes: &["small.run", "small.adaptor.t", "small.drop", "small.first"],
        subject: "",
        text: "Medians of runs back to back, from the built graph to the report, or from the making of an adaptor to its end. The\n\
               first run of a process stands above the start and end of a thread as the first thing in another process.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Short jobs",
        prefixes: &["small.chain", "small.adaptor.n"],
        subject: "",
        text: "Source, parallel stage with even work, ordered sink; efficiency, with the graph's building.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Long iterator adaptors",
        prefixes: &["small.adaptor.long"],
        subject: "",
        text: "`par_map` of an iterator over many items of even work; efficiency. `chain` is the same work as a chain;\n\
               `ours(16384)` is the adaptor with channels of that many items; `rayon(batch)` has all items at once.",
        plots: |_| Vec::new(),
    },
];
