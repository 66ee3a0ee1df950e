//! Errors in programs: message, place and help.

mod excerpt;

use crate::source::{Sources, Span};
use ariadne::{Color, Config, IndexType, Label, Report, ReportKind};
use excerpt::Excerpt;

/// An error in a program, with its place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one sentence.
    pub message: String,
    /// The place.
    pub span: Span,
    /// A few words beside the excerpt; may be empty.
    pub label: String,
    /// Related places, each with a few words.
    pub others: Vec<(Span, String)>,
    /// The help line.
    pub hint: Option<String>,
    /// The parser recovered without dropping text, so other errors in the program are independent of this one.
    pub recovered: bool,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        let (message, label, others, hint) = (message.into(), String::new(), Vec::new(), None);
        Diagnostic { message, span, label, others, hint, recovered: false }
    }

    /// Sets the words beside the excerpt.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds a related place.
    pub fn other(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.others.push((span, label.into()));
        self
    }

    /// Sets the help line.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// Marks an error from which the parser recovered without dropping text.
    #[must_use]
    pub fn recovered(self) -> Diagnostic {
        Diagnostic { recovered: true, ..self }
    }

    /// The error as text: message, excerpts, help; in colours for a terminal.
    pub fn render(&self, sources: &Sources, coloured: bool) -> String {
        let others = self.others.iter().map(|(span, _)| *span);
        let marked: Vec<Span> = std::iter::once(self.span).chain(others).collect();
        let files = 0..sources.files().len() as u32;
        let excerpts: Vec<Excerpt> = files.map(|file| Excerpt::new(sources, file, &marked)).collect();
        let place = |span: Span| {
            let excerpt = &excerpts[span.file() as usize];
            (excerpt.name.clone(), excerpt.place(span))
        };
        let config = Config::default().with_color(coloured).with_index_type(IndexType::Byte);
        let mut report = Report::build(ReportKind::Error, place(self.span))
            .with_config(config)
            .with_message(&self.message)
            .with_label(label(place(self.span), &self.label, Color::Red));
        for (span, words) in &self.others {
            report = report.with_label(label(place(*span), words, Color::Blue));
        }
        if let Some(hint) = &self.hint {
            report = report.with_help(hint);
        }
        let texts = excerpts.iter().map(|excerpt| (excerpt.name.clone(), excerpt.text.clone()));
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = report.finish().write(ariadne::sources(texts), &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let excerpt = &excerpts[self.span.file() as usize];
        if excerpt.is_cut() { with_column(&text, sources, self.span, excerpt) } else { text }
    }
}

/// Replaces the column of the cut line by the column of the file.
fn with_column(text: &str, sources: &Sources, span: Span, excerpt: &Excerpt) -> String {
    let (line, column) = sources.position(span);
    let before = &excerpt.text[..excerpt.place(span).start];
    let shown = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let name = &excerpt.name;
    text.replacen(&format!("{name}:{line}:{shown} "), &format!("{name}:{line}:{column} "), 1)
}

type Place = (String, std::ops::Range<usize>);

/// A marked place. Ariadne marks a place only if its label has a message.
fn label(place: Place, words: &str, color: Color) -> Label<Place> {
    Label::new(place).with_color(color).with_message(if words.is_empty() { "here" } else { words })
}
