//! loom models of the protocols: every interleaving of a few threads on the real types.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=2 cargo test -p thalweg-runtime --lib --release loom_
//! ```
//!
//! A model checks what its memory accesses may see, too: a relaxed load may give any value that the
//! C11 model allows, and an access to a loom cell that is not ordered after the last one fails. Each
//! says which mutations of the code under test were tried and made it fail; one that cannot fail
//! proves nothing. All are bounded to two preemptions, which is where the published studies of
//! concurrency bugs find nearly all of them (Musuvathi and Qadeer, PLDI 2007); three threads and a
//! handful of items are what then ends within a minute.

mod affinity;
mod claim;
mod engine;
mod lent;
mod pinned;
mod ready;
mod ring;
mod search;
mod sleep;
mod team;
mod window;
mod world;

/// Runs a model with two preemptions unless the environment says otherwise.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.max_branches = 20_000;
    builder.check(model);
}
