//! Settings of parallel kernels: results without order, and a limit on workers.

use crate::support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::watchdog::watch;
use thalweg::{Graph, Options, Stream, from_iter, input, output};

fn everywhere(check: impl Fn(&Options)) {
    for policy in thalweg::embed::policy::registry::names() {
        for threads in [1, 2, 4] {
            let options = Options::new().policy(policy).threads(threads);
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

#[test]
fn an_unordered_kernel_pushes_every_result_once() {
    everywhere(|options| {
        for capacity in [1, 3, 1000] {
            let options = options.clone().capacity(capacity);
            let all = from_iter(0..3000u64).par_flat_map(|n| [n; 3].into_iter().take(n as usize % 4));
            let mut got = all.unordered().collect().run_with(&options).unwrap().into_value();
            got.sort_unstable();
            let expected: Vec<u64> = (0..3000).flat_map(|n| vec![n; n as usize % 4]).collect();
            assert_eq!(got, expected, "{options:?}");
            let mut got = from_iter(0..3000u64)
                .par_map(|n| n + 1)
                .unordered()
                .collect()
                .run_with(&options)
                .unwrap()
                .into_value();
            got.sort_unstable();
            assert!(got.into_iter().eq(1..=3000), "{options:?}");
        }
    });
}

/// The first firing ends after twenty others. Their results exceed the budget until they are published.
#[test]
fn published_bytes_delay_no_firing_of_an_unordered_kernel() {
    const WAIT: Duration = Duration::from_secs(20);
    for seed in 0..30 {
        let (done, start) = (&AtomicUsize::new(0), Instant::now());
        let many = from_iter(0..60u64).capacity(100).kernel("many", output("out")).unordered().parallel(
            move |items, out| {
                if items.pop() > 0 {
                    done.fetch_add(1, Ordering::SeqCst);
                } else {
                    while done.load(Ordering::SeqCst) < 20 && start.elapsed() < WAIT {
                        std::thread::sleep(Duration::from_micros(20));
                    }
                }
                out.extend(0..3000u64);
            },
        );
        let options = Options::new().threads(3).claim_length(1).budget(1 << 16).seed(seed);
        let count = many.fold(0, |count, _| count + 1).run_with(&options).unwrap().into_value();
        assert_eq!(count, 60 * 3000);
        assert!(start.elapsed() < WAIT, "seed {seed}: {done:?} firings had ended");
    }
}

/// A kernel with two outputs, one of them with a static rate of 2. For item 1000 it pushes `wrong` items, if set.
fn two(graph: &Graph<'static>, wrong: Option<u64>) -> (Stream<'static, u64>, Stream<'static, u64>) {
    let numbers = graph.source(0..2000u64).named("numbers");
    graph.kernel("two", input("in", numbers), (output("twice").push(2), output("odd"))).unordered().parallel(
        move |n, (twice, odd)| {
            let n = n.pop();
            let count = if n == 1000 { wrong.unwrap_or(2) } else { 2 };
            (0..count).for_each(|_| twice.push(n));
            odd.extend((n % 2 == 1).then_some(n));
        },
    )
}

#[test]
fn an_unordered_kernel_keeps_its_rates() {
    for threads in [1, 2, 4] {
        let options = Options::new().threads(threads).capacity(2);
        let graph = Graph::new();
        let (twice, odd) = two(&graph, None);
        let counts = std::sync::Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        for (i, stream) in [twice, odd].into_iter().enumerate() {
            let counts = counts.clone();
            stream
                .for_each(move |_| _ = counts[i].fetch_add(1, Ordering::Relaxed))
                .named(&format!("sink{i}"));
        }
        let network = graph.build().unwrap();
        assert!(network.graph().to_string().contains("two: parallel, unordered"), "{}", network.graph());
        watch(format!("{options:?}"), || network.run_with(&options)).unwrap();
        assert_eq!(counts.each_ref().map(|count| count.load(Ordering::Relaxed)), [4000, 1000]);
        for (wrong, what) in
            [(1, "pushed 1 items on output `twice`, whose declared push rate is 2"), (3, "pushed more items")]
        {
            let graph = Graph::new();
            let (twice, odd) = two(&graph, Some(wrong));
            twice.for_each(|_| ()).named("a");
            odd.for_each(|_| ()).named("b");
            let error = watch(what.to_owned(), || graph.run_with(&options)).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
    }
}

#[test]
fn a_slow_firing_of_an_unordered_kernel_delays_no_other() {
    let slow = |n| {
        if n == 0 {
            std::thread::sleep(Duration::from_millis(100));
        }
        n
    };
    let options = Options::new().threads(2);
    let got =
        from_iter(0..1000u64).par_map(slow).unordered().collect().run_with(&options).unwrap().into_value();
    let at = got.iter().position(|n| *n == 0).unwrap();
    assert!(at > 10, "the slow result came as number {at}");
    let got = from_iter(0..1000u64).par_map(slow).collect().run_with(&options).unwrap().into_value();
    assert_eq!(got[0], 0, "ordered by default");
}

#[test]
fn at_most_the_set_number_of_workers_fire_a_kernel() {
    everywhere(|options| {
        for most in [1, 2] {
            let (now, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |n: u64| {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_micros(20));
                now.fetch_sub(1, Ordering::SeqCst);
                n
            };
            let chain = from_iter(0..300u64).par_map(work).workers(most).par_map(|n| n + 1);
            let (got, report) = chain.collect().run_with(options).unwrap().into_parts();
            assert!(got.into_iter().eq(1..=300));
            assert!(peak.into_inner() <= most as usize, "{options:?}");
            assert!(
                report.graph().to_string().contains(&format!("at most {most} workers")),
                "{}",
                report.graph()
            );
        }
    });
}

/// A framing function may change its state when it decides. It is called once for each firing, though the items of its decision
/// arrive later.
#[test]
fn a_framing_function_decides_once_for_each_firing() {
    everywhere(|options| {
        for parallel in [false, true] {
            let graph = Graph::new();
            let items = graph.source((0..21_u64).inspect(|_| std::thread::sleep(Duration::from_micros(300))));
            let kernel = graph.kernel("grow", input("in", items), output("out"));
            let mut next = 0;
            let kernel = kernel.framed(move |_| {
                next += 1;
                Ok(Some(next))
            });
            let lengths = match parallel {
                true => kernel.parallel(move |items, out| out.push(items.len())),
                false => kernel.sequential(move |items, out| out.push(items.len())),
            };
            assert_eq!(lengths.collect().run_with(options).unwrap().into_value(), [1, 2, 3, 4, 5, 6]);
        }
    });
}
