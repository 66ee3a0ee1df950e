//! The report of a run whose threads have ended.

use crate::measure::account::duration;
use crate::net::Net;
use crate::sync::{Ordering, lock};
use std::time::Duration;
use thalweg_trace::Report;

/// The report of the run's counters. All threads of the run have ended, and the roster's join orders their stores
/// before these loads, so they are `Relaxed`.
pub(super) fn report(net: &Net<'_>, policy: String, wall: Duration) -> Report {
    let mut report = Report::new((*net.topology.graph).clone(), policy, net.topology.plan.threads);
    report.wall = wall;
    let mut accounts = std::mem::take(&mut *lock(&net.sched.accounts));
    accounts.sort_by_key(|(worker, _)| *worker);
    report.workers = accounts.iter().map(|(_, account)| account.report()).collect();
    for (to, cell) in report.nodes.iter_mut().zip(&net.cells.nodes) {
        to.firings = cell.state.firings.load(Ordering::Relaxed);
        to.activations = cell.state.activations.load(Ordering::Relaxed);
        to.busy = duration(cell.state.busy.load(Ordering::Relaxed));
        to.moves = cell.state.moves.load(Ordering::Relaxed);
    }
    for id in net.topology.graph.channel_ids() {
        let (meter, data) = (net.meter(id), net.topology.graph.channel(id));
        let to = &mut report.channels[id.index()];
        let items = meter.tail() - data.link.initial;
        let weighed = if data.link.weighed { meter.bytes_published() } else { items * data.item.bytes };
        to.items = items as u64;
        to.bytes = weighed as u64;
        to.capacity = meter.capacity();
        to.leftover = meter.unread() as u64;
        to.remote = meter.remote() as u64;
        let seen = accounts.iter().filter_map(|(_, account)| account.seen.get(id.index()));
        let (sum, count, peak) =
            seen.fold((0, 0, 0), |(s, c, p), seen| (s + seen.sum, c + seen.count, p.max(seen.peak)));
        to.peak = peak as f64;
        to.mean = if count == 0 { 0.0 } else { sum as f64 / count as f64 };
    }
    report.growths = lock(&net.liveness.growths).clone();
    report.searches = net.liveness.search.searches() as u64;
    report.partitions = net.sched.partitions.load(Ordering::Relaxed);
    report
}
