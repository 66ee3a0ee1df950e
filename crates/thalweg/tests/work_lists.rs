//! Loops without an input from outside: work-lists. They end when all work is done, and are a deadlock if items are left
//! or a process waits in them.

use crate::support;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use support::watchdog::watch;
use thalweg::error::{Deadlock, Remains};
use thalweg::{Error, Graph, In, Options, Out, Report, Rx, Stream, Tx, input, output};

/// Every policy, each with channels of one item and of a thousand, and 1 to 8 threads.
fn everywhere(check: impl Fn(&Options)) {
    thalweg::embed::policy::registry::names().for_each(|policy| under(policy, &check));
}

fn under(policy: &str, check: impl Fn(&Options)) {
    for (threads, capacity) in [(1, 1), (1, 1000), (2, 1), (4, 1000), (8, 1)] {
        let options = Options::new().policy(policy).threads(threads).capacity(capacity);
        watch(format!("{options:?}"), || check(&options));
    }
}

/// The work that a task leads to: smaller tasks.
fn parts(task: u64) -> impl Iterator<Item = u64> {
    [task / 2, task / 3].into_iter().filter(|part| *part > 0)
}

/// The tasks in the order in which a sequential work-list does them.
fn done(tasks: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut open: VecDeque<u64> = tasks.into_iter().collect();
    let next = || {
        let task = open.pop_front()?;
        open.extend(parts(task));
        Some(task)
    };
    std::iter::from_fn(next).collect()
}

fn work(tasks: &mut In<u64>, (done, next): &mut (Out<u64>, Out<u64>)) {
    let task = tasks.pop();
    done.push(task);
    next.extend(parts(task));
}

/// A work-list: feedback, `before`, the node `work`, `after`, feedback. Returns the tasks done.
fn work_list(
    graph: &Graph<'static>,
    tasks: impl IntoIterator<Item = u64>,
    before: impl FnOnce(Stream<'static, u64>) -> Stream<'static, u64>,
    after: impl FnOnce(Stream<'static, u64>) -> Stream<'static, u64>,
) -> Stream<'static, u64> {
    let (end, back) = graph.feedback(tasks);
    let (done, next) =
        graph.kernel("work", input("in", before(back)), (output("done"), output("next"))).sequential(work);
    after(next).feed(end);
    done
}

/// The text and the data of a deadlock.
fn deadlock(end: Result<impl Sized, Error>) -> (String, Deadlock) {
    let error = end.err().expect("the run ends in a deadlock");
    let text = format!("{error:?}");
    let Error::Deadlock(deadlock) = error else { panic!("not a deadlock: {text}") };
    (text, deadlock)
}

/// Items left over on all channels of a loop.
fn left_over(report: &Report) -> u64 {
    report.channels().iter().map(|channel| channel.leftover()).sum()
}

const TASKS: [u64; 3] = [100, 7, 55];

#[test]
fn a_work_list_of_kernels_ends() {
    type Section = fn(Stream<'static, u64>) -> Stream<'static, u64>;
    let sections: [(&str, Section); 6] = [
        ("nothing", |tasks| tasks),
        ("map", |tasks| tasks.map(|task| task)),
        ("par_map", |tasks| tasks.par_map(|task| task)),
        ("flat_map", |tasks| tasks.flat_map(|task| [task])),
        ("in_flight", |tasks| tasks.in_flight(2, |tasks| tasks.par_map(|task| task))),
        ("in_flight, dynamic", |tasks| tasks.in_flight(2, |tasks| tasks.par_flat_map(|task| [task]))),
    ];
    everywhere(|options| {
        for (name, section) in sections {
            let graph = Graph::new();
            let all = work_list(&graph, TASKS, section, section).collect();
            let run = graph.run_with(options).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(left_over(run.report()), 0, "{name}");
            assert_eq!(run.take(all).unwrap(), done(TASKS), "{name}");
        }
    });
}

/// The channel without items is no cycle that can never start, since its rates are dynamic.
#[test]
fn a_work_list_without_work_ends_at_once() {
    everywhere(|options| {
        let graph = Graph::new();
        let all = work_list(&graph, [], |tasks| tasks, |tasks| tasks).collect();
        assert!(graph.run_with(options).unwrap().take(all).unwrap().is_empty());
    });
}

/// A node that passes tasks on, and pushes `count` tasks more when it ends.
fn held(tasks: Stream<'static, u64>, count: u64) -> Stream<'static, u64> {
    let kernel = tasks.kernel("held", output("out")).finish(move |out| out.extend(6..6 + count));
    kernel.sequential(|tasks, out| out.push(tasks.pop()))
}

#[test]
fn what_finishing_functions_push_into_the_ended_feedback_is_counted() {
    everywhere(|options| {
        // More than the channels hold, and the feedback's consumer has left by then.
        for count in [1, 3000] {
            let graph = Graph::new();
            let after = |tasks| held(tasks, count).par_map(|task| task).map(|task| task);
            let all = work_list(&graph, TASKS, |tasks| tasks, after).collect();
            let run = graph.run_with(options).unwrap();
            assert_eq!(left_over(run.report()), count);
            assert_eq!(run.take(all).unwrap(), done(TASKS));
        }
        // What comes before the end of the loop is done.
        let graph = Graph::new();
        let all = work_list(&graph, TASKS, |tasks| held(tasks, 1), |tasks| tasks).collect();
        let run = graph.run_with(options).unwrap();
        assert_eq!(left_over(run.report()), 2, "the parts of task 6");
        let mut expected = done(TASKS);
        expected.push(6);
        assert_eq!(run.take(all).unwrap(), expected);
    });
}

/// The reader of the results ends before the node that has something to push.
#[test]
fn a_finishing_function_is_called_whatever_ends_first() {
    for round in 0..200 {
        let options = Options::new().threads(1 + round % 4);
        let (graph, called) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        let call = called.clone();
        let after = move |tasks: Stream<'static, u64>| {
            let slow = tasks.kernel("slow", output("out")).finish(move |out| {
                std::thread::sleep(Duration::from_micros(200));
                out.push(1);
            });
            let slow = slow.sequential(|tasks, out| out.push(tasks.pop()));
            let last = slow.kernel("last", output("out")).finish(move |out| {
                call.store(true, Ordering::Relaxed);
                out.push(2);
            });
            last.sequential(|tasks, out| out.push(tasks.pop()))
        };
        work_list(&graph, TASKS, |tasks| tasks, after).for_each(|_| ());
        let report = watch("finish", || graph.run_with(&options)).unwrap().into_report();
        assert!(called.load(Ordering::Relaxed), "round {round}");
        assert_eq!(left_over(&report), 2, "round {round}");
    }
}

fn process(tasks: Stream<'static, u64>) -> Stream<'static, u64> {
    let graph = tasks.graph();
    graph.process("pass", input("in", tasks), output("out"), |mut rx: Rx<u64>, mut tx: Tx<u64>| async move {
        while let Some(task) = rx.recv().await {
            tx.send(task).await;
        }
    })
}

#[test]
fn a_process_that_waits_in_a_work_list_is_a_deadlock() {
    everywhere(|options| {
        let run = |options: &Options| {
            let graph = Graph::new();
            let all = work_list(&graph, TASKS, |tasks| tasks, process).collect();
            graph.run_with(options).map(|run| run.take(all).unwrap())
        };
        let (text, deadlock) = deadlock(run(options).map_err(Error::from));
        assert_eq!(deadlock.remains(), Some(&Remains::Process { process: "pass".to_owned() }), "{text}");
        assert!(text.contains("no input from outside, and process `pass` waits in it"), "{text}");
        assert!(text.contains("`Graph::source`"), "{text}");
        assert!(text.contains("`Options::close_starved_loops`"), "{text}");
        assert_eq!(run(&options.clone().close_starved_loops()).unwrap(), done(TASKS));
    });
}

/// The remedies that the help names.
#[test]
fn a_process_in_a_loop_with_a_source_is_no_deadlock() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback([]);
        let enter =
            graph.kernel("enter", (input("new", graph.source(TASKS)), input("back", back)), output("out"));
        let tasks = enter
            .framed(|(new, back)| match new.peek(0)? {
                Some(_) => Ok(Some([1, 0])),
                None => Ok(back.peek(0)?.map(|_| [0, 1])),
            })
            .sequential(|(new, back), out| out.extend(new.try_pop().or_else(|| back.try_pop())));
        let outs = (output("done"), output("next"));
        let (all, next) = graph.kernel("work", input("in", tasks), outs).sequential(work);
        process(next).feed(end);
        let all = all.collect();
        assert_eq!(graph.run_with(options).unwrap().take(all).unwrap(), done(TASKS));
    });
}

#[test]
fn items_left_in_a_work_list_are_a_deadlock() {
    fn pairs(tasks: Stream<'static, u64>) -> Stream<'static, u64> {
        let kernel = tasks.graph().kernel("pairs", input("in", tasks).pop(2), output("out"));
        kernel.parallel(|tasks, out| out.extend([tasks.pop(), tasks.pop()]))
    }
    fn frames(tasks: Stream<'static, u64>) -> Stream<'static, u64> {
        let kernel = tasks.graph().kernel("pairs", input("in", tasks), output("out"));
        let kernel = kernel.framed(|tasks| Ok(tasks.peek(1)?.map(|_| 2)));
        kernel.sequential(|tasks, out| out.extend([tasks.pop(), tasks.pop()]))
    }
    everywhere(|options| {
        for before in [pairs, frames] {
            for tasks in [vec![1, 1], vec![1], vec![1, 2], vec![4, 1], vec![2, 2]] {
                let run = |options: &Options| {
                    let graph = Graph::new();
                    let all = work_list(&graph, tasks.clone(), before, |tasks| tasks).collect();
                    graph.run_with(options).map(|run| (left_over(run.report()), run.take(all).unwrap()))
                };
                let expected = done(tasks.clone());
                let count = expected.len() as u64;
                match count % 2 {
                    0 => assert_eq!(run(options).unwrap(), (0, expected)),
                    _ => {
                        let (text, deadlock) = deadlock(run(options).map_err(Error::from));
                        let channel = "work.next -> pairs.in".to_owned();
                        assert_eq!(deadlock.remains(), Some(&Remains::Items { channel, items: 1 }), "{text}");
                        assert!(text.contains("`work.next -> pairs.in` still holds 1 item\n"), "{text}");
                        assert!(text.contains("`Graph::source`"), "{text}");
                        // The option ends the loop all the same.
                        let (left, all) = run(&options.clone().close_starved_loops()).unwrap();
                        assert_eq!((left, all.len() as u64), (1, count - 1));
                    }
                }
            }
        }
    });
}

/// A kernel that peeks at more than it pops leaves items in the channel.
#[test]
fn items_that_are_only_peeked_at_are_left() {
    let graph = Graph::new();
    let before = |tasks: Stream<'static, u64>| tasks.windows(3, 1, |tasks| tasks[0]);
    let all = work_list(&graph, TASKS, before, |tasks| tasks).collect();
    let (text, deadlock) =
        deadlock(watch("peek", || graph.run().map(|run| run.take(all))).map_err(Error::from));
    assert!(matches!(deadlock.remains(), Some(Remains::Items { items: 2, .. })), "{text}");
}

#[test]
fn a_work_list_with_a_merge_ends() {
    everywhere(|options| {
        let graph = Graph::new();
        let (small, small_back) = graph.feedback(TASKS);
        let (large, large_back) = graph.feedback([]);
        let tasks = graph.merge([small_back, large_back]);
        let outs = (output("done"), output("small"), output("large"));
        let (all, to_small, to_large) =
            graph.kernel("work", input("in", tasks), outs).sequential(|tasks, (done, small, large)| {
                let task = tasks.pop();
                done.push(task);
                parts(task).for_each(|part| if part < 10 { small.push(part) } else { large.push(part) });
            });
        to_small.feed(small);
        to_large.feed(large);
        let all = all.collect();
        let mut all = graph.run_with(options).unwrap().take(all).unwrap();
        let mut expected = done(TASKS);
        all.sort_unstable();
        expected.sort_unstable();
        assert_eq!(all, expected);
    });
}

#[test]
fn a_work_list_with_an_unordered_node_ends() {
    everywhere(|options| {
        let graph = Graph::new();
        let before = |tasks: Stream<'static, u64>| tasks.par_map(|task| task).unordered();
        let all = work_list(&graph, TASKS, before, |tasks| tasks).collect();
        let mut all = graph.run_with(options).unwrap().take(all).unwrap();
        let mut expected = done(TASKS);
        all.sort_unstable();
        expected.sort_unstable();
        assert_eq!(all, expected);
    });
}

/// Rounds and recursion in a work-list are loops in a loop. What a finishing function pushes goes round in them too.
#[test]
fn a_work_list_with_loops_inside_ends() {
    use std::ops::ControlFlow::{Break, Continue};
    use thalweg::Fork;
    let round = |tasks: Stream<'static, u64>| {
        let rounds = tasks.map(|task| (task, task % 3));
        rounds.par_iterate(2, |(task, left)| if left == 0 { Break(task) } else { Continue((task, left - 1)) })
    };
    let fork = |tasks: Stream<'static, u64>| {
        let step = |n: u64| if n < 3 { Fork::Done(n) } else { Fork::Split(vec![n / 2, n - n / 2]) };
        tasks.par_fork_join(2, step, |parts: Vec<u64>| parts.iter().sum())
    };
    let mut expected = done(TASKS);
    expected.push(6);
    everywhere(|options| {
        let graph = Graph::new();
        let all = work_list(&graph, TASKS, |tasks| round(round(held(tasks, 1))), round).collect();
        let run = graph.run_with(options).unwrap();
        assert_eq!(left_over(run.report()), 2);
        assert_eq!(run.take(all).unwrap(), expected);

        let graph = Graph::new();
        let all = work_list(&graph, TASKS, |tasks| fork(held(tasks, 1)), fork).collect();
        let run = graph.run_with(options).unwrap();
        assert_eq!(left_over(run.report()), 2);
        assert_eq!(run.take(all).unwrap(), expected);
    });
}

/// A loop of a node around the work: it sends each task round itself, by data, `task % 3` times.
#[test]
fn a_work_list_with_a_loop_of_the_users_inside_ends() {
    let rounds = |tasks: Stream<'static, u64>| {
        let graph = tasks.graph();
        let (end, back) = graph.feedback([]);
        let mut in_loop = 0;
        let frame = graph.kernel(
            "inner",
            (input("in", tasks), input("back", back)),
            (output("out"), output("round")),
        );
        let (out, round) = frame
            .framed(move |(tasks, back)| match in_loop {
                0 => Ok(tasks.peek(0)?.map(|task| {
                    in_loop = *task % 3;
                    [1, 0]
                })),
                _ => Ok(back.peek(0)?.map(|_| {
                    in_loop -= 1;
                    [0, 1]
                })),
            })
            .sequential(|(tasks, back), (out, round)| {
                let (task, left) = match tasks.try_pop() {
                    Some(task) => (task, task % 3),
                    None => back.try_pop().map(|(task, left): (u64, u64)| (task, left - 1)).unwrap(),
                };
                if left == 0 { out.push(task) } else { round.push((task, left)) }
            });
        round.par_map(|task| task).feed(end);
        out
    };
    everywhere(|options| {
        let graph = Graph::new();
        let all = work_list(&graph, TASKS, rounds, rounds).collect();
        assert_eq!(graph.run_with(options).unwrap().take(all).unwrap(), done(TASKS));
    });
}

/// A second loop, with an input from the first, ends after it. So does a chain with a node that holds items back.
#[test]
fn a_loop_behind_a_work_list_ends_after_it() {
    everywhere(|options| {
        let graph = Graph::new();
        let first = work_list(&graph, TASKS, |tasks| tasks, |tasks| held(tasks, 1));
        let (end, back) = graph.feedback([]);
        let enter = graph.kernel("enter", (input("new", first), input("back", back)), output("out"));
        let tasks = enter
            .framed(|(new, back)| match new.peek(0)? {
                Some(_) => Ok(Some([1, 0])),
                None => Ok(back.peek(0)?.map(|_| [0, 1])),
            })
            .sequential(|(new, back), out| out.extend(new.try_pop().or_else(|| back.try_pop())));
        let outs = (output("done"), output("next"));
        let (all, next) = graph.kernel("second", input("in", tasks), outs).parallel(|tasks, (done, next)| {
            let task = tasks.pop();
            done.push(task);
            next.extend((task > 50).then_some(task / 3));
        });
        next.feed(end);
        let all = all.batch(4).collect();
        let all = graph.run_with(options).unwrap().take(all).unwrap().concat();
        let mut expected = done(TASKS);
        expected.extend([100 / 3, 55 / 3]);
        assert_eq!(all, expected);
    });
}

/// Firings with more results than fit are suspended, and resumed before the loop is done.
#[test]
fn a_work_list_with_suspended_firings_ends() {
    everywhere(|options| {
        for unordered in [false, true] {
            let graph = Graph::new();
            let (end, back) = graph.feedback([9u64, 5]);
            let tasks = back.par_flat_map(|task| 0..task);
            let tasks = if unordered { tasks.unordered() } else { tasks };
            let outs = (output("done"), output("next"));
            let (all, next) =
                graph.kernel("work", input("in", tasks), outs).parallel(|tasks, (done, next)| {
                    let task = tasks.pop();
                    done.push(task);
                    next.push(task);
                });
            next.feed(end);
            let count = all.fold(0, |count, _| count + 1);
            let count: u64 = graph.run_with(options).unwrap().take(count).unwrap();
            // Below task n there are 2^n - 1 others.
            assert_eq!(count, (1 << 9) - 1 + (1 << 5) - 1);
        }
    });
}

/// Under fair policies: the work-list never gives way to another node by itself.
#[test]
fn a_work_list_ends_with_its_reader_or_by_a_cancel() {
    let is_fair = |policy: &&str| thalweg::embed::policy::registry::is_fair(policy) == Some(true);
    thalweg::embed::policy::registry::names().filter(is_fair).for_each(|policy| {
        under(policy, |options| {
            // It would go on for ever.
            let endless = |graph: &Graph<'static>| {
                let (end, back) = graph.feedback([0u64]);
                let outs = (output("done"), output("next"));
                let (all, next) =
                    graph.kernel("work", input("in", back), outs).sequential(|tasks, (done, next)| {
                        let task = tasks.pop();
                        done.push(task);
                        next.push(task + 1);
                    });
                next.feed(end);
                all
            };
            let graph = Graph::new();
            let some = endless(&graph).take(5).collect();
            assert_eq!(graph.run_with(options).unwrap().take(some).unwrap(), [0, 1, 2, 3, 4]);

            let graph = Graph::new();
            let mut outlet = endless(&graph).start_with(options).unwrap();
            assert_eq!(outlet.next(), Some(0));
            outlet.handle().cancel();
            assert!(matches!(outlet.finish().map_err(Error::from), Err(Error::Cancelled)));
        })
    });
}

/// A node that ends by itself takes no part in what follows.
#[test]
fn a_work_list_whose_node_has_ended_ends() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback(TASKS);
        let (log, log_back) = graph.feedback([]);
        let tasks = graph.merge([back, log_back]);
        let outs = (output("done"), output("next"), output("log"));
        let (all, next, logged) =
            graph.kernel("work", input("in", tasks), outs).sequential(|tasks, (done, next, log)| {
                let task = tasks.pop();
                done.push(task);
                next.extend(parts(task));
                log.push(task);
            });
        next.feed(end);
        let mut left = 3;
        let logged = logged.kernel("log", output("out")).sequential(move |tasks, _: &mut Out<u64>| {
            tasks.pop();
            left -= 1;
            if left == 0 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        });
        logged.feed(log);
        let all = all.collect();
        assert_eq!(graph.run_with(options).unwrap().take(all).unwrap(), done(TASKS));
    });
}

/// Runs a work-list beside a load that ends after it. The load keeps a worker busy, or `sleeps` most of the time on a
/// thread of its own.
fn run_beside_load(options: &Options, sleeps: bool) {
    let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
    let until = over.clone();
    let numbers = (0u64..).take_while(move |_| {
        if sleeps {
            std::thread::sleep(Duration::from_micros(200));
        }
        !until.load(Ordering::Relaxed)
    });
    let load = graph.source(numbers);
    if sleeps { load.blocking() } else { load }.for_each(|_| ());
    let sum = Arc::new(AtomicU64::new(0));
    let total = sum.clone();
    let all = work_list(&graph, TASKS, |tasks| tasks.par_map(|task| task), |tasks| held(tasks, 3));
    let kernel = graph.kernel("sum", input("in", all), ());
    let kernel = kernel.finish(move |()| over.store(true, Ordering::Relaxed));
    kernel.sequential(move |tasks, ()| _ = total.fetch_add(tasks.pop(), Ordering::Relaxed));
    let report = graph.run_with(options).unwrap().into_report();
    assert_eq!(sum.load(Ordering::Relaxed), done(TASKS).iter().sum::<u64>());
    assert_eq!(left_over(&report), 3);
}

/// The rest of the graph runs until the work-list has ended, so no last thread awake finds that it is done.
#[test]
fn a_work_list_ends_beside_a_load() {
    for policy in thalweg::embed::policy::registry::names() {
        under(policy, |options| {
            run_beside_load(options, true);
            if thalweg::embed::policy::registry::is_fair(policy) == Some(true) {
                run_beside_load(options, false);
            }
        });
    }
}

/// One part of a loop is done at once and the other works for a while. The sink waits for the first.
#[test]
fn a_part_that_is_done_waits_for_the_rest() {
    for policy in ["auto", "random", "ws-last"] {
        for threads in [1, 2, 4] {
            let options = Options::new().policy(policy).threads(threads);
            let graph = Graph::new();
            let (own, own_back) = graph.feedback::<u64>([]);
            let (from, back) = graph.feedback::<u64>([]);
            // Waits for its own items first.
            let ins = (input("own", own_back), input("back", back));
            let outs = (output("out"), output("own"), output("to"));
            let (out, to_own, to) = graph
                .kernel("first", ins, outs)
                .framed(|(own, _)| Ok(own.peek(0)?.map(|_| [1, 0])))
                .sequential(|(own, _), (out, to_own, to): &mut (Out<u64>, Out<u64>, Out<u64>)| {
                    out.extend(own.try_pop());
                    to_own.extend([]);
                    to.extend([]);
                });
            to_own.feed(own);
            let (again, again_back) = graph.feedback([60_000u64]);
            let outs = (output("again"), output("to"));
            let (to_again, to_first) = graph
                .kernel("second", (input("to", to), input("again", again_back)), outs)
                .framed(|(_, again)| Ok(again.peek(0)?.map(|_| [0, 1])))
                .sequential(|(_, again), (to_again, to_first): &mut (Out<u64>, Out<u64>)| {
                    to_again.extend(again.try_pop().and_then(|left| left.checked_sub(1)));
                    to_first.extend([]);
                });
            to_again.par_map(|left| left).feed(again);
            to_first.feed(from);
            let none = out.collect();
            let run = watch(format!("{options:?}"), || graph.run_with(&options)).unwrap();
            assert!(run.take(none).unwrap().is_empty());
        }
    }
}
