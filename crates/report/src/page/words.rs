//! The run in words: the head of the page, the bound and the advice.

use super::escape::{Lines, Text, shortened};
use super::put;
use crate::Finding;
use thalweg_trace::{Report, units};

/// Nodes of a chain that the head names.
const NAMED: usize = 6;

/// What ran, for how long and on what: the title of the page.
pub(super) fn title(report: &Report) -> String {
    let s = if report.threads() == 1 { "" } else { "s" };
    let policy = shortened(report.policy(), 40);
    let dilated = report.dilated().map_or_else(String::new, |dilated| format!(", {dilated}"));
    format!("{} on {} thread{s}, policy {policy}{dilated}", units::time(report.wall()), report.threads())
}

/// The head of the page.
pub(super) fn head(out: &mut String, report: &Report, findings: &[Finding]) {
    put!(out, "<header>\n<p class=\"kicker\">Thalweg report</p>\n<h1>{}</h1>\n", Text(&title(report)));
    put!(out, "<p>{}</p>\n", Text(&what_ran(report)));
    for note in report.notes() {
        put!(out, "<p>Note: {}.</p>\n", Long(note));
    }
    out.push_str(
        "</header>\n<section aria-labelledby=\"bound\">\n<h2 id=\"bound\">What bounded the run</h2>\n",
    );
    let (bounds, others): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding.kind.is_bound());
    bounds.iter().for_each(|finding| one(out, finding));
    if !others.is_empty() {
        out.push_str("<h3>Also found</h3>\n");
        others.iter().for_each(|finding| one(out, finding));
    }
    out.push_str("</section>\n");
}

fn one(out: &mut String, finding: &Finding) {
    let class = if finding.kind.is_bound() { "finding" } else { "finding also" };
    put!(out, "<div class=\"{class}\"><p><strong>{}</strong></p>", Long(&capital(&finding.what)));
    if !finding.evidence.is_empty() {
        put!(out, "<p>{}.</p>", Long(&capital(&finding.evidence)));
    }
    if !finding.help.is_empty() {
        put!(out, "<p><span class=\"tag\">Try</span> {}.</p>", Long(&capital(&finding.help)));
    }
    out.push_str("</div>\n");
}

/// A text with names between backticks, each of which may be long. The names become code.
struct Long<'a>(&'a str);

impl std::fmt::Display for Long<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = shortened(self.0, 2000);
        let parts: Vec<&str> = text.split('`').collect();
        // A name may have a backtick itself, or be cut off: then no part is known to be a name.
        let paired = parts.len() % 2 == 1;
        for (i, part) in parts.iter().enumerate() {
            match (paired, i % 2) {
                (true, 1) => write!(f, "<code>{}</code>", Text(part))?,
                (false, _) if i > 0 => write!(f, "`{}", Lines(part))?,
                _ => write!(f, "{}", Lines(part))?,
            }
        }
        Ok(())
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// The graph in words: by its nodes' names if it is a short chain.
fn what_ran(report: &Report) -> String {
    let (nodes, channels) = (report.graph().nodes(), report.graph().channels());
    let chain = nodes.len() <= NAMED
        && channels.len() + 1 == nodes.len()
        && channels.iter().enumerate().all(|(i, c)| (c.from().0.index(), c.to().0.index()) == (i, i + 1));
    let counts = format!("{} and {}", count(nodes.len(), "node"), count(channels.len(), "channel"));
    let mut text = match chain {
        true => {
            let names: Vec<String> = nodes.iter().map(|node| shortened(node.name(), 40)).collect();
            format!("{}: {counts}.", names.join(" → "))
        }
        false => format!("A graph of {counts}."),
    };
    let items = report.channels().iter().map(|channel| channel.items()).fold(0, u64::saturating_add);
    text += &format!(" {items} items went through its channels.");
    match report.leftover() {
        0 => {}
        left => {
            text += &format!(
                " {} left over.",
                if left == 1 { "1 item was".into() } else { format!("{left} items were") }
            )
        }
    }
    text
}

fn count(count: usize, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}
