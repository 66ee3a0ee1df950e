//! A plan from text.
//!
//! One statement a line; `#` starts a comment; empty lines are skipped. Nodes and channels come in
//! the order of their ids, so that a line too few or too many is found where it is.

use crate::{Plan, Raised, show::HEADER, word::unescape};
use std::fmt;
use std::str::FromStr;
use thalweg_graph::ChannelId;

/// What is wrong with the text of a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
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

    /// Reads what a plan prints.
    ///
    /// # Errors
    /// A foreign or newer first line, a line that is no statement, a number out of its range, a
    /// second `threads`, `policy` or `budget`, an id out of order, or no `threads` or `policy`.
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

/// What has been read so far.
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
            // A name of no characters is a plan's to hold and the policies' to refuse.
            ["policy"] => once(&mut self.policy, String::new(), "policy"),
            ["budget", n, "bytes"] => once(&mut self.budget, number(n)?, "budget"),
            ["node", id, "run", n] => next(&mut self.run, id, at_least_one(n)?, "node"),
            ["channel", id, "capacity", n] => next(&mut self.capacities, id, at_least_one(n)?, "channel"),
            ["raised", id, "from", asked, "to", given] => self.raised(id, asked, given),
            _ => Err(format!("`{line}` is no statement of a plan")),
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
                format!("version {version} of plans is not known here; this reads `{HEADER}`")
            }
            _ => format!("not a plan: it would start with `{HEADER}`, this with `{found}`"),
        })
    }

    fn raised(&mut self, id: &str, asked: &str, given: &str) -> Result<(), String> {
        let channel = ChannelId(id.parse().map_err(|_| format!("`{id}` is no channel"))?);
        if channel.index() >= self.capacities.len() {
            return Err(format!("there is no channel {id} above"));
        }
        self.raised.push(Raised { channel, asked: number(asked)?, given: number(given)? });
        Ok(())
    }

    fn finish(self) -> Result<Plan, String> {
        if !self.header {
            return Err(format!("not a plan: it would start with `{HEADER}`, this is empty"));
        }
        Ok(Plan {
            threads: self.threads.ok_or("the plan ends without `threads`")?,
            policy: self.policy.ok_or("the plan ends without `policy`")?,
            budget: self.budget,
            run: self.run,
            capacities: self.capacities,
            raised: self.raised,
        })
    }
}

fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("`{word}` is no number from 0 to {}", usize::MAX))
}

fn at_least_one(word: &str) -> Result<usize, String> {
    match number(word)? {
        0 => Err("0 is too few: at least 1".to_owned()),
        n => Ok(n),
    }
}

fn policy(word: &str) -> Result<String, String> {
    unescape(word).ok_or_else(|| format!("`{word}` has a backslash that starts no `\\u{{hex}}`"))
}

fn once<T>(slot: &mut Option<T>, value: T, name: &str) -> Result<(), String> {
    if slot.is_some() {
        return Err(format!("`{name}` a second time"));
    }
    *slot = Some(value);
    Ok(())
}

fn next(list: &mut Vec<usize>, id: &str, value: usize, name: &str) -> Result<(), String> {
    if number(id)? != list.len() {
        return Err(format!("{name} {id} where {name} {} should come", list.len()));
    }
    list.push(value);
    Ok(())
}
