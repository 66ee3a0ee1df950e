//! The cases: each drops some values in one place.

use super::*;

/// A loop that begins with four values, and a process in it.
macro_rules! self_feeding {
    ($tally:expr, $options:expr, |$rx:ident, $tx:ident| $body:expr) => {{
        let graph = Graph::new();
        let (back, last) = graph.feedback($tally.many(4));
        let next = graph.process("loop", last, output("next"), |mut $rx, mut $tx| async move { $body });
        next.feed(back);
        graph.run_with($options).map(drop).map_err(Error::from)
    }};
}

pub fn cases() -> Vec<Case> {
    vec![
        ("a loop whose process ends at once", |tally, options| {
            self_feeding!(tally, options, |rx, tx| _ = (&mut rx, &mut tx))
        }),
        ("a loop whose process ends after a message", |tally, options| {
            self_feeding!(tally, options, |rx, tx| if let Some(bad) = rx.recv().await {
                tx.send(bad).await;
            })
        }),
        ("a loop whose process ends with a lent message", |tally, options| {
            self_feeding!(tally, options, |rx, tx| {
                let lent = rx.recv_ref().await;
                tx.send(lent.as_ref().expect("four").0.make()).await;
            })
        }),
        ("a loop whose process forgets a lent message", |tally, options| {
            self_feeding!(tally, options, |rx, tx| {
                std::mem::forget(rx.recv_ref().await);
                _ = &mut tx;
            })
        }),
        ("a loop of a coroutine", |tally, options| {
            let graph = Graph::new();
            let (back, last) = graph.feedback(tally.many(4));
            let next = graph.coroutine("loop", last, output("next"), |mut rx, mut tx| {
                if let Some(bad) = rx.recv() {
                    tx.send(bad);
                }
            });
            next.feed(back);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a loop of two processes", |tally, options| {
            let graph = Graph::new();
            let (back, last) = graph.feedback(tally.many(4));
            let pass = |name: &str, stream: thalweg::Stream<'static, Bad>| {
                graph.process(name, stream, output("next"), |mut rx, mut tx| async move {
                    if let Some(bad) = rx.recv().await {
                        tx.send(bad).await;
                    }
                })
            };
            pass("b", pass("a", last)).feed(back);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a sink that leaves", |tally, options| {
            let sink = from_iter(tally.many(50)).for_each(|bad| {
                drop(bad);
                ControlFlow::Break(())
            });
            sink.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a sink that fails", |tally, options| {
            let mut count = 0;
            let sink = from_iter(tally.many(50)).map(|bad| bad).for_each(move |bad| {
                bad.forget();
                count += 1;
                if count == 5 { Err("five") } else { Ok(()) }
            });
            sink.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a parallel stage that fails", |tally, options| {
            let count = AtomicUsize::new(0);
            let stage = from_iter(tally.many(50)).try_par_map(move |bad| {
                if count.fetch_add(1, Ordering::Relaxed) == 9 { Err("nine") } else { Ok(bad) }
            });
            stage.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("a parallel stage with many results", |tally, options| {
            let stage = from_iter(0..20u64).capacity(2).par_flat_map({
                let tally = tally.clone();
                move |_| tally.many(5)
            });
            let mut left = 7;
            let sink = stage.capacity(2).for_each(move |bad| {
                drop(bad);
                left -= 1;
                if left == 0 { Err("seven") } else { Ok(()) }
            });
            sink.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a sequential stage with many results", |tally, options| {
            let stage = from_iter(0..20u64).capacity(2).flat_map({
                let tally = tally.clone();
                move |_| tally.many(9)
            });
            let mut left = 3;
            let sink = stage.capacity(2).for_each(move |bad| {
                drop(bad);
                left -= 1;
                if left == 0 { Err("three") } else { Ok(()) }
            });
            sink.run_with(options).map(drop).map_err(Error::from)
        }),
        ("iterators of a sequential stage", |tally, options| {
            let make = tally.clone();
            let stage = from_iter(0..5u64).flat_map(move |_| holding(make.make()));
            stage.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("an iterator of a sequential stage that has results left", |tally, options| {
            let make = tally.clone();
            let stage = from_iter(0..5u64).flat_map(move |_| holding(make.make())).capacity(2);
            stage.for_each(fail_at(4)).run_with(options).map(drop).map_err(Error::from)
        }),
        ("iterators of a parallel stage", |tally, options| {
            let make = tally.clone();
            let stage = from_iter(0..5u64).par_flat_map(move |_| holding(make.make()));
            stage.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("iterators of a parallel stage that have results left", |tally, options| {
            let make = tally.clone();
            let stage = from_iter(0..5u64).par_flat_map(move |_| holding(make.make())).capacity(2);
            stage.for_each(fail_at(4)).run_with(options).map(drop).map_err(Error::from)
        }),
        ("iterators of an adaptor", |tally, options| {
            let make = tally.clone();
            let results = (0..5u64).par_flat_map(move |_| holding(make.make())).options(options.clone());
            resumed(|| results.for_each(drop))
        }),
        ("iterators of an adaptor that is dropped", |tally, options| {
            let make = tally.clone();
            let mut results = (0..50u64).par_flat_map(move |_| holding(make.make())).options(options.clone());
            resumed(|| _ = results.next())?;
            drop(results);
            Err(Error::Cancelled)
        }),
        ("windows", |tally, options| {
            let mut left = 3;
            let sink = from_iter(tally.many(20)).windows(4, 1, |window| window.len()).for_each(move |_| {
                left -= 1;
                if left == 0 { Err("three") } else { Ok(()) }
            });
            sink.run_with(options).map(drop).map_err(Error::from)
        }),
        ("parallel windows", |tally, options| {
            from_iter(tally.many(20))
                .par_windows(4, 3, |window| window.len())
                .for_each(drop)
                .run_with(options)
                .map(drop)
                .map_err(Error::from)
        }),
        ("the state of closures", |tally, options| {
            let held = [(); 5].map(|()| tally.make());
            let [a, b, c, d, e] = held;
            let source = (0..10u64).inspect(move |_| _ = &a);
            let stages = from_iter(source).map(move |x| (x, _ = &b).0).par_map(move |x| (x, _ = &c).0).weigh(
                move |_| {
                    _ = &d;
                    8
                },
            );
            stages.for_each(move |_| _ = &e).run_with(options).map(drop).map_err(Error::from)
        }),
        ("the state of a framed kernel", |tally, options| {
            let [a, b, c] = [(); 3].map(|()| tally.make());
            let graph = Graph::new();
            let kernel =
                graph.kernel("k", input("in", graph.source(0..9u64)), output("out")).framed(move |items| {
                    _ = &a;
                    Ok(items.peek(0)?.map(|_| 1))
                });
            let kernel = kernel.finish(move |_| drop(b));
            kernel.sequential(move |items, out| (out.push(items.pop()), _ = &c).0).for_each(drop);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("the state of a framed parallel kernel", |tally, options| {
            let [a, b] = [(); 2].map(|()| tally.make());
            let graph = Graph::new();
            let kernel =
                graph.kernel("k", window("in", graph.source(0..9u64)), output("out")).framed(move |items| {
                    _ = &a;
                    Ok(items.peek(0)?.map(|_| 1))
                });
            kernel.parallel(move |items, out| (out.push(items[0]), _ = &b).0).for_each(drop);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a finishing function that is not called", |tally, options| {
            let [a, b] = [(); 2].map(|()| tally.make());
            let graph = Graph::new();
            let kernel = graph.kernel("k", input("in", graph.source(0..9u64)), output("out"));
            let kernel = kernel.finish(move |_| drop(a));
            kernel
                .sequential(move |items, out| {
                    _ = &b;
                    out.push(items.pop());
                    Err::<(), _>("at once")
                })
                .for_each(drop);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("items and closures of one node", |tally, options| {
            let held = tally.make();
            let sink = from_iter(tally.many(9)).capacity(4).for_each(move |bad: Bad| {
                _ = &held;
                bad.forget();
                Err::<(), _>("at once")
            });
            sink.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a process that waits", |tally, options| {
            let graph = Graph::new();
            let held = tally.make();
            let (back, last) = graph.feedback::<Bad>([]);
            graph
                .process("waits", last, output("next"), |mut rx, mut tx| async move {
                    _ = &held;
                    while let Some(bad) = rx.recv().await {
                        tx.send(bad).await;
                    }
                })
                .feed(back);
            graph.source([0u64]).for_each(|_| Err::<(), _>("at once"));
            match graph.run_with(options).map_err(Error::from) {
                // The process waits for itself, which a worker may find before the sink fails.
                Err(Error::Deadlock(_)) => Err(Error::Cancelled),
                run => run.map(drop),
            }
        }),
        ("messages of a process that waits to send", |tally, options| {
            let graph = Graph::new();
            let bads = graph.process("sends", (), output("next"), {
                let tally = tally.clone();
                move |(), mut tx| async move {
                    for bad in tally.many(9) {
                        tx.send(bad).await;
                    }
                }
            });
            bads.capacity(2).for_each(|bad| (drop(bad), Err::<(), _>("at once")).1);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a coroutine that waits to send", |tally, options| {
            unwound(tally, options, |bad, _, mut out| out.send(bad))
        }),
        ("a coroutine that waits to send what a function makes", |tally, options| {
            unwound(tally, options, |bad, _, mut out| out.send_with(move |place| place.write(bad)))
        }),
        ("a coroutine that waits with a lent message", |tally, options| {
            unwound(tally, options, |bad, mut all, mut out| {
                bad.forget();
                let lent = all.recv_ref().expect("many");
                out.send(lent.0.make());
            })
        }),
        ("a coroutine that sends while it is unwound", |tally, options| {
            unwound(tally, options, |bad, _, mut out| {
                struct Late<F: FnOnce()>(Option<F>);
                impl<F: FnOnce()> Drop for Late<F> {
                    fn drop(&mut self) {
                        self.0.take().into_iter().for_each(|send| send());
                    }
                }
                let _late = Late(Some(|| out.send(bad)));
                panic!("{INJECTED} panic");
            })
        }),
        ("a coroutine that has not begun", |tally, options| {
            let held = tally.make();
            let graph = Graph::new();
            let (back, last) = graph.feedback::<u64>([]);
            graph
                .coroutine("waits", last, output("next"), move |rx, mut tx| {
                    let _held = held;
                    rx.for_each(|item| tx.send(item));
                })
                .feed(back);
            graph.run_with(&options.clone().on_start(thalweg::Handle::cancel)).map(drop).map_err(Error::from)
        }),
        ("an output that is not taken", |tally, options| {
            let graph = Graph::new();
            let held = tally.make();
            let output = graph.source([1u64]).fold(held, |held, _| held);
            graph.source([0u64]).for_each(|_| Err::<(), _>("at once"));
            output.run_with(options).map(|bad| bad.into_value().forget()).map_err(Error::from)
        }),
        ("a collection that is not taken", |tally, options| {
            let mut left = 3;
            let bads = from_iter(tally.many(3)).map(move |bad| {
                left -= 1;
                if left == 0 {
                    bad.forget();
                    return Err("three");
                }
                Ok(bad)
            });
            bads.try_map(|bad| bad).collect().run_with(options).map(drop).map_err(Error::from)
        }),
        ("a value of a process", |tally, options| {
            let graph = Graph::new();
            let held = tally.make();
            let value = graph.process("value", (), (), move |(), ()| async move { Value(held) });
            graph.source([0u64]).for_each(|_| Err::<(), _>("at once"));
            value.run_with(options).map(|bad| bad.into_value().forget()).map_err(Error::from)
        }),
        ("an outlet that is finished early", |tally, options| {
            let mut outlet = from_iter(tally.many(50)).map(|bad| bad).start_with(options)?;
            let first = outlet.next();
            let result = outlet.finish().map(drop);
            _ = first.map(Bad::forget);
            result.map_err(Error::from)
        }),
        ("an outlet that is finished at once", |tally, options| {
            from_iter(tally.many(50)).start_with(options)?.finish().map(drop).map_err(Error::from)
        }),
        ("an outlet that is dropped", |tally, options| {
            let mut outlet = from_iter(tally.many(50)).map(|bad| bad).start_with(options)?;
            _ = outlet.next().map(Bad::forget);
            drop(outlet);
            Err(Error::Cancelled)
        }),
        ("an outlet of a scope", |tally, options| {
            std::thread::scope(|scope| from_iter(tally.many(50)).start_in(scope, options)?.finish().map(drop))
                .map_err(Error::from)
        }),
        ("an adaptor that is dropped", |tally, options| {
            let mut results = tally.many(50).par_map(|bad| bad).options(options.clone());
            _ = results.next().map(Bad::forget);
            drop(results);
            Err(Error::Cancelled)
        }),
        ("an adaptor that is not begun", |tally, options| {
            let held = tally.make();
            drop(tally.many(9).par_map(move |bad| (bad, _ = &held)).options(options.clone()));
            Err(Error::Cancelled)
        }),
        ("rounds", |tally, options| {
            let mut left = 3;
            let rounds = from_iter(tally.many(20)).par_iterate(8, ControlFlow::<Bad, Bad>::Break);
            let sink = rounds.for_each(move |bad| {
                drop(bad);
                left -= 1;
                if left == 0 { Err("three") } else { Ok(()) }
            });
            sink.run_with(options).map(drop).map_err(Error::from)
        }),
        ("results of rounds that wait for one before them", |tally, options| {
            let make = tally.clone();
            let rounds = from_iter(0..20u64).par_iterate(8, move |n| match n {
                0 if make.live.load(Ordering::Relaxed) > 3 => panic!("{INJECTED} step"),
                0 => ControlFlow::Continue(0),
                _ => ControlFlow::Break(make.make()),
            });
            rounds.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("parts of splits", |tally, options| {
            let make = tally.clone();
            let count = AtomicUsize::new(0);
            let step = move |bad: Bad| {
                if count.fetch_add(1, Ordering::Relaxed) == 9 {
                    bad.forget();
                    panic!("{INJECTED} step");
                }
                bad.forget();
                Fork::Split(make.many(4).collect())
            };
            let joined = from_iter(tally.many(2))
                .par_fork_join(3, step, |mut bads: Vec<Bad>| bads.pop().expect("four"));
            joined.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("results of parts", |tally, options| {
            let make = tally.clone();
            let count = AtomicUsize::new(0);
            let step = move |n: u64| match n {
                0 => Fork::Split((1..20).collect()),
                _ if count.fetch_add(1, Ordering::Relaxed) == 9 => panic!("{INJECTED} step"),
                _ => Fork::Done(make.make()),
            };
            let joined =
                from_iter([0u64]).par_fork_join(3, step, |mut bads: Vec<Bad>| bads.pop().expect("all"));
            joined.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("functions of a fork-join", |tally, options| {
            let [a, b] = [(); 2].map(|()| tally.make());
            let step = move |n: u64| (Fork::Done(n), _ = &a).0;
            let joined = from_iter(0..5u64).par_fork_join(3, step, move |_| (0u64, _ = &b).0);
            joined.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        // The function weighs the four parts together, and then each as it begins.
        ("parts whose weight panics", |tally, options| weigh_parts(tally, options, 2)),
        ("a part whose weight panics", |tally, options| weigh_parts(tally, options, 6)),
        ("a state whose weight panics", |tally, options| weigh_parts(tally, options, 9)),
        ("a result whose weight panics", |tally, options| {
            let make = tally.clone();
            let step = move |n: u64| match n {
                0 => Fork::Split((1..9).collect()),
                _ => Fork::Done(make.make()),
            };
            let joined =
                from_iter([0u64]).par_fork_join(3, step, |mut bads: Vec<Bad>| bads.pop().expect("all"));
            joined.weigh(panic_after(3)).for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        // On one thread the endless item is called before the join, and fails.
        ("a join that has not begun", |tally, options| {
            let make = tally.clone();
            let rounds = AtomicUsize::new(0);
            let step = move |n: u64| match n {
                0 => Fork::Split((1..5).collect()),
                9 => {
                    let all = make.live.load(Ordering::Relaxed) >= 4;
                    if all || rounds.fetch_add(1, Ordering::Relaxed) == 1000 {
                        panic!("{INJECTED} step");
                    }
                    Fork::Again(9)
                }
                _ => Fork::Done(make.make()),
            };
            let join = |mut bads: Vec<Bad>| {
                bads.drain(1..).for_each(Bad::forget);
                bads.remove(0)
            };
            from_iter([0u64, 9])
                .par_fork_join(8, step, join)
                .for_each(drop)
                .run_with(options)
                .map(drop)
                .map_err(Error::from)
        }),
        ("an iterator on a thread of its own", |tally, options| {
            let held = tally.make();
            let source = tally.many(9).inspect(move |_| _ = &held);
            from_iter(source)
                .blocking()
                .for_each(|bad| (drop(bad), Err::<(), _>("at once")).1)
                .run_with(options)
                .map(drop)
                .map_err(Error::from)
        }),
        ("a merge", |tally, options| {
            let graph = Graph::new();
            let all = graph.merge([graph.source(tally.many(9)), graph.source(tally.many(9))]);
            all.for_each(|bad| (drop(bad), ControlFlow::Break(())).1);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a deal", |tally, options| {
            let graph = Graph::new();
            let [a, b] = graph.source(tally.many(50)).deal([2, 1]);
            a.for_each(|bad| (drop(bad), ControlFlow::Break(())).1);
            b.for_each(|bad| (drop(bad), ControlFlow::Break(())).1);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("streams that are joined", |tally, options| {
            let graph = Graph::new();
            let streams = [graph.source(tally.many(9)), graph.source(tally.many(9))];
            let all = graph.interleave([2, 1], streams).concat(graph.source(tally.many(9)));
            all.for_each(|bad| (drop(bad), ControlFlow::Break(())).1);
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
        ("a batch that waits for its time", |tally, options| {
            let mut left = 5;
            let bads = from_iter(tally.many(5)).try_map(move |bad| {
                left -= 1;
                if left == 0 {
                    bad.forget();
                    return Err("five");
                }
                Ok(bad)
            });
            let batches = bads.batch_timeout(10, Duration::from_secs(3600));
            batches.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("groups that are not taken", |tally, options| {
            let (keys, values) = (tally.clone(), tally.clone());
            let groups = from_iter(0..20u64).try_map(|n| if n < 19 { Ok(n) } else { Err("nineteen") });
            let groups =
                groups.fold_by_key(move |n| Key(n % 5, keys.make()), move || values.make(), |value, _| value);
            groups.run_with(options).map(drop).map_err(Error::from)
        }),
        ("scratch values", |tally, options| {
            let make = tally.clone();
            let stage = from_iter(0..50u64).par_map_init(move || make.make(), |_, n| n);
            stage.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("scratch values of a stage that panics", |tally, options| {
            let make = tally.clone();
            let stage = from_iter(0..50u64).par_map_init(
                move || make.make(),
                |_, n| match n {
                    30 => panic!("{INJECTED} call"),
                    _ => n,
                },
            );
            stage.for_each(drop).run_with(options).map(drop).map_err(Error::from)
        }),
        ("errors of several nodes", |tally, options| {
            #[derive(Debug)]
            struct Failure(#[expect(dead_code)] Bad);
            impl std::fmt::Display for Failure {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(INJECTED)
                }
            }
            impl std::error::Error for Failure {}
            let graph = Graph::new();
            for _ in 0..4 {
                let tally = tally.clone();
                graph.source(0..9u64).for_each(move |_| Err::<(), _>(Failure(tally.make())));
            }
            match graph.run_with(options).map_err(Error::from) {
                Err(Error::Node { node, cause }) => {
                    // The caller's own.
                    std::mem::forget(cause);
                    tally.live.fetch_sub(1, Ordering::Relaxed);
                    Err(Error::Panic { node, message: INJECTED.to_owned() })
                }
                other => other.map(drop),
            }
        }),
        ("a graph that is refused", |tally, options| {
            let [a, b] = [(); 2].map(|()| tally.make());
            let graph = Graph::new();
            let numbers = (0..9u64).inspect(move |_| _ = &a);
            graph.source(numbers).map(move |x| (x, _ = &b).0).capacity(usize::MAX).for_each(drop);
            graph.source(tally.many(0)).discard();
            graph.run_with(options).map(drop).map_err(Error::from)
        }),
    ]
}
