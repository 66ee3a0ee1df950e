//! Decisions of the policy.

use super::{DEFAULT_TAU, Ledger, Local, Partition};
use crate::graphs;
use crate::mock::Mock;
use crate::{Decision, Event, Policy, Shared};
use thalweg_graph::NodeId;

const MS: u64 = 1_000_000;

/// A chain of six and two workers; all nodes belong to the first.
fn started() -> (Partition, Mock<Ledger>, Vec<Local>) {
    let mut host = Mock::sharing(graphs::chain(6), 2);
    let policy = Partition::default();
    let locals = (0..2).map(|worker| policy.start(worker, &mut host)).collect();
    (policy, host, locals)
}

fn queue(host: &Mock<Ledger>, worker: usize) -> Vec<u32> {
    host.queues[worker].iter().map(|node| node.0).collect()
}

#[test]
fn ready_nodes_go_to_their_worker_and_are_not_stolen() {
    let (policy, mut host, mut locals) = started();
    assert_eq!((queue(&host, 0), queue(&host, 1)), (vec![0, 1, 2, 3, 4, 5], vec![]));
    host.me = 1;
    assert_eq!(policy.next(&mut locals[1], None, &mut host), Decision::Idle);
    policy.ready(&mut locals[1], NodeId(2), &mut host);
    assert_eq!(queue(&host, 0).last(), Some(&2));
    host.affinity[2] = 1;
    policy.ready(&mut locals[1], NodeId(2), &mut host);
    assert_eq!(policy.next(&mut locals[1], None, &mut host), Decision::Activate(NodeId(2)));
}

/// All nodes have the same load, and the workers were idle for this share of 100 ms.
fn after(share: f64) -> (Mock<Ledger>, Decision) {
    let (policy, mut host, mut locals) = started();
    (host.now, host.idle_time) = (100 * MS, (200.0 * MS as f64 * share) as u64);
    (host.busy_time, host.traffic) = (vec![10 * MS; 6], vec![1000; 5]);
    host.me = 1;
    let decision = policy.next(&mut locals[1], None, &mut host);
    assert!(host.shared.is_some(), "the lock is released");
    (host, decision)
}

#[test]
fn idle_time_beyond_tau_repartitions_and_redistributes() {
    let (host, decision) = after(DEFAULT_TAU - 0.01);
    assert_eq!((decision, &host.affinity[..]), (Decision::Idle, &[0; 6][..]));
    assert_eq!(host.shared.unwrap().partitions(), 0);
    let (host, decision) = after(DEFAULT_TAU + 0.01);
    assert_eq!(host.shared.as_ref().unwrap().partitions(), 1);
    assert_eq!(host.affinity.iter().sum::<usize>(), 3, "{:?}", host.affinity);
    let changes = host.affinity.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes, 1, "the chain is cut once: {:?}", host.affinity);
    assert!(matches!(decision, Decision::Activate(node) if host.affinity[node.index()] == 1), "{decision:?}");
    assert!(queue(&host, 0).iter().all(|node| host.affinity[*node as usize] == 0));
    assert_eq!(host.steals, 0, "nodes that are dealt anew are not stolen");
}

#[test]
fn a_locked_ledger_is_skipped() {
    let (policy, mut host, mut locals) = started();
    (host.now, host.idle_time) = (100 * MS, 100 * MS);
    (host.busy_time, host.shared) = (vec![10 * MS; 6], None);
    assert!(matches!(policy.next(&mut locals[0], None, &mut host), Decision::Activate(_)));
    assert_eq!((host.affinity, host.shared.is_none()), (vec![0; 6], true));
}

#[test]
fn partitions_that_do_not_help_become_rare() {
    let (policy, mut host, mut locals) = started();
    let mut last = None;
    for ms in 1..=4000 {
        // All work is at one node of the chain, so no partition helps.
        (host.now, host.idle_time, host.busy_time[3]) = (ms * MS, ms * MS, ms * MS);
        let Decision::Activate(node) = policy.next(&mut locals[0], last, &mut host) else { continue };
        policy.ready(&mut locals[0], node, &mut host);
        last = Some((node, Event::Budget));
    }
    let partitions = host.shared.unwrap().partitions();
    assert!((5..=16).contains(&partitions), "{partitions} in 4 s");
}
