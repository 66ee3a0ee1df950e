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

/// An operator whose right side is not known yet.
struct Waiting {
    left: Tall,
    start: Span,
    level: u8,
    op: BinaryOp,
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
            self.assignments_as_values()?;
        }
        Ok(value)
    }

    /// An expression that an assignment may follow.
    pub(super) fn value_of_statement(&mut self) -> Parsed<Tall> {
        self.nested(Parser::ternary)
    }

    /// Reports an assignment where a value is wanted, and skips it and those that follow.
    fn assignments_as_values(&mut self) -> Parsed<()> {
        let hint = if self.at(Kind::Assign) {
            "`==` compares; an assignment is written as a statement of its own"
        } else {
            "write it as a statement of its own"
        };
        let error = Diagnostic::new(self.span(), "an assignment is a statement and has no value").hint(hint);
        self.complain(error);
        while assignment(self.kind()).is_some() {
            self.bump();
            self.value_of_statement()?;
        }
        Ok(())
    }

    /// `ternary := lor ['?' ternary ':' ternary]`
    fn ternary(&mut self) -> Parsed<Tall> {
        let start = self.span();
        let condition = self.operations()?;
        if !self.eat(Kind::Question) {
            return Ok(condition);
        }
        let first = self.tall_expr()?;
        let hint = "a choice is `condition ? value : other value`";
        self.expect_with(Kind::Colon, "after the first value of `?`", Some(hint))?;
        let second = self.tall_expr()?;
        let height = condition.height.max(first.height).max(second.height);
        let parts = (Box::new(condition.expr), Box::new(first.expr), Box::new(second.expr));
        self.grow(ExprKind::Ternary(parts.0, parts.1, parts.2), start, height)
    }

    /// Values with operators between: each operator waits until a looser one, or the end, shows what is to its
    /// right. One frame for all levels keeps the stack small.
    fn operations(&mut self) -> Parsed<Tall> {
        let mut waiting: Vec<Waiting> = Vec::new();
        loop {
            let mut start = self.span();
            let mut value = self.cast()?;
            let next = operator(self.kind());
            let level = next.map_or(0, |(level, _)| level);
            while let Some(before) = waiting.pop_if(|before| before.level >= level) {
                start = before.start;
                value = self.join(before, value)?;
            }
            let Some((level, op)) = next else { return Ok(value) };
            self.bump();
            waiting.push(Waiting { left: value, start, level, op });
        }
    }

    fn join(&mut self, Waiting { left, start, op, .. }: Waiting, right: Tall) -> Parsed<Tall> {
        let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
        self.grow(kind, start, left.height.max(right.height))
    }

    /// An expression of others, the highest of which has a height.
    pub(super) fn grow(&mut self, kind: ExprKind, start: Span, height: u32) -> Parsed<Tall> {
        if height == MAX_HEIGHT {
            return self.give_up("this expression is too long", format!("more than {MAX_HEIGHT} operations"));
        }
        Ok(Tall { expr: Expr { kind, span: self.since(start) }, height: height + 1 })
    }
}
