//! Parameters of packing, and limits of unpacking.

use std::str::FromStr;

use crate::{Error, Result};

/// The compression of unique data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Stored uncompressed.
    None,
    /// Zstandard.
    Zstd,
    /// DEFLATE, the algorithm of gzip, without the header and checksum of gzip.
    Gzip,
}

impl Codec {
    /// The default level.
    pub fn default_level(self) -> i32 {
        match self {
            Codec::None => 0,
            Codec::Zstd => 3,
            Codec::Gzip => 6,
        }
    }

    /// The name on the command line.
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
            .ok_or_else(|| Error::Params(format!("unknown codec {name:?}\nhelp: use zstd, gzip or none")))
    }
}

/// How the packer finds duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matching {
    /// The least length of a duplicate in bytes.
    pub min: u32,
    /// The average distance of the positions that the packer indexes and looks up, in bytes: a power of two.
    pub spacing: u32,
}

/// Sizes of blocks: a block ends at the first content-defined cut at or after `min` bytes, or at `max` bytes. A block
/// is compressed as a whole, so its size bounds the memory of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockSizes {
    pub min: u32,
    pub max: u32,
}

/// The maximum bytes of a block in any archive. A reader refuses larger blocks.
pub(crate) const BLOCK_LIMIT: u32 = 16 << 20;
/// The maximum bytes of a table in any archive.
pub(crate) const TABLE_LIMIT: u32 = 8 << 20;
/// The memory of one index entry.
pub(crate) const INDEX_ENTRY_BYTES: u64 = 4;
/// The largest window of a packer, whose index has 32 bits for a position.
const WINDOW_LIMIT: u64 = u32::MAX as u64;

/// The parameters of packing. The default codec is zstd at level 3.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Params {
    /// The compression of unique data.
    pub codec: Codec,
    /// The level of the codec.
    pub level: i32,
    /// How duplicates are found.
    pub matching: Matching,
    /// The largest distance of a duplicate, in bytes of unique data: below 4 GiB. Packer and unpacker keep as many bytes
    /// in memory.
    pub window: u64,
    /// The maximum memory of the index while packing.
    pub index_bytes: u64,
    pub(crate) block: BlockSizes,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            codec: Codec::Zstd,
            level: Codec::Zstd.default_level(),
            matching: Matching { min: 128, spacing: 64 },
            window: 96 << 20,
            index_bytes: 8 << 20,
            block: BlockSizes { min: 4 << 20, max: 6 << 20 },
        }
    }
}

impl Params {
    /// Sets the codec, and its default level.
    pub fn codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self.level = codec.default_level();
        self
    }

    /// Sets the level.
    pub fn level(mut self, level: i32) -> Self {
        self.level = level;
        self
    }

    /// Sets how duplicates are found.
    pub fn matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
        self
    }

    /// Sets the block sizes: blocks of `min` to `max` bytes are compressed as a whole.
    pub fn block(mut self, min: u32, max: u32) -> Self {
        self.block = BlockSizes { min, max };
        self
    }

    /// Sets the largest distance of duplicates, below 4 GiB.
    pub fn window(mut self, bytes: u64) -> Self {
        self.window = bytes;
        self
    }

    /// Sets the memory limit of the index.
    pub fn index_bytes(mut self, bytes: u64) -> Self {
        self.index_bytes = bytes;
        self
    }

    /// The number of positions in the index: as many as its memory allows, and at most four for each that the window has
    /// on average.
    pub(crate) fn index_entries(&self) -> u64 {
        let useful = (self.window / u64::from(self.matching.spacing)).saturating_mul(4);
        (self.index_bytes / INDEX_ENTRY_BYTES).min(useful).max(1)
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Params`] names the invalid parameter and the valid range.
    pub fn validate(&self) -> Result<()> {
        let levels = self.codec.levels();
        if !levels.contains(&self.level) {
            let (level, codec) = (self.level, self.codec.name());
            let (first, last) = (levels.start(), levels.end());
            let help =
                if first == last { "leave the level out".into() } else { format!("use {first} to {last}") };
            return refuse(format!("level {level} is out of range for codec {codec}\nhelp: {help}"));
        }
        self.matching.validate()?;
        if self.window > WINDOW_LIMIT {
            return refuse(format!("window {} is out of range, expected 0 to {WINDOW_LIMIT}", self.window));
        }
        let BlockSizes { min, max } = self.block;
        if min < 128 || max < min || max > BLOCK_LIMIT {
            return refuse(format!(
                "block sizes {min} to {max} are out of range\nhelp: use 128 to {BLOCK_LIMIT}, the smaller one first"
            ));
        }
        Ok(())
    }
}

impl Matching {
    fn validate(&self) -> Result<()> {
        let Matching { min, spacing } = *self;
        if (32..=65536).contains(&min) && (8..=4096).contains(&spacing) && spacing.is_power_of_two() {
            return Ok(());
        }
        refuse(format!(
            "duplicates of at least {min} bytes and positions every {spacing} bytes are out of range\n\
             help: use 32 to 65536 bytes, and a power of two from 8 to 4096"
        ))
    }
}

fn refuse<T>(why: String) -> Result<T> {
    Err(Error::Params(why))
}

/// The limits of a reader for archives that it does not trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest accepted window, in bytes of unique data kept in memory.
    pub window: u64,
    /// The most bytes of output: of contents and, as encoded, of entries.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { window: 1 << 30, output: u64::MAX }
    }
}

impl Limits {
    /// Sets the window limit.
    pub fn window(mut self, bytes: u64) -> Self {
        self.window = bytes;
        self
    }

    /// Sets the limit of the output.
    pub fn output(mut self, bytes: u64) -> Self {
        self.output = bytes;
        self
    }
}
