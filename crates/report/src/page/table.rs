//! Tables of the page.

use super::escape::Text;
use super::put;

/// Rows of a table that the page shows.
pub(super) const ROWS: usize = 50;

/// A cell of a table.
pub(super) enum Cell {
    /// A name: left-aligned, in a fixed-width font.
    Name(String),
    /// Words: left-aligned.
    Words(String),
    /// A number with its unit: right-aligned.
    Number(String),
    /// Markup that the page itself made.
    Markup(String),
}

/// Writes a table with a caption that screen readers say, and these heads: those of numbers begin with `#`.
pub(super) fn table(out: &mut String, caption: &str, heads: &[&str], rows: impl Iterator<Item = Vec<Cell>>) {
    put!(out, "<div class=\"scroll\"><table><caption>{}</caption>\n<thead><tr>", Text(caption));
    for head in heads {
        match head.strip_prefix('#') {
            Some(number) => put!(out, "<th scope=\"col\" class=\"number\">{number}</th>"),
            None => put!(out, "<th scope=\"col\">{head}</th>"),
        }
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (column, cell) in row.into_iter().enumerate() {
            match cell {
                Cell::Name(name) if column == 0 => {
                    put!(out, "<th scope=\"row\" class=\"name\">{}</th>", Text(&name));
                }
                Cell::Name(name) => put!(out, "<td class=\"name\">{}</td>", Text(&name)),
                Cell::Words(words) => put!(out, "<td>{}</td>", Text(&words)),
                Cell::Number(number) => put!(out, "<td class=\"number\">{}</td>", Text(&number)),
                Cell::Markup(markup) => put!(out, "<td>{markup}</td>"),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

/// Says how many rows a table leaves out, if it does.
pub(super) fn left_out(out: &mut String, all: usize, shown: usize, of: &str) {
    if all > shown {
        put!(
            out,
            "<p class=\"quiet\">{} more {of} are not shown; the report’s JSON has all.</p>\n",
            all - shown
        );
    }
}
