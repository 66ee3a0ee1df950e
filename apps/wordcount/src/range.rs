//! The share of a file that one of several readers has.

use std::io::{self, Read, Seek, SeekFrom};

use crate::words::is_in_word;

/// Reads the runs of letters that begin in a range of a file, and what separates them. So of ranges that follow each
/// other, each run is read by exactly one, as a whole, and [`LONGEST`](crate::LONGEST) divides it as in a single reader.
pub(crate) struct Range<R> {
    input: R,
    /// The place of the next byte.
    at: u64,
    end: u64,
    /// The last byte that was read belongs to a run, which may go on behind the end.
    in_word: bool,
    /// The run that has begun before the range is still to be skipped.
    skips: bool,
}

impl<R: Read + Seek> Range<R> {
    /// # Errors
    /// The file has no places to read at.
    pub fn new(mut input: R, range: std::ops::Range<u64>) -> io::Result<Range<R>> {
        let at = range.start.saturating_sub(1);
        input.seek(SeekFrom::Start(at))?;
        Ok(Range { input, at, end: range.end, in_word: false, skips: range.start > 0 })
    }

    /// Reads the byte before the range, and if it belongs to a run, the rest of it. Returns how many of these bytes of
    /// the range are the first of `bytes`.
    fn skip(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.input.read(bytes)?;
            let run = bytes[..read].iter().position(|byte| !is_in_word(*byte));
            self.at += run.unwrap_or(read) as u64;
            if read == 0 {
                return Ok(0);
            }
            if let Some(run) = run {
                // The separator stays, which does no harm: it may be the byte before the range.
                bytes.copy_within(run..read, 0);
                return Ok(read - run);
            }
        }
    }
}

impl<R: Read + Seek> Read for Range<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() || (self.at >= self.end && !self.skips && !self.in_word) {
            return Ok(0);
        }
        let read = if self.skips { self.skip(bytes)? } else { self.input.read(bytes)? };
        self.skips = false;
        let inside = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(read);
        // The last run of the range ends behind it.
        let goes_on = if inside > 0 { is_in_word(bytes[inside - 1]) } else { self.in_word };
        let behind = bytes[inside..read].iter().take_while(|byte| goes_on && is_in_word(**byte)).count();
        let taken = inside + behind;
        self.at += read as u64;
        self.in_word = taken == read && read > 0 && is_in_word(bytes[read - 1]);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, LONGEST, sequential};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Counts = BTreeMap<Vec<u8>, u64>;

    fn add(counts: &mut Counts, text: &[u8]) {
        let ranking = sequential(text, Case::Kept);
        ranking.iter().for_each(|(word, count)| *counts.entry(word.to_vec()).or_default() += count);
    }

    /// A reader that returns a few bytes at a time.
    struct Few(io::Cursor<Vec<u8>>, usize);

    impl Read for Few {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 * 31 % 1009 + 1;
            let most = (self.1 % 7 + 1).min(bytes.len());
            self.0.read(&mut bytes[..most])
        }
    }

    impl Seek for Few {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    /// The words of a text that is read in ranges which end at these places.
    fn by_ranges(text: &[u8], ends: &[u64], few: bool) -> Counts {
        let mut counts = Counts::new();
        let mut start = 0;
        for end in ends.iter().copied().chain([text.len() as u64]) {
            let cursor = io::Cursor::new(text.to_vec());
            let mut read = Vec::new();
            match few {
                true => _ = Range::new(Few(cursor, 3), start..end).unwrap().read_to_end(&mut read).unwrap(),
                false => _ = Range::new(cursor, start..end).unwrap().read_to_end(&mut read).unwrap(),
            }
            add(&mut counts, &read);
            start = end;
        }
        counts
    }

    proptest! {
        #[test]
        fn each_word_is_in_one_range(
            text in proptest::collection::vec(prop_oneof![Just(b' '), Just(b'a'), Just(b'b'), Just(0xC3)], 0..60),
            mut ends in proptest::collection::vec(0..60u64, 0..6),
            few in any::<bool>(),
        ) {
            ends.iter_mut().for_each(|end| *end = (*end).min(text.len() as u64));
            ends.sort_unstable();
            let mut all = Counts::new();
            add(&mut all, &text);
            prop_assert_eq!(by_ranges(&text, &ends, few), all);
        }
    }

    #[test]
    fn a_long_run_is_divided_as_in_one_reader() {
        let mut text = b"begin ".to_vec();
        text.extend(vec![b'y'; 3 * LONGEST + 7]);
        text.extend(b" end");
        let mut all = Counts::new();
        add(&mut all, &text);
        for ends in [vec![3, 8], vec![LONGEST as u64 + 5, 2 * LONGEST as u64], vec![text.len() as u64 - 2]] {
            assert_eq!(by_ranges(&text, &ends, false), all, "{ends:?}");
        }
    }
}
