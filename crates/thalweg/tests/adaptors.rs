//! The iterator adaptor: order, laziness, bounds, failures, and the drop of unread results.

mod support;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};
use support::inject::{INJECTED, silence};
use support::item::{Counted, Item, Ledger};
use support::spec::mix;
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Ordered, Output, ParallelExt, Stream, TryOrdered, from_iter};

fn options(threads: usize) -> Options {
    Options::new().threads(threads)
}

/// The results before the panic that ends them, and the payload of the panic.
fn until_panic<U: Send>(ordered: &mut Ordered<'_, U>) -> (Vec<U>, Box<dyn Any + Send>) {
    let mut results = Vec::new();
    let panic = catch_unwind(AssertUnwindSafe(|| ordered.by_ref().for_each(|item| results.push(item))));
    (results, panic.expect_err("the results end with a panic"))
}

/// The message of a panic.
fn text(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).expect("the payload is a string")
}

/// Takes long for one item in 64, so that later items finish before earlier ones.
fn work(item: u64) -> u64 {
    if mix(3, item).is_multiple_of(64) {
        std::thread::sleep(Duration::from_micros(200));
    }
    mix(1, item)
}

/// The number of threads that run a graph: workers and the thread of the source.
fn busy_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let name =
        |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.map(name).filter(|name| name.starts_with("thalweg-") || name.trim_end() == "source").count()
}

#[test]
fn results_are_in_the_order_of_the_items() {
    for threads in [1, 2, 8] {
        let numbers = || 0..2000u64;
        let mapped: Vec<u64> = numbers().par_map(work).options(options(threads)).collect();
        assert!(mapped.iter().copied().eq(numbers().map(work)));
        let tried = numbers().try_par_map(|item| Ok::<u64, Error>(work(item))).options(options(threads));
        assert_eq!(tried.collect::<Result<Vec<u64>, Error>>().unwrap(), mapped);
        let some = |item: u64| (!item.is_multiple_of(3)).then(|| work(item));
        let kept: Vec<u64> = numbers().par_filter_map(some).options(options(threads)).collect();
        assert!(kept.iter().copied().eq(numbers().filter_map(some)));
        let many = |item: u64| (0..item % 4).map(move |i| mix(work(item), i));
        let flat: Vec<u64> = numbers().par_flat_map(many).options(options(threads)).collect();
        assert!(flat.iter().copied().eq(numbers().flat_map(many)));
    }
}

#[test]
fn results_are_the_same_under_every_policy() {
    let expected: Vec<u64> = (0..500).map(work).collect();
    for policy in thalweg::embed::policy::registry::names() {
        let ordered = (0..500).par_map(work).options(options(3).policy(policy));
        assert_eq!(ordered.collect::<Vec<_>>(), expected, "{policy}");
    }
}

/// An endless iterator, and the count of items pulled from it.
fn count_pulls() -> (Arc<AtomicUsize>, impl Iterator<Item = u64> + Send + 'static) {
    let count = Arc::new(AtomicUsize::new(0));
    let pulls = count.clone();
    (count, (0..).inspect(move |_| _ = pulls.fetch_add(1, Ordering::Relaxed)))
}

#[test]
fn nothing_runs_before_the_first_call_of_next() {
    let (count, numbers) = count_pulls();
    let mut ordered = numbers.par_map(|item| item + 1);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(count.load(Ordering::Relaxed), 0);
    assert_eq!(ordered.next().unwrap(), 1);
}

/// The capacities of the channels after a run of `items` short items.
fn capacities(items: u64, options: &Options) -> Vec<usize> {
    let mut outlet = from_iter(0..items).blocking().par_map(|item| item).start_with(options).unwrap();
    assert_eq!(outlet.by_ref().count() as u64, items);
    outlet.finish().unwrap().report().channels().iter().map(|channel| channel.capacity()).collect()
}

#[test]
fn channels_are_widened_for_short_items_unless_a_capacity_is_set() {
    let planned = capacities(1, &options(2))[0];
    // A channel widens when one of its ends sleeps, which depends on timing; in twenty runs it happens.
    let widened = (0..20).any(|_| {
        let found = capacities(1_000_000, &options(2));
        assert!(found.iter().all(|capacity| (planned..=16 * planned).contains(capacity)), "{found:?}");
        found.iter().any(|capacity| *capacity > planned)
    });
    assert!(widened);
    assert_eq!(capacities(1_000_000, &options(2).capacity(64)), [64, 64]);
    let bounded = capacities(1_000_000, &options(2).budget(1 << 20));
    assert!(bounded.iter().all(|capacity| *capacity <= planned), "{bounded:?}");
}

/// When the caller stops calling `next`, the iterator is at most two full channels, one claim for each worker and
/// one firing ahead.
#[test]
fn the_iterator_is_pulled_a_bounded_number_of_items_ahead() {
    for (threads, capacity) in [(1, 8), (2, 8), (4, 32)] {
        let (count, numbers) = count_pulls();
        let mut ordered = numbers.par_map(|item| item).options(options(threads).capacity(capacity));
        for count in [1, 10, 100] {
            assert_eq!(ordered.by_ref().take(count).count(), count);
            std::thread::sleep(Duration::from_millis(30));
        }
        let ahead = count.load(Ordering::Relaxed) - 111;
        // Two channels, and claims that wait for room for their results: as many as fit the first channel.
        assert!(ahead <= 3 * capacity + threads, "{threads} threads: {ahead} ahead");
        drop(ordered);
        let after = count.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(count.load(Ordering::Relaxed), after, "the iterator is still pulled");
    }
}

/// Pulls results until the caller's thread has made `count` of them, for at most a minute.
fn until_alone(results: &mut Ordered<'_, (ThreadId, u64)>, count: usize) -> Vec<u64> {
    let (start, here, mut by_caller) = (Instant::now(), std::thread::current().id(), 0);
    let mut items = Vec::new();
    while by_caller < count {
        assert!(start.elapsed() < Duration::from_secs(60), "the caller's thread makes no results");
        let (thread, item) = results.next().unwrap();
        by_caller += usize::from(thread == here);
        items.push(item);
    }
    items
}

#[test]
fn the_caller_makes_short_items_alone_and_the_run_goes_on_when_it_is_away() {
    let (count, numbers) = count_pulls();
    let mut results = numbers.par_map(|item| (std::thread::current().id(), item)).options(options(2));
    let items = until_alone(&mut results, 10_000);
    assert!(items.iter().copied().eq(0..items.len() as u64));
    std::thread::sleep(Duration::from_millis(200));
    let ahead = count.load(Ordering::Relaxed) - items.len();
    assert!(ahead > 10, "{ahead} items ahead after a pause");
    // Both kinds of results follow each other in order.
    let from = items.len() as u64;
    let items = until_alone(&mut results, 10_000);
    assert!(items.iter().copied().eq(from..from + items.len() as u64));
}

#[test]
fn the_caller_makes_no_results_where_options_ask_for_a_run() {
    let here = std::thread::current().id();
    let asking = [
        options(2).deadline(Duration::from_secs(1000)),
        options(2).policy("qes"),
        options(2).thread_stack(1 << 22),
        options(2).repeatable(),
    ];
    for options in asking {
        let threads = (0..100_000u64).par_map(|_| std::thread::current().id()).options(options);
        assert!(threads.into_iter().all(|thread| thread != here));
    }
}

/// The function of an item returns when the iterator has been called for later ones, whichever thread calls it.
#[test]
fn a_function_may_wait_for_later_items() {
    watch("waits for later items", || {
        let (pulled, numbers) = count_pulls();
        let waits = move |item: u64| {
            while item.is_multiple_of(20_000) && pulled.load(Ordering::Relaxed) < item as usize + 4 {
                std::thread::sleep(Duration::from_micros(50));
            }
            (std::thread::current().id(), item)
        };
        let mut results = numbers.par_map(waits).options(options(2));
        for round in 0..4 {
            until_alone(&mut results, 15_000 + round);
        }
    });
}

/// A panic of the function, of the iterator, and their end, while the caller's thread makes the results.
#[test]
fn failures_come_at_their_position_in_the_callers_turn_too() {
    silence();
    for (of_iterator, of_function) in [(true, false), (false, true), (false, false)] {
        let (ledger, now) = (Ledger::new(), Arc::new(AtomicBool::new(false)));
        let (make, first, second) = (ledger.clone(), now.clone(), now.clone());
        let numbers = (0..).take_while(move |_| {
            let is_time = first.load(Ordering::Relaxed);
            assert!(!(is_time && of_iterator), "{INJECTED}");
            !is_time || of_function
        });
        let counted = numbers.map(move |item| (Counted::make(item, &make), item));
        let mut results = counted
            .par_map(move |(counted, item)| {
                assert!(!(second.load(Ordering::Relaxed) && of_function), "{INJECTED}");
                assert_eq!(counted.value(), item);
                (std::thread::current().id(), item)
            })
            .options(options(2));
        until_alone(&mut results, 1000);
        now.store(true, Ordering::Relaxed);
        if of_iterator || of_function {
            let (results, panic) = until_panic(&mut results);
            // The run may have taken its turn meanwhile.
            assert!(results.len() < 100_000);
            assert_eq!(text(&*panic), INJECTED);
        } else {
            watch("the end", || assert!(results.by_ref().count() < 100_000));
        }
        assert!(results.next().is_none());
        watch("the drop", || drop(results));
        let start = Instant::now();
        while ledger.live() > 0 {
            assert!(start.elapsed() < Duration::from_secs(10), "{} items left", ledger.live());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Items of very different times, so that run and caller take turns.
#[test]
fn results_are_in_order_whichever_thread_makes_them() {
    let slow = |item: u64| {
        if item % 40_000 < 3 {
            std::thread::sleep(Duration::from_millis(4));
        }
        mix(1, item)
    };
    let numbers = || 0..400_000u64;
    let expected: Vec<u64> = numbers().map(|item| mix(1, item)).collect();
    assert!(numbers().par_map(slow).options(options(2)).eq(expected.iter().copied()));
    let tried = numbers().try_par_map(move |item| Ok::<u64, Error>(slow(item))).options(options(2));
    assert!(tried.map(Result::unwrap).eq(expected.iter().copied()));
    let some = move |item: u64| (!item.is_multiple_of(50)).then(|| slow(item));
    let kept = numbers().filter(|item| !item.is_multiple_of(50)).map(|item| expected[item as usize]);
    assert!(numbers().par_filter_map(some).options(options(2)).eq(kept));
    let many = move |item: u64| (0..item % 4).map(move |i| slow(item) ^ i);
    let flat = numbers().flat_map(|item| (0..item % 4).map(move |i| mix(1, item) ^ i));
    assert!(numbers().par_flat_map(many).options(options(2)).eq(flat));
}

#[test]
fn a_panic_comes_at_its_position_and_ends_the_results() {
    silence();
    for threads in [1, 2, 4] {
        for at in [0, 1, 57, 499] {
            let check = move |item: u64| {
                assert!(item != at, "{INJECTED} {item}");
                work(item)
            };
            let mut ordered = (0..500).par_map(check).options(options(threads));
            for item in 0..at {
                assert_eq!(ordered.next().unwrap(), work(item));
            }
            let (more, panic) = until_panic(&mut ordered);
            assert!(more.is_empty());
            assert_eq!(text(&*panic), format!("{INJECTED} {at}"));
            assert!(ordered.next().is_none());
            assert!(ordered.next().is_none());

            let mut tried = (0..500).try_par_map(move |item| Ok::<u64, Error>(check(item)));
            tried = tried.options(options(threads));
            for item in 0..at {
                assert_eq!(tried.next().unwrap().unwrap(), work(item));
            }
            let Err(Error::Panic { message, .. }) = tried.next().unwrap() else { panic!("no panic") };
            assert_eq!(message, format!("{INJECTED} {at}"));
            assert!(tried.next().is_none());
            assert!(tried.next().is_none());
        }
    }
}

/// If a function panics after some of an item's results, those results come before the panic.
#[test]
fn a_panic_in_the_middle_of_an_item_comes_after_its_first_results() {
    silence();
    let many = |item: u64| {
        (0..4).map(move |i| if item == 2 && i == 3 { panic!("{INJECTED}") } else { 10 * item + i })
    };
    let mut ordered = (0..10).par_flat_map(many).options(options(2));
    let (results, panic) = until_panic(&mut ordered);
    assert_eq!(results, [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22]);
    assert_eq!(text(&*panic), INJECTED);
    assert!(ordered.next().is_none());
}

#[test]
fn a_panic_of_the_iterator_comes_after_its_items() {
    silence();
    let numbers = (0..100u64).inspect(|item| assert!(*item != 40, "{INJECTED}"));
    let mut ordered = numbers.par_map(|item| item).options(options(2));
    let (results, panic) = until_panic(&mut ordered);
    assert!(results.into_iter().eq(0..40));
    assert_eq!(text(&*panic), INJECTED);
    assert!(ordered.next().is_none());

    let numbers = (0..100u64).inspect(|item| assert!(*item != 40, "{INJECTED}"));
    let mut tried = numbers.try_par_map(Ok::<u64, Error>).options(options(2));
    assert!(tried.by_ref().take(40).map(Result::unwrap).eq(0..40));
    let Some(Err(Error::Panic { node, message })) = tried.next() else { panic!("no panic") };
    assert_eq!((node.as_str(), message.as_str()), ("iterator", INJECTED));
    assert!(tried.next().is_none());
}

#[test]
fn refused_options_are_the_only_result() {
    let mut tried = (0..3u64).try_par_map(Ok::<u64, Error>).options(Options::new().policy("fifo"));
    let Some(Err(Error::Options(refused))) = tried.next() else { panic!("not refused") };
    assert!(tried.next().is_none());

    let mut ordered = (0..3).par_map(|item: u64| item).options(Options::new().policy("fifo"));
    let (results, panic) = until_panic(&mut ordered);
    assert!(results.is_empty());
    assert_eq!(text(&*panic), refused);
    assert!(ordered.next().is_none());
}

#[test]
fn an_early_drop_stops_the_threads_and_drops_the_items() {
    for count in [0, 1, 100] {
        let ledger = Ledger::new();
        let (make, again) = (ledger.clone(), ledger.clone());
        let numbers = (0..).map(move |item| Counted::make(item, &make));
        let mut ordered =
            numbers.par_map(move |item| Counted::make(item.value() + 1, &again)).options(options(3));
        watch("dropped early", || {
            ordered.by_ref().take(count).for_each(drop);
            drop(ordered);
        });
        assert_eq!(ledger.live(), 0);
    }
}

/// Counts the threads of the process by name, which includes threads of concurrent tests. So it waits until the
/// count is zero. Idle threads of the pool have another name.
#[test]
fn threads_are_named_and_idle_after_the_drop() {
    let started = Instant::now();
    let mut ordered = (0u64..).par_map(|item| item).options(options(3));
    assert!(ordered.next().is_some());
    // The run's threads, since no caller works alone at the first item.
    if cfg!(target_os = "linux") {
        assert!(busy_threads() >= 1);
    }
    drop(ordered);
    while busy_threads() > 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "threads are still running a graph");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn functions_in_a_scope_may_borrow() {
    let text: Vec<String> = (0..300).map(|i| format!("word {i}")).collect();
    let longest = AtomicUsize::new(0);
    let lengths: Vec<usize> = thalweg::scope(|scope| {
        let measure = |word: &String| {
            longest.fetch_max(word.len(), Ordering::Relaxed);
            word.len()
        };
        scope.par_map(text.iter(), measure).collect()
    });
    assert!(lengths.iter().copied().eq(text.iter().map(String::len)));
    let tens: Vec<&String> = thalweg::scope(|scope| {
        let tenth = |word: &'_ String| word.ends_with('0');
        let kept = scope.par_filter_map(text.iter(), move |word| tenth(word).then_some(word));
        kept.collect()
    });
    assert!(tens.into_iter().eq(text.iter().filter(|word| word.ends_with('0'))));
    assert_eq!(longest.into_inner(), "word 299".len());
}

#[test]
fn a_scope_stops_unread_results() {
    let ledger = Ledger::new();
    watch("scope", || {
        thalweg::scope(|scope| {
            let numbers = (0u64..).map(|item| Counted::make(item, &ledger));
            let mut ordered = scope.par_flat_map(numbers, |item| [item, Counted::make(7, &ledger)]);
            assert_eq!(ordered.next().unwrap().value(), 0);
            assert_eq!(ordered.next().unwrap().value(), 7);
        });
    });
    assert_eq!(ledger.live(), 0);
}

#[test]
fn a_scope_propagates_panics_like_the_adaptor() {
    silence();
    let limit = 5;
    let results: Vec<Result<u64, Error>> = thalweg::scope(|scope| {
        let check = |item: u64| if item < limit { Ok::<_, Error>(item) } else { panic!("{INJECTED}") };
        scope.try_par_map(0..100, check).collect()
    });
    assert_eq!(results.len(), 6);
    assert!(matches!(results.last(), Some(Err(Error::Panic { .. }))));
    let check = |item: u64| if item < limit { item } else { panic!("{INJECTED}") };
    let (results, panic) = thalweg::scope(|scope| until_panic(&mut scope.par_map(0..100, check)));
    assert!(results.into_iter().eq(0..limit));
    assert_eq!(text(&*panic), INJECTED);
    // An uncaught panic leaves the scope after the scope's threads have ended.
    let leaves = || thalweg::scope(|scope| scope.par_map(0..100, check).count());
    assert_eq!(text(&*catch_unwind(AssertUnwindSafe(leaves)).unwrap_err()), INJECTED);
}

/// A panic payload that is not a string.
#[derive(Debug, PartialEq)]
struct Payload(Vec<u64>);

#[test]
fn a_resumed_panic_keeps_its_payload() {
    for threads in [1, 2, 4] {
        for at in [0, 1, 57] {
            let check = move |item: u64| match item == at {
                true => panic_any(Payload(vec![item, threads])),
                false => work(item),
            };
            let caught = |mut ordered: Ordered<'_, u64>, many: usize| {
                let (results, panic) = until_panic(&mut ordered);
                assert_eq!(results, (0..at).flat_map(|item| vec![work(item); many]).collect::<Vec<_>>());
                assert_eq!(*panic.downcast::<Payload>().unwrap(), Payload(vec![at, threads]));
                assert!(ordered.next().is_none());
            };
            let options = options(threads as usize);
            caught((0..500).par_map(check).options(options.clone()), 1);
            caught((0..500).par_filter_map(move |item| Some(check(item))).options(options.clone()), 1);
            caught((0..500).par_flat_map(move |item| [check(item); 3]).options(options.clone()), 3);
            caught((0..500).map(check).par_map(|item| item).options(options.clone()), 1);
            thalweg::scope(|scope| caught(scope.par_map(0..500, check).options(options.clone()), 1));
            // Two adaptors: the iterator of the second panics.
            caught((0..500).par_map(check).par_map(|item| item).options(options), 1);
            let mut tried = (0..500).try_par_map(move |item| Ok::<u64, Error>(check(item)));
            assert!(tried.by_ref().take(at as usize).map(Result::unwrap).eq((0..at).map(work)));
            let Some(Err(Error::Panic { node, message })) = tried.next() else { panic!("no panic") };
            assert_eq!((node.as_str(), message.as_str()), ("try_par_map", "a value that is no text"));
            assert!(tried.next().is_none());
        }
    }
}

/// An error of the function keeps its type, comes at the position of its item, and ends the results.
#[test]
fn an_error_comes_at_its_position_and_ends_the_results() {
    #[derive(Debug, PartialEq)]
    struct TooLarge(u64);
    impl std::fmt::Display for TooLarge {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{} is too large", self.0)
        }
    }
    impl std::error::Error for TooLarge {}

    for threads in [1, 2, 4] {
        for at in [0, 1, 57, 499] {
            // Later items fail too, some of them at an earlier time.
            let check = move |item: u64| if item < at { Ok(work(item)) } else { Err(TooLarge(item)) };
            let mut tried = (0..500).try_par_map(check).options(options(threads));
            assert!(tried.by_ref().take(at as usize).map(Result::unwrap).eq((0..at).map(work)));
            let Some(Err(error)) = tried.next() else { panic!("no error") };
            assert_eq!(error.to_string(), format!("node `try_par_map` failed: {at} is too large"));
            let Error::Node { cause, .. } = error else { panic!("{error}") };
            assert_eq!(*cause.downcast::<TooLarge>().unwrap(), TooLarge(at));
            assert!(tried.next().is_none());
            assert!(tried.next().is_none());
            let collected: Result<Vec<u64>, Error> = (0..500).try_par_map(check).collect();
            assert!(collected.is_err());
        }
    }
}

/// `next` resumes the panic although the iterator waits for the caller.
#[test]
fn a_panic_is_resumed_while_the_iterator_waits() {
    silence();
    let fail = |item: u64| if item == 2 { panic!("{INJECTED}") } else { item };
    watch("waits", || {
        let (requester, requests) = std::sync::mpsc::channel();
        (0..3).for_each(|item| requester.send(item).unwrap());
        let mut ordered = requests.into_iter().par_map(fail);
        let (results, panic) = until_panic(&mut ordered);
        assert_eq!((results, text(&*panic)), (vec![0, 1], INJECTED));
        assert!(ordered.next().is_none());
        drop(requester);
    });
}

#[test]
fn a_panic_is_resumed_in_a_scope_while_the_iterator_waits() {
    silence();
    let fail = |item: u64| if item == 2 { panic!("{INJECTED}") } else { item };
    watch("waits in a scope", || {
        thalweg::scope(|scope| {
            let (requester, requests) = std::sync::mpsc::channel();
            (0..3).for_each(|item| requester.send(item).unwrap());
            let mut ordered = scope.par_map(requests, fail);
            let (results, panic) = until_panic(&mut ordered);
            assert_eq!((results, text(&*panic)), (vec![0, 1], INJECTED));
            assert!(ordered.next().is_none());
            drop(requester);
        });
    });
}

/// Any other failure of the run is the last result, or a panic with the error's text.
#[test]
fn a_failure_of_the_run_is_the_last_result() {
    let late = || options(2).deadline(Duration::from_millis(30));
    let mut tried = (0u64..).try_par_map(Ok::<u64, Error>).options(late());
    let error =
        watch("deadline", || tried.find_map(Result::err)).expect("an endless iterator ends with an error");
    assert!(matches!(error, Error::Deadline(_)), "{error}");
    assert!(tried.next().is_none());
    let mut ordered = (0u64..).par_map(|item| item).options(late());
    let (results, panic) = watch("deadline", || until_panic(&mut ordered));
    assert!(results.iter().copied().eq(0..results.len() as u64));
    assert_eq!(text(&*panic), format!("{error:?}"));
    assert!(ordered.next().is_none());
}

#[test]
fn adaptors_can_be_chained() {
    for threads in [1, 2, 4] {
        let (count, numbers) = count_pulls();
        let mut twice = numbers.par_map(work).options(options(threads)).par_map(|item| item ^ 1);
        assert_eq!(count.load(Ordering::Relaxed), 0);
        assert!(twice.by_ref().take(500).eq((0..500).map(|item| work(item) ^ 1)));
        let sums = (0..500u64).par_flat_map(|item| [item, work(item)]).try_par_map(|item| match item {
            499 => Err("the last but one"),
            item => Ok(item % 1000),
        });
        let sums: Vec<Result<u64, Error>> = sums.options(options(threads)).collect();
        let expected: Vec<u64> = (0..499).flat_map(|item| [item, work(item) % 1000]).collect();
        let (last, results) = sums.split_last().unwrap();
        assert!(results.iter().map(|sum| sum.as_ref().unwrap()).eq(&expected));
        assert!(last.as_ref().is_err_and(|error| error.to_string().contains("the last but one")));
    }
}

#[test]
fn handles_are_send() {
    fn assert_send<T: Send>() {}
    assert_send::<Ordered<'static, u64>>();
    assert_send::<TryOrdered<'static, u64>>();
    assert_send::<Stream<'static, u64>>();
    assert_send::<Graph<'static>>();
    assert_send::<Output<'static, u64>>();
}

/// A caller that sends several requests and then waits for all answers gets them without delay. A thread that took
/// the answers for a steady stream would nap and delay them.
#[test]
fn several_requests_at_a_time_are_answered_at_once() {
    // The median, since other load delays some rounds, and a nap delays each.
    let median_round = |window: u64| {
        let (requester, requests) = std::sync::mpsc::channel::<u64>();
        let mut answers = requests.into_iter().par_map(|x| x + 1);
        let mut times: Vec<Duration> = (0..200)
            .map(|round| {
                let start = Instant::now();
                (0..window).for_each(|i| requester.send(round * window + i).unwrap());
                (0..window).for_each(|i| assert_eq!(answers.next().unwrap(), round * window + i + 1));
                start.elapsed()
            })
            .collect();
        times.sort();
        times[100]
        // `answers` is dropped before `requester`, while its iterator waits for `requester`.
    };
    // Measured: 1100 us with naps, 70 us without; the bound leaves room for other load.
    for window in [1, 2, 8, 32] {
        let best = (0..5).map(|_| median_round(window)).min().unwrap();
        assert!(best < Duration::from_micros(500), "{window} at a time: {best:?}");
    }
}

/// The iterator waits for the caller. `next` returns the run's failure without waiting for the iterator.
#[test]
fn a_failed_run_does_not_wait_for_its_iterator() {
    let (send, items) = std::sync::mpsc::channel::<u64>();
    send.send(1).unwrap();
    let options = Options::new().deadline(Duration::from_millis(30));
    let mut results = items.into_iter().try_par_map(Ok::<u64, String>).options(options);
    assert_eq!(results.next().unwrap().unwrap(), 1);
    watch("a deadline", || assert!(matches!(results.next(), Some(Err(Error::Deadline(_))))));
    assert!(results.next().is_none());
    drop(send);
}
