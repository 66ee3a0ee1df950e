//! rtrb, a wait-free ring: the channel alone, with a thread at each end that spins and then yields.

use std::thread;

use rtrb::{Consumer, Producer, RingBuffer};

use super::CAPACITY;
use crate::row::{Row, timed};
use crate::wait::until;

/// One number at a time.
pub fn items(items: u64) -> Row {
    timed(|| {
        thread::scope(|scope| {
            let (mut to, mut from) = RingBuffer::<u64>::new(CAPACITY);
            scope.spawn(move || (0..items).for_each(|i| until(|| to.push(i).ok())));
            (0..items).fold(0, |sum: u64, _| sum.wrapping_add(until(|| from.pop().ok())))
        })
    })
}

/// 64 numbers at a time.
pub fn slices(items: u64) -> Row {
    timed(|| {
        thread::scope(|scope| {
            let (mut to, mut from) = RingBuffer::<u64>::new(CAPACITY);
            scope.spawn(move || (0..items / 64).for_each(|s| until(|| send(&mut to, s * 64))));
            (0..items / 64).fold(0, |sum: u64, _| sum.wrapping_add(until(|| receive(&mut from))))
        })
    })
}

fn send(to: &mut Producer<u64>, start: u64) -> Option<()> {
    let chunk = to.write_chunk_uninit(64).ok()?;
    chunk.fill_from_iter(start..start + 64);
    Some(())
}

fn receive(from: &mut Consumer<u64>) -> Option<u64> {
    let chunk = from.read_chunk(64).ok()?;
    let (first, second) = chunk.as_slices();
    let sum = [first, second].into_iter().flatten().fold(0, |sum: u64, &x| sum.wrapping_add(x));
    chunk.commit_all();
    Some(sum)
}
