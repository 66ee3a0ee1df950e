//! Searches the log of a web server on all cores and writes the matching lines as JSON, in the order of the log.
//!
//! ```text
//! cargo run --release -p thalweg-logs -- [PATTERN] [FILE]
//!
//! PATTERN  text that a line must contain [default: " 500 "]
//! FILE     a log in the common format, or - for standard input [default: 20,000 generated lines]
//! ```
//!
//! Standard output has the lines, standard error a summary and the report of the run.

use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Write};
use thalweg::{Failed, Run};

/// Lines of one item: a line alone is too little work to pass on.
const LINES: usize = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let pattern = arguments.next().unwrap_or_else(|| " 500 ".to_owned());
    let log: Box<dyn BufRead + Send> = match arguments.next().as_deref() {
        None => Box::new(Cursor::new(generated(20_000))),
        Some("-") => Box::new(BufReader::new(io::stdin())),
        Some(path) => Box::new(BufReader::new(File::open(path)?)),
    };
    let found = search(log, &pattern, &mut BufWriter::new(io::stdout()))?;
    eprintln!(
        "{} of {} lines contain {pattern:?}; by status: {:?}",
        found.matching, found.lines, found.by_status
    );
    eprintln!("{}", found.report());
    Ok(())
}

/// What a part of the log contains.
#[derive(Default)]
struct Found {
    lines: usize,
    matching: usize,
    by_status: BTreeMap<u64, usize>,
    json: String,
}

/// Writes the lines that contain `pattern` as JSON.
fn search(
    log: impl BufRead + Send,
    pattern: &str,
    out: &mut (impl Write + Send),
) -> Result<Run<Found>, Failed<Found>> {
    thalweg::from_try_iter(log.lines())
        .named("read")
        .blocking()
        .batch(LINES)
        .par_map(|lines| grep(&lines, pattern))
        .named("grep")
        .for_each_with(Found::default(), |all, part| {
            all.lines += part.lines;
            all.matching += part.matching;
            part.by_status
                .iter()
                .for_each(|(status, count)| *all.by_status.entry(*status).or_default() += count);
            out.write_all(part.json.as_bytes())
        })
        .named("write")
        .run()
}

fn grep(lines: &[String], pattern: &str) -> Found {
    let mut found = Found { lines: lines.len(), ..Found::default() };
    for line in lines.iter().filter(|line| line.contains(pattern)) {
        found.matching += 1;
        // host - user [time] "method path protocol" status bytes
        let words: Vec<&str> = line.split(' ').map(|word| word.trim_matches(['[', ']', '"'])).collect();
        let [host, _, user, time, _zone, method, path, _protocol, status, bytes] = words[..] else {
            continue;
        };
        let (status, bytes) = (status.parse().unwrap_or(0), bytes.parse::<u64>().ok());
        *found.by_status.entry(status).or_default() += 1;
        let line = json!({ "host": host, "user": user, "time": time, "method": method, "path": path,
            "status": status, "bytes": bytes });
        found.json += &format!("{line}\n");
    }
    found
}

/// A log with a failure in about every hundredth line.
fn generated(lines: u64) -> String {
    let line = |i: u64| {
        let random = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let (minute, second, path) = (i / 60 % 60, i % 60, random % 50);
        let status = if random.is_multiple_of(97) { 500 } else { 200 };
        let time = format!("21/Nov/2026:10:{minute:02}:{second:02} +0000");
        format!("10.0.0.{} - - [{time}] \"GET /page/{path} HTTP/1.1\" {status} {random}\n", i % 250)
    };
    (0..lines).map(line).collect()
}
