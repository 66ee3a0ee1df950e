//! The first-level cache of a worker, by which claims and messages are sized.

use crate::Wishes;

/// The bytes where no cache is known: that of most processors.
const USUAL: u64 = 32 << 10;

/// The range of the bytes: a machine may be described with any size.
const RANGE: std::ops::RangeInclusive<u64> = 4 << 10..=1 << 20;

/// The bytes of the smallest first-level cache of the machine to plan for.
pub(super) fn first_level(wishes: &Wishes) -> usize {
    let caches = wishes.machine.iter().flat_map(|machine| machine.caches());
    let first = caches.filter(|cache| cache.level() == 1).filter_map(|cache| cache.bytes()).min();
    first.unwrap_or(USUAL).clamp(*RANGE.start(), *RANGE.end()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use thalweg_machine::Machine;

    fn bytes(text: &str) -> usize {
        let machine = Machine::read(&format!("thalweg-machine 1\ndomains 2\ncores 2\n{text}")).unwrap();
        first_level(&Wishes::default().machine(Arc::new(machine)))
    }

    #[test]
    fn it_is_that_of_the_machine_or_the_usual_one() {
        assert_eq!(first_level(&Wishes::default()), 32 << 10);
        assert_eq!(bytes("cache 2 size 256 KiB per core\n"), 32 << 10);
        assert_eq!(bytes("cache 1 size 48 KiB per core\n"), 48 << 10);
        assert_eq!(bytes("cache 1 size 1 KiB per core\n"), 4 << 10);
        assert_eq!(bytes("cache 1 size 512 MiB per core\n"), 1 << 20);
    }
}
