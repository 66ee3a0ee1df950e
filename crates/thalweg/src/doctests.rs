//! The programs of the README and the guide, compiled and run as tests. Packages do not contain these files, so only
//! `cargo test` in the repository reads them.

macro_rules! chapters {
    ($($name:ident $file:literal)*) => {
        $(
            #[doc = include_str!(concat!("../../../", $file))]
            struct $name;
        )*
    };
}

chapters! {
    Readme "README.md"
    FirstPipeline "docs/guide/first-pipeline.md"
    OrderAndDeterminism "docs/guide/order-and-determinism.md"
    RatesPeekLoops "docs/guide/rates-peek-loops.md"
    Processes "docs/guide/processes.md"
    ParallelLoops "docs/guide/parallel-loops.md"
    TaskGraphs "docs/guide/task-graphs.md"
    BackPressureAndMemory "docs/guide/back-pressure-and-memory.md"
    FailuresCancelDeadlines "docs/guide/failures-cancel-deadlines.md"
    PoliciesAndReports "docs/guide/policies-and-reports.md"
    Patterns "docs/guide/patterns.md"
}
