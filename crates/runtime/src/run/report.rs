//! The report of a run whose threads have ended.

use crate::measure::account::Account;
use crate::measure::clock::{Scale, ticks};
use crate::measure::recorder::Recorder;
use crate::measure::service;
use crate::measure::tickets::Totals;
use crate::net::{Net, NodeState};
use crate::sync::{Ordering, lock};
use std::time::Duration;
use thalweg_graph::{ChannelId, Kind, NodeId};
#[cfg(not(loom))]
use thalweg_trace::MemberCounts;
use thalweg_trace::{Event, NodeReport, NodeWaits, Report, TicketReport, Timeline, Track, What};

/// The report of the run's counters. All threads of the run have ended, and the roster's join orders their stores
/// before these loads, so they are `Relaxed`.
pub(super) fn report(net: &Net<'_>, policy: String, wall: Duration) -> Report {
    let mut report = Report::new((*net.topology.graph).clone(), policy, net.threads());
    *report.wall_mut() = wall;
    *report.dilation_mut() = net.sched.dilation;
    *report.plan_mut() = Some(net.topology.plan.clone());
    let mut accounts = std::mem::take(&mut *lock(&net.sched.accounts));
    accounts.sort_unstable_by_key(|(worker, _)| *worker);
    let scale = Scale::now();
    *report.workers_mut() = accounts.iter().map(|(_, account)| account.report(scale)).collect();
    for id in net.topology.graph.node_ids() {
        fill_node(net, id, scale, &mut report.nodes_mut()[id.index()]);
    }
    for id in net.topology.graph.channel_ids() {
        fill_channel(net, id, scale, &mut report);
    }
    fill_jobs(net, &mut report);
    *report.growths_mut() = lock(&net.liveness.growths).clone();
    *report.searches_mut() = net.liveness.search.searches() as u64;
    *report.partitions_mut() = net.sched.partitions.load(Ordering::Relaxed);
    *report.tickets_mut() = net.sched.suspended.is_some().then(|| tickets(net.threads(), &accounts));
    report.notes_mut().extend(net.topology.plan.notes().iter().cloned());
    report.notes_mut().extend(inexact_claims(&accounts));
    fill_threads(net, accounts, scale, &mut report);
    report.notes_mut().extend(net.roaming_remark());
    report.notes_mut().extend(net.sched.width.remark());
    report
}

/// How the firings of all workers have waited for their tickets.
fn tickets(workers: usize, accounts: &[(usize, Account)]) -> TicketReport {
    let sum =
        |count: fn(&Totals) -> u64| accounts.iter().map(|(_, account)| count(&account.tickets)).sum::<u64>();
    let most = accounts.iter().map(|(_, account)| account.tickets.max_under_way).max();
    let (suspensions, under_way) = (sum(|totals| totals.suspensions), sum(|totals| totals.under_way));
    let mut tickets = TicketReport::default();
    (*tickets.waits_mut(), *tickets.suspensions_mut()) = (sum(|totals| totals.waits), suspensions);
    *tickets.mean_under_way_mut() =
        if suspensions == 0 { workers as f64 } else { under_way as f64 / suspensions as f64 };
    *tickets.max_under_way_mut() = most.unwrap_or(0).max(workers as u64);
    tickets
}

/// The part of the dilated time that claims too short for the system's timer may take without a remark.
const MAX_INEXACT: f64 = 0.05;

/// A remark about claims of a dilated run that were too short for the system's timer.
fn inexact_claims(accounts: &[(usize, Account)]) -> Option<String> {
    let sum =
        |time: fn(&Account) -> Duration| accounts.iter().map(|(_, account)| time(account)).sum::<Duration>();
    let claims = sum(|account| account.dilation.claims).as_secs_f64();
    let part = sum(|account| account.dilation.inexact).as_secs_f64() / claims.max(f64::MIN_POSITIVE);
    (part > MAX_INEXACT).then(|| {
        format!(
            "{:.0} % of the dilated time is that of claims below 1 ms, for which the system's timer is not exact enough: a \
             larger scale makes them longer",
            part * 100.0
        )
    })
}

fn fill_node(net: &Net<'_>, node: NodeId, scale: Scale, to: &mut NodeReport) {
    let state = &net.node(node).state;
    *to.firings_mut() = state.firings.load(Ordering::Relaxed);
    *to.activations_mut() = state.activations.load(Ordering::Relaxed);
    *to.busy_mut() = scale.duration(state.busy.load(Ordering::Relaxed));
    *to.moves_mut() = state.moves.load(Ordering::Relaxed);
    *to.other_waits_mut() = waits(net, node, state, scale);
}

/// Fills in what the loops and task graphs of each node have counted.
fn fill_jobs(net: &Net<'_>, report: &mut Report) {
    #[cfg(not(loom))]
    for tally in net.team.tally.iter().chain(net.team.apart.as_deref()) {
        for (node, member, counts) in tally.take() {
            if let Some(node) = node.and_then(|node| report.nodes_mut().get_mut(node.index())) {
                let jobs = node.jobs_mut().get_or_insert_default();
                // An entry for each member, also for those that have not begun.
                jobs.add(tally.members() - 1, MemberCounts::default());
                jobs.add(member, counts);
            }
        }
    }
    #[cfg(loom)]
    let _ = (net, report);
}

/// The times for which a node waited for something other than a channel.
fn waits(net: &Net<'_>, node: NodeId, state: &NodeState, scale: Scale) -> NodeWaits {
    let (data, mut waits) = (net.topology.graph.node(node), NodeWaits::default());
    *waits.worker_mut() = scale.duration(state.waits.worker.load(Ordering::Relaxed));
    let own = scale.duration(state.waits.own.load(Ordering::Relaxed));
    match data.kind() {
        _ if data.merge() => *waits.any_input_mut() = own,
        Kind::Parallel => *waits.window_mut() = own,
        _ => *waits.outside_mut() = own,
    }
    waits
}

fn fill_channel(net: &Net<'_>, id: ChannelId, scale: Scale, report: &mut Report) {
    let (meter, data) = (net.meter(id), net.topology.graph.channel(id));
    let to = &mut report.channels_mut()[id.index()];
    let items = meter.tail() - data.link().initial();
    let weighed = if data.link().weighed() { meter.bytes_published() } else { items * data.item().bytes() };
    *to.items_mut() = items as u64;
    *to.bytes_mut() = weighed as u64;
    *to.peak_bytes_mut() = meter.peak_bytes() as u64;
    *to.capacity_mut() = meter.capacity();
    *to.leftover_mut() = meter.unread() as u64;
    *to.remote_mut() = meter.remote() as u64;
    *to.consumer_waited_mut() = scale.duration(meter.consumer_waited().load(Ordering::Relaxed));
    *to.producer_waited_mut() = scale.duration(meter.producer_waited().load(Ordering::Relaxed));
    let occupancy = net.sched.occupancies.result(id, ticks());
    (*to.mean_mut(), *to.peak_mut()) = occupancy.map(|(mean, peak)| (mean, peak as f64)).unzip();
}

/// Adds the service times and the timelines that the run's threads have measured.
fn fill_threads(net: &Net<'_>, accounts: Vec<(usize, Account)>, scale: Scale, report: &mut Report) {
    let mut tracks = Vec::new();
    let track = |recorder: Recorder, name| recorder.track(name, net.began(), scale);
    for (worker, account) in accounts {
        account.services.report(report.nodes_mut());
        tracks.extend(account.recorder.map(|recorder| track(recorder, format!("worker {worker}"))));
    }
    let mut dedicated = std::mem::take(&mut *lock(&net.sched.dedicated));
    dedicated.sort_unstable_by_key(|account| account.node);
    for account in dedicated {
        if !account.service.activation().is_empty() {
            service::merge(account.service, &mut report.nodes_mut()[account.node.index()]);
        }
        let name = || net.topology.graph.node(account.node).name().to_string();
        tracks.extend(account.recorder.map(|recorder| track(recorder, name())));
    }
    #[cfg(not(loom))]
    if let (false, Some(tally)) = (tracks.is_empty(), &net.team.apart) {
        let tracks_of = |member| (member, tally.recorder(member));
        let helpers = (1..tally.members()).map(tracks_of);
        let helpers = helpers.filter_map(|(member, recorder)| Some((member, recorder?)));
        tracks.extend(helpers.map(|(member, recorder)| track(recorder, format!("helper {member}"))));
    }
    if !tracks.is_empty() {
        tracks.push(growths(report));
        *report.timeline_mut() = Some(Box::new(Timeline::new(tracks)));
    }
}

/// The growths of channels as a track: they are the engine's, whichever thread found the deadlock.
fn growths(report: &Report) -> Track {
    let mut track = Track::new("growths");
    track.events_mut().extend(report.growths().iter().map(|growth| {
        Event::new(growth.at().as_nanos() as u64, What::Growth { channel: growth.channel(), to: growth.to() })
    }));
    track
}
