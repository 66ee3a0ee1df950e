//! Statements.

use super::machine::{Machine, Outcome, WithSpan, fail};
use crate::hir::{Expr, Latency, Send, Stmt, StmtKind};
use crate::source::Span;
use crate::value::Value;

/// Where control continues after a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// After the statement.
    Next,
    /// After the innermost loop.
    Break,
    /// At the next iteration of the innermost loop.
    Continue,
    /// At the caller.
    Return,
}

impl<'p> Machine<'p, '_> {
    /// Executes statements in order.
    pub(super) fn exec_all(&mut self, stmts: &'p [Stmt]) -> Outcome<Flow> {
        for stmt in stmts {
            let flow = self.exec(stmt)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn exec(&mut self, stmt: &'p Stmt) -> Outcome<Flow> {
        let span = stmt.span;
        self.step(1, span)?;
        match &stmt.kind {
            StmtKind::Assign(place, value) => self.assign(place, value, span)?,
            StmtKind::Update { place, op, value, via } => self.update(place, *op, value, via, span)?,
            StmtKind::Declare { local, ty, init } => self.declare(*local, ty, init.as_ref(), span)?,
            StmtKind::Expr(expr) => drop(self.eval(expr)?),
            StmtKind::Push(item) => self.push(item)?,
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(value) => {
                self.result = value.as_ref().map(|value| self.eval(value)).transpose()?;
                return Ok(Flow::Return);
            }
            StmtKind::Print(text, line_ends) => self.print(text.as_ref(), *line_ends, span)?,
            StmtKind::Send(send) => self.send(send, span)?,
            _ => return self.exec_nested(stmt),
        }
        Ok(Flow::Next)
    }

    /// Statements that contain others, and those of composites.
    fn exec_nested(&mut self, stmt: &'p Stmt) -> Outcome<Flow> {
        self.guard(stmt.span)?;
        match &stmt.kind {
            StmtKind::Block(stmts) => self.exec_all(stmts),
            StmtKind::If(branches, otherwise) => {
                for (at, (condition, body)) in branches.iter().enumerate() {
                    if at > 0 {
                        self.step(1, condition.span)?;
                    }
                    if self.eval_bool(condition)? {
                        return self.exec_all(body);
                    }
                }
                self.exec_all(otherwise)
            }
            StmtKind::While(condition, body) => self.repeat(Some(condition), &[], body, stmt.span),
            StmtKind::DoWhile(body, condition) => self.do_while(body, condition, stmt.span),
            StmtKind::For { init, condition, step, body } => {
                self.exec_all(init)?;
                self.repeat(condition.as_ref(), step, body, stmt.span)
            }
            _ => self.exec_composite(stmt).map(|()| Flow::Next),
        }
    }

    fn repeat(
        &mut self,
        condition: Option<&'p Expr>,
        step: &'p [Stmt],
        body: &'p [Stmt],
        span: Span,
    ) -> Outcome<Flow> {
        loop {
            self.step(1, span)?;
            if let Some(condition) = condition
                && !self.eval_bool(condition)?
            {
                return Ok(Flow::Next);
            }
            match self.exec_all(body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next | Flow::Continue => {}
            }
            self.exec_all(step)?;
        }
    }

    fn do_while(&mut self, body: &'p [Stmt], condition: &'p Expr, span: Span) -> Outcome<Flow> {
        loop {
            self.step(1, span)?;
            match self.exec_all(body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next | Flow::Continue => {}
            }
            if !self.eval_bool(condition)? {
                return Ok(Flow::Next);
            }
        }
    }

    fn push(&mut self, expr: &'p Expr) -> Outcome<()> {
        let item = self.eval(expr)?;
        if matches!(item, Value::Array(_)) && !item.fits(self.code.output, self.code.structs) {
            let (found, item) = (item.lengths(), self.code.output);
            return fail(expr.span, format!("cannot push an array {found}: items are {item}"));
        }
        self.host.push(item).with_span(expr.span)
    }

    fn print(&mut self, text: Option<&'p Expr>, line_ends: bool, span: Span) -> Outcome<()> {
        if let Some(expr) = text {
            let value = self.eval(expr)?;
            self.step(value.cells(), span)?;
            match value {
                Value::String(text) => self.host.print(&text).with_span(span)?,
                other => self.host.print(&other.to_text(&expr.ty)).with_span(span)?,
            }
        }
        if line_ends { self.host.print("\n").with_span(span) } else { Ok(()) }
    }

    fn send(&mut self, send: &'p Send, span: Span) -> Outcome<()> {
        let Value::Portal(portal) = self.read(&send.portal, span)? else {
            return fail(span, "expected a portal");
        };
        let args = send.args.iter().map(|arg| self.eval(arg)).collect::<Outcome<Vec<_>>>()?;
        let latency = match &send.latency {
            Latency::Any => None,
            Latency::Between(min, max) => {
                let min = min.as_ref().map(|min| self.eval_int(min)).transpose()?;
                let max = max.as_ref().map(|max| self.eval_int(max)).transpose()?;
                let (low, high) = (min.or(max).unwrap_or(0), max.or(min).unwrap_or(0));
                if low > high {
                    return fail(span, format!("the latency [{low}:{high}] ends before it begins"));
                }
                Some((low, high))
            }
        };
        self.host.send(portal, send.handler, latency, args).with_span(span)
    }
}
