//! Words of the language that are misspelt: a name stands where no name can, and is nearly such a word. It is
//! reported and taken for the word, so that the rest is read as it was meant.

use super::recover::starts_type;
use super::{Parsed, Parser, types};
use crate::ast::{Expr, ExprKind, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;
use crate::spelling::nearest;

/// Words that make streams.
const CREATORS: [Kind; 3] = [Kind::Add, Kind::Body, Kind::Loop];

/// Words that say what a stream is.
pub(super) const STREAMS: [Kind; 4] = [Kind::Filter, Kind::Pipeline, Kind::SplitJoin, Kind::FeedbackLoop];

impl Parser<'_> {
    /// Takes a name, where there is one, for the word among these that it nearly is.
    pub(super) fn mend(&mut self, words: &[Kind]) {
        if !self.at(Kind::Name) {
            return;
        }
        if let Some(meant) = self.meant(self.span(), words) {
            let at = self.at;
            self.tokens[at].kind = meant;
        }
    }

    /// Which of these words was meant by a name that is none; it is reported.
    fn meant(&mut self, span: Span, words: &[Kind]) -> Option<Kind> {
        let text = self.text_at(span);
        let word = nearest(text, words.iter().filter_map(|word| word.text()))?;
        let error = Diagnostic::new(span, format!("`{text}` is not a word of the language"))
            .label("not known")
            .hint(format!("did you mean `{word}`?"));
        if !self.follows_from_another() {
            self.report(error.mended());
        }
        words.iter().copied().find(|kind| kind.text() == Some(word))
    }

    /// The same at the beginning of a statement, where what follows cannot follow a name.
    pub(super) fn mend_statement(&mut self) {
        use Kind::{
            Arrow, Duplicate, False, Float2, Float3, Float4, Hex, Less, Number, Open, OpenBrace, RoundRobin,
            Semicolon, To, True,
        };
        let words: &[Kind] = match (self.ahead(1), self.ahead(2)) {
            (Kind::Name, Open | Less | To) => &CREATORS,
            (kind, Arrow) if starts_type(kind) => &CREATORS,
            (kind, _) if STREAMS.contains(&kind) || kind == Kind::Stateful => &CREATORS,
            (Duplicate | RoundRobin, _) => &[Kind::Split, Kind::Join],
            (Number | Hex | True | False, _) => &[Kind::Enqueue, Kind::Return],
            (Semicolon, _) => &[Kind::Break, Kind::Continue, Kind::Return],
            // These begin values too.
            (Open, Float2 | Float3 | Float4) => return,
            (Open, kind) if types::primitive(kind).is_some() => &[Kind::For],
            (OpenBrace, _) => &[Kind::Do],
            _ => return,
        };
        self.mend(words);
    }

    /// A call before a block, where `if` or `while` was meant.
    pub(super) fn condition_misspelt(&mut self, value: &Expr) -> Option<Parsed<StmtKind>> {
        let ExprKind::Call(name, values) = &value.kind else { return None };
        let ([condition], true) = (values.as_slice(), self.at(Kind::OpenBrace)) else { return None };
        let word = self.meant(name.span, &[Kind::If, Kind::While])?;
        let condition = condition.clone();
        Some(match word {
            Kind::While => self.stmt().map(|body| StmtKind::While(condition, Box::new(body))),
            _ => self.branches(condition),
        })
    }

    /// The same where a part of a filter begins.
    pub(super) fn mend_part(&mut self) {
        match (self.ahead(1), self.ahead(2)) {
            (Kind::Push | Kind::Pop | Kind::Peek, _) | (Kind::Name, Kind::Number | Kind::Star) => {
                self.mend(&[Kind::Work, Kind::Prework]);
            }
            (Kind::OpenBrace, _) => self.mend(&[Kind::Init, Kind::Work, Kind::Prework]),
            _ => {}
        }
    }

    /// The same at the top of a file.
    pub(super) fn mend_item(&mut self) {
        use Kind::{FeedbackLoop, Filter, Helper, Native, Pipeline, SplitJoin, Static, Struct};
        match (self.ahead(1), self.ahead(2)) {
            (Kind::Name, Kind::OpenBrace) => {
                self.mend(&[Struct, Native, Helper, Filter, Pipeline, SplitJoin, FeedbackLoop]);
            }
            (Kind::OpenBrace, _) => self.mend(&[Static]),
            _ => {}
        }
    }
}
