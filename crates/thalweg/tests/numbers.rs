//! Numbers that users choose, from 0 to the largest: a setting is obeyed or refused, and never wraps, panics in the engine
//! or aborts.

use crate::support;

use std::ops::ControlFlow;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::inject::silence;
use support::watchdog::watch;
use thalweg::embed::machine::MOST_UNITS;
use thalweg::loops::Schedule;
use thalweg::loops::Shares;
use thalweg::machine::Machine;
use thalweg::tasks::{SearchSettings, StaticGraph, TaskOptions};
use thalweg::{Error, Failed, Fork, Graph, Loop, Options, channel, from_iter, input, output, window};

const NUMBERS: [usize; 10] = [
    0,
    1,
    u32::MAX as usize,
    u32::MAX as usize + 1,
    1 << 57,
    isize::MAX as usize,
    isize::MAX as usize + 1,
    usize::MAX - 4096,
    usize::MAX - 1,
    usize::MAX,
];

type Run = Result<thalweg::Run<Vec<u64>>, Failed<Vec<u64>>>;

fn items() -> thalweg::Stream<'static, u64> {
    from_iter(0..20u64)
}

/// Adds the next number for an item without a size.
fn number_them(mut numbers: Vec<u64>, (): ()) -> Vec<u64> {
    numbers.push(numbers.len() as u64);
    numbers
}

/// A setting, and the run of 20 numbers with it.
type Setting = (&'static str, fn(usize) -> Run);

fn with(set: impl Fn(Options) -> Options) -> Run {
    let plain = || Options::new().threads(2);
    items().par_map(|x| x).weigh(|_| 8).map(|x| x).blocking().collect().run_with(&set(plain()))
}

fn settings() -> Vec<Setting> {
    vec![
        ("threads", |n| items().collect().run_with(&Options::new().threads(n))),
        ("budget", |n| with(|o| o.budget(n))),
        ("capacity of all", |n| with(|o| o.capacity(n))),
        ("run length", |n| with(|o| o.claim_length(n))),
        ("seed", |n| with(|o| o.seed(n as u64))),
        ("deadline", |n| {
            with(|o| o.deadline(if n == 0 { Duration::MAX } else { Duration::from_secs(n as u64) }))
        }),
        ("timeline", |n| with(|o| o.timeline(n))),
        ("domains", |n| with(|o| o.domains([n, 0]))),
        ("capacity", |n| items().capacity(n).collect().run()),
        ("capacity, blocking", |n| items().capacity(n).map(|x| x).blocking().collect().run()),
        ("capacity, weighed", |n| items().capacity(n).weigh(|_| 1).collect().run()),
        ("capacity and budget", |n| {
            items().capacity(n).weigh(|_| 1).collect().run_with(&Options::new().budget(n))
        }),
        ("capacity of zero-sized items", |n| {
            let units = from_iter(std::iter::repeat_n((), 20)).capacity(n).map(|()| ());
            let numbers = units.capacity(n).fold(Vec::new(), number_them);
            numbers.run()
        }),
        ("capacity of zero-sized weighed items", |n| {
            let units = from_iter(std::iter::repeat_n((), 20)).capacity(n).weigh(|()| 3);
            let numbers = units.fold(Vec::new(), number_them);
            numbers.run()
        }),
        ("capacity of zero-sized items between processes", |n| {
            let graph = Graph::new();
            let units = graph.process("a", (), output("out"), |(), mut tx| async move {
                for _ in 0..20 {
                    tx.send(()).await;
                }
            });
            let numbers = graph.process("b", units.capacity(n), output("out"), |mut rx, mut tx| async move {
                let mut count = 0;
                while rx.recv().await.is_some() {
                    tx.send(count).await;
                    count += 1;
                }
            });
            numbers.collect().run()
        }),
        ("weigh", |_| {
            items()
                .weigh(|_| usize::MAX)
                .par_map(|x| x)
                .weigh(|_| usize::MAX)
                .collect()
                .run_with(&Options::new().budget(100))
        }),
        ("weigh without a budget", |_| {
            items().weigh(|_| usize::MAX).par_map(|x| x).weigh(|_| usize::MAX - 1).collect().run()
        }),
        ("thread stack", |n| with(|o| o.thread_stack(n))),
        ("workers", |n| items().par_map(|x| x).workers(u32::try_from(n).unwrap_or(u32::MAX)).collect().run()),
        ("par_iterate", |n| items().par_iterate(n, ControlFlow::<u64, u64>::Break).collect().run()),
        ("par_fork_join", |n| {
            let done = items().par_fork_join(n, Fork::Done, |mut parts: Vec<u64>| parts.pop().unwrap_or(0));
            done.collect().run()
        }),
        ("in_flight", |n| items().in_flight(n, |items| items.par_map(|x| x)).collect().run()),
        ("in_flight, dynamic", |n| items().in_flight(n, |items| items.par_flat_map(|x| [x])).collect().run()),
        ("take", |n| items().take(n.max(20)).collect().run()),
        ("stack", |n| {
            let graph = Graph::new();
            let copied = graph.kernel("k", input("in", graph.source(0..20u64)), output("out")).stack(n);
            let copied = copied.coroutine(|mut rx, mut tx| {
                while let Some(x) = rx.recv() {
                    tx.send(x)
                }
            });
            copied.collect().run_with(&Options::new().threads(2))
        }),
        ("pop", |n| {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            let graph = Graph::new();
            let kernel = graph.kernel("k", input("in", graph.source(0..20u64)).pop(n), output("out"));
            kernel.sequential(|rx, tx| tx.push(rx.pop())).collect().run()
        }),
        ("peek", |n| {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            let graph = Graph::new();
            let kernel =
                graph.kernel("k", window("in", graph.source(0..20u64)).pop(1).peek(n), output("out"));
            kernel.sequential(|rx, tx| tx.push(rx[0])).collect().run()
        }),
        ("push", |n| {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            let graph = Graph::new();
            let kernel = graph.kernel("k", input("in", graph.source(0..20u64)), output("out").push(n));
            kernel.sequential(|rx, tx| tx.push(rx.pop())).collect().run()
        }),
        ("push of zero-sized items", |n| {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            let graph = Graph::new();
            let kernel = graph.kernel("units", input("in", graph.source(0..20u64)), output("out").push(n));
            let units = kernel.sequential(|rx, tx| {
                rx.pop();
                tx.push(());
            });
            let mut numbers = 0..;
            units.map(move |()| numbers.next().expect("endless")).collect().run()
        }),
        ("a frame", |n| {
            let graph = Graph::new();
            let kernel = graph.kernel("k", input("in", graph.source(0..20u64)), output("out"));
            let framed = kernel.framed(move |rx| Ok(rx.peek(0)?.map(|_| n)));
            framed
                .sequential(|rx, tx| {
                    while let Some(x) = rx.try_pop() {
                        tx.push(x)
                    }
                })
                .collect()
                .run()
        }),
        ("a frame, parallel", |n| {
            let graph = Graph::new();
            let kernel = graph.kernel("k", input("in", graph.source(0..20u64)), output("out"));
            let framed = kernel.framed(move |rx| Ok(rx.peek(0)?.map(|_| n)));
            framed
                .parallel(|rx, tx| {
                    while let Some(x) = rx.try_pop() {
                        tx.push(x)
                    }
                })
                .collect()
                .run()
        }),
        ("a frame of a window", |n| {
            let graph = Graph::new();
            let kernel = graph.kernel("k", window("in", graph.source(0..20u64)), output("out"));
            let framed = kernel.framed(move |rx| Ok(rx.peek(0)?.map(|_| n)));
            framed
                .parallel(|rx, tx| {
                    for x in rx.iter() {
                        tx.push(*x)
                    }
                })
                .collect()
                .run()
        }),
        ("a peek of a frame", |n| {
            let graph = Graph::new();
            let kernel = graph.kernel("k", input("in", graph.source(0..20u64)), output("out"));
            let framed = kernel.framed(move |rx| {
                rx.peek(n)?;
                Ok(rx.peek(0)?.map(|_| 1))
            });
            framed.sequential(|rx, tx| tx.push(rx.pop())).collect().run()
        }),
    ]
}

#[test]
fn settings_of_any_size_are_obeyed_or_refused() {
    silence();
    for (name, run) in settings() {
        for number in NUMBERS {
            let what = format!("{name} {number}");
            match watch(what.clone(), move || run(number)).map_err(Error::from) {
                Ok(items) if name.starts_with("a frame") && number > 20 => {
                    assert!(items.is_empty(), "{what}")
                }
                Ok(items) => assert_eq!(*items, (0..20).collect::<Vec<_>>(), "{what}"),
                Err(Error::Panic { node, message }) => {
                    assert_eq!((&*node, number), ("k", 0), "{what}: {message}");
                    assert!(message.contains("pops no item"), "{what}: {message}");
                }
                Err(
                    Error::Build(_)
                    | Error::Options(_)
                    | Error::Plan(_)
                    | Error::Stacks { .. }
                    | Error::Rate { .. }
                    | Error::Thread { .. },
                ) => {}
                Err(error) => panic!("{what}: {error}"),
            }
        }
    }
}

/// A coroutine whose stack does not fit into the address space is refused like one that the system refuses.
#[test]
fn stacks_of_any_size_are_made_or_refused() {
    let stack = settings().into_iter().find(|(name, _)| *name == "stack").expect("it is in the table").1;
    for number in NUMBERS {
        match stack(number) {
            Ok(_) => assert!(number < isize::MAX as usize, "{number}"),
            Err(failed) => {
                let text = failed.to_string();
                assert!(matches!(failed.error(), Error::Stacks { made: 0, .. }), "{number}: {text}");
                assert!(text.contains(&number.to_string()), "{number}: {text}");
            }
        }
    }
}

/// The size of the stack may be the reason for which the system refuses a thread.
#[test]
fn a_thread_with_too_large_a_stack_is_refused_with_its_size() {
    let options = Options::new().threads(2).thread_stack(1 << 60);
    let started = || items().start_with(&options).map(drop);
    let run = || items().blocking().par_map(|x| x).for_each(|_| ()).run_with(&options).map(drop);
    let in_a_scope = || thalweg::scope(|scope| scope.start(from_iter(0..20u64), &options).map(drop));
    for error in [started(), run().map_err(Error::from), in_a_scope()].map(Result::unwrap_err) {
        assert!(matches!(error, Error::Thread { stack: Some(bytes), .. } if bytes == 1 << 60), "{error}");
        let text = error.to_string();
        let size = format!("cannot start a thread with a stack of {} bytes: ", 1u64 << 60);
        assert!(text.starts_with(&size), "{text}");
        assert!(error.help().unwrap().starts_with("lower `Options::thread_stack`"), "{error:?}");
    }
}

/// In a node with several inputs one of them must move; none of them need.
#[test]
fn a_frame_pops_from_one_input_at_least() {
    silence();
    let sums = |pops: [usize; 2], parallel: bool| {
        let graph = Graph::new();
        let ins = (graph.source(0..4u64), graph.source(0..4u64));
        let kernel = graph.kernel("frames", ins, output("out").push(1)).framed(move |(a, b)| {
            let enough = a.peek(pops[0].max(1) - 1)?.is_some() && b.peek(pops[1].max(1) - 1)?.is_some();
            Ok(enough.then_some(pops))
        });
        let count = kernel.parallel(|_, out| out.push(1u64)).fold(0, |sum, n| sum + n);
        let options = Options::new().threads(if parallel { 2 } else { 1 });
        watch("frames", move || {
            count.run_with(&options).map(thalweg::Run::into_value).map_err(|error| error.to_string())
        })
    };
    for parallel in [false, true] {
        assert_eq!([[1, 0], [0, 1], [2, 2]].map(|pops| sums(pops, parallel)), [Ok(4), Ok(4), Ok(2)]);
        let error = sums([0, 0], parallel).unwrap_err();
        assert!(
            error.starts_with("node `frames` panicked: the framing function returned a firing"),
            "{error}"
        );
    }
}

#[test]
fn channels_of_any_capacity_are_made_or_refused() {
    silence();
    for capacity in NUMBERS {
        let (mut tx, mut rx) = channel::<()>(capacity);
        assert_eq!(tx.push_slice(&[(); 3]), capacity.clamp(1, 3));
        assert_eq!(rx.pop_into(&mut Vec::new(), usize::MAX), capacity.clamp(1, 3));
        assert!(tx.room_for(usize::MAX) >= capacity.clamp(1, 1 << 48), "{capacity}");
    }
    for capacity in NUMBERS.into_iter().filter(|capacity| *capacity >= 1 << 57) {
        let panic = catch_unwind(|| channel::<u64>(capacity)).expect_err("no memory");
        let text = panic.downcast_ref::<String>().expect("a message");
        assert!(
            text.starts_with(&format!("no memory for a channel of {capacity} items of 8 bytes")),
            "{text}"
        );
    }
}

#[test]
fn policies_refuse_settings_out_of_range() {
    for policy in ["prs:C=", "partition:tau=", "qes:C=", "pss:C="] {
        for number in [
            "0",
            "-1",
            "1",
            "4294967295",
            "18446744073709551615",
            "18446744073709551616",
            "1e400",
            "NaN",
            "inf",
            "",
        ] {
            let what = format!("{policy}{number}");
            match with(|options| options.policy(&what)) {
                Ok(items) => assert_eq!(items.len(), 20, "{what}"),
                Err(failed) => assert!(matches!(failed.error(), Error::Options(_)), "{what}: {failed}"),
            }
        }
    }
}

#[test]
fn loops_of_any_size_execute_each_number_once() {
    const SCHEDULES: [Schedule; 5] =
        [Schedule::Static, Schedule::Split, Schedule::Dynamic, Schedule::Guided, Schedule::Hybrid];
    for (number, schedule) in
        NUMBERS.into_iter().flat_map(|number| SCHEDULES.map(|schedule| (number, schedule)))
    {
        let (all, first) = (Loop::new().schedule(schedule), number.saturating_sub(50));
        let (count, what) = (AtomicUsize::new(0), format!("{number} {schedule:?}"));
        let add = |count: &AtomicUsize, numbers| _ = count.fetch_add(numbers, Ordering::Relaxed);
        let settings = [all, all.grain(number), all.grain(7).members(number)];
        for settings in settings {
            settings.for_ranges(first..number, |range| add(&count, range.len()));
        }
        assert_eq!(count.swap(0, Ordering::Relaxed), 3 * (number - first), "{what}");
        let fails = |at: usize| if at + 1 == number { Err(at) } else { Ok(()) };
        assert_eq!(all.try_for_each(first..number, fails).err(), number.checked_sub(1), "{what}");
        all.grain(usize::MAX / 8).for_ranges(0..number, |range| add(&count, range.len()));
        assert_eq!(count.into_inner(), number, "{what}");
        assert_eq!(
            all.grain(number).reduce(0..100, 0, |range, sum| sum + range.sum::<usize>(), |a, b| a + b),
            4950
        );
    }
}

/// The message of the panic of a call.
fn refusal<R>(call: impl FnOnce() -> R + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(call).err().expect("it is refused");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn shares_of_any_number_of_threads_are_made_or_refused() {
    for threads in NUMBERS {
        if threads == 1 {
            let shares = Shares::new(0..9, threads, 1, 9);
            assert!(std::iter::from_fn(|| shares.take(0)).flatten().eq(0..9));
        } else {
            let text = refusal(|| Shares::new(0..9, threads, 1, 9));
            assert_eq!(text, format!("{threads} threads: expected 1 to 4096"));
        }
    }
}

/// Those that fit into no address space: a system may lend more memory than it has.
#[test]
fn containers_and_reductions_of_any_size_are_made_or_refused() {
    silence();
    for number in NUMBERS.into_iter().filter(|number| *number >= 1 << 57) {
        let all = Loop::new();
        let text = format!("no memory for {number} items of 8 bytes");
        let make = |number: usize| -> u64 { panic!("injected call {number}") };
        assert_eq!(refusal(|| all.collect(number, make)), text);
        assert_eq!(refusal(|| all.place(number, make)), text);
        assert_eq!(refusal(|| all.place_filled(number, 0u64)), text);
        assert_eq!(refusal(|| all.place_rows((number, 1), |row, _| make(row))), text);
        assert!(refusal(|| all.place_rows((number, 1 << 7), |row, _| make(row))).ends_with("are too many"));
        let text = refusal(|| all.grain(1).reduce(0..number, 0u64, |range, _| make(range.start), |a, _| a));
        assert!(text.starts_with(&format!("no memory for {number} items of ")), "{text}");
    }
}

#[test]
fn descriptions_of_machines_of_any_size_are_read_or_refused() {
    for number in NUMBERS {
        for text in [
            format!("domains {number}\ncores 2\n"),
            format!("domains 2\ncores {number}\n"),
            format!("domains 2\ncores 2 units {number}\n"),
            format!("domains 2\ncores 2\ncache 2 per {number} cores\n"),
            format!("domains 2\ncores 2\nlimit cpus 0-{number}\n"),
            format!("domains 2\ncores 2\nlimit cores {number}\n"),
        ] {
            if let Ok(machine) = Machine::read(&format!("thalweg-machine 1\n{text}")) {
                assert!(machine.units().len() <= MOST_UNITS, "{text}");
                assert_eq!(machine.places(machine.threads().min(9)).threads(), machine.threads().min(9));
            }
        }
    }
}

#[test]
fn options_of_task_graphs_of_any_size_are_obeyed() {
    for number in NUMBERS {
        let first = u32::try_from(number).unwrap_or(u32::MAX);
        let mut chain = StaticGraph::from_edges(8, (1..8).map(|n| (n - 1, n)));
        let search = SearchSettings::new(first.min(8), first);
        let options =
            TaskOptions::new().members(number).domains([number, 0]).seed(number as u64).search(search);
        let count = AtomicUsize::new(0);
        chain.run_with(&options, |_| _ = count.fetch_add(1, Ordering::Relaxed)).expect("no cycle");
        assert_eq!(count.into_inner(), 8, "{number}");
    }
}
