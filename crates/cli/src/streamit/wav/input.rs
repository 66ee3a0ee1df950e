//! The samples of a WAV file as the bytes of items: `int` samples as stored, or `float` samples from -1 to 1.

use super::header::{BEGIN, Format, Header, may_begin, truncated};
use crate::standard::eprint;
use std::io::{self, Cursor, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use thalweg_lang::files::Input;

/// Bytes that are read at a time.
const READ_SIZE: usize = 64 << 10;

/// Describes an input for messages, and remembers whether a warning about it was printed: the input may be read again.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    name: String,
    warned: Arc<AtomicBool>,
}

impl Described {
    pub fn new(name: String) -> Described {
        Described { name, warned: Arc::default() }
    }

    fn warn(&self, what: &str) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            eprint(&format!("warning: {}: {what}", self.name));
        }
    }
}

/// An input that is read as sound.
pub(crate) struct Samples {
    input: Box<dyn Input>,
    header: Header,
    described: Described,
    is_int: bool,
    /// Bytes of the file, less than a frame, which a later read completes.
    partial: Vec<u8>,
    /// Bytes of items; those before `at` have been read.
    items: Vec<u8>,
    at: usize,
    /// The bytes of samples to come. `None` if they extend to the end.
    left: Option<u64>,
    ended: bool,
}

impl Samples {
    /// Reads the header. `bytes` is the number of all bytes of the input, if it is known.
    ///
    /// # Errors
    /// The input is not a WAV file, or the format of its samples is not supported.
    pub fn new(
        mut input: Box<dyn Input>,
        bytes: Option<u64>,
        is_int: bool,
        described: Described,
    ) -> io::Result<Samples> {
        let header = Header::read(&mut input, bytes)?;
        let left = header.length;
        let (partial, items) = (Vec::new(), Vec::new());
        Ok(Samples { input, header, described, is_int, partial, items, at: 0, left, ended: false })
    }

    pub fn format(&self) -> Format {
        self.header.format
    }

    fn is_empty(&self) -> bool {
        self.at == self.items.len()
    }

    /// Reads once, and converts the whole frames. The item buffer must be empty.
    fn pull(&mut self) -> io::Result<()> {
        let old = self.partial.len();
        let room =
            self.left.map_or(READ_SIZE, |left| usize::try_from(left).unwrap_or(READ_SIZE).min(READ_SIZE));
        self.partial.resize(old + room, 0);
        let read = if room > 0 { self.input.read(&mut self.partial[old..]) } else { Ok(0) };
        let count = *read.as_ref().unwrap_or(&0);
        self.partial.truncate(old + count);
        read?;
        self.left = self.left.map(|left| left - count as u64);
        if count == 0 {
            self.ended = true;
            return self.check_end();
        }
        let frame = usize::from(self.header.format.bytes) * usize::from(self.header.format.channels);
        let whole = self.partial.len() / frame * frame;
        self.items.clear();
        self.at = 0;
        let decode = decoder(self.header.format, self.is_int);
        let samples = self.partial[..whole].chunks_exact(self.header.format.bytes.into());
        self.items.extend(samples.flat_map(decode));
        self.partial.drain(..whole);
        Ok(())
    }

    /// Warns if the samples end before or after the length in the header. A writer that counts the header too is off by
    /// its length at most; if more is missing, the file is truncated.
    fn check_end(&self) -> io::Result<()> {
        let Some(missing) = self.left else { return Ok(()) };
        if missing > self.header.first {
            return Err(truncated());
        }
        let rest = self.partial.len();
        if missing > 0 {
            self.described
                .warn(&format!("the header declares {missing} bytes of samples more than there are"));
        } else if rest > 0 {
            self.described
                .warn(&format!("dropped the last {rest} bytes of samples, which are less than a frame"));
        }
        Ok(())
    }
}

impl Read for Samples {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.is_empty() && !self.ended {
            match self.pull() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => done?,
            }
        }
        let count = (self.items.len() - self.at).min(bytes.len());
        bytes[..count].copy_from_slice(&self.items[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

impl Input for Samples {
    fn would_block(&mut self, timeout: Duration) -> io::Result<bool> {
        while self.is_empty() && !self.ended {
            if self.input.would_block(timeout)? {
                return Ok(true);
            }
            self.pull()?;
        }
        Ok(false)
    }
}

/// Converts a sample to the bytes of an item.
fn decoder(format: Format, is_int: bool) -> fn(&[u8]) -> [u8; 4] {
    match (format.floats, is_int) {
        (false, true) => |sample| i32::to_le_bytes(int(sample)),
        (false, false) => |sample| {
            let full_scale = (1u64 << (8 * sample.len() - 1)) as f32;
            f32::to_le_bytes(int(sample) as f32 / full_scale)
        },
        (true, true) => {
            |sample| i32::to_le_bytes((f32::from_bits(int(sample).cast_unsigned()) * 32768.0) as i32)
        }
        (true, false) => |sample| i32::to_le_bytes(int(sample)),
    }
}

/// An integer of 1 to 4 bytes. One of a byte is stored without sign.
fn int(sample: &[u8]) -> i32 {
    let bits = 8 * sample.len() as u32;
    let number = sample.iter().rev().fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    let number = if bits == 8 { number ^ 0x80 } else { number };
    (number << (32 - bits)).cast_signed() >> (32 - bits)
}

/// Standard input: sound if it begins with the header of a WAV file, otherwise bytes. Nothing is read before the first item
/// is, unless [`Standard::format`] is called.
#[derive(Clone)]
pub(crate) struct Standard(Arc<Mutex<State>>);

enum State {
    /// The bytes so far may begin a WAV file.
    Undecided {
        input: Option<Box<dyn Input>>,
        begin: Vec<u8>,
        bytes: Option<u64>,
        is_int: bool,
        described: Described,
    },
    Sound(Box<Samples>),
    Bytes(Replayed),
}

impl Standard {
    /// Standard input with `bytes` bytes, if that is known.
    pub fn new(input: Box<dyn Input>, bytes: Option<u64>, is_int: bool, described: Described) -> Standard {
        let begin = Vec::new();
        Standard(Arc::new(Mutex::new(State::Undecided {
            input: Some(input),
            begin,
            bytes,
            is_int,
            described,
        })))
    }

    /// The format, if this is sound. Waits for the first bytes.
    ///
    /// # Errors
    /// Reading fails, or the header is not supported.
    pub fn format(&self) -> io::Result<Option<Format>> {
        let mut state = self.locked();
        state.decide(None)?;
        Ok(match &*state {
            State::Sound(samples) => Some(samples.format()),
            State::Undecided { .. } | State::Bytes(_) => None,
        })
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Finds out whether the input is sound. Returns false if that would take longer than `timeout`.
    fn decide(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        let State::Undecided { input, begin, bytes, is_int, described } = self else { return Ok(true) };
        let Some(reading) = input else { return Err(io::Error::other("its beginning could not be read")) };
        while begin.len() < BEGIN && may_begin(begin) {
            if let Some(timeout) = timeout
                && reading.would_block(timeout)?
            {
                return Ok(false);
            }
            let mut more = [0; BEGIN];
            match reading.read(&mut more[begin.len()..]) {
                Ok(0) => break,
                Ok(count) => begin.extend_from_slice(&more[begin.len()..][..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let is_sound = begin.len() == BEGIN && may_begin(begin);
        let Some(input) = input.take() else { return Ok(true) };
        let replayed = Replayed { begin: Cursor::new(std::mem::take(begin)), input };
        *self = match is_sound {
            true => {
                State::Sound(Box::new(Samples::new(Box::new(replayed), *bytes, *is_int, described.clone())?))
            }
            false => State::Bytes(replayed),
        };
        Ok(true)
    }

    fn input(&mut self) -> &mut dyn Input {
        match self {
            State::Undecided { .. } => unreachable!("the kind of input was decided"),
            State::Sound(samples) => &mut **samples,
            State::Bytes(bytes) => bytes,
        }
    }
}

impl Read for Standard {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut state = self.locked();
        state.decide(None)?;
        state.input().read(bytes)
    }
}

impl Input for Standard {
    fn would_block(&mut self, timeout: Duration) -> io::Result<bool> {
        let mut state = self.locked();
        Ok(!state.decide(Some(timeout))? || state.input().would_block(timeout)?)
    }
}

/// An input of which the beginning was read, and is read again.
struct Replayed {
    begin: Cursor<Vec<u8>>,
    input: Box<dyn Input>,
}

impl Replayed {
    fn is_begun(&self) -> bool {
        self.begin.position() < self.begin.get_ref().len() as u64
    }
}

impl Read for Replayed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.is_begun() { self.begin.read(bytes) } else { self.input.read(bytes) }
    }
}

impl Input for Replayed {
    fn would_block(&mut self, timeout: Duration) -> io::Result<bool> {
        Ok(!self.is_begun() && self.input.would_block(timeout)?)
    }
}
