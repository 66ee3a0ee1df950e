//! Edge lists as SNAP publishes them: a line for each link, with the ids of two pages.

use crate::edges::Edges;
use crate::field::{fields, is_blank, number};
use crate::graph::Graph;
use crate::ids::IdTable;
use crate::input::Input;
use crate::memory::Estimate;
use crate::text::Text;
use crate::{Error, Result};

const HELP: &str = "each line needs the ids of two pages, separated by blanks or tabs; comments begin with #";
const HELP_COLUMNS: &str = "with --extra-columns, all columns after the second one are ignored";

/// Reads an edge list.
pub(crate) fn read(
    input: &Input,
    text: &mut Text<'_>,
    length: Option<u64>,
    announce: impl FnOnce(&Estimate),
) -> Result<Graph> {
    let budget = input.budget(false, true);
    let per_line = if input.undirected { 2 } else { 1 };
    let lines = text.sample()?.lines(length, |line| !is_blank(line) && !is_comment(line));
    let links = lines.map(|(lines, _)| lines.saturating_mul(per_line));
    announce(&budget.estimate(links, None, lines.is_some_and(|(_, exact)| exact)));
    budget.check(links.unwrap_or(0), None)?;

    let mut table = IdTable::new();
    let mut edges = Edges::new(false, budget);
    while text.advance()? {
        let link = parse(text.line(), input.extra_columns).map_err(|(what, help)| text.error(what, help))?;
        let Some((source, target)) = link else { continue };
        let numbers = table.number(source).zip(table.number(target));
        let numbers = numbers.ok_or_else(|| Error::TooManyPages { name: text.name().into() })?;
        input.add(&mut edges, numbers, 1.0, input.undirected, table.len() as u64)?;
    }
    input.named_graph(table, edges)
}

/// The ids in a line. `None` for a comment or a blank line. An error is the violated rule and a remedy.
fn parse(line: &[u8], extra_columns: bool) -> Result<Option<(u64, u64)>, (String, &'static str)> {
    if is_comment(line) {
        return Ok(None);
    }
    let mut fields = fields(line);
    let Some(source) = fields.next() else { return Ok(None) };
    let Some(target) = fields.next() else {
        return Err(("expected the ids of two pages, found one field".into(), HELP));
    };
    let ids = number(source).and_then(|source| Ok((source, number(target)?)));
    let ids = ids.map_err(|what| (what, HELP))?;
    match fields.count() {
        more if more > 0 && !extra_columns => {
            Err((format!("expected the ids of two pages, found {} fields", more + 2), HELP_COLUMNS))
        }
        _ => Ok(Some(ids)),
    }
}

fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'#' | b'%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hold_two_ids_or_nothing() {
        for (line, link) in [
            ("1\t2", Some((1, 2))),
            (" 7   18446744073709551615 ", Some((7, u64::MAX))),
            ("# FromNodeId\tToNodeId", None),
            ("  % KONECT", None),
            (" \t", None),
            ("", None),
        ] {
            assert_eq!(parse(line.as_bytes(), false), Ok(link), "{line:?}");
        }
        for line in ["1", "1 b", "1,2", "1 -2", "1 2 3", "1 18446744073709551616", "1 2 # comment"] {
            assert!(parse(line.as_bytes(), false).is_err(), "{line:?}");
        }
        assert_eq!(parse(b"1 2 0.5 x", true), Ok(Some((1, 2))));
    }
}
