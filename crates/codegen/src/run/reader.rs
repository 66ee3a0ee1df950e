//! A file that is read, as a row of bytes: the source's own where it lies in memory, or a window of it that
//! is read ahead here.

use super::ends::to_bytes;
use super::input::Patience;
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use thalweg_lang::Diagnostic;
use thalweg_lang::files::Source;
use thalweg_lang::interpret::Stop;
use thalweg_lang::value::Shape;

/// What is known of a file before it is read.
pub(super) struct Told {
    pub(super) shape: Shape,
    pub(super) structs: Vec<Vec<Shape>>,
    /// Bytes of an item.
    pub(super) bytes: usize,
    pub(super) name: String,
    pub(super) span: thalweg_lang::Span,
    /// It begins again when it is over.
    pub(super) again: bool,
}

/// A file that is read.
pub(super) struct Reader {
    source: Box<dyn Source>,
    told: Told,
    /// The items are read where the source has them.
    in_memory: bool,
    /// Where that is not so: the last items that were taken, and those that have been read ahead.
    window: Vec<u8>,
    /// Where the items begin that are not taken yet, and where they end.
    at: usize,
    end: usize,
    /// Bytes before `at` that stay in the window, and its length at least.
    kept: usize,
    room: usize,
    /// What comes after the items.
    after: Option<Stop>,
    over: bool,
    /// It has given items since it has begun, or begun again.
    gave: bool,
    /// All that has been read of a file that cannot be read again.
    read: Option<Vec<u8>>,
}

/// The most that is kept of what has been read.
const KEPT: usize = 64 << 20;

impl Reader {
    pub(super) fn new(source: Box<dyn Source>, told: Told) -> Reader {
        // Memory that begins again, or ends in the middle of an item, is a file like others.
        let whole = |memory: &&[u8]| !told.again && memory.len().is_multiple_of(told.bytes);
        let memory = source.memory().filter(whole).map(<[u8]>::len);
        Reader {
            in_memory: memory.is_some(),
            end: memory.unwrap_or(0),
            over: memory.is_some(),
            source,
            told,
            window: Vec::new(),
            at: 0,
            kept: 0,
            room: 0,
            after: None,
            gave: false,
            read: None,
        }
    }

    /// Keeps what is read, up to some length, unless the file can be read again. Nothing has been read yet.
    pub(super) fn remember(&mut self) {
        if !self.in_memory && !matches!(self.source.rewind(), Ok(true)) {
            self.read = Some(Vec::new());
        }
    }

    /// Goes back to the beginning, if that can be done.
    pub(super) fn again(&mut self) -> bool {
        self.at = 0;
        if self.in_memory {
            return true;
        }
        self.after = None;
        if let Some(read) = self.read.take() {
            self.end = read.len();
            self.window = read;
            return true;
        }
        (self.end, self.over, self.gave) = (0, false, false);
        matches!(self.source.rewind(), Ok(true))
    }

    /// How many items there are, of so many that are wanted.
    pub(super) fn available(&mut self, count: u64) -> u64 {
        let want = (count as usize).saturating_mul(self.told.bytes);
        while self.lacks_bytes(want) {
            self.fill(want);
        }
        self.items()
    }

    /// How many there are without waiting for long, and whether there will be no more.
    pub(super) fn there(&mut self, count: u64, patience: Patience) -> (u64, bool) {
        let want = (count as usize).saturating_mul(self.told.bytes);
        let mut since = None;
        while self.lacks_bytes(want) {
            let wait = match since {
                None if self.end == self.at => patience.first,
                None => patience.next,
                Some(since) => patience.all.saturating_sub(Instant::elapsed(&since)).min(patience.next),
            };
            match self.source.waits(wait) {
                Ok(true) => return (self.items(), false),
                Ok(false) => self.fill(want),
                Err(error) => self.fail(&error.to_string()),
            }
            since.get_or_insert_with(Instant::now);
        }
        let items = self.items();
        (items, items < count)
    }

    fn items(&self) -> u64 {
        ((self.end - self.at) / self.told.bytes) as u64
    }

    /// The next bytes, up to so many, as far as they have been read.
    pub(super) fn next(&self, bytes: usize) -> &[u8] {
        self.part(self.at, bytes.min(self.end - self.at)).unwrap_or_default()
    }

    /// The bytes that were taken last, if there have been so many.
    pub(super) fn last(&self, bytes: usize) -> Option<&[u8]> {
        self.part(self.at.checked_sub(bytes)?, bytes)
    }

    /// Memory of so many bytes, which has the next items behind so many bytes of those taken last. What comes
    /// after the items is anything.
    pub(super) fn lend(&self, before: usize, size: usize) -> Option<&[u8]> {
        self.part(self.at.checked_sub(before)?, size)
    }

    /// How long memory of the last bytes taken and the next items may be.
    pub(super) fn reach(&self, before: usize) -> usize {
        let all =
            if self.in_memory { self.source.memory().map_or(0, <[u8]>::len) } else { self.window.len() };
        self.at.checked_sub(before).map_or(0, |from| all.saturating_sub(from))
    }

    /// Bytes that have still to be taken until so many have been, if the file is memory.
    pub(super) fn lacks(&self, before: usize) -> usize {
        if self.in_memory { before.saturating_sub(self.at) } else { 0 }
    }

    /// All the memory of the file from so many bytes of those taken last on, if the file is memory.
    pub(super) fn lend_all(&self, before: usize) -> Option<&[u8]> {
        let from = self.at.checked_sub(before).filter(|_| self.in_memory)?;
        self.source.memory()?.get(from..)
    }

    /// So many bytes have been taken.
    pub(super) fn pass(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.end);
    }

    /// Keeps so many bytes of what was taken, and has room for so many altogether.
    pub(super) fn keep(&mut self, kept: usize, room: usize) {
        (self.kept, self.room) = (kept, room);
    }

    /// Why there are no more items, if that is a failure.
    pub(super) fn failure(&mut self) -> Option<Stop> {
        self.after.take()
    }

    /// Bytes of an item.
    pub(super) fn bytes(&self) -> usize {
        self.told.bytes
    }

    fn part(&self, from: usize, bytes: usize) -> Option<&[u8]> {
        let all = if self.in_memory { self.source.memory()? } else { &self.window };
        all.get(from..)?.get(..bytes)
    }

    /// Whether there is less than so many bytes, and may be more.
    fn lacks_bytes(&self, want: usize) -> bool {
        self.end - self.at < want && !self.over && self.after.is_none()
    }

    /// Reads ahead, once, up to so many bytes.
    fn fill(&mut self, want: usize) {
        let before = self.end - self.at;
        let ended = self.more(want);
        let now = self.end - self.at;
        self.keep_read(now - before);
        self.gave |= now > before;
        if ended && self.after.is_none() {
            self.ended();
        }
    }

    fn keep_read(&mut self, bytes: usize) {
        let new = &self.window[self.end - bytes..self.end];
        if let Some(read) = &mut self.read {
            read.extend_from_slice(new);
        }
        self.read.take_if(|read| read.len() > KEPT);
    }

    /// Reads once; whether that was the end.
    fn more(&mut self, want: usize) -> bool {
        self.make_room(want);
        let last = self.at + want;
        match self.source.next_bytes(&mut self.window[self.end..last]) {
            Some(Ok(0)) => return true,
            Some(Ok(bytes)) => {
                let rest = (self.end - self.at + bytes) % self.told.bytes;
                self.end += bytes - rest;
                if rest > 0 {
                    let file = self.source.name().map_or_else(String::new, |name| name + ": ");
                    self.fail(&format!("{file}it ends in the middle of an item"));
                }
            }
            Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => {}
            Some(Err(error)) => self.fail(&error.to_string()),
            None => return self.more_values(last),
        }
        false
    }

    /// The window has room for so many bytes from `at` on.
    fn make_room(&mut self, want: usize) {
        let from = self.at.saturating_sub(self.kept);
        if from > 0 {
            self.window.copy_within(from..self.end, 0);
            (self.at, self.end) = (self.at - from, self.end - from);
        }
        let room = self.room.max(self.at + want);
        if self.window.len() < room {
            self.window.resize(room, 0);
        }
    }

    /// Items as values, as far as they are there; whether that was the end.
    fn more_values(&mut self, last: usize) -> bool {
        let mut item = Vec::new();
        let first = self.end;
        while self.end < last {
            if self.end > first && self.source.waits(Duration::ZERO).unwrap_or(true) {
                return false;
            }
            match self.source.next() {
                Ok(Some(value)) => {
                    item.clear();
                    to_bytes(&value, &self.told.shape, &self.told.structs, &mut item);
                    self.window[self.end..][..item.len()].copy_from_slice(&item);
                    self.end += item.len();
                }
                Ok(None) => return true,
                Err(error) => {
                    self.fail(&error.to_string());
                    return false;
                }
            }
        }
        false
    }

    fn fail(&mut self, why: &str) {
        let message = format!("`{}`: {why}", self.told.name);
        self.after = Some(Stop::Fault(Box::new(Diagnostic::new(self.told.span, message))));
    }

    /// The end of the file: from the beginning again, if that is asked for and has given anything.
    fn ended(&mut self) {
        if !self.told.again || !std::mem::take(&mut self.gave) {
            self.over = true;
            return;
        }
        match self.source.rewind() {
            Ok(true) => {}
            Ok(false) => self.over = true,
            Err(error) => self.fail(&error.to_string()),
        }
    }
}
