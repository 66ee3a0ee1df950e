//! The section about the plan: its text.

use super::escape::Lines;
use super::put;
use thalweg_graph::beginning;

/// Bytes of a plan that the page shows.
const SHOWN: usize = 256 << 10;

/// Writes the section, if the run followed a plan.
pub(super) fn section(out: &mut String, plan: &str) {
    if plan.is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"plan\">\n<h2 id=\"plan\">The plan</h2>\n");
    let shown = beginning(plan, SHOWN);
    let lines = plan.lines().count();
    let s = if lines == 1 { "" } else { "s" };
    put!(out, "<details><summary>{lines} line{s}</summary>\n<pre>{}</pre></details>\n", Lines(shown));
    if shown.len() < plan.len() {
        put!(out, "<p class=\"quiet\">Its last {} bytes are not shown.</p>\n", plan.len() - shown.len());
    }
    out.push_str("</section>\n");
}
