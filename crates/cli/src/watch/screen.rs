//! A block of lines on the terminal of standard error that stays in place.
//!
//! Between two writes the cursor stands at the beginning of the line below the block, and the terminal has its usual
//! settings: the cursor is never hidden, and automatic line breaks are off only within one write. So there is nothing to
//! restore when the process ends, however it ends.
//!
//! A frame is one write: it moves the cursor up to the block's first line, replaces the lines one by one, and clears what
//! is below. Lines are shorter than the terminal is wide, and fewer than it is high, so the block never scrolls.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Columns and rows of a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// The block on the screen.
#[derive(Debug)]
struct Block {
    /// The number of lines of the block on the screen.
    lines: usize,
    /// The columns of the terminal when it was drawn.
    columns: usize,
}

static BLOCK: Mutex<Block> = Mutex::new(Block { lines: 0, columns: 0 });

/// Whether frames may be drawn. Read under the lock of the block, and cleared by threads that may have it already.
static OPEN: AtomicBool = AtomicBool::new(false);

fn block() -> MutexGuard<'static, Block> {
    BLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Block {
    /// The escape sequence that moves the cursor to the first line of the block.
    fn up(&self) -> String {
        if self.lines == 0 { "\r".to_owned() } else { format!("\r\x1b[{}A", self.lines) }
    }

    /// Replaces the block by `text`, which ends with a line break or is empty.
    fn replace(&mut self, text: &str) {
        let up = self.up();
        self.lines = 0;
        // Errors are ignored, since they cannot be reported.
        let _ = stderr().lock().write_all(format!("{up}\x1b[J{text}").as_bytes());
    }
}

/// Whether standard error is a terminal that can show frames and progress bars: one that moves its cursor.
pub(crate) fn is_possible() -> bool {
    stderr().is_terminal() && !is_dumb()
}

/// Whether the terminal obeys no escape sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether help texts and messages of the parser of arguments have colours. By itself that parser takes the variable `CI`
/// for a terminal with colours, even if `TERM` says otherwise.
pub(crate) fn colours_of_help() -> clap::ColorChoice {
    if is_dumb() { clap::ColorChoice::Never } else { clap::ColorChoice::Auto }
}

/// Whether messages on standard error may have colours: <https://no-color.org>.
pub(crate) fn has_colours() -> bool {
    is_possible() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Allows frames. False if the size of the terminal cannot be found.
pub(crate) fn begin() -> bool {
    static ONCE: Once = Once::new();
    // The message of a panic is printed below the block, and no later frame covers it.
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            freeze();
            before(info);
        }));
    });
    let sized = size().is_some();
    OPEN.store(sized, Ordering::Relaxed);
    sized
}

/// Replaces the block by the lines that `lines` makes for the terminal's size: at most `rows - 1` of at most `columns - 1`
/// characters. Without effect after the end.
pub(crate) fn draw(lines: impl FnOnce(Size) -> Vec<String>) {
    let Some(size) = size() else { return };
    let lines = lines(size);
    let mut block = block();
    if !OPEN.load(Ordering::Relaxed) {
        return;
    }
    if size.columns < block.columns {
        // The terminal may have broken the block's lines, so its height is unknown: the next block begins below.
        block.lines = 0;
    }
    let mut text = format!("{}\x1b[?7l", block.up());
    for line in &lines {
        // Cleared first: at the last column, some terminals would clear the last character afterwards.
        let _ = write!(text, "\x1b[2K{line}\r\n");
    }
    text.push_str("\x1b[J\x1b[?7h");
    (block.lines, block.columns) = (lines.len(), size.columns);
    let _ = stderr().lock().write_all(text.as_bytes());
}

/// Ends the frames: the last one stays if `keep`, and is removed otherwise.
pub(crate) fn end(keep: bool) {
    let mut block = block();
    OPEN.store(false, Ordering::Relaxed);
    if !keep && block.lines > 0 {
        block.replace("");
    }
    block.lines = 0;
}

/// Ends the frames, and leaves the last one: for a thread that panics, which may have the lock.
fn freeze() {
    OPEN.store(false, Ordering::Relaxed);
    if let Ok(mut block) = BLOCK.try_lock() {
        block.lines = 0;
    }
}

/// Prints a line. It takes the place of the block, if there is one, and the next frame is drawn below it.
pub(crate) fn print(text: &str) {
    let mut block = block();
    if block.lines > 0 {
        block.replace(&format!("{text}\n"));
    } else {
        let _ = writeln!(stderr().lock(), "{text}");
    }
}

/// The size of the terminal of standard error. `None` if it cannot be found.
#[cfg(unix)]
fn size() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(stderr()).ok()?;
    let or = |value: u16, usual: usize| if value == 0 { usual } else { value.into() };
    Some(Size { columns: or(size.ws_col, 80), rows: or(size.ws_row, 24) })
}

/// The size of the terminal of standard error. `None` if it cannot be found.
#[cfg(not(unix))]
fn size() -> Option<Size> {
    None
}
