//! What goes from thread to thread.

use thalweg_lang::interpret::Stop;

/// Some batches, with what groups have given others for them. Who has it has its memory.
#[derive(Default)]
pub(super) struct Packet {
    /// Steady states of the sources, batch by batch.
    pub(super) rounds: Vec<u64>,
    /// Steady states of the sources up to the end of this.
    pub(super) until: u64,
    /// In a region that any number of threads do: steady states before this, and what packets before it have left of
    /// channels.
    pub(super) first: u64,
    pub(super) left: Vec<(usize, Vec<u8>)>,
    /// What has been read, by reader, for all batches.
    pub(super) read: Vec<Vec<u8>>,
    /// What goes from one group to another, by channel.
    pub(super) crossing: Vec<Items>,
    /// What is written, by writer, for all batches.
    pub(super) written: Vec<Vec<u8>>,
    /// What is printed.
    pub(super) text: Vec<u8>,
    pub(super) failure: Option<Stop>,
}

/// Items of a channel, and where those of each batch end.
#[derive(Default)]
pub(super) struct Items {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<usize>,
}

impl Items {
    /// Those of a batch.
    pub(super) fn of(&self, round: usize) -> &[u8] {
        let from = if round == 0 { 0 } else { self.ends[round - 1] };
        &self.bytes[from..self.ends[round]]
    }

    /// There is no more of this batch.
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

    /// For other batches.
    pub(super) fn clear(&mut self) {
        self.rounds.clear();
        self.read.iter_mut().for_each(Vec::clear);
        self.crossing.iter_mut().for_each(Items::clear);
        self.written.iter_mut().for_each(Vec::clear);
        self.text.clear();
    }
}
