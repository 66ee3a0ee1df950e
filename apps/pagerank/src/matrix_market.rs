//! Coordinate files of Matrix Market: entry (i, j) is a link from page i to page j. Pages are numbered from 1.

use crate::edges::Edges;
use crate::field::{fields, number};
use crate::graph::{Graph, Ids};
use crate::input::Input;
use crate::memory::Estimate;
use crate::text::Text;
use crate::{Error, Result};

const BEGIN: &[u8] = b"%%matrixmarket";
const HELP_HEADER: &str = "the first line of a supported file is \
     `%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric`";
const HELP_SIZE: &str = "the first line after the comments holds rows, columns and entries";
const HELP_ENTRY: &str = "an entry holds a row, a column, and a value unless the matrix is a pattern";
const HELP_VALUE: &str = "a weight is a finite number, 0 or positive; --unweighted ignores the values";

/// A violated rule, and a remedy.
type Mistake = (String, &'static str);

/// Whether a text begins as such a file does.
pub(crate) fn is_begin(text: &[u8]) -> bool {
    text.get(..BEGIN.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(BEGIN))
}

/// What a file declares.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Header {
    field: Field,
    symmetric: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field {
    Pattern,
    Real,
    Integer,
}

/// Reads a coordinate file.
pub(crate) fn read(input: &Input, text: &mut Text<'_>, announce: impl FnOnce(&Estimate)) -> Result<Graph> {
    text.advance()?;
    let header = Header::parse(text.line()).map_err(|what| text.error(what, HELP_HEADER))?;
    let (pages, entries) = size(text)?;
    let weighted = input.weights && header.field != Field::Pattern;
    let both = header.symmetric || input.undirected;

    let budget = input.budget(weighted, false);
    let links = entries.saturating_mul(if both { 2 } else { 1 });
    announce(&budget.estimate(Some(links), Some(pages), true));
    budget.check(links, Some(pages))?;

    let mut edges = Edges::new(weighted, budget);
    let mut found = 0;
    while text.advance()? {
        if is_skipped(text.line()) {
            continue;
        }
        if found == entries {
            let what = format!("expected no more than the declared {entries} entries");
            return Err(text.error(what, "correct the number of entries in the size line"));
        }
        found += 1;
        let (link, weight) =
            header.entry(text.line(), pages, weighted).map_err(|(what, help)| text.error(what, help))?;
        // A link of weight 0 is never followed.
        if weight > 0.0 {
            input.add(&mut edges, link, weight, both, pages)?;
        }
    }
    if found < entries {
        let what = format!("the file declares {entries} entries and ends after {found}");
        let help = "the file is truncated: copy it again in full";
        return Err(Error::Content { name: text.name().into(), what, help });
    }
    Graph::new(Ids::Numbered { first: 1 }, pages as usize, edges, &input.loops())
}

/// Reads the numbers of pages and entries.
fn size(text: &mut Text<'_>) -> Result<(u64, u64)> {
    while text.advance()? {
        if is_skipped(text.line()) {
            continue;
        }
        let sizes: Result<Vec<u64>, String> = fields(text.line()).map(number).collect();
        return match sizes.map_err(|what| text.error(what, HELP_SIZE))?[..] {
            [rows, columns, _] if rows != columns => Err(text.error(
                format!("expected a square matrix, found {rows} rows and {columns} columns"),
                "row and column of an entry are both pages, so a graph has as many rows as columns",
            )),
            [pages, _, _] if pages > u64::from(u32::MAX) => {
                Err(Error::TooManyPages { name: text.name().into() })
            }
            [pages, _, entries] => Ok((pages, entries)),
            ref others => {
                Err(text.error(format!("expected three numbers, found {}", others.len()), HELP_SIZE))
            }
        };
    }
    let what = "the file ends before its size".into();
    Err(Error::Content { name: text.name().into(), what, help: HELP_SIZE })
}

fn is_skipped(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'%'))
}

impl Header {
    fn parse(line: &[u8]) -> Result<Header, String> {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, object, format, field, symmetry] = words[..] else {
            return Err(format!("expected a header of 5 words, found {}", words.len()));
        };
        if (object, format) != ("matrix", "coordinate") {
            return Err("expected a matrix of coordinates".into());
        }
        let field = match field {
            "pattern" => Field::Pattern,
            "real" | "double" => Field::Real,
            "integer" => Field::Integer,
            _ => return Err("expected values of kind pattern, real or integer".into()),
        };
        let symmetric = match symmetry {
            "general" => false,
            "symmetric" => true,
            _ => return Err("expected the symmetry general or symmetric".into()),
        };
        Ok(Header { field, symmetric })
    }

    /// The pages of an entry, as numbers from 0, and the weight of its link.
    fn entry(self, line: &[u8], pages: u64, weighted: bool) -> Result<((u32, u32), f64), Mistake> {
        let mut fields = fields(line);
        let mut page = || -> Result<u32, Mistake> {
            let page = number(fields.next().unwrap_or_default()).map_err(|what| (what, HELP_ENTRY))?;
            match page {
                0 => Err(("expected a page from 1, found 0".into(), "rows and columns are counted from 1")),
                page if page > pages => Err((
                    format!("expected a page up to the declared {pages}, found {page}"),
                    "correct the entry or the size line",
                )),
                page => Ok((page - 1) as u32),
            }
        };
        let link = (page()?, page()?);
        let weight = match (self.field, fields.next()) {
            (Field::Pattern, None) => 1.0,
            (Field::Pattern, Some(_)) => return Err(("expected no value in a pattern".into(), HELP_ENTRY)),
            (_, None) => return Err(("expected a value".into(), HELP_ENTRY)),
            (_, Some(_)) if !weighted => 1.0,
            (field, Some(value)) => field.weight(value).map_err(|what| (what, HELP_VALUE))?,
        };
        match fields.next() {
            None => Ok((link, weight)),
            Some(_) => Err(("expected no further field".into(), HELP_ENTRY)),
        }
    }
}

impl Field {
    fn weight(self, text: &[u8]) -> Result<f64, String> {
        let text = std::str::from_utf8(text).unwrap_or_default();
        let value = match self {
            Field::Integer => text.parse::<i64>().ok().map(|value| value as f64),
            _ => text.parse::<f64>().ok(),
        };
        match value {
            None if self == Field::Integer => Err("expected an integer".into()),
            None => Err("expected a number".into()),
            Some(value) if value >= 0.0 && value.is_finite() => Ok(value),
            Some(value) => Err(format!("expected a weight, found {value}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(line: &str) -> Result<Header, String> {
        Header::parse(line.as_bytes())
    }

    #[test]
    fn headers_are_read_in_any_case() {
        let real = Header { field: Field::Real, symmetric: true };
        assert_eq!(header("%%MatrixMarket Matrix coordinate REAL Symmetric"), Ok(real));
        for line in [
            "%%MatrixMarket matrix array real general",
            "%%MatrixMarket matrix coordinate complex general",
            "%%MatrixMarket matrix coordinate real skew-symmetric",
            "%%MatrixMarket vector coordinate real general",
            "%%MatrixMarket matrix coordinate real",
        ] {
            assert!(header(line).is_err(), "{line}");
        }
    }

    #[test]
    fn entries_are_checked() {
        let header = Header { field: Field::Real, symmetric: false };
        assert_eq!(header.entry(b"1 3 2.5e-1", 3, true), Ok(((0, 2), 0.25)));
        assert_eq!(header.entry(b"1 3 -1", 3, false), Ok(((0, 2), 1.0)));
        for line in
            ["0 1 1", "1 4 1", "1 2", "1", "1 2 x", "1 2 -1", "1 2 nan", "1 2 inf", "1 2 3 4", "x 1 1"]
        {
            assert!(header.entry(line.as_bytes(), 3, true).is_err(), "{line}");
        }
        let pattern = Header { field: Field::Pattern, symmetric: false };
        assert_eq!(pattern.entry(b"2\t2", 3, false), Ok(((1, 1), 1.0)));
        assert!(pattern.entry(b"1 2 1", 3, false).is_err());
        assert!(Field::Integer.weight(b"1.5").is_err());
    }
}
