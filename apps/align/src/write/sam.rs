//! Sequence Alignment/Map. The specification is that of the samtools organisation, "Sequence Alignment/Map Format",
//! version 1.6.

use std::collections::HashSet;
use std::io::{self, Write};

use crate::{Alignment, Error, Hit, Result, Sequence, Step};

/// The most characters of the name of a query.
const LONGEST_NAME: usize = 254;
/// Flags of a line: the query has no alignment; the query has a better line.
const UNMAPPED: u16 = 4;
const SECONDARY: u16 = 256;

/// Checks the names of all sequences.
pub(super) fn check(queries: &[Sequence], targets: &[Sequence]) -> Result<()> {
    let mut names = HashSet::new();
    for target in targets {
        if !is_target(&target.name) {
            return Err(invalid(
                "target",
                &target.name,
                "use names of printable ASCII without any of \\,\"`'()[]{}<>",
            ));
        }
        if !names.insert(&target.name) {
            let what = format!("two targets are called {:?}, and SAM knows targets by name", target.name);
            return Err(Error::Name { what, help: "rename one of them, or use another --format" });
        }
    }
    match queries.iter().find(|query| !is_query(&query.name)) {
        Some(query) => {
            Err(invalid("query", &query.name, "use at most 254 printable ASCII characters, without @"))
        }
        None => Ok(()),
    }
}

fn invalid(kind: &str, name: &str, help: &'static str) -> Error {
    let short: String = name.chars().take(60).collect();
    Error::Name { what: format!("{short:?} is no name of a {kind} in SAM"), help }
}

fn is_target(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !b"\\,\"`'()[]{}<>".contains(&byte);
    name.bytes().all(allowed) && !name.starts_with(['*', '='])
}

fn is_query(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'@')
}

pub(super) fn header(out: &mut impl Write, targets: &[Sequence], command: &str) -> io::Result<()> {
    writeln!(out, "@HD\tVN:1.6\tSO:unsorted\tGO:query")?;
    // A sequence in SAM has at least one letter, and none is aligned to an empty one.
    for target in targets.iter().filter(|target| !target.letters.is_empty()) {
        writeln!(out, "@SQ\tSN:{}\tLN:{}", target.name, target.letters.len())?;
    }
    let command: String = command.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    writeln!(out, "@PG\tID:thalweg\tPN:thalweg\tVN:{}\tCL:{command}", env!("CARGO_PKG_VERSION"))
}

pub(super) fn write(
    out: &mut impl Write,
    query: &Sequence,
    targets: &[Sequence],
    hits: &[Hit],
) -> io::Result<()> {
    let aligned: Vec<_> = hits.iter().filter_map(|hit| Some((hit, hit.alignment.as_ref()?))).collect();
    let best = aligned.iter().map(|(hit, _)| hit.score).max();
    // Exactly one line of a query is primary: the first with the best score.
    let primary = aligned.iter().position(|(hit, _)| Some(hit.score) == best);
    if primary.is_none() {
        writeln!(out, "{}\t{UNMAPPED}\t*\t0\t0\t*\t*\t0\t0\t{}\t*", query.name, letters(query))?;
    }
    for (at, (hit, alignment)) in aligned.iter().enumerate() {
        let target = &targets[hit.target];
        let (flag, letters) = if primary == Some(at) { (0, letters(query)) } else { (SECONDARY, "*".into()) };
        let (position, cigar) = (alignment.target.start + 1, cigar(alignment, query.letters.len()));
        let edits = alignment.length() - alignment.identities(&query.letters, &target.letters);
        writeln!(
            out,
            "{}\t{flag}\t{}\t{position}\t255\t{cigar}\t*\t0\t0\t{letters}\t*\tAS:i:{}\tNM:i:{edits}",
            query.name, target.name, hit.score
        )?;
    }
    Ok(())
}

/// The letters of a query. SAM has no sequence with a `*` in it.
fn letters(query: &Sequence) -> String {
    if query.letters.is_empty() || query.letters.contains(&b'*') {
        return "*".into();
    }
    String::from_utf8_lossy(&query.letters).into_owned()
}

/// The steps, with the letters of the query that are not aligned as soft clips.
fn cigar(alignment: &Alignment, query: usize) -> String {
    let clip = |count| (count > 0).then_some((count, 'S'));
    let steps = alignment.steps.iter().map(|(step, count)| match step {
        Step::Pair => (*count, 'M'),
        Step::Insertion => (*count, 'I'),
        Step::Deletion => (*count, 'D'),
    });
    let all = clip(alignment.query.start).into_iter().chain(steps).chain(clip(query - alignment.query.end));
    let mut runs: Vec<(usize, char)> = Vec::new();
    for (count, kind) in all {
        match runs.last_mut() {
            Some((run, last)) if *last == kind => *run += count,
            _ => runs.push((count, kind)),
        }
    }
    runs.into_iter().map(|(count, kind)| format!("{count}{kind}")).collect()
}
