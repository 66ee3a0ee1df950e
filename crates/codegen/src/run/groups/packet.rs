//! The data that goes from thread to thread.

use crate::run::queues::{Budget, Queues};
use thalweg_lang::interpret::Stop;

/// Several batches, with the items between groups. Only its holder accesses its memory.
#[derive(Default)]
pub(in crate::run) struct Packet {
    /// Steady states of the sources, batch by batch.
    pub(super) rounds: Vec<u64>,
    /// Steady states of the sources up to the end of this packet.
    pub(super) until: u64,
    /// For a region with copies: the steady states before this packet, and the items that earlier packets
    /// have left, by channel.
    pub(super) first: u64,
    pub(super) left: Vec<(usize, Vec<u8>)>,
    /// The input of all batches, by reader.
    pub(super) read: Vec<Vec<u8>>,
    /// The items between groups, by channel.
    pub(super) crossing: Vec<Items>,
    /// The output of all batches, by writer.
    pub(super) written: Vec<Vec<u8>>,
    /// The part of `crossing` that no group has taken into its queues, as the budget counts it.
    pub(super) charged: Charged,
    /// The text that has been printed.
    pub(super) text: Vec<u8>,
    pub(super) failure: Option<Stop>,
}

/// Bytes that the budget of queues counts for a packet.
#[derive(Default)]
pub(super) struct Charged(usize);

impl Charged {
    /// Counts items that have left queues for the packet. The queues have counted them.
    pub(super) fn take_from(&mut self, queues: &mut Queues, bytes: usize) {
        self.0 += bytes;
        queues.hand_over(bytes);
    }

    /// Leaves items of the packet that are in queues now to these, as far as the packet has counted them.
    pub(super) fn leave_to(&mut self, queues: &mut Queues, bytes: usize) {
        let bytes = bytes.min(self.0);
        self.0 -= bytes;
        queues.take_over(bytes);
    }

    /// Counts nothing any more.
    pub(super) fn release(&mut self, budget: &Budget) {
        budget.release(std::mem::take(&mut self.0));
    }
}

/// Items of a channel, and the end of each batch's items.
#[derive(Default)]
pub(super) struct Items {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<usize>,
}

impl Items {
    /// The items of a batch.
    pub(super) fn of(&self, round: usize) -> &[u8] {
        let from = if round == 0 { 0 } else { self.ends[round - 1] };
        &self.bytes[from..self.ends[round]]
    }

    /// Ends the items of a batch.
    pub(super) fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl Packet {
    pub(super) fn new(readers: usize, crossing: usize, writers: usize) -> Packet {
        let mut packet = Packet::default();
        packet.read.resize_with(readers, Vec::new);
        packet.crossing.resize_with(crossing, Items::default);
        packet.written.resize_with(writers, Vec::new);
        packet
    }

    /// Clears it for other batches.
    pub(super) fn clear(&mut self) {
        self.rounds.clear();
        self.read.iter_mut().for_each(Vec::clear);
        self.crossing.iter_mut().for_each(Items::clear);
        self.written.iter_mut().for_each(Vec::clear);
        self.text.clear();
    }
}
