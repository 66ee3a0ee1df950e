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
    for (stage, process) in [("source", 1), ("par_map", 1), ("scan", 0), ("map", 0)] {
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
                .key_by(|_| 0)
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
            assert!(text.contains("panicked: told to") && text.contains(&format!("stage {stage}")), "{text}");
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
fn other_programs_and_secrets_are_refused() {
    let patient = |it: Cluster| it.patience(Duration::from_millis(500));
    for (change, why) in [
        (&(|it: Cluster| it.secret("b")) as &dyn Fn(Cluster) -> Cluster, "another secret"),
        (&|it: Cluster| it.job("b"), "another program"),
    ] {
        let mut all: Vec<_> =
            clusters(2).into_iter().map(patient).map(|it| it.secret("a").job("a")).collect();
        let other = all.pop().unwrap();
        all.push(change(other));
        let errors = errors(all, |cluster| cluster.from_parts(1, |_| [1]).collect().run());
        assert!(errors[1].to_string().contains(why), "{}", errors[1]);
        assert!(errors[0].to_string().contains("no connection"), "{}", errors[0]);
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
