//! Batches by bytes, and budgets.

use std::time::Duration;

use thalweg_cluster::{Cluster, Error};

use crate::support::{clusters, result, run};

/// The errors of all processes.
fn errors<R: Send + std::fmt::Debug>(
    clusters: Vec<Cluster>,
    chain: impl Fn(Cluster) -> Result<Option<R>, Error> + Sync,
) -> Vec<String> {
    run(clusters, chain).into_iter().map(|result| result.expect_err("the run fails").to_string()).collect()
}

/// The batch of an item is that of the error that its stage returns.
#[test]
fn batches_end_at_the_same_items_in_any_number_of_processes() {
    let text = |n: usize| "x".repeat(n * n % 90);
    for failing in [0, 17, 63, 140, 199] {
        for read in [true, false] {
            let mut batches = Vec::new();
            for processes in 1..=4 {
                let all = clusters(processes).into_iter().map(|it| it.batch(20).batch_bytes(200)).collect();
                let errors = errors(all, |cluster| {
                    let number = |n| (n, text(n));
                    let chain = match read {
                        true => cluster.from_iter((0..200).map(number)),
                        false => cluster
                            .from_parts(2, |part| (100 * part..100 * part + 100).map(number))
                            .weigh(|(_, text)| text.len()),
                    };
                    let check = |(n, _)| if n == failing { Err("here") } else { Ok(n) };
                    chain.try_par_map(check).collect().run()
                });
                let batch = errors[0].split("stage ").nth(1).unwrap().to_owned();
                assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
                batches.push(batch);
            }
            assert!(batches.iter().all(|batch| *batch == batches[0]), "{failing} {read}: {batches:?}");
        }
    }
}

#[test]
fn states_beyond_the_budget_fail_in_all_processes() {
    for processes in 1..=3 {
        for stage in ["scan", "fold", "combine"] {
            let all = clusters(processes).into_iter().map(|it| it.budget(30_000)).collect();
            let errors = errors(all, |cluster| {
                let chain = cluster.from_parts(40, |part| 0..500 * part as u64);
                let keyed = chain.key_by(|n| n % 7).weigh(|all: &Vec<u64>| 8 * all.len());
                let grow = |all: &mut Vec<u64>, n: u64| all.push(n);
                match stage {
                    "scan" => keyed.scan(|_| Vec::new(), grow).collect().run().map(|_| None::<()>),
                    "fold" => keyed.fold(Vec::new, grow).collect().run().map(|_| None),
                    _ => keyed
                        .combine(Vec::new, grow, |all, more| all.extend(more))
                        .collect()
                        .run()
                        .map(|_| None),
                }
            });
            for error in errors {
                let named = error.starts_with("process ")
                    && error.contains(&format!(", stage {stage}, batch "))
                    && error.contains(" keys have ")
                    && error.ends_with(" bytes, and the budget is 30000");
                assert!(named, "{stage}, {processes} processes: {error}");
            }
        }
    }
}

#[test]
fn a_state_that_shrinks_is_within_the_budget() {
    let all = clusters(2).into_iter().map(|it| it.budget(30_000)).collect();
    let got = result(all, |cluster| {
        let chain = cluster.from_parts(40, |_| 0..500u64);
        let keyed = chain.key_by(|n| n % 7).weigh(|all: &Vec<u64>| 8 * all.len());
        let last = |all: &mut Vec<u64>, n: u64| {
            all.push(n);
            if all.len() == 100 { all.drain(..).sum() } else { 0 }
        };
        keyed.scan(|_| Vec::new(), last).end(|stream| stream.fold(0, |sum, n| sum + n)).run()
    });
    assert!(got > 0);
}

#[test]
fn shared_values_beyond_the_budget_fail_in_all_processes() {
    for processes in 1..=2 {
        let all = clusters(processes).into_iter().map(|it| it.budget(1000)).collect();
        let errors = errors(all, |cluster| {
            let text = cluster.shared(|| "x".repeat(2000));
            cluster.from_parts(2, |part| [part]).par_map(move |n| n + text.len()).collect().run()
        });
        for error in errors {
            assert!(
                error.ends_with(", shared values have 2002 bytes, and the budget is 1000"),
                "{processes}: {error}"
            );
        }
    }
}

#[test]
fn values_that_no_chain_has_any_more_do_not_count() {
    let cluster = Cluster::alone().budget(1000);
    for round in 0..5u64 {
        let text = cluster.shared(|| "x".repeat(600));
        let got = cluster.from_parts(1, |_| [round]).par_map(move |n| n + text.len() as u64).collect().run();
        assert_eq!(got.unwrap().unwrap(), [round + 600]);
    }
}

#[test]
fn chains_without_an_order_are_refused_by_name() {
    let refused = |error: Error| (error.to_string(), error.help().unwrap().to_owned());
    let chain = |cluster: &Cluster| {
        let chain = cluster.from_parts(2, |part| [part as u64]).key_by(|n| *n).scan(|_| (), |(), n| n);
        chain.par_flat_map(|n| [n, n]).key_by(|n| *n)
    };
    for (number, cluster) in clusters(2).iter().enumerate() {
        // Before it waits for the other process.
        let cluster = cluster.clone().patience(Duration::from_secs(1000));
        let scan = chain(&cluster).scan(|_| (), |(), n| n).collect().run().unwrap_err();
        let combine = chain(&cluster).combine(|| 0, |a, n| *a += n, |a, n| *a += n).collect().run();
        let (text, help) = refused(scan);
        assert_eq!(text, "`key_by` behind `par_flat_map` behind a keyed stage", "process {number}");
        assert!(help.contains("`par_map`"), "{help}");
        assert!(refused(combine.unwrap_err()).0.starts_with("`combine` behind"));
    }
    let late = Cluster::alone().from_parts(1, |_| [1u64]).par_map(|n| n).weigh(|_| 1).collect().run();
    assert_eq!(refused(late.unwrap_err()).0, "`weigh` is not directly behind a source");
}

/// The stages behind a keyed stage run where the keys live, for several batches at a time.
#[test]
fn stages_behind_keyed_stages_run_in_all_processes() {
    let mut places = result(clusters(3), |cluster| {
        let me = cluster.process();
        let keyed = cluster.from_parts(30, |part| [part as u64]).key_by(|n| *n);
        keyed.fold(|| 0, |sum, n| *sum += n).par_map(move |_| me).collect().run()
    });
    assert_eq!(places.len(), 30);
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, [0, 1, 2]);
}

#[test]
fn a_report_has_bytes_batches_and_waits_by_link() {
    let reports: Vec<_> = run(clusters(3), |cluster| {
        // A window of one batch for each process, and a slow sink: sources wait.
        let cluster = cluster.window(3);
        let chain = cluster.from_parts(30, |part| [vec![part as u8; 10_000]]);
        chain.map(|_| std::thread::sleep(Duration::from_millis(2))).for_each(drop).run()?;
        Ok(cluster.report())
    })
    .into_iter()
    .map(Result::unwrap)
    .collect();
    assert!(reports[1].is_none() && reports[2].is_none(), "process 0 alone has it");
    let report = reports[0].as_ref().unwrap();
    let links: Vec<_> = report.links().iter().map(|link| (link.from, link.to, link.batches)).collect();
    assert_eq!(links, [(0, 1, 0), (0, 2, 0), (1, 0, 10), (1, 2, 0), (2, 0, 10), (2, 1, 0)]);
    for link in report.links() {
        let least = if link.to == 0 { 100_000 } else { 1 };
        // Besides the batches, some messages about progress of about 200 bytes.
        assert!((least..least + 50_000).contains(&link.bytes) && link.waited > Duration::ZERO, "{link:?}");
    }
    assert_eq!(report.source_waits().len(), 3);
    assert!(report.source_waits().iter().all(|wait| *wait > Duration::from_millis(10)), "{report}");
}
