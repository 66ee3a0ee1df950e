#![cfg_attr(not(doctest), doc = include_str!("../guide/links.txt"))]
#![cfg_attr(not(doctest), doc = "")]
#![doc = include_str!("../guide/README.md")]

// The links of a chapter have labels, `[text][label]`. Of two definitions of a label the first counts: that of `links.txt` for
// rustdoc, and that at the end of the chapter for a reader of the file. Doctests are without the former: rustdoc names their
// file and line by the first text.
macro_rules! chapters {
    ($($name:ident $file:literal)*) => {
        $(
            #[cfg_attr(not(doctest), doc = include_str!("../guide/links.txt"))]
            #[cfg_attr(not(doctest), doc = "")]
            #[doc = include_str!(concat!("../guide/", $file))]
            pub mod $name {}
        )*
    };
}

chapters! {
    first_pipeline "first-pipeline.md"
    order_and_determinism "order-and-determinism.md"
    rates_peek_loops "rates-peek-loops.md"
    processes "processes.md"
    parallel_loops "parallel-loops.md"
    task_graphs "task-graphs.md"
    back_pressure_and_memory "back-pressure-and-memory.md"
    failures_cancel_deadlines "failures-cancel-deadlines.md"
    policies_and_reports "policies-and-reports.md"
    a_service "a-service.md"
    patterns "patterns.md"
    programs "programs.md"
}
