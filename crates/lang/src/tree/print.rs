//! Printing of trees.

use super::{Code, Filter, Rate, Rates, Stream, StreamKind, Tree};
use crate::hir::Program;
use std::fmt::{self, Write};

/// `3`; a dynamic rate prints as `*`, `[1, *]` or `[1, 2, 5]`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, average, max) = match self {
            Rate::Static(count) => return write!(f, "{count}"),
            Rate::Dynamic { min: 0, average: None, max: None } => return f.write_str("*"),
            Rate::Dynamic { min, average, max } => (min, average, max),
        };
        write!(f, "[{min}, ")?;
        if let Some(average) = average {
            write!(f, "{average}, ")?;
        }
        match max {
            Some(max) => write!(f, "{max}]"),
            None => f.write_str("*]"),
        }
    }
}

/// The rates other than 0: `pop 2, peek 5, push 1`.
impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.pop != Rate::Static(0) {
            parts.push(format!("pop {}", self.pop));
        }
        if self.peek != self.pop {
            parts.push(format!("peek {}", self.peek));
        }
        if self.push != Rate::Static(0) {
            parts.push(format!("push {}", self.push));
        }
        f.write_str(&if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") })
    }
}

/// The streams of a program as indented text, with types and rates; one line per stream.
pub fn describe(tree: &Tree, program: &Program) -> String {
    let mut printer = Printer { tree, program, text: String::new() };
    printer.stream(&tree.root, 0, "");
    for (number, receivers) in tree.portals.iter().enumerate() {
        let paths: Vec<&str> = receivers
            .iter()
            .filter_map(|id| tree.filters.get(id.0 as usize))
            .map(|filter| filter.path.as_str())
            .collect();
        let receivers = if paths.is_empty() { "no receivers".to_owned() } else { paths.join(", ") };
        printer.line(0, format_args!("portal {number}: {receivers}"));
    }
    printer.text
}

struct Printer<'t> {
    tree: &'t Tree,
    program: &'t Program,
    text: String,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, line: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:1$}{line}", "", depth * 2);
    }

    fn stream(&mut self, stream: &Stream, depth: usize, role: &str) {
        let structs = &self.program.structs;
        let head = format!(
            "{role}{}: {}->{}",
            stream.name,
            stream.input.named(structs),
            stream.output.named(structs)
        );
        let inside = depth + 1;
        match &stream.kind {
            StreamKind::Filter(id) => {
                let tail = self.tree.filters.get(id.0 as usize).map(filter_text).unwrap_or_default();
                self.line(depth, format_args!("{head} {tail}"));
            }
            StreamKind::Pipeline(children) => {
                self.line(depth, format_args!("{head} pipeline"));
                children.iter().for_each(|child| self.stream(child, inside, ""));
            }
            StreamKind::SplitJoin { split, children, join } => {
                self.line(depth, format_args!("{head} splitjoin"));
                self.line(inside, format_args!("split {split}"));
                children.iter().for_each(|child| self.stream(child, inside, ""));
                self.line(inside, format_args!("join {join}"));
            }
            StreamKind::FeedbackLoop { join, body, split, back, enqueued } => {
                self.line(depth, format_args!("{head} feedbackloop"));
                self.line(inside, format_args!("join {join}"));
                self.stream(body, inside, "body ");
                self.line(inside, format_args!("split {split}"));
                self.stream(back, inside, "loop ");
                self.line(inside, format_args!("enqueued {}", enqueued.len()));
            }
        }
    }
}

fn filter_text(filter: &Filter) -> String {
    let file = match &filter.code {
        Code::FileWriter(name, Some(rate)) => format!("({name:?}, {rate})"),
        Code::FileReader(name) | Code::FileWriter(name, None) => format!("({name:?})"),
        Code::Written { .. } | Code::Identity => String::new(),
    };
    match filter.prework {
        Some(prework) => format!("filter{file}, {}, first {prework}", filter.work),
        None => format!("filter{file}, {}", filter.work),
    }
}
