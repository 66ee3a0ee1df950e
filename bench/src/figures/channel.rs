//! `channel.*`: a channel alone between two threads, in nanoseconds per item.

use std::thread;

use crate::line::Measure;
use crate::ours;
use crate::peers::bare_ring::{Consumer, Producer, ring};
use crate::peers::crossbeam::Crossbeam;
use crate::peers::std_mpsc::StdMpsc;
use crate::peers::{CAPACITY, link, rtrb};
use crate::race::{Contestant, Role};
use crate::row::{Row, timed};
use crate::session::Session;
use crate::wait::until;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    if session.selects("channel.slice64") {
        let contestants = vec![
            contestant("ours", items(session, 0.8), ours::channel_slices),
            contestant("bare-ring", items(session, 0.8), ring_slices),
            contestant("rtrb", items(session, 0.8), rtrb::slices),
            contestant("crossbeam", items(session, 2.0), link::slices::<Crossbeam>),
            contestant("std-mpsc", items(session, 2.0), link::slices::<StdMpsc>),
        ];
        session.figure("channel.slice64", Measure::NsPerItem, 2, contestants);
    }
    if session.selects("channel.item") {
        let contestants = vec![
            contestant("ours", items(session, 4.0), ours::channel_items),
            contestant("bare-ring", items(session, 3.0), ring_items),
            contestant("rtrb", items(session, 3.0), rtrb::items),
            contestant("crossbeam", items(session, 12.0), link::items::<Crossbeam>),
            contestant("std-mpsc", items(session, 12.0), link::items::<StdMpsc>),
        ];
        session.figure("channel.item", Measure::NsPerItem, 2, contestants);
    }
}

/// A number of items for one run: a multiple of a slice.
fn items(session: &Session, ns: f64) -> u64 {
    session.items(ns, 1) / 64 * 64
}

fn contestant(name: &'static str, items: u64, run: fn(u64) -> Row) -> Contestant<'static> {
    let role = if name == "ours" { Role::Ours } else { Role::Peer };
    let sum = (u128::from(items) * u128::from(items - 1) / 2) as u64;
    Contestant::new(name, role, items, move || Ok(Some(run(items)))).expecting(sum)
}

fn ring_items(items: u64) -> Row {
    timed(|| {
        thread::scope(|scope| {
            let (mut to, mut from) = ring::<u64>(CAPACITY);
            scope.spawn(move || (0..items).for_each(|i| until(|| to.push(i).then_some(()))));
            (0..items).fold(0, |sum: u64, _| sum.wrapping_add(until(|| from.pop())))
        })
    })
}

fn ring_slices(items: u64) -> Row {
    timed(|| {
        thread::scope(|scope| {
            let (mut to, mut from) = ring::<u64>(CAPACITY);
            scope.spawn(move || {
                (0..items / 64).for_each(|s| until(|| send(&mut to, s * 64)));
            });
            let (mut sum, mut seen) = (0, 0);
            while seen < items {
                seen += until(|| receive(&mut from, &mut sum));
            }
            sum
        })
    })
}

fn send(to: &mut Producer<u64>, start: u64) -> Option<()> {
    to.push_slice((0..64).map(|i: u32| start + u64::from(i))).then_some(())
}

fn receive(from: &mut Consumer<u64>, sum: &mut u64) -> Option<u64> {
    let add = |items: &[u64]| *sum = items.iter().fold(*sum, |sum, &x| sum.wrapping_add(x));
    Some(from.pop_slice(64, add) as u64).filter(|&count| count > 0)
}
