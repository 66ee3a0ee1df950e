//! Parses a plan from text.
//!
//! Each line has one statement. `#` starts a comment, and empty lines are skipped. Nodes and channels come in the
//! order of their ids, so the error for a missing or surplus line names that line.

use crate::{Plan, Raised, escape::unescape, show::HEADER};
use std::fmt;
use std::str::FromStr;
use thalweg_graph::ChannelId;

/// A syntax error in the text of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The line, counted from 1.
    pub line: usize,
    /// The error.
    pub what: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plan, line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for ReadError {}

impl FromStr for Plan {
    type Err = ReadError;

    /// Parses the text form that a plan prints.
    ///
    /// # Errors
    /// The first line is not the header or has another version, a statement is unknown, a number is out of range,
    /// `threads`, `policy` or `budget` is repeated, an id is out of order, or `threads` or `policy` is missing.
    fn from_str(text: &str) -> Result<Plan, ReadError> {
        let mut reader = Reader::default();
        let mut last = 0;
        for (i, line) in text.lines().enumerate() {
            last = i + 1;
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                reader.line(line).map_err(|what| ReadError { line: last, what })?;
            }
        }
        reader.finish().map_err(|what| ReadError { line: last + 1, what })
    }
}

/// The statements read so far.
#[derive(Default)]
struct Reader {
    header: bool,
    threads: Option<usize>,
    policy: Option<String>,
    budget: Option<usize>,
    run: Vec<usize>,
    capacities: Vec<usize>,
    raised: Vec<Raised>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !self.header {
            return self.header(&words);
        }
        match words[..] {
            ["threads", n] => once(&mut self.threads, at_least_one(n)?, "threads"),
            ["policy", name] => once(&mut self.policy, policy(name)?, "policy"),
            // A plan may hold an empty name. The registry of policies refuses it.
            ["policy"] => once(&mut self.policy, String::new(), "policy"),
            ["budget", n, "bytes"] => once(&mut self.budget, number(n)?, "budget"),
            ["node", id, "run", n] => next(&mut self.run, id, at_least_one(n)?, "node"),
            ["channel", id, "capacity", n] => next(&mut self.capacities, id, at_least_one(n)?, "channel"),
            ["raised", id, "from", asked, "to", given] => self.raised(id, asked, given),
            _ => Err(format!("unknown statement `{line}`")),
        }
    }

    fn header(&mut self, words: &[&str]) -> Result<(), String> {
        let found = words.join(" ");
        if found == HEADER {
            self.header = true;
            return Ok(());
        }
        Err(match words {
            ["thalweg-plan", version] => {
                format!("unsupported version: expected `{HEADER}`, found `thalweg-plan {version}`")
            }
            _ => format!("not a plan: expected `{HEADER}`, found `{found}`"),
        })
    }

    fn raised(&mut self, id: &str, asked: &str, given: &str) -> Result<(), String> {
        let channel = ChannelId(id.parse().map_err(|_| format!("expected a channel number, found `{id}`"))?);
        if channel.index() >= self.capacities.len() {
            return Err(format!("no channel {id} above"));
        }
        self.raised.push(Raised { channel, asked: number(asked)?, given: number(given)? });
        Ok(())
    }

    fn finish(self) -> Result<Plan, String> {
        if !self.header {
            return Err(format!("not a plan: expected `{HEADER}`, found no statement"));
        }
        Ok(Plan {
            threads: self.threads.ok_or("missing `threads`")?,
            policy: self.policy.ok_or("missing `policy`")?,
            budget: self.budget,
            run: self.run,
            capacities: self.capacities,
            raised: self.raised,
        })
    }
}

fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("expected a number from 0 to {}, found `{word}`", usize::MAX))
}

fn at_least_one(word: &str) -> Result<usize, String> {
    match number(word)? {
        0 => Err("expected a number from 1, found 0".to_owned()),
        n => Ok(n),
    }
}

fn policy(word: &str) -> Result<String, String> {
    unescape(word)
        .ok_or_else(|| format!("invalid escape in `{word}`: expected `\\u{{hex}}` after a backslash"))
}

fn once<T>(slot: &mut Option<T>, value: T, name: &str) -> Result<(), String> {
    if slot.is_some() {
        return Err(format!("duplicate `{name}`"));
    }
    *slot = Some(value);
    Ok(())
}

fn next(list: &mut Vec<usize>, id: &str, value: usize, name: &str) -> Result<(), String> {
    if number(id)? != list.len() {
        return Err(format!("expected {name} {}, found {name} {id}", list.len()));
    }
    list.push(value);
    Ok(())
}
