//! The job of the keyed chain: numbers become keys, and each key's numbers are counted.

use std::ffi::OsString;
use std::ops::Range;

use crate::work::mix;

/// Different keys.
const KEYS: u64 = 100_000;

/// How many numbers, in which batches.
#[derive(Clone, Copy)]
pub struct KeyedJob {
    pub items: u64,
    pub batch: u64,
    /// Batches under way, and of an epoch: of ours alone.
    pub window: usize,
    pub epoch: u32,
}

impl KeyedJob {
    /// # Errors
    /// These are no four numbers.
    pub fn read(numbers: &[OsString]) -> Result<KeyedJob, String> {
        let read: Vec<u64> = numbers.iter().filter_map(|word| word.to_str()?.parse().ok()).collect();
        match read[..] {
            [items, batch, window, epoch] if batch > 0 => {
                Ok(KeyedJob { items, batch, window: window as usize, epoch: epoch as u32 })
            }
            _ => Err(format!("{numbers:?}: no job")),
        }
    }

    pub fn arguments(&self) -> [OsString; 4] {
        [self.items, self.batch, self.window as u64, self.epoch.into()]
            .map(|number| number.to_string().into())
    }

    pub fn parts(&self) -> usize {
        self.items.div_ceil(self.batch) as usize
    }

    /// The numbers of a batch.
    pub fn part(&self, part: usize) -> Range<u64> {
        let first = part as u64 * self.batch;
        first..(first + self.batch).min(self.items)
    }

    pub fn key(number: u64) -> u32 {
        (mix(number) % KEYS) as u32
    }

    /// What is written for a number.
    pub fn line(key: u32, count: u32) -> [u8; 8] {
        (u64::from(key) << 32 | u64::from(count)).to_le_bytes()
    }
}
