//! Ranks as text.

use std::io::{self, Write};

use crate::graph::Graph;
use crate::rank::Ranking;

/// Writes a line `ID<tab>RANK` for each page.
///
/// # Errors
/// Writing fails.
pub fn write_tsv(out: &mut dyn Write, top: &[(u64, f64)]) -> io::Result<()> {
    top.iter().try_for_each(|(page, rank)| writeln!(out, "{page}\t{rank:e}"))
}

/// Writes one JSON object: `version` (1), `pages`, `links`, `dangling`, `iterations`, `residuals` (one for each
/// iteration) and `ranks`, an array of objects with `page` and `rank`.
///
/// # Errors
/// Writing fails.
pub fn write_json(
    out: &mut dyn Write,
    graph: &Graph,
    ranking: &Ranking,
    top: &[(u64, f64)],
) -> io::Result<()> {
    write!(out, "{{\"version\":1,\"pages\":{},\"links\":{},", graph.pages(), graph.links().len())?;
    write!(out, "\"dangling\":{},\"iterations\":{},", graph.dangling(), ranking.residuals.len())?;
    write!(out, "\"residuals\":[")?;
    list(out, &ranking.residuals, ",", |out, residual| write!(out, "{residual:e}"))?;
    write!(out, "],\n\"ranks\":[")?;
    list(out, top, ",\n", |out, (page, rank)| write!(out, "{{\"page\":{page},\"rank\":{rank:e}}}"))?;
    writeln!(out, "]}}")
}

/// Writes items with `between` between them.
fn list<T>(
    out: &mut dyn Write,
    items: &[T],
    between: &str,
    write: impl Fn(&mut dyn Write, &T) -> io::Result<()>,
) -> io::Result<()> {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.write_all(between.as_bytes())?;
        }
        write(out, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, PageRank};
    use std::ops::ControlFlow;

    #[test]
    fn ranks_are_written_in_full() {
        let graph = Input::new("test").read(&b"1 2\n2 1\n"[..], None, |_| {}).unwrap();
        let ranking = PageRank::new().run(&graph, |_| ControlFlow::Continue(())).unwrap();
        let (mut tsv, mut json) = (Vec::new(), Vec::new());
        write_tsv(&mut tsv, &[(1, 0.1 + 0.2), (u64::MAX, 1e-7)]).unwrap();
        assert_eq!(tsv, b"1\t3.0000000000000004e-1\n18446744073709551615\t1e-7\n");
        write_json(&mut json, &graph, &ranking, &ranking.top(&graph, 2)).unwrap();
        let expected = "{\"version\":1,\"pages\":2,\"links\":2,\"dangling\":0,\"iterations\":1,\"residuals\":[0e0],\n\
             \"ranks\":[{\"page\":1,\"rank\":5e-1},\n{\"page\":2,\"rank\":5e-1}]}\n";
        assert_eq!(String::from_utf8(json).unwrap(), expected);
    }
}
