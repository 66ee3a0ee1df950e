//! Payloads of panics, and errors of nodes, whose drop panics: they become failures of the run, and leave no drop of an outlet.

use crate::support;

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use support::inject::{INJECTED, silence};
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, ParallelExt, from_iter, output};

/// A value whose drop panics, as a panic's payload or as an error of a node.
#[derive(Debug)]
struct BadPayload;

impl Drop for BadPayload {
    fn drop(&mut self) {
        panic!("{INJECTED} drop of a payload");
    }
}

impl std::fmt::Display for BadPayload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(INJECTED)
    }
}

impl std::error::Error for BadPayload {}

/// The message of the panic of a function, which is a text.
fn panic_of(call: impl FnOnce()) -> &'static str {
    let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("it panics");
    panic.downcast_ref::<&'static str>().expect("a text")
}

/// A panic of the run does not leave the drop of an outlet whose thread unwinds already: that would abort.
#[test]
fn an_outlet_that_is_dropped_by_a_panic_leaves_it_alone() {
    silence();
    let panics: [fn(&thalweg::Handle); 2] = [|_| panic!("{INJECTED} on start"), |_| panic_any(BadPayload)];
    for on_start in panics {
        let options = Options::new().threads(1).on_start(on_start);
        let message = panic_of(|| {
            thalweg::scope(|scope| {
                let _outlet = scope.start(from_iter(0..9u64), &options).unwrap();
                panic!("injected in the scope");
            })
        });
        assert_eq!(message, "injected in the scope");
        let message = panic_of(|| {
            let _outlet = from_iter(0..9u64).start_with(&options).unwrap();
            panic!("injected outside of a scope");
        });
        assert_eq!(message, "injected outside of a scope");
        let message = panic_of(|| {
            thalweg::scope(|scope| {
                let mut results = scope.par_map(0..9u64, |x| x).options(options.clone());
                _ = catch_unwind(AssertUnwindSafe(|| results.next())).map_err(std::mem::forget);
                panic!("injected with results");
            })
        });
        assert_eq!(message, "injected with results");
    }
}

/// A scope that ends without a panic continues that of the run.
#[test]
fn a_panic_of_a_run_continues_in_the_drop_of_its_outlet() {
    silence();
    let options = Options::new().threads(1).on_start(|_| panic!("injected on start"));
    let drop_in_a_scope = || thalweg::scope(|scope| drop(scope.start(from_iter(0..9u64), &options).unwrap()));
    assert_eq!(panic_of(drop_in_a_scope), "injected on start");
}

/// The error of a node is dropped with an outlet that is not finished.
#[test]
fn an_error_whose_drop_panics_does_not_leave_the_drop_of_an_outlet() {
    silence();
    fn fails<'env>() -> thalweg::Stream<'env, u64> {
        from_iter(0..9u64).try_map(|_| Err(BadPayload))
    }
    let options = Options::new().threads(1);
    thalweg::scope(|scope| {
        let mut outlet = scope.start(fails(), &options).unwrap();
        assert_eq!(outlet.next(), None);
    });
    let mut outlet = fails().start_with(&options).unwrap();
    assert_eq!(outlet.next(), None);
    drop(outlet);
    let message = panic_of(|| {
        let mut outlet = fails().start_with(&options).unwrap();
        assert_eq!(outlet.next(), None);
        panic!("injected after the error");
    });
    assert_eq!(message, "injected after the error");
}

/// A run in which a function panics, with a payload whose drop panics.
type PanickingRun = fn(&Options) -> Result<(), Error>;

fn panicking_runs() -> Vec<(&'static str, PanickingRun)> {
    fn at_three(x: u64) -> u64 {
        if x == 3 { panic_any(BadPayload) } else { x }
    }
    vec![
        ("a source", |options| {
            from_iter((0..9).map(at_three)).for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("a blocking source", |options| {
            from_iter((0..9).map(at_three))
                .blocking()
                .for_each(drop)
                .run_with(options)
                .map(drop)
                .map_err(Error::from)
        }),
        ("a sequential stage", |options| {
            from_iter(0..9u64).map(at_three).for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("a parallel stage", |options| {
            from_iter(0..9u64)
                .par_map(at_three)
                .for_each(drop)
                .run_with(options)
                .map(drop)
                .map_err(Error::from)
        }),
        ("iterators of a stage", |options| {
            let stage = from_iter(0..2u64).par_flat_map(|_| (0..9).map(at_three));
            stage.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("a weight", |options| {
            let weighed = from_iter(0..9u64).weigh(|x| at_three(*x) as usize);
            weighed.for_each(drop).run_with(&options.clone().budget(1 << 20)).map(drop).map_err(Error::from)
        }),
        ("the weight of an initial item", |options| {
            let graph = Graph::new();
            let (back, last) = graph.feedback([3]);
            last.weigh(|x| at_three(*x) as usize).map(|x| x).feed(back);
            graph.run_with(&options.clone().budget(1 << 20)).map(drop).map_err(Error::from)
        }),
        ("a process that is made", |options| {
            let graph = Graph::new();
            let make = |(), ()| -> std::future::Ready<()> { panic_any(BadPayload) };
            graph.process("made", (), (), make);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a process", |options| {
            let graph = Graph::new();
            graph.process("polled", (), (), |(), ()| async { _ = at_three(3) });
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a coroutine", |options| {
            let graph = Graph::new();
            let numbers = graph.coroutine("numbers", (), output("out"), |(), mut tx| {
                (0..9).for_each(|x| tx.send(at_three(x)));
            });
            numbers.for_each(drop);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a join", |options| {
            let stage = from_iter(0..9u64).par_map(|x| {
                let (a, b) = thalweg::join(|| at_three(x), || at_three(x));
                a + b
            });
            stage.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("a loop", |options| {
            let stage = from_iter(0..9u64).par_map(|x| thalweg::par_for(0..9, |_| _ = at_three(x)));
            stage.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("an adaptor", |options| {
            let mut results =
                (0..9u64).try_par_map(|x| Ok::<_, String>(at_three(x))).options(options.clone());
            results.try_for_each(|result| result.map(drop))
        }),
        ("the iterator of an adaptor", |options| {
            let items = (0..9).map(at_three);
            let mut results = items.try_par_map(Ok::<_, String>).options(options.clone());
            results.try_for_each(|result| result.map(drop))
        }),
        ("an adaptor of a scope", |options| {
            thalweg::scope(|scope| {
                let results = scope.try_par_map(0..9u64, |x| Ok::<_, String>(at_three(x)));
                results.options(options.clone()).try_for_each(|result| result.map(drop))
            })
        }),
    ]
}

#[test]
fn a_panic_whose_payload_panics_in_its_drop_is_a_failure_of_the_run() {
    silence();
    for (name, run) in panicking_runs() {
        for threads in [1, 2] {
            let options = Options::new().threads(threads);
            let result = watch(name.to_owned(), || catch_unwind(|| run(&options)));
            match result.map_err(std::mem::forget) {
                Ok(Err(Error::Panic { message, .. })) => {
                    assert_eq!(message, "a value that is no text", "{name}")
                }
                Ok(result) => panic!("{name}, {threads} threads: {result:?}"),
                Err(()) => panic!("{name}, {threads} threads: a panic has left the run"),
            }
        }
    }
}

/// Results that are not read hold the payload of the panic.
#[test]
fn a_payload_whose_drop_panics_is_dropped_with_the_results() {
    silence();
    let results = || (0..9u64).par_map(|x| if x == 3 { panic_any(BadPayload) } else { x });
    for taken in 0..=3 {
        let mut results = results();
        assert!(results.by_ref().take(taken).eq(0..taken as u64));
    }
    let panic = catch_unwind(|| results().for_each(drop)).expect_err("it panics");
    assert!(panic.is::<BadPayload>());
    std::mem::forget(panic);
}
