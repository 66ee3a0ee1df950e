//! What a user may choose when packing, and what an unpacker allows.

use std::str::FromStr;

use crate::{Error, Result};

/// How unique data is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Stored as it is.
    None,
    /// Zstandard.
    Zstd,
    /// DEFLATE, the algorithm of gzip (without gzip's own header and checksum).
    Gzip,
}

impl Codec {
    /// The level used when none is named.
    pub fn default_level(self) -> i32 {
        match self {
            Codec::None => 0,
            Codec::Zstd => 3,
            Codec::Gzip => 6,
        }
    }

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Zstd => "zstd",
            Codec::Gzip => "gzip",
        }
    }

    pub(crate) fn tag(self) -> u8 {
        match self {
            Codec::None => 0,
            Codec::Zstd => 1,
            Codec::Gzip => 2,
        }
    }

    pub(crate) fn from_tag(tag: u8) -> Option<Self> {
        [Codec::None, Codec::Zstd, Codec::Gzip].into_iter().find(|c| c.tag() == tag)
    }

    fn levels(self) -> std::ops::RangeInclusive<i32> {
        match self {
            Codec::None => 0..=0,
            Codec::Zstd => -100..=22,
            Codec::Gzip => 0..=9,
        }
    }
}

impl FromStr for Codec {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        [Codec::None, Codec::Zstd, Codec::Gzip]
            .into_iter()
            .find(|c| c.name() == name)
            .ok_or_else(|| Error::Params(format!("codec {name:?} is none of zstd, gzip, none")))
    }
}

/// Smallest, average and largest content-defined chunk, in bytes (all even).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSizes {
    /// No chunk is smaller, except at the end of a file or of a block.
    pub min: u32,
    /// The average aimed at.
    pub avg: u32,
    /// No chunk is larger.
    pub max: u32,
}

/// Sizes a coarse block is cut to: from the first, at the next content-defined cut, at most the
/// second. Whole blocks are what is compressed at once, so they bound the memory of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockSizes {
    pub min: u32,
    pub max: u32,
}

/// No block of any archive holds more; a reader refuses what claims to.
pub(crate) const BLOCK_LIMIT: u32 = 16 << 20;
/// No table of any archive is longer.
pub(crate) const TABLE_LIMIT: u32 = 8 << 20;
/// What one index entry is charged: hash and place in a hash map, hash and place in a queue, and
/// the slack of both while they grow.
const INDEX_ENTRY_BYTES: u64 = 192;

/// How to pack. [`Params::default`] is zstd at level 3.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Params {
    /// How unique data is compressed.
    pub codec: Codec,
    /// The codec's level.
    pub level: i32,
    /// Sizes of content-defined chunks.
    pub chunk: ChunkSizes,
    /// How far back a duplicate may refer, in bytes of unique data. The unpacker keeps as much.
    pub window: u64,
    /// Memory the index of seen chunks may take while packing.
    pub index_bytes: u64,
    pub(crate) block: BlockSizes,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            codec: Codec::Zstd,
            level: Codec::Zstd.default_level(),
            chunk: ChunkSizes { min: 4 << 10, avg: 16 << 10, max: 64 << 10 },
            window: 256 << 20,
            index_bytes: 64 << 20,
            block: BlockSizes { min: 1 << 20, max: 2 << 20 },
        }
    }
}

impl Params {
    /// The same with another codec, at that codec's default level.
    pub fn codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self.level = codec.default_level();
        self
    }

    /// The same with another level.
    pub fn level(mut self, level: i32) -> Self {
        self.level = level;
        self
    }

    /// The same with other chunk sizes.
    pub fn chunk(mut self, chunk: ChunkSizes) -> Self {
        self.chunk = chunk;
        self
    }

    /// The same with blocks of another size: compressed as a whole, from `min` to `max` bytes.
    pub fn block(mut self, min: u32, max: u32) -> Self {
        self.block = BlockSizes { min, max };
        self
    }

    /// The same with another reach of duplicates.
    pub fn window(mut self, bytes: u64) -> Self {
        self.window = bytes;
        self
    }

    /// The same with another memory limit of the index.
    pub fn index_bytes(mut self, bytes: u64) -> Self {
        self.index_bytes = bytes;
        self
    }

    /// Chunks the index remembers at most.
    pub(crate) fn index_entries(&self) -> u64 {
        (self.index_bytes / INDEX_ENTRY_BYTES).max(1)
    }

    /// Refuses what cannot work, with a message that says what would.
    pub fn validate(&self) -> Result<()> {
        let levels = self.codec.levels();
        if !levels.contains(&self.level) {
            return refuse(format!(
                "level {} of codec {} is not in {} to {}",
                self.level,
                self.codec.name(),
                levels.start(),
                levels.end()
            ));
        }
        self.chunk.validate()?;
        let BlockSizes { min, max } = self.block;
        if min < 128 || max < min || max > BLOCK_LIMIT {
            return refuse(format!("block sizes {min} to {max} are not within 128 to {BLOCK_LIMIT}"));
        }
        Ok(())
    }
}

impl ChunkSizes {
    fn validate(&self) -> Result<()> {
        use fastcdc::v2020 as cdc;
        let ChunkSizes { min, avg, max } = *self;
        let within = |v: u32, low: usize, high: usize| (low..=high).contains(&(v as usize));
        let sound = within(min, cdc::MINIMUM_MIN, cdc::MINIMUM_MAX)
            && within(avg, cdc::AVERAGE_MIN, cdc::AVERAGE_MAX)
            && within(max, cdc::MAXIMUM_MIN, cdc::MAXIMUM_MAX)
            && min <= avg
            && avg <= max
            && [min, avg, max].iter().all(|v| v % 2 == 0);
        if sound {
            return Ok(());
        }
        refuse(format!(
            "chunk sizes {min}, {avg}, {max} must be even, in rising order, and of a sensible size"
        ))
    }
}

fn refuse<T>(why: String) -> Result<T> {
    Err(Error::Params(why))
}

/// What a reader grants an archive it does not trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest window (bytes of unique data kept in memory) that is accepted.
    pub window: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { window: 1 << 30 }
    }
}

impl Limits {
    /// The same with another window limit.
    pub fn window(mut self, bytes: u64) -> Self {
        self.window = bytes;
        self
    }
}
