//! loom models of the protocols: every interleaving of a few threads on the real types.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=2 cargo test -p thalweg-runtime --lib --release loom_
//! ```
//!
//! A model also checks the values that its memory accesses may read: a relaxed load returns any value that the C11
//! model allows, and an access to a loom cell that is not ordered after the previous one fails. Each test lists the
//! mutations of the code under test that were tried and made it fail: a model that cannot fail proves nothing. All
//! models are bounded to two preemptions, within which published studies of concurrency bugs find nearly all of them
//! (Musuvathi and Qadeer, PLDI 2007). With this bound, three threads and a handful of items end within a minute.
//!
//! | model | protocol |
//! |---|---|
//! | [`claim`] | `node::claim` |
//! | [`window`] | `node::window`, with the loops of `node::parallel`, `node::publish` and `node::suspend` |
//! | [`turns`] | `node::turns`, with the loops of `node::wait` |
//! | [`mark`] | the marks of cursors (`channel`), with `Meter` and `PushPort` |
//! | [`ring`], [`lent`] | `channel`, `channel::lent` |
//! | [`ready`], [`affinity`], [`pinned`] | `sched::ready`, `sched::affinity`, `coroutine` |
//! | [`sleep`], [`team`] | `sched::sleep`, `threads` |
//! | [`pools`] | `sched::sleep::pools`: `sched::sleep`, with the claims of a parallel node |
//! | [`narrow`] | `sched::width`: `sched::sleep`, with the looks of `sched::look` and the worker's loop |
//! | [`search`], [`growth`] | `liveness::search`, `liveness::growth` beside `sched::widen` |
//! | [`arena`], [`shares`] | `team::arena`, `threads::shares` |
//! | [`join`] | `team::join`, `team::deque` |
//! | [`external`], [`failure`] | `net::external`, `net::signals` |
//! | [`alarm`] | `net::alarm`, with `net::external` and `sched::sleep` |
//! | [`engine`] | `sched::worker` and `sched::dedicated`: wake-ups and the end of a run |
//! | [`world`] | none: the worker's loop that the models of `sleep`, `pools`, `narrow`, `affinity` and `pinned` share |

mod affinity;
mod alarm;
mod arena;
mod claim;
mod engine;
mod external;
mod failure;
mod growth;
mod join;
mod lent;
mod mark;
mod narrow;
mod pinned;
mod pools;
mod ready;
mod ring;
mod search;
mod shares;
mod sleep;
mod team;
mod turns;
mod window;
mod world;

/// Runs a model with two preemptions unless the environment says otherwise.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let bound = loom::model::Builder::new().preemption_bound.unwrap_or(2);
    check_within(bound, model);
}

/// Runs a model with this number of preemptions.
fn check_within(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}
