//! What is wrong with a program, where, and what to do.

mod excerpt;

use crate::source::{Sources, Span};
use ariadne::{Color, Config, IndexType, Label, Report, ReportKind};
use excerpt::Excerpt;

/// An error in a program, with its place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands there, as a few words beside the excerpt; may be empty.
    pub label: String,
    /// Other places that matter, each with a few words.
    pub others: Vec<(Span, String)>,
    /// What to do.
    pub hint: Option<String>,
    /// The text was read on as it was meant, and nothing was left out: what else is wrong is so for itself.
    pub mended: bool,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        let (message, label, others, hint) = (message.into(), String::new(), Vec::new(), None);
        Diagnostic { message, span, label, others, hint, mended: false }
    }

    /// With words beside the excerpt.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// With another place that matters.
    pub fn other(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.others.push((span, label.into()));
        self
    }

    /// With what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// As one after which nothing was left out.
    #[must_use]
    pub fn mended(self) -> Diagnostic {
        Diagnostic { mended: true, ..self }
    }

    /// The error as text for people: message, excerpts, hint. In colours for a terminal.
    pub fn render(&self, sources: &Sources, coloured: bool) -> String {
        let others = self.others.iter().map(|(span, _)| *span);
        let marked: Vec<Span> = std::iter::once(self.span).chain(others).collect();
        let files = 0..sources.files().len() as u32;
        let excerpts: Vec<Excerpt> = files.map(|file| Excerpt::new(sources, file, &marked)).collect();
        let place = |span: Span| {
            let excerpt = &excerpts[span.file as usize];
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
        let excerpt = &excerpts[self.span.file as usize];
        if excerpt.is_cut() { with_column(&text, sources, self.span, excerpt) } else { text }
    }
}

/// The text with the column that a place has in the file, not in what is shown of its line.
fn with_column(text: &str, sources: &Sources, span: Span, excerpt: &Excerpt) -> String {
    let (line, column) = sources.position(span);
    let before = &excerpt.text[..excerpt.place(span).start];
    let shown = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let name = &excerpt.name;
    text.replacen(&format!("{name}:{line}:{shown} "), &format!("{name}:{line}:{column} "), 1)
}

type Place = (String, std::ops::Range<usize>);

/// A place that is marked; without words it would not be.
fn label(place: Place, words: &str, color: Color) -> Label<Place> {
    Label::new(place).with_color(color).with_message(if words.is_empty() { "here" } else { words })
}
