//! The bandwidth of memory for one thread: it reads and writes a buffer that no cache holds.

use crate::Machine;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The most bytes of the buffer.
const MOST: u64 = 256_000_000;

/// The bytes of the buffer where the caches are small or not known.
const USUAL: u64 = 64_000_000;

/// Words between two looks at the clock: 1 MiB.
const STRETCH: usize = 1 << 17;

/// The bytes that one thread reads and writes per second: the best of several passes, each over the whole buffer, or the
/// part of a pass that fits into the time. `None` if the memory that the process may use is too small.
pub(super) fn bandwidth(machine: &Machine, time: Duration) -> Option<u64> {
    let deadline = Instant::now() + time;
    let mut words = buffer(buffer_bytes(machine)?, Instant::now() + time / 2)?;
    let mut best = None;
    loop {
        let start = Instant::now();
        let mut bytes = 0;
        for stretch in words.chunks_mut(STRETCH) {
            stretch.iter_mut().for_each(|word| *word = word.wrapping_add(1));
            bytes += 2 * size_of_val(stretch);
            if Instant::now() >= deadline {
                break;
            }
        }
        black_box(&mut words);
        best = best.max(Some((bytes as f64 / start.elapsed().as_secs_f64()) as u64));
        if Instant::now() >= deadline {
            return best;
        }
    }
}

/// The bytes of the buffer: four times the largest cache, within the memory that the process may use. `None` if that is
/// not clearly more than the cache.
fn buffer_bytes(machine: &Machine) -> Option<u64> {
    let cache = machine.caches().iter().filter_map(|cache| cache.bytes).max().unwrap_or(0);
    let memory =
        machine.domains().iter().filter_map(|domain| domain.memory).chain(machine.limits().memory).min();
    let most = memory.map_or(MOST, |memory| memory / 8).min(MOST);
    let bytes = cache.saturating_mul(4).max(USUAL).min(most);
    (bytes >= 1 << 20 && bytes / 3 >= cache / 2).then_some(bytes)
}

/// A buffer whose pages are mapped, or a smaller one if the time ends before. `None` if there is no memory.
fn buffer(bytes: u64, deadline: Instant) -> Option<Vec<u64>> {
    let length = usize::try_from(bytes / 8).ok()?;
    let mut words = Vec::new();
    words.try_reserve_exact(length).ok()?;
    while words.len() < length && Instant::now() < deadline {
        // Zeros could be pages that the system has not mapped yet.
        words.resize((words.len() + STRETCH).min(length), 1);
    }
    Some(words).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<u64> {
        buffer_bytes(&Machine::read(&format!("thalweg-machine 1\n{text}")).unwrap())
    }

    #[test]
    fn the_buffer_is_larger_than_the_cache_and_a_part_of_the_memory() {
        assert_eq!(bytes("domains 1\ncores 1"), Some(USUAL));
        assert_eq!(
            bytes("domains 1 memory 24 GiB\ncores 2\ncache 3 size 32 MiB per domain"),
            Some(128 << 20)
        );
        assert_eq!(bytes("domains 1\ncores 2\ncache 3 size 96 MiB per domain"), Some(MOST));
        assert_eq!(bytes("domains 1\ncores 2\ncache 3 size 512 MiB per domain"), None);
        assert_eq!(
            bytes("domains 1\ncores 2\ncache 3 size 8 MiB per domain\nlimit memory 160 MiB"),
            Some(20 << 20)
        );
        assert_eq!(bytes("domains 1\ncores 2\ncache 3 size 32 MiB per domain\nlimit memory 160 MiB"), None);
        assert_eq!(bytes("domains 1 memory 4 MiB\ncores 2"), None);
    }
}
