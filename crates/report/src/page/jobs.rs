//! The section about parallel loops and task graphs: which nodes executed them, and what they counted.

use super::put;
use super::table::{Cell, ROWS, left_out, table};
use thalweg_trace::{Counts, Report, units};

/// Writes the section, if a node has executed loops or task graphs.
pub(super) fn section(out: &mut String, report: &Report) {
    let jobs: Vec<(&str, &Counts)> = report.jobs().collect();
    if jobs.is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"jobs\">\n<h2 id=\"jobs\">Loops and task graphs</h2>\n");
    let heads = [
        "node",
        "#loops",
        "#iterations",
        "#graphs",
        "#graph nodes",
        "#members",
        "#steals",
        "#of attempts",
        "#coloured steals",
        "#of coloured attempts",
        "#accesses",
        "#remote",
        "#of accesses",
    ];
    table(out, "Nodes that executed loops or task graphs", &heads, jobs.iter().take(ROWS).map(row));
    left_out(out, jobs.len(), ROWS, "nodes");
    put!(
        out,
        "<p class=\"quiet\">Members are the threads that took part. An access is remote if the colour of a graph’s node, or \
         of one of its predecessors, is that of no member in the memory domain of the thread that computed the node. \
         Accesses are counted where the graph’s options describe the domains.</p>\n</section>\n"
    );
}

fn row((name, counts): &(&str, &Counts)) -> Vec<Cell> {
    let all = counts.total();
    let mut row = vec![Cell::Name((*name).to_owned())];
    let counts =
        [all.loops(), all.iterations(), all.graphs(), all.nodes(), counts.helpers() as u64, all.steals()];
    let stolen =
        [all.attempts(), all.coloured_steals(), all.coloured_attempts(), all.accesses(), all.remote()];
    row.extend(counts.into_iter().chain(stolen).map(|count| Cell::Number(count.to_string())));
    row.push(Cell::Number(all.remote_share().map_or("-".to_owned(), units::percent)));
    row
}
