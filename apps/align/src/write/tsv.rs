//! Scores as lines of three columns.

use std::io::{self, Write};

use crate::{Hit, Sequence};

pub(super) fn header(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "query\ttarget\tscore")
}

pub(super) fn write(
    out: &mut impl Write,
    query: &Sequence,
    targets: &[Sequence],
    hits: &[Hit],
) -> io::Result<()> {
    hits.iter()
        .try_for_each(|hit| writeln!(out, "{}\t{}\t{}", query.name, targets[hit.target].name, hit.score))
}
