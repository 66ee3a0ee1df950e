//! Error recovery, and help lines for common mistakes.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

impl Parser<'_> {
    /// Consumes a required `;`. A missing one is reported after the statement; parsing continues with the next line
    /// or statement.
    pub(super) fn semicolon(&mut self, after: &str) {
        if self.eat(Kind::Semicolon) {
            return;
        }
        if !self.is_follow_up_error() {
            let message = format!("expected `;` after {after}, found {}", self.found());
            let error = Diagnostic::new(self.previous_span(), message).label("missing `;` after this");
            let nothing_lost =
                self.at(Kind::CloseBrace) || self.on_new_line() || starts_statement(self.kind());
            let (hint, recovered) = (self.hint(), nothing_lost);
            self.report(Diagnostic { hint, recovered, ..error });
        }
        self.failed_at = Some(self.at);
        if !self.on_new_line() && !starts_statement(self.kind()) {
            self.skip_statement();
        }
    }

    /// Whether the current token is the first on its line.
    fn on_new_line(&self) -> bool {
        let between = Span::new(self.span().file(), self.previous_span().end(), self.span().start());
        between.start() > between.end() || self.text_at(between).contains('\n')
    }

    /// Skips the rest of a statement that began at token `first`, and at least one token.
    pub(super) fn skip_from(&mut self, first: usize) {
        let stops = matches!(self.kind(), Kind::Semicolon | Kind::OpenBrace | Kind::CloseBrace | Kind::End);
        if self.at == first && !stops {
            self.bump();
        }
        self.skip_statement();
    }

    /// Skips the rest of a statement with its `;`; stops before braces and before the start of another statement.
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

    /// Skips to the `{` of a stream or function after an unreadable head; returns whether there is one.
    pub(super) fn skip_to_block(&mut self) -> bool {
        loop {
            match self.kind() {
                Kind::OpenBrace => return true,
                Kind::Semicolon | Kind::CloseBrace | Kind::End => return false,
                _ => self.bump(),
            };
        }
    }

    /// Skips past a closing bracket; returns false if the statement ends first.
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

    /// Skips from `{` past its `}`.
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

    /// Skips to the next top-level item.
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

    /// Whether a top-level item may begin here, judged by two tokens. A block without its `}` ends before the next
    /// stream.
    pub(super) fn at_item(&self) -> bool {
        match self.kind() {
            Kind::Struct | Kind::Native | Kind::Static | Kind::Helper => true,
            kind => starts_type(kind) && self.lookahead(1) == Kind::Arrow,
        }
    }

    /// Whether a block without its `}` ends here, because the token cannot occur in a block.
    pub(super) fn ends_block(&self) -> bool {
        let part = matches!(self.kind(), Kind::Init | Kind::Work | Kind::Prework | Kind::Handler);
        (self.in_filter && part) || self.at_item()
    }

    /// The help line for an unexpected token.
    pub(super) fn hint(&self) -> Option<String> {
        let text = self.text_at(self.span());
        Some(match self.kind() {
            Kind::Switch | Kind::Case | Kind::Default => {
                format!("`{text}` is reserved but not supported; use `if` and `else`")
            }
            Kind::Template => "`template` is reserved but not supported".to_string(),
            Kind::Assign
                if matches!(self.previous_kind(), Some(Kind::And | Kind::Or | Kind::Xor | Kind::Percent)) =>
            {
                let operator = self.text_at(self.previous_span());
                format!("there is no operator `{operator}=`; write `x = x {operator} y`")
            }
            Kind::Arrow => "`->` separates the types of a stream; put a space between `-` and `>`".into(),
            Kind::Dot if self.lookahead(1) == Kind::Number => {
                format!("write a digit before the point: `0.{}`", self.text_at(self.next_span()))
            }
            Kind::Dot if self.previous_kind() == Some(Kind::Number) => {
                format!("write a digit after the point: `{}.0`", self.text_at(self.previous_span()))
            }
            _ => return None,
        })
    }

    /// The help line where an expression was expected.
    pub(super) fn hint_for_value(&self) -> Option<String> {
        Some(match self.kind() {
            Kind::Plus => "remove the `+`".to_string(),
            Kind::Star => "`*` is allowed only as a rate: `pop *`, `push [1, *]`".to_string(),
            Kind::Close | Kind::Comma if matches!(self.previous_kind(), Some(Kind::Comma | Kind::Open)) => {
                "add the missing value or remove the extra `,`".to_string()
            }
            kind if kind.is_keyword() && !matches!(kind, Kind::Switch | Kind::Case | Kind::Default) => {
                format!("{} is a keyword", self.found())
            }
            _ => return self.hint(),
        })
    }

    /// The place of the token after the current one.
    fn next_span(&self) -> Span {
        self.tokens.get(self.at + 1).map_or(self.span(), |token| token.span)
    }
}

/// Whether a token begins a type.
pub(super) fn starts_type(kind: Kind) -> bool {
    use Kind::{Name, Portal, Void};
    super::types::primitive(kind).is_some() || matches!(kind, Void | Portal | Name)
}

/// Whether a keyword always begins a statement.
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
