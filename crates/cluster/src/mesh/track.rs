//! Where in a stream of the dataflow's messages a connection is, and whether a header may be believed.
//!
//! Timely uses the numbers of a header as indices, and makes room for as many bytes as it says. So the sender *seals* each
//! header: its last word, which timely gives no meaning, becomes a checksum of the others. A header with one changed word never
//! passes. The checksum is against damage: an attacker in the network can compute it, too.

/// Bytes of a message's header: six words, big-endian.
pub(crate) const HEADER: usize = 48;

/// Those before the checksum.
const SEALED: usize = 40;

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

    /// Bytes of a body that are still to come.
    pub fn body(&self) -> usize {
        self.body
    }

    /// Bytes until the header or the body is complete.
    pub fn missing(&self) -> usize {
        if self.body > 0 { self.body } else { HEADER - self.seen }
    }

    /// The next bytes that are received, or bytes of a body that are sent.
    pub fn pass(&mut self, mut bytes: &[u8]) -> Result<(), BadHeader> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(self.missing().min(bytes.len()));
            if self.add(now) {
                self.check()?;
                self.begin();
            }
            bytes = rest;
        }
        Ok(())
    }

    /// The next bytes that are received, from the beginning of a header or from within a body on. Returns how many there are without
    /// those at their end of a header that is not whole, which count as not received.
    ///
    /// # Errors
    /// A header is wrong. None of the bytes count as received.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<usize, BadHeader> {
        let mut next = self.clone();
        next.pass(bytes)?;
        let partial = std::mem::take(&mut next.seen);
        *self = next;
        Ok(bytes.len() - partial)
    }

    /// The next bytes to send: seals the headers among them.
    pub fn seal(&mut self, mut bytes: &mut [u8]) -> Result<(), BadHeader> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at_mut(self.missing().min(bytes.len()));
            let (in_header, before) = (self.body == 0, self.seen);
            let is_whole = self.add(now);
            if in_header && self.seen > SEALED {
                let seal = checksum(&self.header);
                self.header[SEALED..].copy_from_slice(&seal);
                now.copy_from_slice(&self.header[before..self.seen]);
            }
            if is_whole {
                self.check()?;
                self.begin();
            }
            bytes = rest;
        }
        Ok(())
    }

    /// Zeros, in place of what does not come any more: the rest of a message, and then the last header, each in calls of its own. Returns
    /// how many.
    pub fn pad(&mut self, buffer: &mut [u8]) -> usize {
        let count = self.missing().min(buffer.len());
        buffer[..count].fill(0);
        // Without a check: these are a whole header of zeros, which is the last one, or the rest of a body.
        if self.add(&buffer[..count]) {
            self.begin();
        }
        count
    }

    /// Adds bytes of the header or of the body. Returns whether the header is whole.
    fn add(&mut self, bytes: &[u8]) -> bool {
        if self.body > 0 {
            self.body -= bytes.len();
            return false;
        }
        self.header[self.seen..][..bytes.len()].copy_from_slice(bytes);
        self.seen += bytes.len();
        self.seen == HEADER
    }

    /// Whether a header is one that the other process has sent on this connection.
    fn check(&self) -> Result<(), BadHeader> {
        let words = words(&self.header);
        let [_channel, source, lower, upper, length, _checksum] = words;
        let (from, to) = (self.ends.from as u64, self.ends.to as u64);
        let here = source == from && lower <= to && to < upper && upper - lower == 1 && length < 1 << 40;
        let is_last = words == [0; 6];
        let is_sealed = self.header[SEALED..] == checksum(&self.header);
        if !self.ended && is_sealed && ((here && length > 0) || is_last) { Ok(()) } else { Err(BadHeader) }
    }

    /// The message of a header begins.
    fn begin(&mut self) {
        let [.., length, _] = words(&self.header);
        (self.seen, self.body, self.ended) = (0, length as usize, length == 0);
    }
}

/// The words of a header.
fn words(header: &[u8; HEADER]) -> [u64; 6] {
    std::array::from_fn(|at| header[8 * at..][..8].iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

/// Of a header without its last word. That of zeros is zero, as the last header is. Each step is a bijection, so headers with one
/// different word have different checksums.
fn checksum(header: &[u8; HEADER]) -> [u8; 8] {
    let mix = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (sum ^ sum >> 31).wrapping_mul(0x94d0_49bb_1331_11eb).rotate_left(23)
    };
    words(header)[..5].iter().fold(0, |sum, word| mix(sum, *word)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(words: [u64; 6]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// The header with a checksum that holds.
    fn sealed(words: [u64; 6]) -> Vec<u8> {
        let mut bytes: [u8; HEADER] = header(words).try_into().unwrap();
        let seal = checksum(&bytes);
        bytes[SEALED..].copy_from_slice(&seal);
        bytes.into()
    }

    fn track() -> Track {
        Track::new(Ends { from: 1, to: 0 })
    }

    #[test]
    fn messages_are_sealed_and_followed_in_pieces_of_any_size() {
        let mut bytes = header([7, 1, 0, 1, 24, 0]);
        bytes.extend([1; 24]);
        bytes.extend(header([7, 1, 0, 1, 8, 1]));
        bytes.extend([1; 8]);
        bytes.extend(header([0; 6]));
        let mut whole = bytes.clone();
        track().seal(&mut whole).unwrap();
        assert_eq!(whole[..HEADER], sealed([7, 1, 0, 1, 24, 0]));
        for size in 1..bytes.len() {
            let (mut sending, mut receiving) = (track(), track());
            for piece in bytes.clone().chunks_mut(size) {
                assert!(!sending.has_ended() && !receiving.has_ended());
                sending.seal(piece).unwrap();
                receiving.pass(piece).unwrap();
            }
            assert!(sending.has_ended() && receiving.has_ended() && receiving.missing() == HEADER);
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
            [7, 1, 0, 1, 0, 0],
            [7, 5, 0, 1, 0, 0],
            [7, 0, 0, 0, 0, 0],
        ] {
            assert_eq!(track().pass(&sealed(words)), Err(BadHeader), "{words:?}");
        }
    }

    #[test]
    fn a_changed_bit_is_noticed() {
        for words in [[7, 1, 0, 1, 24, 3], [0; 6]] {
            let whole = sealed(words);
            assert_eq!(track().pass(&whole), Ok(()));
            for bit in 0..8 * HEADER {
                let mut changed = whole.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(track().pass(&changed), Err(BadHeader), "{words:?}, bit {bit}");
            }
        }
    }

    #[test]
    fn nothing_follows_the_last_message() {
        let mut track = track();
        track.pass(&header([0; 6])).unwrap();
        assert_eq!(track.pass(&sealed([7, 1, 0, 1, 24, 0])), Err(BadHeader));
    }

    /// Wherever a connection breaks, zeros end the message that timely has seen a part of, and are the last one.
    #[test]
    fn zeros_take_the_place_of_what_does_not_come() {
        let mut bytes = sealed([7, 1, 0, 1, 1000, 0]);
        bytes.extend([9; 1000]);
        for seen in 0..bytes.len() {
            let mut track = track();
            track.pass(&bytes[..seen]).unwrap();
            let mut buffer = [9; 77];
            let mut padded = bytes[..seen].to_vec();
            while !track.has_ended() {
                let count = track.pad(&mut buffer);
                assert!(count > 0);
                padded.extend(&buffer[..count]);
            }
            // As timely reads them: a whole message, if its length has come, and the last one.
            let first = words(padded[..HEADER].try_into().unwrap());
            let whole = HEADER + first[4] as usize;
            let length = if first[4] == 0 { HEADER } else { whole + HEADER };
            assert_eq!(padded.len(), length, "{seen}");
            assert!(
                first[4] == 0 || (first[1..4] == [1, 0, 1] && padded[whole..].iter().all(|byte| *byte == 0))
            );
        }
    }

    /// A damaged header is refused whole, also if it comes in two parts: its first part does not count as received.
    #[test]
    fn a_part_of_a_header_is_not_received() {
        let whole = sealed([7, 1, 0, 1, 24, 0]);
        for at in 1..HEADER {
            let mut track = track();
            assert_eq!(track.receive(&whole[..at]), Ok(0));
            assert_eq!((track.receive(&whole), track.body()), (Ok(HEADER), 24));
            let rest = [&[0; 24], &whole[..at]].concat();
            assert_eq!((track.receive(&rest), track.missing()), (Ok(24), HEADER));
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert_eq!((track.receive(&changed), track.missing()), (Err(BadHeader), HEADER));
        }
    }
}
