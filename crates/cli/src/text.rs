//! The one reader of texts that a verb needs as a whole: plans, reports, timelines, descriptions of machines, patterns.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use thalweg::embed::graph::shown;

use crate::interrupt::{Interrupt, InterruptNote};
use crate::{size, standard};

/// The maximum number of bytes of a text: a timeline with as many events as it has by default is as long where a run has
/// about a hundred threads.
const MAX_BYTES: u64 = 1 << 30;

/// The bytes that decide whether the rest is read: a device without an end, such as `/dev/zero`, is not read far.
const BEGIN: u64 = 1 << 16;

/// Reads a text in UTF-8, or standard input for `-`. `help` follows the error of a file that is none, or is too long. A
/// signal ends the wait for a pipe.
pub(crate) fn read(path: &Path, help: &str, interrupt: &Interrupt) -> Result<String> {
    let bytes = bytes(path, help, interrupt)?;
    String::from_utf8(bytes).map_err(|_| anyhow!("{} is not UTF-8 text{help}", named(path)))
}

/// The name of an input in messages.
fn named(path: &Path) -> String {
    if standard::is_dash(path) { "standard input".to_owned() } else { shown(path).to_string() }
}

/// Like [`read`], for a text in any encoding that continues ASCII.
pub(crate) fn bytes(path: &Path, help: &str, interrupt: &Interrupt) -> Result<Vec<u8>> {
    let text = standard::input(path, interrupt).and_then(|input| up_to(MAX_BYTES, input.bytes, path, help));
    // With a guard, the signal ends the wait and not the process.
    ensure!(
        text.is_ok() || !interrupt.stop().is_requested(),
        InterruptNote("interrupted: nothing was written".into())
    );
    text
}

fn up_to(limit: u64, mut input: impl Read, path: &Path, help: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut read_up_to = |length: u64, bytes: &mut Vec<u8>| {
        let rest = length - bytes.len() as u64;
        let read = input.by_ref().take(rest).read_to_end(bytes);
        read.with_context(|| format!("reading {}", named(path)))
    };
    read_up_to(BEGIN, &mut bytes)?;
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        bail!("{} is no text: it has a zero byte at offset {at}{help}", named(path));
    }
    read_up_to(limit + 1, &mut bytes)?;
    ensure!(bytes.len() as u64 <= limit, "{} has more than {}{help}", named(path), size::show(limit));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::repeat;

    fn read(limit: u64, input: impl Read) -> Result<Vec<u8>, String> {
        up_to(limit, input, Path::new("text"), "\nhelp: another").map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_within_the_limit_is_read() {
        for length in [0, 1, BEGIN - 1, BEGIN, BEGIN + 1, 1 << 20] {
            assert_eq!(read(1 << 20, repeat(b'x').take(length)).unwrap().len() as u64, length);
        }
    }

    #[test]
    fn an_input_without_end_is_refused() {
        let mut taken = 0;
        let mut count = |length: usize| taken += length;
        struct Count<'a, R>(R, &'a mut dyn FnMut(usize));
        impl<R: Read> Read for Count<'_, R> {
            fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
                let length = self.0.read(bytes)?;
                (self.1)(length);
                Ok(length)
            }
        }
        let long = read(1 << 20, Count(repeat(b'x'), &mut count));
        assert_eq!(long.unwrap_err(), "text has more than 1 MiB\nhelp: another");
        assert_eq!(taken, (1 << 20) + 1);
        taken = 0;
        let mut count = |length: usize| taken += length;
        let zeros = read(1 << 20, Count(repeat(0), &mut count));
        assert_eq!(zeros.unwrap_err(), "text is no text: it has a zero byte at offset 0\nhelp: another");
        assert_eq!(taken as u64, BEGIN);
    }
}
