//! The only input, or output, of a node: its kernel gets the cursor, end or stream itself, not a tuple of one.
//!
//! Each method applies the method of the port, like those of the tuples ([`tuple`](super::tuple)). Where a number or
//! flag is by port, here it is that of port 0.

use crate::channel::Lack;
use crate::channel::{Glance, Mark, Marks, Out};
use crate::net::Owner;
use crate::port::tuple::{Inputs, Outputs, lack_of, short_of};
use crate::port::{Input, PushPort};
use crate::process::{Rx, Tx};
use crate::seal::Sealed;

/// A node's only port on one side.
#[derive(Debug)]
pub struct One<P>(pub(crate) P);

impl<P> Sealed for One<P> {}

impl<P: Input> Inputs for One<P> {
    type Cursors<'f> = P::Cursor<'f>;
    type Glances = Glance<P::Item>;
    type PopCounts = usize;
    type Receivers = Rx<P::Item>;
    type Limits = (usize, usize);

    fn cursors(&self) -> P::Cursor<'static> {
        self.0.cursor()
    }
    #[inline]
    fn firings(&mut self, limit: usize) -> Result<usize, Lack> {
        self.0.side().firings(limit)
    }
    #[inline]
    fn open(&mut self, cursor: &mut P::Cursor<'static>, firings: usize) {
        let items = self.0.side().rates.pop * firings;
        self.0.open(cursor, items);
    }
    fn open_framed(&mut self, cursor: &mut P::Cursor<'static>, pops: &[usize]) {
        self.0.open(cursor, pops[0]);
    }
    fn extend_framed(&mut self, cursor: &mut P::Cursor<'static>, pops: &[usize]) {
        self.0.extend(cursor, pops[0]);
    }
    fn rates(&mut self) -> (usize, usize) {
        let rates = self.0.side().rates;
        (rates.pop, rates.peek)
    }
    fn framed(pops: &[usize]) -> (usize, usize) {
        (pops[0], pops[0])
    }
    #[inline(always)]
    fn step(cursor: &mut P::Cursor<'static>, limits: &(usize, usize)) {
        P::step(cursor, *limits);
    }
    #[inline(always)]
    fn finish(cursor: &mut P::Cursor<'static>) {
        P::finish(cursor);
    }
    #[inline]
    fn unclaim(&mut self, cursor: &mut P::Cursor<'static>) {
        self.0.unclaim(cursor);
    }
    fn reopen(&self, cursor: &mut P::Cursor<'static>) {
        self.0.reopen(cursor);
    }
    #[inline]
    fn release(&self, cursor: &P::Cursor<'static>) {
        self.0.release(cursor);
    }
    fn glances(&self) -> Glance<P::Item> {
        self.0.glance()
    }
    fn wanted(glance: &Glance<P::Item>, wanted: &mut [usize]) {
        wanted[0] = glance.wanted();
    }
    fn refresh(&mut self) {
        self.0.side().refresh();
    }
    fn lack(&mut self, wanted: &[usize]) -> Option<Lack> {
        lack_of(&mut self.0, wanted[0])
    }
    fn short_of(&mut self, pops: &[usize]) -> Option<Lack> {
        short_of(&mut self.0, pops[0])
    }
    fn exhausted(&mut self) -> bool {
        self.0.side().exhausted()
    }
    fn leave(&mut self) {
        self.0.side().meter.leave();
    }
    fn twin(&self) -> Self {
        One(self.0.twin())
    }
    fn count(&self) -> usize {
        1
    }
    fn receivers(&self, owner: Owner) -> Rx<P::Item> {
        self.0.receiver(owner)
    }
}

impl<T: Send> Outputs for One<PushPort<T>> {
    type Cursors<'f> = Out<'f, T>;
    type Senders = Tx<T>;

    unsafe fn sequential_cursors(&self, marks: &Marks) -> Out<'static, T> {
        // SAFETY: the contract is the caller's.
        self.0.sequential_cursor(unsafe { marks.of(0) })
    }
    unsafe fn ticket_cursors(&self, marks: &Marks, first: usize) -> Out<'static, T> {
        // SAFETY: the contract is the caller's.
        self.0.ticket_cursor(unsafe { marks.of(first) })
    }
    #[inline]
    fn room(&mut self, limit: usize) -> Result<usize, Lack> {
        self.0.side().room(limit)
    }
    #[inline]
    fn pending(cursor: &Out<'static, T>) -> bool {
        cursor.overflows()
    }
    fn flush(&mut self, cursor: &mut Out<'static, T>) -> Option<Lack> {
        self.0.flush(cursor)
    }
    #[inline]
    fn open_sequential(&mut self, cursor: &mut Out<'static, T>) {
        self.0.open_sequential(cursor);
    }
    fn dynamic_room(&mut self) -> Option<(usize, Lack)> {
        self.0.dynamic_room()
    }
    #[inline]
    fn open_ticket(&mut self, cursor: &mut Out<'static, T>, firings: usize) {
        self.0.open_ticket(cursor, firings);
    }
    #[inline(always)]
    fn step(cursor: &mut Out<'static, T>) -> bool {
        cursor.step()
    }
    fn pause_after(cursor: &mut Out<'static, T>, items: usize, time: u64, bytes: usize) {
        cursor.pause_after(items, time, bytes);
    }
    fn buffered(cursor: &Out<'static, T>) -> usize {
        cursor.pushed()
    }
    fn rewind(cursor: &mut Out<'static, T>) -> usize {
        cursor.rewind()
    }
    #[inline(always)]
    fn mark(cursor: &Out<'static, T>) {
        cursor.mark();
    }
    fn weigh_pushed(cursor: &mut Out<'static, T>) {
        cursor.weigh_pushed();
    }
    #[inline(always)]
    fn short(cursor: &Out<'static, T>) -> Option<(usize, usize)> {
        cursor.is_short().then(|| (0, cursor.missing()))
    }
    #[inline]
    fn publish_sequential(&mut self, cursor: &mut Out<'static, T>) {
        self.0.publish_sequential(cursor);
    }
    fn close_ticket(cursor: &mut Out<'static, T>) {
        cursor.close_chunk();
    }
    fn publish_ticket(&self, _port: usize, cursor: &mut Out<'static, T>) -> bool {
        self.0.publish_ticket(cursor)
    }
    fn publish_marked(&self, _port: usize, mark: &Mark) -> bool {
        self.0.publish_marked(mark)
    }
    fn pushed_bytes(cursor: &Out<'static, T>) -> usize {
        cursor.pushed_bytes()
    }
    #[inline]
    fn pushed(cursor: &Out<'static, T>, _port: usize) -> usize {
        cursor.pushed()
    }
    fn tail(&self, _port: usize) -> usize {
        self.0.meter().tail()
    }
    fn capacity(&self, _port: usize) -> usize {
        self.0.meter().capacity()
    }
    fn purge_if_gone(&self) {
        self.0.purge_if_gone();
    }
    fn unorder(&mut self) {
        self.0.unorder();
    }
    #[inline]
    fn all_gone(&self) -> bool {
        self.0.meter().gone()
    }
    fn end(&self) {
        self.0.meter().end();
    }
    fn weighed(&self) -> bool {
        self.0.weighed()
    }
    fn twin(&self) -> Self {
        One(self.0.twin())
    }
    fn count(&self) -> usize {
        1
    }
    fn senders(&self, owner: Owner) -> Tx<T> {
        self.0.sender(owner)
    }
}
