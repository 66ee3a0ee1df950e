//! Where in a stream of the dataflow's messages a connection is, and whether a header may be believed.

/// Bytes of a message's header: six words, big-endian.
pub(crate) const HEADER: usize = 48;

/// What a connection of one process from another may carry.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub from: usize,
    pub to: usize,
}

/// Follows the bytes of one direction.
#[derive(Clone)]
pub(crate) struct Track {
    ends: Ends,
    header: [u8; HEADER],
    /// Bytes of the header that were seen.
    seen: usize,
    /// Bytes of the body that are still to come.
    body: usize,
    ended: bool,
}

/// A header that no process of this run sends.
#[derive(Debug, PartialEq)]
pub(crate) struct BadHeader;

impl Track {
    pub fn new(ends: Ends) -> Track {
        Track { ends, header: [0; HEADER], seen: 0, body: 0, ended: false }
    }

    /// Whether the last message was seen, which has no body.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Bytes until the header or the body is complete.
    pub fn missing(&self) -> usize {
        if self.body > 0 { self.body } else { HEADER - self.seen }
    }

    /// The next bytes.
    pub fn pass(&mut self, mut bytes: &[u8]) -> Result<(), BadHeader> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(self.missing().min(bytes.len()));
            if self.body > 0 {
                self.body -= now.len();
            } else {
                self.header[self.seen..][..now.len()].copy_from_slice(now);
                self.seen += now.len();
                if self.seen == HEADER {
                    self.begin()?;
                }
            }
            bytes = rest;
        }
        Ok(())
    }

    /// A header is complete. Timely uses its numbers as indices, so they must be those of this connection.
    fn begin(&mut self) -> Result<(), BadHeader> {
        let word = |at: usize| {
            self.header[8 * at..8 * at + 8].iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
        };
        let [_channel, source, lower, upper, length, _number] = std::array::from_fn(word);
        let (from, to) = (self.ends.from as u64, self.ends.to as u64);
        let last = length == 0;
        let here = source == from && lower <= to && to < upper && upper - lower == 1 && length < 1 << 40;
        if self.ended || !(here || (last && source == 0 && lower == 0 && upper == 0)) {
            return Err(BadHeader);
        }
        (self.seen, self.body, self.ended) = (0, length as usize, last);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(words: [u64; 6]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    fn track() -> Track {
        Track::new(Ends { from: 1, to: 0 })
    }

    #[test]
    fn messages_are_followed_in_pieces_of_any_size() {
        let mut bytes = header([7, 1, 0, 1, 24, 0]);
        bytes.extend([1; 24]);
        bytes.extend(header([7, 1, 0, 1, 8, 1]));
        bytes.extend([1; 8]);
        bytes.extend(header([0; 6]));
        for size in 1..bytes.len() {
            let mut track = track();
            for piece in bytes.chunks(size) {
                assert!(!track.has_ended());
                track.pass(piece).unwrap();
            }
            assert!(track.has_ended() && track.missing() == HEADER);
        }
    }

    #[test]
    fn headers_of_no_process_of_the_run_are_refused() {
        for words in [
            [7, 2, 0, 1, 24, 0],
            [7, 1, 1, 2, 24, 0],
            [7, 1, 0, 3, 24, 0],
            [7, 1, 1, 0, 24, 0],
            [7, 1, 0, 1, 1 << 60, 0],
            [7, 5, 0, 1, 0, 0],
        ] {
            assert_eq!(track().pass(&header(words)), Err(BadHeader), "{words:?}");
        }
    }

    #[test]
    fn nothing_follows_the_last_message() {
        let mut track = track();
        track.pass(&header([0; 6])).unwrap();
        assert_eq!(track.pass(&header([7, 1, 0, 1, 24, 0])), Err(BadHeader));
    }
}
