//! Misspelt keywords: a name in a place where only a keyword fits, close to one in spelling. The parser reports it
//! and continues as if the keyword were there.

use super::recover::starts_type;
use super::{Parsed, Parser, types};
use crate::ast::{Expr, ExprKind, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;
use crate::spelling::nearest;

/// Keywords that instantiate streams.
const CREATORS: [Kind; 3] = [Kind::Add, Kind::Body, Kind::Loop];

/// Keywords that declare a kind of stream.
pub(super) const STREAMS: [Kind; 4] = [Kind::Filter, Kind::Pipeline, Kind::SplitJoin, Kind::FeedbackLoop];

impl Parser<'_> {
    /// Replaces the current token by the keyword among these that it resembles, if it is a name.
    pub(super) fn correct_keyword(&mut self, words: &[Kind]) {
        if !self.at(Kind::Name) {
            return;
        }
        if let Some(keyword) = self.intended_keyword(self.span(), words) {
            let at = self.at;
            self.tokens[at].kind = keyword;
        }
    }

    /// The keyword that a name resembles, with a report.
    fn intended_keyword(&mut self, span: Span, words: &[Kind]) -> Option<Kind> {
        let text = self.text_at(span);
        let word = nearest(text, words.iter().filter_map(|word| word.text()))?;
        let error = Diagnostic::new(span, format!("unknown keyword `{text}`"))
            .label("not a keyword")
            .hint(format!("did you mean `{word}`?"));
        if !self.is_follow_up_error() {
            self.report(error.recovered());
        }
        words.iter().copied().find(|kind| kind.text() == Some(word))
    }

    /// Corrects the keyword at the start of a statement if the next tokens cannot follow a name.
    pub(super) fn correct_statement(&mut self) {
        use Kind::{
            Arrow, Duplicate, False, Float2, Float3, Float4, Hex, Less, Number, Open, OpenBrace, RoundRobin,
            Semicolon, To, True,
        };
        let words: &[Kind] = match (self.lookahead(1), self.lookahead(2)) {
            (Kind::Name, Open | Less | To) => &CREATORS,
            (kind, Arrow) if starts_type(kind) => &CREATORS,
            (kind, _) if STREAMS.contains(&kind) || kind == Kind::Stateful => &CREATORS,
            (Duplicate | RoundRobin, _) => &[Kind::Split, Kind::Join],
            (Number | Hex | True | False, _) => &[Kind::Enqueue, Kind::Return],
            (Semicolon, _) => &[Kind::Break, Kind::Continue, Kind::Return],
            // These also begin expressions.
            (Open, Float2 | Float3 | Float4) => return,
            (Open, kind) if types::primitive(kind).is_some() => &[Kind::For],
            (OpenBrace, _) => &[Kind::Do],
            _ => return,
        };
        self.correct_keyword(words);
    }

    /// A call followed by a block, if `if` or `while` was intended.
    pub(super) fn misspelt_condition(&mut self, value: &Expr) -> Option<Parsed<StmtKind>> {
        let ExprKind::Call(name, values) = &value.kind else { return None };
        let ([condition], true) = (values.as_slice(), self.at(Kind::OpenBrace)) else { return None };
        let word = self.intended_keyword(name.span, &[Kind::If, Kind::While])?;
        let condition = condition.clone();
        Some(match word {
            Kind::While => self.stmt().map(|body| StmtKind::While(condition, Box::new(body))),
            _ => self.branches(condition),
        })
    }

    /// Corrects the keyword at the start of a part of a filter.
    pub(super) fn correct_part(&mut self) {
        match (self.lookahead(1), self.lookahead(2)) {
            (Kind::Push | Kind::Pop | Kind::Peek, _) | (Kind::Name, Kind::Number | Kind::Star) => {
                self.correct_keyword(&[Kind::Work, Kind::Prework]);
            }
            (Kind::OpenBrace, _) => self.correct_keyword(&[Kind::Init, Kind::Work, Kind::Prework]),
            _ => {}
        }
    }

    /// Corrects the keyword at the start of a top-level item.
    pub(super) fn correct_item(&mut self) {
        use Kind::{FeedbackLoop, Filter, Helper, Native, Pipeline, SplitJoin, Static, Struct};
        match (self.lookahead(1), self.lookahead(2)) {
            (Kind::Name, Kind::OpenBrace) => {
                self.correct_keyword(&[Struct, Native, Helper, Filter, Pipeline, SplitJoin, FeedbackLoop]);
            }
            (Kind::OpenBrace, _) => self.correct_keyword(&[Static]),
            _ => {}
        }
    }
}
