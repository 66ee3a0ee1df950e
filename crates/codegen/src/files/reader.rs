//! A file that is read, as a sequence of bytes: the source's own memory where the file lies in memory,
//! else a window that is read ahead.
//!
//! ```text
//!    window:  │ kept bytes │ items read ahead │ free room │
//!                          ^ at               ^ end
//! ```

use super::{Timeouts, to_bytes};
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use thalweg_lang::Diagnostic;
use thalweg_lang::files::Source;
use thalweg_lang::interpret::Stop;
use thalweg_lang::value::Shape;

/// The properties of a file, known before it is read.
pub(crate) struct FileInfo {
    pub(crate) shape: Shape,
    pub(crate) structs: Vec<Vec<Shape>>,
    /// Bytes of an item.
    pub(crate) bytes: usize,
    pub(crate) name: String,
    pub(crate) span: thalweg_lang::Span,
    /// Whether it restarts from its beginning when it ends.
    pub(crate) again: bool,
}

/// A file that is read.
pub(crate) struct Reader {
    source: Box<dyn Source>,
    info: FileInfo,
    /// Whether items are read in the source's own memory.
    in_memory: bool,
    /// Otherwise the window: the last consumed items, and those that have been read ahead.
    window: Vec<u8>,
    /// The first item that has not been consumed, and the end of the items.
    at: usize,
    end: usize,
    /// Bytes before `at` that stay in the window, and the window's least length.
    kept: usize,
    room: usize,
    /// A failure that follows the items.
    after: Option<Stop>,
    over: bool,
    /// Whether it has yielded items since it began or restarted.
    gave: bool,
    /// A recording of all that has been read, for a file that cannot be rewound.
    read: Option<Vec<u8>>,
}

/// The most bytes that are recorded.
const KEPT: usize = 64 << 20;

impl Reader {
    pub(crate) fn new(source: Box<dyn Source>, info: FileInfo) -> Reader {
        // A file in memory that restarts, or ends in the middle of an item, is read like other files.
        let whole = |memory: &&[u8]| !info.again && memory.len().is_multiple_of(info.bytes);
        let memory = source.memory().filter(whole).map(<[u8]>::len);
        Reader {
            in_memory: memory.is_some(),
            end: memory.unwrap_or(0),
            over: memory.is_some(),
            source,
            info,
            window: Vec::new(),
            at: 0,
            kept: 0,
            room: 0,
            after: None,
            gave: false,
            read: None,
        }
    }

    /// Records what is read, up to `KEPT` bytes, unless the file can be rewound. Must be called before the
    /// first read.
    pub(crate) fn remember(&mut self) {
        if !self.in_memory && !matches!(self.source.rewind(), Ok(true)) {
            self.read = Some(Vec::new());
        }
    }

    /// Returns to the beginning; returns whether that was possible.
    pub(crate) fn again(&mut self) -> bool {
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

    /// The number of items, up to `count`. Blocks until they are read or the file ends.
    pub(crate) fn available(&mut self, count: u64) -> u64 {
        let want = (count as usize).saturating_mul(self.info.bytes);
        while self.lacks_bytes(want) {
            self.fill(want);
        }
        self.items()
    }

    /// The number of items, up to `count`, waiting no longer than `timeouts`; and whether the file ends
    /// before `count`.
    pub(crate) fn there(&mut self, count: u64, timeouts: Timeouts) -> (u64, bool) {
        let want = (count as usize).saturating_mul(self.info.bytes);
        let mut since = None;
        while self.lacks_bytes(want) {
            let wait = match since {
                None if self.end == self.at => timeouts.first,
                None => timeouts.next,
                Some(since) => timeouts.all.saturating_sub(Instant::elapsed(&since)).min(timeouts.next),
            };
            match self.source.would_block(wait) {
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
        ((self.end - self.at) / self.info.bytes) as u64
    }

    /// The next bytes, up to `bytes`, as far as they have been read.
    pub(crate) fn next(&self, bytes: usize) -> &[u8] {
        self.part(self.at, bytes.min(self.end - self.at)).unwrap_or_default()
    }

    /// The last `bytes` consumed bytes, if there have been as many.
    pub(crate) fn last(&self, bytes: usize) -> Option<&[u8]> {
        self.part(self.at.checked_sub(bytes)?, bytes)
    }

    /// Memory of `size` bytes, which begins with the last `before` consumed bytes, followed by the next
    /// items. The content behind the items is unspecified.
    pub(crate) fn lend(&self, before: usize, size: usize) -> Option<&[u8]> {
        self.part(self.at.checked_sub(before)?, size)
    }

    /// The longest memory that [`Reader::lend`] can return.
    pub(crate) fn reach(&self, before: usize) -> usize {
        let all =
            if self.in_memory { self.source.memory().map_or(0, <[u8]>::len) } else { self.window.len() };
        self.at.checked_sub(before).map_or(0, |from| all.saturating_sub(from))
    }

    /// Bytes that must be consumed until `before` have been, if the file lies in memory.
    pub(crate) fn lacks(&self, before: usize) -> usize {
        if self.in_memory { before.saturating_sub(self.at) } else { 0 }
    }

    /// All memory of the file from the last `before` consumed bytes on, if the file lies in memory.
    pub(crate) fn lend_all(&self, before: usize) -> Option<&[u8]> {
        let from = self.at.checked_sub(before).filter(|_| self.in_memory)?;
        self.source.memory()?.get(from..)
    }

    /// Consumes bytes.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.end);
    }

    /// Sets the consumed bytes to keep, and the length of the window.
    pub(crate) fn keep(&mut self, kept: usize, room: usize) {
        (self.kept, self.room) = (kept, room);
    }

    /// The failure that ends the items, if one does.
    pub(crate) fn failure(&mut self) -> Option<Stop> {
        self.after.take()
    }

    /// Bytes of an item.
    pub(crate) fn bytes(&self) -> usize {
        self.info.bytes
    }

    fn part(&self, from: usize, bytes: usize) -> Option<&[u8]> {
        let all = if self.in_memory { self.source.memory()? } else { &self.window };
        all.get(from..)?.get(..bytes)
    }

    /// Whether there are fewer than `want` bytes, and more may come.
    fn lacks_bytes(&self, want: usize) -> bool {
        self.end - self.at < want && !self.over && self.after.is_none()
    }

    /// Reads ahead once, up to `want` bytes.
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

    /// Reads once; returns whether that was the end.
    fn more(&mut self, want: usize) -> bool {
        self.make_room(want);
        let last = self.at + want;
        match self.source.next_bytes(&mut self.window[self.end..last]) {
            Some(Ok(0)) => return true,
            Some(Ok(bytes)) => {
                let rest = (self.end - self.at + bytes) % self.info.bytes;
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

    /// Ensures room in the window for `want` bytes from `at` on.
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

    /// Reads items as values without blocking after the first; returns whether that was the end.
    fn more_values(&mut self, last: usize) -> bool {
        let mut item = Vec::new();
        let first = self.end;
        while self.end < last {
            if self.end > first && self.source.would_block(Duration::ZERO).unwrap_or(true) {
                return false;
            }
            match self.source.next() {
                Ok(Some(value)) => {
                    item.clear();
                    to_bytes(&value, &self.info.shape, &self.info.structs, &mut item);
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
        let message = format!("`{}`: {why}", self.info.name);
        self.after = Some(Stop::Fault(Box::new(Diagnostic::new(self.info.span, message))));
    }

    /// Handles the end of the file: restarts it, if that is requested and it has yielded anything.
    fn ended(&mut self) {
        if !self.info.again || !std::mem::take(&mut self.gave) {
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
