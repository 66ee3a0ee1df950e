//! Runs the processes of a cluster as threads.

use std::net::TcpListener;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use thalweg_cluster::{Cluster, Error};

/// The clusters of all processes of a run, each with a socket on which it listens.
pub fn clusters(processes: usize) -> Vec<Cluster> {
    if processes == 1 {
        return vec![Cluster::alone()];
    }
    let listeners: Vec<_> = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<_> = listeners.iter().map(|it| it.local_addr().unwrap().to_string()).collect();
    let cluster = |(process, listener)| {
        Cluster::new(&addresses, process).unwrap().listener(listener).patience(Duration::from_secs(20))
    };
    listeners.into_iter().enumerate().map(cluster).collect()
}

/// What all processes return, by number.
pub fn run<R: Send>(
    clusters: Vec<Cluster>,
    chain: impl Fn(Cluster) -> Result<Option<R>, Error> + Sync,
) -> Vec<Result<Option<R>, Error>> {
    let results: Vec<_> = clusters.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for (cluster, result) in clusters.into_iter().zip(&results) {
            let chain = &chain;
            scope.spawn(move || *result.lock().unwrap() = Some(chain(cluster)));
        }
    });
    results.into_iter().map(|result| result.into_inner().unwrap().expect("a process panicked")).collect()
}

/// The result of a run, which process 0 alone has.
pub fn result<R: Send>(
    clusters: Vec<Cluster>,
    chain: impl Fn(Cluster) -> Result<Option<R>, Error> + Sync,
) -> R {
    let mut results: Vec<_> =
        run(clusters, chain).into_iter().map(|result| result.unwrap_or_else(|e| panic!("{e}"))).collect();
    assert!(results.iter().skip(1).all(Option::is_none), "only process 0 has a result");
    results.swap_remove(0).expect("process 0 has the result")
}
