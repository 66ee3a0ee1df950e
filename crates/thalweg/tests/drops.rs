//! Drops that panic: wherever the engine drops a user's value, the panic is a failure of the run and never leaves it, and
//! every other value is dropped once.

mod cases;

use crate::support;

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;
use support::inject::{INJECTED, silence};
use support::watchdog::watch;
use thalweg::node::{BlockingRx, BlockingTx};
use thalweg::{Error, Fork, Graph, Options, ParallelExt, Value, from_iter, input, output, window};

/// Which of the values panic when they are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fuse {
    /// The one that is dropped after this many others.
    One(usize),
    /// All.
    All,
    /// None.
    Off,
}

/// Counts the values of a case.
#[derive(Debug)]
struct Tally {
    fuse: Fuse,
    /// Values made and not dropped; negative if one was dropped twice.
    live: AtomicI64,
    dropped: AtomicUsize,
    panicked: AtomicUsize,
}

impl Tally {
    fn make(self: &Arc<Self>) -> Bad {
        self.live.fetch_add(1, Ordering::Relaxed);
        Bad(self.clone())
    }

    fn many(self: &Arc<Self>, count: usize) -> impl Iterator<Item = Bad> + Send + use<> {
        let tally = self.clone();
        (0..count).map(move |_| tally.make())
    }
}

impl Bad {
    /// Leaves the value undropped.
    fn forget(self) {
        self.0.live.fetch_sub(1, Ordering::Relaxed);
        std::mem::forget(self);
    }
}

/// A value whose drop may panic.
#[derive(Debug)]
struct Bad(Arc<Tally>);

impl Drop for Bad {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::Relaxed);
        let before = self.0.dropped.fetch_add(1, Ordering::Relaxed);
        if self.0.fuse == Fuse::All || self.0.fuse == Fuse::One(before) {
            self.0.panicked.fetch_add(1, Ordering::Relaxed);
            panic!("{INJECTED} drop");
        }
    }
}

type Case = (&'static str, fn(&Arc<Tally>, &Options) -> Result<(), Error>);

/// A key that has a value, which does not count.
struct Key(u64, #[expect(dead_code, reason = "for its drop")] Bad);

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.0 == other.0
    }
}

impl Eq for Key {}

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Three results of an iterator that drops a value with itself.
fn holding(held: Bad) -> impl Iterator<Item = u64> + Send {
    (0..3).inspect(move |_| _ = &held)
}

/// Runs a coroutine that gets a value, many of them in a channel, and an output without room. Its consumer fails.
fn unwound(
    tally: &Arc<Tally>,
    options: &Options,
    body: fn(Bad, BlockingRx<Bad>, BlockingTx<Bad>),
) -> Result<(), Error> {
    let all = from_iter(tally.many(9));
    let (graph, first, held) = (all.graph(), tally.make(), tally.make());
    let out = graph.coroutine("unwound", all, output("out"), move |all, mut out| {
        out.send(first);
        body(held, all, out);
    });
    out.capacity(1).for_each(|bad| {
        bad.forget();
        Err::<(), _>("at once")
    });
    graph.run_with(options).map(drop).map_err(Error::from)
}

/// A sink that fails at the item after this many.
fn fail_at(count: usize) -> impl FnMut(u64) -> Result<(), &'static str> {
    let mut left = count;
    move |_| {
        left = left.checked_sub(1).ok_or("too many")?;
        Ok(())
    }
}

/// A panic that an adaptor resumes, as the failure of its run.
fn resumed(call: impl FnOnce()) -> Result<(), Error> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let message = thalweg_runtime::panic_message(&*panic);
        assert!(message.contains(INJECTED), "{message}");
        Error::Panic { node: "adaptor".to_owned(), message: INJECTED.to_owned() }
    })
}

/// A function that weighs values, and panics at the one after this many.
fn panic_after(calls: usize) -> impl Fn(&Bad) -> usize + Send + Sync {
    let count = AtomicUsize::new(0);
    move |_| {
        if count.fetch_add(1, Ordering::Relaxed) == calls {
            panic!("{INJECTED} weight");
        }
        8
    }
}

/// An item that is split into four parts, which go round for ever. The weight after this many panics.
fn weigh_parts(tally: &Arc<Tally>, options: &Options, calls: usize) -> Result<(), Error> {
    let make = tally.clone();
    let first = AtomicUsize::new(0);
    let step = move |bad: Bad| {
        if first.fetch_add(1, Ordering::Relaxed) > 0 {
            return Fork::Again(bad);
        }
        bad.forget();
        Fork::Split(make.many(4).collect())
    };
    let item = from_iter(tally.many(1)).weigh(panic_after(calls));
    let joined = item.par_fork_join(3, step, |mut bads: Vec<Bad>| bads.pop().expect("four"));
    joined.for_each(drop).run_with(options).map(drop).map_err(Error::from)
}

/// Runs a case: no panic leaves it, every value is dropped once, and a panic is the run's failure.
fn check(what: &str, run: fn(&Arc<Tally>, &Options) -> Result<(), Error>, fuse: Fuse, options: &Options) {
    let tally = Arc::new(Tally {
        fuse,
        live: AtomicI64::new(0),
        dropped: AtomicUsize::new(0),
        panicked: AtomicUsize::new(0),
    });
    let result = watch(what.to_owned(), || catch_unwind(AssertUnwindSafe(|| run(&tally, options))));
    let panicked = tally.panicked.load(Ordering::Relaxed);
    match result {
        Err(_) => panic!("{what}: a panic has left the run"),
        Ok(Ok(())) => assert_eq!(panicked, 0, "{what}: no failure"),
        Ok(Err(Error::Panic { node, message })) => {
            assert!(message.starts_with(INJECTED) && !node.is_empty(), "{what}: {node}: {message}");
        }
        Ok(Err(Error::Node { .. } | Error::Cancelled | Error::Deadline(_) | Error::Plan(_))) => {}
        Ok(Err(error)) => panic!("{what}: {error}"),
    }
    assert_eq!(tally.live.load(Ordering::Relaxed), 0, "{what}: values that were not dropped once");
}

#[test]
fn a_panic_of_a_drop_is_a_failure_of_the_run() {
    silence();
    for (name, run) in cases::cases() {
        for threads in [1, 2] {
            let options = Options::new().threads(threads).capacity(4);
            for fuse in [Fuse::Off, Fuse::All].into_iter().chain((0..12).map(Fuse::One)) {
                // A vector that the user's function returns is one value: two drops that panic in it abort.
                if fuse == Fuse::All && name == "parts of splits" {
                    continue;
                }
                check(&format!("{name}, {fuse:?}, {threads} threads"), run, fuse, &options);
            }
        }
    }
}
