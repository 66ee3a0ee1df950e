//! Operators between values.
//!
//! From loose to tight: `?:`, `||`, `&&`, then `| & ^` on one level, `== !=`, `< <= > >=`, `+ -`, and
//! `* / % << >>` on one level. All binary operators associate to the left.

use super::{MAX_HEIGHT, Parsed, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

/// An expression and the height of its tree.
pub(super) struct Measured {
    pub(super) expr: Expr,
    pub(super) height: u32,
}

/// An operator that waits for its right operand.
struct PendingOperator {
    left: Measured,
    start: Span,
    level: u8,
    op: BinaryOp,
}

/// The binding level and operation of a token, if it is a binary operator.
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

/// The operator of a compound assignment; `Some(None)` for `=`.
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
        Ok(self.measured_expr()?.expr)
    }

    /// An expression with its height.
    pub(super) fn measured_expr(&mut self) -> Parsed<Measured> {
        let value = self.bare_expr()?;
        if assignment(self.kind()).is_some() {
            self.assignments_as_values()?;
        }
        Ok(value)
    }

    /// An expression; an assignment operator may follow.
    pub(super) fn bare_expr(&mut self) -> Parsed<Measured> {
        self.nested(Parser::ternary)
    }

    /// Reports assignments used as values, and skips them.
    fn assignments_as_values(&mut self) -> Parsed<()> {
        let hint = if self.at(Kind::Assign) {
            "use `==` to compare, or write the assignment as a separate statement"
        } else {
            "write the assignment as a separate statement"
        };
        let error =
            Diagnostic::new(self.span(), "an assignment is a statement, not an expression").hint(hint);
        self.report_here(error);
        while assignment(self.kind()).is_some() {
            self.bump();
            self.bare_expr()?;
        }
        Ok(())
    }

    /// `ternary := lor ['?' ternary ':' ternary]`
    fn ternary(&mut self) -> Parsed<Measured> {
        let start = self.span();
        let condition = self.operations()?;
        if !self.eat(Kind::Question) {
            return Ok(condition);
        }
        let first = self.measured_expr()?;
        let hint = "write `condition ? value : other value`";
        self.expect_with(Kind::Colon, "after the first value of `?`", Some(hint))?;
        let second = self.measured_expr()?;
        let height = condition.height.max(first.height).max(second.height);
        let parts = (Box::new(condition.expr), Box::new(first.expr), Box::new(second.expr));
        self.measured(ExprKind::Ternary(parts.0, parts.1, parts.2), start, height)
    }

    /// Operator-precedence parsing: an operator stays pending until a looser operator or the end delimits its right
    /// operand. A single loop for all levels keeps the stack small.
    fn operations(&mut self) -> Parsed<Measured> {
        let mut pending: Vec<PendingOperator> = Vec::new();
        loop {
            let mut start = self.span();
            let mut value = self.cast()?;
            let next = operator(self.kind());
            let level = next.map_or(0, |(level, _)| level);
            while let Some(before) = pending.pop_if(|before| before.level >= level) {
                start = before.start;
                value = self.join(before, value)?;
            }
            let Some((level, op)) = next else { return Ok(value) };
            self.bump();
            pending.push(PendingOperator { left: value, start, level, op });
        }
    }

    fn join(
        &mut self,
        PendingOperator { left, start, op, .. }: PendingOperator,
        right: Measured,
    ) -> Parsed<Measured> {
        // Operators that follow each other are one level.
        if let ExprKind::Binary(first, mut rest) = left.expr.kind {
            rest.push((op, right.expr));
            return self.measured(ExprKind::Binary(first, rest), start, right.height.max(left.height - 1));
        }
        let kind = ExprKind::Binary(Box::new(left.expr), vec![(op, right.expr)]);
        self.measured(kind, start, left.height.max(right.height))
    }

    /// Builds an expression from parts of which the highest has this height.
    pub(super) fn measured(&mut self, kind: ExprKind, start: Span, height: u32) -> Parsed<Measured> {
        if height == MAX_HEIGHT {
            return self
                .abort_file("this expression is too long", format!("more than {MAX_HEIGHT} operations"));
        }
        Ok(Measured { expr: Expr { kind, span: self.since(start) }, height: height + 1 })
    }
}
