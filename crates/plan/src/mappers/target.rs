//! The machine of a mapping: a cache, and what it costs to miss it.

use super::Buffers;
use thalweg_machine::Machine;

/// The bytes of the cache where none is known: a common second level.
const USUAL_CACHE: u64 = 256 << 10;
/// The bytes of a block of a cache where none is known.
const BLOCK: u64 = 64;
/// Nanoseconds of a miss where none was measured (section 3.3.6).
const USUAL_MISS: f64 = 3.0;

/// What mappers need to know of the machine.
///
/// ```
/// use thalweg_machine::Machine;
/// use thalweg_plan::mappers::Target;
///
/// let machine = Machine::read("thalweg-machine 1\ndomains 1\ncores 2\ncache 2 size 1 MiB per core\n")?;
/// assert_eq!(Target::of(&machine).cache(), 1 << 20);
/// assert_eq!(Target::default().with_cache(1000).cache(), 1000);
/// # Ok::<(), thalweg_machine::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    cache: u64,
    miss: f64,
    buffers: Option<Buffers>,
    most: u64,
}

impl Default for Target {
    /// A cache of 256 KiB, and 3 ns for a miss.
    fn default() -> Target {
        Target { cache: USUAL_CACHE, miss: USUAL_MISS, buffers: None, most: MOST }
    }
}

/// The maximum number of bytes that the buffers of a mapping take together, unless the plan has a budget.
const MOST: u64 = 64 << 20;

impl Target {
    /// The smallest cache of one core above the first level, and the measured time of a miss of blocks in order.
    pub fn of(machine: &Machine) -> Target {
        Target {
            cache: machine.private_cache().unwrap_or(USUAL_CACHE).max(1),
            miss: machine.costs().miss_in_order().unwrap_or(USUAL_MISS),
            ..Target::default()
        }
    }

    /// With a cache of this many bytes; 0 counts as 1.
    pub fn with_cache(self, bytes: u64) -> Target {
        Target { cache: bytes.max(1), ..self }
    }

    /// With this time for a miss, in nanoseconds. What is no number or negative counts as 0.
    pub fn with_miss(self, nanoseconds: f64) -> Target {
        Target { miss: if nanoseconds > 0.0 { nanoseconds.min(1e9) } else { 0.0 }, ..self }
    }

    /// With buffers between segments by this rule, in place of the mapper's.
    pub fn with_buffers(self, rule: Buffers) -> Target {
        Target { buffers: Some(rule), ..self }
    }

    /// With at most this many bytes in all buffers, beside what single firings need.
    pub(crate) fn with_most(self, bytes: u64) -> Target {
        Target { most: bytes, ..self }
    }

    /// The bytes of the cache that a segment should fit into: the thesis' M.
    pub fn cache(&self) -> u64 {
        self.cache
    }

    /// The bytes of a block of it.
    pub fn block(&self) -> u64 {
        BLOCK
    }

    /// Nanoseconds of a miss, for each byte that it brings.
    pub fn miss_per_byte(&self) -> f64 {
        self.miss / BLOCK as f64
    }

    /// The rule that replaces that of the mapper.
    pub(super) fn buffers(&self) -> Option<Buffers> {
        self.buffers
    }

    pub(super) fn most(&self) -> u64 {
        self.most
    }
}
