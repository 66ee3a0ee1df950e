//! `channel.*`: a channel alone, numbers from one thread to another, in nanoseconds per item.

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

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    if session.wants("channel.slice64") {
        let contestants = vec![
            racer("ours", items(session, 0.8), ours::channel_slices),
            racer("bare-ring", items(session, 0.8), ring_slices),
            racer("rtrb", items(session, 0.8), rtrb::slices),
            racer("crossbeam", items(session, 2.0), link::slices::<Crossbeam>),
            racer("std-mpsc", items(session, 2.0), link::slices::<StdMpsc>),
        ];
        session.figure("channel.slice64", Measure::NsPerItem, 2, contestants);
    }
    if session.wants("channel.item") {
        let contestants = vec![
            racer("ours", items(session, 4.0), ours::channel_items),
            racer("bare-ring", items(session, 3.0), ring_items),
            racer("rtrb", items(session, 3.0), rtrb::items),
            racer("crossbeam", items(session, 12.0), link::items::<Crossbeam>),
            racer("std-mpsc", items(session, 12.0), link::items::<StdMpsc>),
        ];
        session.figure("channel.item", Measure::NsPerItem, 2, contestants);
    }
}

/// A whole number of slices that takes about a row's time.
fn items(session: &Session, ns: f64) -> u64 {
    session.items(ns, 1) / 64 * 64
}

fn racer(name: &'static str, items: u64, run: fn(u64) -> Row) -> Contestant<'static> {
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
