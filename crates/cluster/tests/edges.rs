//! Edges: the ends of ranges, slow functions, many processes.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

use thalweg_cluster::Cluster;

use crate::support::{clusters, result, run};

fn strict(all: Vec<Cluster>) -> Vec<Cluster> {
    let short = Duration::from_millis(150);
    all.into_iter().map(|it| it.stall(short).silence(Duration::from_secs(2))).collect()
}

#[test]
fn a_slow_shared_value_is_no_stall() {
    let got = result(strict(clusters(2)), |cluster| {
        let seven = cluster.shared(|| {
            sleep(Duration::from_millis(450));
            7u64
        });
        cluster.from_parts(2, |part| [part as u64]).par_map(move |n| n + *seven).collect().run()
    });
    assert_eq!(got, [7, 8]);
}

#[test]
fn a_slow_opening_of_a_part_is_no_stall() {
    let got = result(strict(clusters(2)), |cluster| {
        cluster
            .from_parts(2, |part| {
                sleep(Duration::from_millis(450));
                [part as u64]
            })
            .collect()
            .run()
    });
    assert_eq!(got, [0, 1]);
}

#[test]
fn a_slow_key_is_no_stall() {
    let got = result(strict(clusters(2)), |cluster| {
        cluster
            .from_parts(2, |part| [part as u64])
            .key_by(|n| {
                sleep(Duration::from_millis(450));
                *n
            })
            .scan(|_| (), |_, n| n)
            .collect()
            .run()
    });
    assert_eq!(got, [0, 1]);
}

#[test]
fn a_slow_merge_is_no_stall() {
    let got = result(strict(clusters(2)), |cluster| {
        let merge = |sum: &mut u64, more| {
            sleep(Duration::from_millis(450));
            *sum += more;
        };
        let keyed = cluster.from_parts(4, |part| [part as u64]).key_by(|_| 0u64);
        keyed.combine(|| 0, |sum, n| *sum += n, merge).map(|(_, sum)| sum).collect().run()
    });
    assert_eq!(got, [6]);
}

#[test]
fn a_slow_sink_is_no_stall() {
    let got = result(strict(clusters(2)), |cluster| {
        cluster
            .from_parts(2, |part| [part as u64, 10])
            .map(|n| {
                sleep(Duration::from_millis(250));
                n
            })
            .then(|stream| {
                stream.map(|n| {
                    sleep(Duration::from_millis(250));
                    n
                })
            })
            .collect()
            .run()
    });
    assert_eq!(got, [0, 10, 1, 10]);
}

#[test]
fn a_long_silence_is_no_stall() {
    let all = clusters(2)
        .into_iter()
        .map(|it| it.silence(Duration::from_secs(2)).stall(Duration::from_millis(100)))
        .collect();
    let got = result(all, |cluster| {
        cluster
            .from_parts(2, |part| [part as u64])
            .par_map(|n| {
                sleep(Duration::from_millis(1200 * n));
                n
            })
            .collect()
            .run()
    });
    assert_eq!(got, [0, 1]);
}

#[test]
fn parts_behind_the_end_are_not_opened() {
    let opened = AtomicUsize::new(0);
    let got = result(clusters(2), |cluster| {
        cluster
            .from_parts(1_000_000, |part| {
                opened.fetch_add(1, Relaxed);
                [part as u64]
            })
            .gather()
            .then(|stream| stream.take(3))
            .collect()
            .run()
    });
    assert_eq!(got, [0, 1, 2]);
    assert!(opened.load(Relaxed) < 1000, "{opened:?}");
}

#[test]
fn epochs_that_differ_are_refused() {
    let all =
        clusters(2).into_iter().map(|it| it.patience(Duration::from_millis(500)).window(64)).enumerate();
    let all = all.map(|(n, it)| it.epoch([1, 16][n]).stall(Duration::from_secs(2))).collect();
    let results = run(all, |cluster| {
        cluster.from_parts(2, |_| 0..2000u64).collect().run().map(|it| it.map(|items| items.len()))
    });
    assert!(results[1].as_ref().unwrap_err().to_string().contains("another program"), "{results:?}");
}

#[test]
fn shared_values_that_differ_are_refused() {
    let all = clusters(2)
        .into_iter()
        .map(|it| it.patience(Duration::from_millis(500)).stall(Duration::from_secs(2)))
        .collect();
    let results = run(all, |cluster| {
        if cluster.process() == 1 {
            cluster.shared(|| 7u8);
        }
        cluster.from_parts(2, |_| 0..20u64).collect().run().map(|it| it.map(|items| items.len()))
    });
    assert!(results[1].as_ref().unwrap_err().to_string().contains("another program"), "{results:?}");
}

/// Open files, and threads.
fn counts() -> (usize, usize) {
    let entries = |of| std::fs::read_dir(format!("/proc/self/{of}")).unwrap().count();
    (entries("fd"), entries("task"))
}

/// Open sockets.
fn sockets() -> usize {
    let files =
        std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|file| file.ok()?.path().read_link().ok());
    files.filter(|file| file.to_string_lossy().starts_with("socket:")).count()
}

/// Threads and files of other tests must not count, so this runs in a process of its own.
#[test]
fn runs_one_after_the_other_leave_nothing() {
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    alone.args(["--exact", "edges::runs_one_after_the_other"]).env("THALWEG_CLUSTER_COUNT", "1");
    let output = alone.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// What that process runs: no test by itself.
#[test]
fn runs_one_after_the_other() {
    if std::env::var_os("THALWEG_CLUSTER_COUNT").is_none() {
        return;
    }
    let alone = Cluster::alone().from_parts(3, |part| [part]).par_map(|_| sockets()).collect().run();
    assert_eq!(alone.unwrap().unwrap(), [0; 3]);
    let all = clusters(3);
    let once = |fail: bool| {
        run(all.clone(), |cluster| {
            cluster
                .from_parts(9, |part| [part as u64])
                .try_par_map(move |n| if fail && n == 5 { Err("five") } else { Ok(n) })
                .key_by(|n| *n)
                .scan(|_| (), |_, n| n)
                .collect()
                .run()
        })
    };
    for fail in [false, true] {
        once(fail);
        let before = counts();
        for _ in 0..5 {
            let results = once(fail);
            assert!(results.iter().all(|it| it.is_err() == fail), "{results:?}");
        }
        // A thread that was joined is in the list a little longer.
        let began = Instant::now();
        let more = || counts().0 > before.0 || counts().1 > before.1;
        while more() && began.elapsed() < Duration::from_secs(2) {
            sleep(Duration::from_millis(5));
        }
        assert!(!more(), "{fail}: {:?} after {before:?}", counts());
    }
}

#[test]
fn seventeen_processes_with_few_parts() {
    let got = result(clusters(17), |cluster| {
        cluster
            .from_parts(20, |part| [part as u64])
            .key_by(|n| *n)
            .fold(|| 0u64, |a, n| *a += n)
            .collect()
            .run()
    });
    assert_eq!(got.len(), 20);
}

#[test]
fn a_shared_value_of_several_megabytes_arrives() {
    let got = result(clusters(3), |cluster| {
        let long = cluster.shared(|| vec![7u8; 6_000_000]);
        cluster.from_parts(9, |part| [part]).par_map(move |_| long.len() as u64).collect().run()
    });
    assert_eq!(got, [6_000_000; 9]);
}

#[test]
fn idle_strangers_do_not_hold_up_the_start() {
    use std::io::Write;
    let all = clusters(2);
    let text = format!("{:?}", all[0]);
    let address = text.split('"').nth(1).unwrap().to_owned();
    let mut idle: Vec<_> = (0..100).map(|_| std::net::TcpStream::connect(&address).unwrap()).collect();
    for (n, it) in idle.iter_mut().enumerate() {
        it.write_all(&vec![7u8; [0, 1, 50, 116, 4000][n % 5]]).unwrap();
    }
    let began = Instant::now();
    let got = result(all, |cluster| cluster.from_parts(9, |part| [part]).collect().run());
    assert_eq!(got.len(), 9);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

/// A process whose own parts have ended waits for those of others when the sink needs no more.
#[test]
fn an_early_end_is_no_missing_batch() {
    for round in 0..40 {
        let all = clusters(3).into_iter().map(|it| it.batch(4).window(6)).collect();
        let got = result(all, |cluster| {
            let long = |part| 0..if part == round % 3 { 4000u64 } else { 0 };
            let keyed = cluster.from_parts(3, move |part| long(part as u64)).key_by(|n| n % 5);
            keyed.scan(|_| (), |(), n| n).then(|stream| stream.take(9)).collect().run()
        });
        assert_eq!(got, (0..9).collect::<Vec<u64>>());
    }
}

#[test]
fn sockets_that_strangers_reach_are_refused() {
    use std::net::TcpListener;
    let on = |address: &str| {
        let cluster = Cluster::new(["127.0.0.1:1", "127.0.0.1:2"], 0).unwrap();
        let cluster = cluster.listener(TcpListener::bind(address).unwrap());
        cluster.from_parts(2, |part| [part]).collect().run().unwrap_err().to_string()
    };
    let error = on("0.0.0.0:0");
    assert!(error.contains("process 0: the socket 0.0.0.0:") && error.contains("all interfaces"), "{error}");
    let other = Cluster::new(["127.0.0.1:1", "192.0.2.1:2"], 0).unwrap();
    let error = other.from_parts(2, |part| [part]).collect().run().unwrap_err();
    assert!(error.to_string().starts_with("process 1: 192.0.2.1:2: 192.0.2.1 is not of"), "{error}");
    assert!(error.help().unwrap().contains("Cluster::secret_file"));
}

/// What the next test runs twice in a process of its own: no test by itself.
#[test]
fn a_process_with_an_address_of_another_machine() {
    let Ok(number) = std::env::var("THALWEG_CLUSTER_NOTE") else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut addresses = vec![listener.local_addr().unwrap().to_string(), "192.0.2.1:2".to_owned()];
    if number == "1" {
        addresses.reverse();
    }
    let cluster = Cluster::new(addresses, number.parse().unwrap()).unwrap().secret([7; 16]);
    let cluster = cluster.listener(listener).patience(Duration::from_millis(50));
    for _ in 0..2 {
        let error = cluster.from_parts(2, |part| [part]).collect().run().unwrap_err();
        assert!(error.to_string().contains("no connection within 50ms"), "{error}");
    }
}

#[test]
fn process_0_says_once_that_nothing_is_encrypted() {
    for (process, notes) in [("0", 1), ("1", 0)] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "edges::a_process_with_an_address_of_another_machine", "--nocapture"]);
        let output = child.env("THALWEG_CLUSTER_NOTE", process).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        assert_eq!(text.matches("is not encrypted").count(), notes, "{text}");
    }
}

/// What the next test runs in two processes: no test by itself.
#[cfg(unix)]
#[test]
fn an_idle_process() {
    use rustix::time::{ClockId, clock_gettime};
    let Ok(text) = std::env::var("THALWEG_CLUSTER_IDLE") else { return };
    let (process, addresses) = text.split_once(' ').unwrap();
    let cluster = Cluster::new(addresses.split(' '), process.parse().unwrap()).unwrap();
    let used = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let measuring = std::thread::spawn(move || {
        sleep(Duration::from_millis(400));
        let before = used();
        sleep(Duration::from_secs(1));
        used() - before
    });
    // The source of process 1 sleeps, and the others wait for it.
    let slow = |part| {
        sleep(Duration::from_millis(1600 * part as u64));
        [part as u64]
    };
    let chain = cluster.from_parts(2, slow).key_by(|n| *n).scan(|_| (), |_, n| n);
    chain.collect().run().unwrap();
    let used = measuring.join().unwrap();
    assert!(used < Duration::from_millis(10), "{used:?} of 1 s");
}

#[cfg(unix)]
#[test]
fn an_idle_process_uses_less_than_a_hundredth_of_a_core() {
    let listeners = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let addresses = listeners.map(|it| it.local_addr().unwrap().to_string()).join(" ");
    let start = |process: usize| {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "edges::an_idle_process"]);
        child.env("THALWEG_CLUSTER_IDLE", format!("{process} {addresses}"));
        child.stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    for child in [start(0), start(1)] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

/// What the next test runs with few descriptors: no test by itself.
#[test]
fn a_run_with_few_descriptors() {
    if std::env::var_os("THALWEG_CLUSTER_FEW").is_none() {
        return;
    }
    let Ok(listeners) =
        (0..2).map(|_| std::net::TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()
    else {
        return;
    };
    let addresses: Vec<_> = listeners.iter().map(|it| it.local_addr().unwrap().to_string()).collect();
    let all = listeners.into_iter().enumerate().map(|(process, listener)| {
        let cluster = Cluster::new(&addresses, process).unwrap().listener(listener);
        cluster.patience(Duration::from_millis(300)).silence(Duration::from_secs(5))
    });
    let results = run(all.collect(), |cluster| cluster.from_parts(9, |part| [part as u64]).collect().run());
    assert!(results.iter().all(Result::is_ok) || results.iter().all(Result::is_err), "{results:?}");
}

/// Wherever descriptors run out, processes end with an error, and nothing panics, timely neither.
#[cfg(unix)]
#[test]
fn a_process_without_descriptors_does_not_panic() {
    let start = |limit: u32| {
        let mut child = std::process::Command::new("sh");
        child.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")]);
        child.arg(std::env::current_exe().unwrap());
        child.args(["--exact", "edges::a_run_with_few_descriptors", "--nocapture"]);
        child.env("THALWEG_CLUSTER_FEW", "1").stdout(std::process::Stdio::piped());
        (limit, child.stderr(std::process::Stdio::piped()).spawn().unwrap())
    };
    let children: Vec<_> = (6..36).step_by(2).map(start).collect();
    for (limit, child) in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !text.contains("panicked"), "{limit} descriptors: {text}");
    }
}
