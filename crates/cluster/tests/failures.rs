//! A failure ends all processes with one cause.

use std::time::{Duration, Instant};

use thalweg_cluster::{Cluster, Error};

use crate::support::{clusters, run};

/// The errors of all processes.
fn errors(
    clusters: Vec<Cluster>,
    chain: impl Fn(Cluster) -> Result<Option<Vec<u64>>, Error> + Sync,
) -> Vec<Error> {
    run(clusters, chain).into_iter().map(|result| result.expect_err("the run fails")).collect()
}

#[test]
fn an_error_of_a_stage_is_that_of_all_processes() {
    let all = clusters(3).into_iter().map(|it| it.batch(10)).collect();
    let errors = errors(all, |cluster| {
        cluster
            .from_parts(9, |part| (0..100).map(move |n| (part * 100 + n) as u64))
            .try_par_map(|n| if n == 437 { "437".parse::<u8>().map(u64::from) } else { Ok(n) })
            .named("check")
            .collect()
            .run()
    });
    for (process, error) in errors.iter().enumerate() {
        let text = error.to_string();
        assert!(text.starts_with("process 1 (127.0.0.1:"), "{text}");
        assert!(
            text.ends_with("stage check, batch 3 of part 4: failed: number too large to fit in target type"),
            "{text}"
        );
        let source = std::error::Error::source(error);
        assert_eq!(source.is_some_and(|it| it.is::<std::num::ParseIntError>()), process == 1);
        assert_eq!(error.process(), Some(1));
    }
}

#[test]
fn panics_are_named_in_every_stage() {
    for (stage, process) in [("source", 1), ("par_map", 1), ("key_by", 1), ("scan", 0), ("map", 0)] {
        let all = clusters(2).into_iter().map(|it| it.batch(4)).collect();
        let fail = |at: &str, when: bool| assert!(!(at == stage && when), "told to");
        let errors = errors(all, |cluster| {
            cluster
                .from_parts(6, |part| {
                    (0..10).map(move |n| {
                        fail("source", part == 3 && n == 5);
                        (part * 10 + n) as u64
                    })
                })
                .par_map(|n| {
                    fail("par_map", n == 35);
                    n
                })
                .key_by(|n| {
                    fail("key_by", *n == 35);
                    0
                })
                .scan(
                    |_| 0u64,
                    |sum, n| {
                        fail("scan", n == 35);
                        *sum += n;
                        *sum
                    },
                )
                .map(|n| {
                    fail("map", n == 630);
                    n
                })
                .collect()
                .run()
        });
        for error in &errors {
            let text = error.to_string();
            let at = if stage == "map" { "stage map" } else { &format!("stage {stage}, batch 1 of part 3") };
            assert!(text.contains(&format!("{at}: panicked: told to")), "{text}");
            // The key of `scan` lives in one of the two.
            assert!(stage == "scan" || error.process() == Some(process), "{text}");
        }
    }
}

#[test]
fn a_missing_process_is_named_when_patience_ends() {
    let mut all = clusters(3);
    let absent = all.pop().unwrap();
    let all = all.into_iter().map(|it| it.patience(Duration::from_millis(200))).collect();
    let began = Instant::now();
    for error in errors(all, |cluster| cluster.from_parts(1, |_| [1]).collect().run()) {
        let text = error.to_string();
        assert!(text.contains("no connection within 200ms") && text.contains("process 2"), "{text}");
    }
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(absent);
}

#[test]
fn why_a_process_cannot_be_reached_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let absent = crate::processes::free(1).remove(0);
    let run = |more: Option<&str>| {
        let mine = listener.local_addr().unwrap().to_string();
        let addresses = [absent.as_str(), mine.as_str()].into_iter().chain(more);
        let cluster = Cluster::new(addresses, 1).unwrap().listener(listener.try_clone().unwrap());
        let cluster = cluster.secret([7; 16]).patience(Duration::from_millis(50));
        cluster.from_parts(1, |_| [1]).collect().run().unwrap_err()
    };
    let error = run(None);
    let text = format!("process 1: no connection within 50ms with process 0 ({absent}: Connection refused");
    assert!(error.to_string().starts_with(&text), "{error}");
    assert_eq!(error.help(), Some("start all processes of a run with the same program and hosts"));
    // Where a process is on another machine, that address is one of each machine.
    let (help, why) =
        (run(Some("192.0.2.1:2")), format!("; {absent} is an address that other machines do not reach"));
    assert!(help.help().unwrap().ends_with(&why), "{help:?}");
}

#[test]
fn other_programs_and_secrets_are_refused() {
    let patient = |it: Cluster| it.patience(Duration::from_millis(500));
    for (change, why, waits) in [
        (&(|it: Cluster| it.secret("b")) as &dyn Fn(Cluster) -> Cluster, "another secret", true),
        (&|it: Cluster| it.job("b"), "another program", false),
    ] {
        let began = Instant::now();
        let mut all: Vec<_> =
            clusters(2).into_iter().map(patient).map(|it| it.secret("a").job("a")).collect();
        let other = all.pop().unwrap();
        all.push(change(other));
        let errors = errors(all, |cluster| cluster.from_parts(1, |_| [1]).collect().run());
        assert!(errors[1].to_string().contains(why), "{}", errors[1]);
        // A process with another secret may be a stranger: one waits for the right one.
        let cause = if waits { "no connection" } else { "process 0 refuses process 1 (" };
        assert!(errors[0].to_string().contains(cause), "{}", errors[0]);
        assert!(errors[0].to_string().contains(why), "{}", errors[0]);
        assert_eq!(began.elapsed() >= Duration::from_millis(500), waits);
    }
}

#[test]
fn chains_that_differ_are_refused() {
    let all = clusters(2).into_iter().map(|it| it.patience(Duration::from_millis(500))).collect();
    let errors = errors(all, |cluster| {
        let odd = cluster.process() == 1;
        let chain = cluster.from_parts(1, |_| [1]);
        if odd { chain.par_map(|n| n).collect().run() } else { chain.collect().run() }
    });
    assert!(errors[1].to_string().contains("another program"), "{}", errors[1]);
}

/// An item whose encoding fails or panics, or whose end panics.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
enum Odd {
    Good,
    Fails,
    Panics,
}

impl serde::Serialize for Odd {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Odd::Good => to.serialize_unit_variant("Odd", 0, "Good"),
            Odd::Fails => Err(serde::ser::Error::custom("told to fail")),
            Odd::Panics => panic!("told to panic"),
        }
    }
}

impl std::hash::Hash for Odd {
    fn hash<H: std::hash::Hasher>(&self, to: &mut H) {
        assert!(*self != Odd::Panics, "no hash");
        to.write_u8(0);
    }
}

#[test]
fn odd_implementations_of_traits_are_named() {
    let odd = |n: u64, of: Odd| if n == 7 { of } else { Odd::Good };
    // Each item is of process 1, and goes to another.
    let all = || clusters(2).into_iter().map(|it| it.batch(2));
    let item = |number: u64, of: Odd| {
        errors(all().collect(), |cluster| {
            let of = of.clone();
            let chain = cluster.from_parts(2, |part| 5 * part as u64..5 * part as u64 + 5);
            chain.par_map(move |n| (n, odd(n, of.clone()))).map(|(n, _)| n + number).collect().run()
        })
    };
    for (of, why) in [
        (
            Odd::Fails,
            "a piece cannot be encoded (thalweg_cluster::chain::items::Items<(u64, all::failures::Odd)>)",
        ),
        (Odd::Panics, "panicked: told to panic"),
    ] {
        for error in item(1, of) {
            let text = error.to_string();
            assert!(text.contains(&format!("stage gather, batch 1 of part 1: {why}")), "{text}");
        }
    }
    let keyed = errors(all().collect(), |cluster| {
        let chain = cluster.from_parts(2, |part| 5 * part as u64..5 * part as u64 + 5);
        chain.key_by(|n| odd(*n, Odd::Panics)).scan(|_| (), |_, n| n).collect().run()
    });
    for error in keyed {
        let text = error.to_string();
        assert!(text.contains("stage key_by, batch 1 of part 1: panicked: no hash"), "{text}");
    }
}

/// An item that panics when the dataflow drops it.
#[derive(serde::Serialize, serde::Deserialize)]
struct Fragile(u64);

impl Drop for Fragile {
    fn drop(&mut self) {
        let thread = std::thread::current();
        assert!(!thread.name().is_some_and(|name| name.starts_with("timely")), "not here");
    }
}

#[test]
fn a_panic_of_an_item_that_the_dataflow_drops_is_named() {
    // The sink needs the first batch alone, and others come later.
    let all = clusters(2).into_iter().map(|it| it.batch(1)).collect();
    let errors = errors(all, |cluster| {
        let chain = cluster.from_parts(1, |_| (0..20).map(Fragile)).par_map(|it| {
            std::thread::sleep(Duration::from_millis(if it.0 > 0 { 200 } else { 0 }));
            it
        });
        chain.gather().then(|stream| stream.take(1)).end(|stream| stream.map(|it| it.0).collect()).run()
    });
    for error in errors {
        let text = error.to_string();
        assert!(text.contains(", dataflow: an item panicked when it was dropped: not here"), "{text}");
    }
}

#[test]
fn panics_of_functions_that_are_called_once_are_named() {
    let init = errors(clusters(2), |cluster| {
        let chain = cluster.from_parts(2, |part| [part as u64]).key_by(|n| *n);
        chain.fold(|| -> u64 { panic!("no value") }, |_, _| ()).map(|(n, _)| n).collect().run()
    });
    let merge = errors(clusters(2), |cluster| {
        let chain = cluster.from_parts(4, |part| [part as u64]).key_by(|_| 0u64);
        chain.combine(|| 0, |a, n| *a += n, |_, _| panic!("no merge")).map(|(_, n)| n).collect().run()
    });
    let shared = errors(clusters(2), |cluster| {
        let value = cluster.shared(|| -> u64 { panic!("no shared") });
        cluster.from_parts(2, |part| [part as u64]).par_map(move |n| n + *value).collect().run()
    });
    let open = errors(clusters(2), |cluster| {
        cluster
            .from_parts(2, |part| [part as u64].repeat(if part == 1 { panic!("no part") } else { 1 }))
            .collect()
            .run()
    });
    let read = errors(clusters(2), |cluster| {
        let items = (0..9u64).inspect(|n| assert!(*n < 5, "no item"));
        cluster.batch(2).from_iter(items).collect().run()
    });
    for (errors, why) in [
        (init, "stage fold, batch 0"),
        (merge, ": panicked: no merge"),
        (shared, "process 0 ("),
        (open, "stage source, batch 0 of part 1: panicked: no part"),
        (read, "stage source, batch 2: panicked: no item"),
    ] {
        for error in &errors {
            let text = error.to_string();
            assert!(text.contains(why) && text.contains("panicked: no "), "{text}");
        }
    }
}

/// Passes on what a connection brings, and changes a bit of the first message of a data connection.
fn meddle(from: std::net::TcpStream, to: std::net::TcpStream, bit: Option<usize>) -> std::io::Result<()> {
    use std::io::{Read, Write};
    /// Bytes of a hello and of a proof, which are before the messages.
    const GREETING: usize = 84 + 32;
    let (mut from, mut to, mut passed) = (from, to, 0);
    let mut bytes = [0; 4096];
    let mut is_data = false;
    loop {
        let count = from.read(&mut bytes)?;
        if passed == 0 {
            is_data = count > 11 && bytes[11] == 1;
        }
        if let Some(bit) = bit.filter(|_| is_data)
            && let Some(at) = (GREETING + bit / 8).checked_sub(passed).filter(|at| *at < count)
        {
            bytes[at] ^= 1 << (bit % 8);
        }
        passed += count;
        to.write_all(&bytes[..count])?;
        if count == 0 {
            return to.shutdown(std::net::Shutdown::Write);
        }
    }
}

#[test]
fn damaged_headers_of_messages_end_the_run() {
    use std::net::{TcpListener, TcpStream};
    // A bit of each other byte of the header: of its channel, the numbers of processes, the length, and the checksum.
    for case in 0..24 {
        let bit = 16 * case + case * 5 % 8;
        let listeners: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let addresses: Vec<_> = listeners.iter().map(|it| it.local_addr().unwrap()).collect();
        let [zero, one, between]: [TcpListener; 3] = listeners.try_into().unwrap();
        let target = addresses[0];
        // Process 1 connects to process 0, twice.
        let meddling = std::thread::spawn(move || {
            let mut threads = Vec::new();
            for _ in 0..2 {
                let (here, there) = (between.accept().unwrap().0, TcpStream::connect(target).unwrap());
                let back = (there.try_clone().unwrap(), here.try_clone().unwrap());
                threads.push(std::thread::spawn(move || meddle(here, there, Some(bit))));
                threads.push(std::thread::spawn(move || meddle(back.0, back.1, None)));
            }
            threads.into_iter().for_each(|thread| _ = thread.join());
        });
        let cluster = |process, first: usize, listener| {
            let addresses = [addresses[first], addresses[1]].map(|it| it.to_string());
            Cluster::new(addresses, process).unwrap().listener(listener)
        };
        let all = vec![cluster(0, 0, zero), cluster(1, 2, one)];
        let results = run(all, |cluster| cluster.from_parts(9, |part| [part as u64]).collect().run());
        for result in results {
            let text = result.map_or_else(|error| error.to_string(), |it| format!("{it:?}"));
            assert!(text.ends_with(": a message is damaged"), "bit {bit}: {text}");
        }
        meddling.join().unwrap();
    }
}
