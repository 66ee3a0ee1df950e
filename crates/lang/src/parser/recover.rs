//! Where reading goes on after an error, and what people commonly err in.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

impl Parser<'_> {
    /// Takes a `;` that must be there. A missing one is reported at the end of what it should close, and what
    /// follows is read as if it were there; the rest of its line is left out.
    pub(super) fn semicolon(&mut self, after: &str) {
        if self.eat(Kind::Semicolon) {
            return;
        }
        if !self.follows_from_another() {
            let message = format!("expected `;` after {after}, found {}", self.found());
            let error = Diagnostic::new(self.last(), message).label("a `;` is missing behind this");
            let nothing_lost =
                self.at(Kind::CloseBrace) || self.on_new_line() || starts_statement(self.kind());
            let (hint, mended) = (self.hint(), nothing_lost);
            self.report(Diagnostic { hint, mended, ..error });
        }
        self.failed_at = Some(self.at);
        if !self.on_new_line() && !starts_statement(self.kind()) {
            self.skip_statement();
        }
    }

    /// Whether the token is the first of its line.
    fn on_new_line(&self) -> bool {
        let between = Span { start: self.last().end, end: self.span().start, ..self.span() };
        between.start > between.end || self.text_at(between).contains('\n')
    }

    /// Skips the rest of a statement that began at a token, so that something is skipped at any rate.
    pub(super) fn skip_from(&mut self, first: usize) {
        let stops = matches!(self.kind(), Kind::Semicolon | Kind::OpenBrace | Kind::CloseBrace | Kind::End);
        if self.at == first && !stops {
            self.bump();
        }
        self.skip_statement();
    }

    /// Skips the rest of a statement, its `;` included; stops before braces and before what begins another.
    pub(super) fn skip_statement(&mut self) {
        loop {
            match self.kind() {
                Kind::Semicolon => {
                    self.bump();
                    return;
                }
                Kind::OpenBrace | Kind::CloseBrace | Kind::End => return,
                kind if starts_statement(kind) && self.on_new_line() => return,
                _ => self.bump(),
            };
        }
    }

    /// Skips to the `{` of a stream or function whose head could not be read; false where none comes.
    pub(super) fn skip_to_block(&mut self) -> bool {
        loop {
            match self.kind() {
                Kind::OpenBrace => return true,
                Kind::Semicolon | Kind::CloseBrace | Kind::End => return false,
                _ => self.bump(),
            };
        }
    }

    /// Skips to a closing bracket and takes it, if one comes before the statement ends; false if not.
    pub(super) fn skip_past(&mut self, close: Kind) -> bool {
        loop {
            match self.kind() {
                Kind::OpenBrace | Kind::CloseBrace | Kind::Semicolon | Kind::End => return false,
                kind => {
                    self.bump();
                    if kind == close {
                        return true;
                    }
                }
            };
        }
    }

    /// Skips from a `{` to its `}`.
    pub(super) fn skip_group(&mut self) {
        let mut open = 0_u32;
        while !self.at(Kind::End) && (open == 0 || !self.at_item()) {
            match self.kind() {
                Kind::OpenBrace => open += 1,
                Kind::CloseBrace => open -= 1,
                _ => {}
            }
            self.bump();
            if open == 0 {
                return;
            }
        }
    }

    /// Skips what cannot be part of a program, up to what begins one of its items.
    pub(super) fn skip_item(&mut self) {
        let mut open = 0_u32;
        loop {
            match self.kind() {
                Kind::End => return,
                _ if self.at_item() => return,
                Kind::OpenBrace => open += 1,
                Kind::CloseBrace if open <= 1 => {
                    self.bump();
                    return;
                }
                Kind::CloseBrace => open -= 1,
                _ => {}
            }
            self.bump();
        }
    }

    /// Whether an item of a program may begin here, as far as two tokens tell. So a block that misses its `}`
    /// ends before the next stream.
    pub(super) fn at_item(&self) -> bool {
        match self.kind() {
            Kind::Struct | Kind::Native | Kind::Static | Kind::Helper => true,
            kind => starts_type(kind) && self.ahead(1) == Kind::Arrow,
        }
    }

    /// Whether a block ends here, its `}` missing: something follows that no block has.
    pub(super) fn ends_block(&self) -> bool {
        let part = matches!(self.kind(), Kind::Init | Kind::Work | Kind::Prework | Kind::Handler);
        (self.in_filter && part) || self.at_item()
    }

    /// What may help with an unexpected token.
    pub(super) fn hint(&self) -> Option<String> {
        let text = self.text_at(self.span());
        Some(match self.kind() {
            Kind::Switch | Kind::Case | Kind::Default => {
                format!("`{text}` is a reserved word, but there is no such statement: use `if` and `else`")
            }
            Kind::Template => "`template` is a reserved word without a meaning".to_string(),
            Kind::Assign
                if matches!(self.before(), Some(Kind::And | Kind::Or | Kind::Xor | Kind::Percent)) =>
            {
                let operator = self.text_at(self.last());
                format!("there is no operator `{operator}=`: write `x = x {operator} y`")
            }
            Kind::Arrow => {
                "`->` stands between the types of a stream; `-` and `>` want a blank between".into()
            }
            Kind::Dot if self.ahead(1) == Kind::Number => {
                format!("a number wants a digit before its point: `0.{}`", self.text_at(self.after()))
            }
            Kind::Dot if self.before() == Some(Kind::Number) => {
                format!("a number wants a digit behind its point: `{}.0`", self.text_at(self.last()))
            }
            _ => return None,
        })
    }

    /// What may help where a value is wanted.
    pub(super) fn hint_for_value(&self) -> Option<String> {
        Some(match self.kind() {
            Kind::Plus => "a sign `+` before a value can be left out".to_string(),
            Kind::Star => "`*` stands for any number only in rates: `pop *`, `push [1, *]`".to_string(),
            Kind::Close | Kind::Comma if matches!(self.before(), Some(Kind::Comma | Kind::Open)) => {
                "a value is missing before this, or there is a `,` too many".to_string()
            }
            kind if kind.is_keyword() && !matches!(kind, Kind::Switch | Kind::Case | Kind::Default) => {
                format!("{} is a word of the language", self.found())
            }
            _ => return self.hint(),
        })
    }

    /// The place of the next token but one.
    fn after(&self) -> Span {
        self.tokens.get(self.at + 1).map_or(self.span(), |token| token.span)
    }
}

/// Whether a token begins a type.
pub(super) fn starts_type(kind: Kind) -> bool {
    use Kind::{Name, Portal, Void};
    super::types::primitive(kind).is_some() || matches!(kind, Void | Portal | Name)
}

/// Whether a keyword begins a statement and nothing else.
pub(super) fn starts_statement(kind: Kind) -> bool {
    use Kind::{
        Add, Body, Break, Continue, Do, Enqueue, For, Handler, If, Init, Join, Loop, Prework, Push, Return,
        Split, While, Work,
    };
    matches!(
        kind,
        Add | Body
            | Break
            | Continue
            | Do
            | Enqueue
            | For
            | Handler
            | If
            | Init
            | Join
            | Loop
            | Prework
            | Push
            | Return
            | Split
            | While
            | Work
    ) || super::types::primitive(kind).is_some()
}
