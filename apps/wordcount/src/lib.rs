//! Counts words on all cores, by the network that suits the problem (*KPN-FLEX* of the Nornir paper, section 5.4). It
//! counts locally and merges tables, while MapReduce sends every word.
//!
//! ```text
//!                ┌─▶ counter ─┐                      ┌─▶ merger ─┐
//!  read (blocks) ┼─▶ counter ─┼─▶ collect (tables) ──┼─▶ merger ─┼─▶ caller
//!                └─▶ counter ─┘                      └─▶ merger ─┘
//! ```
//!
//! **Words.** A word is a maximal run of ASCII letters, digits, and bytes above 127, so letters of UTF-8 and of most
//! other encodings belong to words. All other bytes separate words. Words are sequences of bytes, and the text need not
//! be UTF-8. Case is significant unless [`Case::Ignored`] is set, which affects ASCII letters only. A run longer than
//! [`LONGEST`] bytes counts as several words of that length, and the rest.
//!
//! ```
//! use thalweg::Options;
//! use thalweg_wordcount::{Case, count};
//!
//! let files = ["To be, or not to be: ", "that is the question"];
//! let (ranking, _report) = count(files.map(|text| Ok(text.as_bytes())), Case::Ignored, &Options::new())?;
//! let top: Vec<(&[u8], u64)> = ranking.iter().take(3).collect();
//! assert_eq!(top, [(&b"be"[..], 2), (b"to", 2), (b"is", 1)]);
//! assert_eq!(ranking.words(), 10);
//! # Ok::<(), thalweg::Error>(())
//! ```

mod blocks;
#[cfg(feature = "cluster")]
mod cluster;
mod mapreduce;
mod network;
#[cfg(feature = "cluster")]
mod range;
mod ranking;
mod source;
mod table;
mod words;

#[cfg(feature = "cluster")]
pub use cluster::{count_on, count_read_on};
pub use mapreduce::{Shape, map_reduce, map_reduce_text, sort_based};
pub use network::{count, count_text};
pub use ranking::Ranking;
pub use table::Table;
pub use words::{Case, LONGEST};

/// Counts the words of a text on this thread: the reference for tests and the baseline for benchmarks.
///
/// ```
/// let ranking = thalweg_wordcount::sequential(b"a b a", thalweg_wordcount::Case::Kept);
/// assert_eq!(ranking.iter().next(), Some((&b"a"[..], 2)));
/// ```
pub fn sequential(text: &[u8], case: Case) -> Ranking {
    let mut table = Table::new();
    match case {
        Case::Kept => table.add_text(text),
        Case::Ignored => table.add_text(&text.to_ascii_lowercase()),
    }
    Ranking::merge(vec![ranking::sorted(&table)])
}
