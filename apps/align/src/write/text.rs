//! Alignments that a person reads.

use std::io::{self, Write};

use crate::{Alignment, Hit, Scoring, Sequence};

/// Columns of a line.
const COLUMNS: usize = 60;

pub(super) fn write(
    out: &mut impl Write,
    query: &Sequence,
    targets: &[Sequence],
    hits: &[Hit],
    scoring: &Scoring,
) -> io::Result<()> {
    for hit in hits {
        let target = &targets[hit.target];
        title(out, "query", query)?;
        title(out, "target", target)?;
        let Some(alignment) = &hit.alignment else {
            writeln!(out, "score  {}\n", hit.score)?;
            continue;
        };
        let (length, equal) = (alignment.length(), alignment.identities(&query.letters, &target.letters));
        let gaps =
            alignment.letters(&query.letters, &target.letters).filter(|(a, b)| a.is_none() || b.is_none());
        let (gaps, percent) = (gaps.count(), 100.0 * equal as f64 / length as f64);
        writeln!(out, "score  {}, identity {equal}/{length} ({percent:.1} %), gaps {gaps}\n", hit.score)?;
        columns(out, alignment, (&query.letters, &target.letters), scoring)?;
    }
    if hits.is_empty() {
        title(out, "query", query)?;
        writeln!(out, "no alignment\n")?;
    }
    Ok(())
}

fn title(out: &mut impl Write, kind: &str, sequence: &Sequence) -> io::Result<()> {
    let Sequence { name, description, letters } = sequence;
    let space = if description.is_empty() { "" } else { " " };
    let plural = if letters.len() == 1 { "" } else { "s" };
    writeln!(out, "{kind:<6} {name}{space}{description} ({} letter{plural})", letters.len())
}

/// The letters of both sequences, with their positions from 1, and marks between them: `|` for equal letters, `:` for
/// others with a positive score, and `.` for pairs with another score.
fn columns(
    out: &mut impl Write,
    alignment: &Alignment,
    (query, target): (&[u8], &[u8]),
    scoring: &Scoring,
) -> io::Result<()> {
    let all: Vec<_> = alignment.letters(query, target).collect();
    let width = alignment.query.end.max(alignment.target.end).to_string().len();
    let (mut i, mut j) = (alignment.query.start, alignment.target.start);
    let show = |letter: Option<u8>| char::from(letter.unwrap_or(b'-'));
    for part in all.chunks(COLUMNS) {
        let above: String = part.iter().map(|(letter, _)| show(*letter)).collect();
        let below: String = part.iter().map(|(_, letter)| show(*letter)).collect();
        let marks: String = part.iter().map(|pair| mark(*pair, scoring)).collect();
        let after_i = i + part.iter().filter(|(letter, _)| letter.is_some()).count();
        let after_j = j + part.iter().filter(|(_, letter)| letter.is_some()).count();
        writeln!(out, "query  {:>width$} {above} {after_i}", after_i.min(i + 1))?;
        writeln!(out, "       {:>width$} {}", "", marks.trim_end())?;
        writeln!(out, "target {:>width$} {below} {after_j}\n", after_j.min(j + 1))?;
        (i, j) = (after_i, after_j);
    }
    Ok(())
}

fn mark(pair: (Option<u8>, Option<u8>), scoring: &Scoring) -> char {
    match pair {
        (Some(a), Some(b)) if a == b => '|',
        (Some(a), Some(b)) if scoring.score(a, b) > 0 => ':',
        (Some(_), Some(_)) => '.',
        _ => ' ',
    }
}
