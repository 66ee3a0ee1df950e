//! Expressions: what stands between values, in the language's own precedence.
//!
//! From loose to tight: `?:`, `||`, `&&`, then `| & ^` on one level, `== !=`, `< <= > >=`, `+ -`, and
//! `* / % << >>` on one level. All operators between two values associate to the left.

use super::{MAX_HEIGHT, Parsed, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

/// An expression, and how many others stand one inside the other in it.
pub(super) struct Tall {
    pub(super) expr: Expr,
    pub(super) height: u32,
}

/// The level of an operator, and the operator.
fn operator(kind: Kind) -> Option<(u8, BinaryOp)> {
    Some(match kind {
        Kind::OrOr => (1, BinaryOp::Or),
        Kind::AndAnd => (2, BinaryOp::And),
        Kind::Or => (3, BinaryOp::BitOr),
        Kind::And => (3, BinaryOp::BitAnd),
        Kind::Xor => (3, BinaryOp::BitXor),
        Kind::Equal => (4, BinaryOp::Eq),
        Kind::NotEqual => (4, BinaryOp::Ne),
        Kind::Less => (5, BinaryOp::Lt),
        Kind::LessEqual => (5, BinaryOp::Le),
        Kind::Greater => (5, BinaryOp::Gt),
        Kind::GreaterEqual => (5, BinaryOp::Ge),
        Kind::Plus => (6, BinaryOp::Add),
        Kind::Minus => (6, BinaryOp::Sub),
        Kind::Star => (7, BinaryOp::Mul),
        Kind::Slash => (7, BinaryOp::Div),
        Kind::Percent => (7, BinaryOp::Rem),
        Kind::Left => (7, BinaryOp::ShiftLeft),
        Kind::Right => (7, BinaryOp::ShiftRight),
        _ => return None,
    })
}

/// The operator of an assignment: with none, `=`.
pub(super) fn assignment(kind: Kind) -> Option<Option<BinaryOp>> {
    Some(match kind {
        Kind::Assign => None,
        Kind::PlusAssign => Some(BinaryOp::Add),
        Kind::MinusAssign => Some(BinaryOp::Sub),
        Kind::StarAssign => Some(BinaryOp::Mul),
        Kind::SlashAssign => Some(BinaryOp::Div),
        Kind::LeftAssign => Some(BinaryOp::ShiftLeft),
        Kind::RightAssign => Some(BinaryOp::ShiftRight),
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        Ok(self.tall_expr()?.expr)
    }

    /// An expression, with its height.
    pub(super) fn tall_expr(&mut self) -> Parsed<Tall> {
        let value = self.value_of_statement()?;
        if assignment(self.kind()).is_some() {
            self.assignment_as_value()?;
        }
        Ok(value)
    }

    /// An expression that an assignment may follow.
    pub(super) fn value_of_statement(&mut self) -> Parsed<Tall> {
        self.nested(Parser::ternary)
    }

    /// Reports an assignment where a value is wanted, and skips it.
    fn assignment_as_value(&mut self) -> Parsed<()> {
        let hint = if self.at(Kind::Assign) {
            "`==` compares; an assignment is written as a statement of its own"
        } else {
            "write it as a statement of its own"
        };
        let error = Diagnostic::new(self.span(), "an assignment is a statement and has no value").hint(hint);
        self.complain(error);
        self.bump();
        self.expr().map(|_| ())
    }

    /// `ternary := lor ['?' ternary ':' ternary]`
    fn ternary(&mut self) -> Parsed<Tall> {
        let start = self.span();
        let condition = self.binary(1)?;
        if !self.eat(Kind::Question) {
            return Ok(condition);
        }
        let first = self.tall_expr()?;
        self.expect(Kind::Colon, "after the first value of `?`")?;
        let second = self.tall_expr()?;
        let height = condition.height.max(first.height).max(second.height);
        let parts = (Box::new(condition.expr), Box::new(first.expr), Box::new(second.expr));
        self.grow(ExprKind::Ternary(parts.0, parts.1, parts.2), start, height)
    }

    /// Operators of a level and tighter ones.
    fn binary(&mut self, least: u8) -> Parsed<Tall> {
        let start = self.span();
        let mut left = self.cast()?;
        while let Some((level, op)) = operator(self.kind()).filter(|(level, _)| *level >= least) {
            self.bump();
            let right = self.binary(level + 1)?;
            let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
            left = self.grow(kind, start, left.height.max(right.height))?;
        }
        Ok(left)
    }

    /// An expression of others, the highest of which has a height.
    pub(super) fn grow(&mut self, kind: ExprKind, start: Span, height: u32) -> Parsed<Tall> {
        if height == MAX_HEIGHT {
            return self.give_up("this expression is too long", format!("more than {MAX_HEIGHT} operations"));
        }
        Ok(Tall { expr: Expr { kind, span: self.since(start) }, height: height + 1 })
    }
}
