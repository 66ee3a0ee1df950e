//! Statements.

use super::{Printer, list};
use crate::ast::{Block, Creator, CreatorKind, Expr, ExprKind, Stmt, StmtKind};

/// An expression without outer parentheses.
fn bare(expr: &Expr) -> String {
    let text = expr.to_string();
    match &expr.kind {
        ExprKind::Step { .. } => text[1..text.len() - 1].to_string(),
        _ => text,
    }
}

/// A statement that is also allowed in the head of a `for`, without `;`.
fn simple(kind: &StmtKind) -> String {
    match kind {
        StmtKind::Push(value) => format!("push({value})"),
        StmtKind::Declare(variables) => match variables.first() {
            Some(first) => format!("{} {}", first.ty, list(variables)),
            None => String::new(),
        },
        StmtKind::Assign(place, None, value) => format!("{place} = {value}"),
        StmtKind::Assign(place, Some(op), value) => format!("{place} {op}= {value}"),
        StmtKind::Expr(value) => bare(value),
        StmtKind::Message(message) => {
            let arguments = list(&message.arguments);
            format!("{}.{}({arguments}){}", message.receiver, message.name, message.latency)
        }
        StmtKind::Split(weights) => format!("split {weights}"),
        StmtKind::Join(weights) => format!("join {weights}"),
        StmtKind::Enqueue(value) => format!("enqueue {value}"),
        StmtKind::Break => "break".to_string(),
        StmtKind::Continue => "continue".to_string(),
        StmtKind::Return(None) => "return".to_string(),
        StmtKind::Return(Some(value)) => format!("return {value}"),
        _ => String::new(),
    }
}

impl Printer {
    pub(super) fn block(&mut self, block: &Block) {
        self.braces(|printer| block.stmts.iter().for_each(|stmt| printer.stmt(stmt)));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Add(creator) => self.creator("add", creator),
            StmtKind::Body(creator) => self.creator("body", creator),
            StmtKind::Loop(creator) => self.creator("loop", creator),
            StmtKind::Block(block) => {
                self.line("{");
                self.level += 1;
                block.stmts.iter().for_each(|stmt| self.stmt(stmt));
                self.level -= 1;
                self.line("}");
            }
            StmtKind::If(branches, otherwise) => self.if_stmt(branches, otherwise.as_deref()),
            StmtKind::While(condition, body) => {
                self.line(&format!("while ({condition})"));
                self.body(body);
            }
            StmtKind::DoWhile(body, condition) => {
                self.line("do");
                self.body(body);
                self.line(&format!("while ({condition});"));
            }
            StmtKind::For { init, condition, step, body } => {
                let part = |stmt: &Option<Box<Stmt>>| stmt.as_ref().map(|stmt| simple(&stmt.kind));
                let condition = condition.as_ref().map(Expr::to_string).unwrap_or_default();
                let (init, step) = (part(init).unwrap_or_default(), part(step).unwrap_or_default());
                self.line(&format!("for ({init}; {condition}; {step})"));
                self.body(body);
            }
            kind => self.line(&format!("{};", simple(kind))),
        }
    }

    fn if_stmt(&mut self, branches: &[(Expr, Stmt)], otherwise: Option<&Stmt>) {
        for (at, (condition, body)) in branches.iter().enumerate() {
            let word = if at == 0 { "if" } else { "else if" };
            self.line(&format!("{word} ({condition})"));
            self.body(body);
        }
        if let Some(otherwise) = otherwise {
            self.line("else");
            self.body(otherwise);
        }
    }

    /// The body of a branch or loop: a block on the same line, or an indented statement.
    fn body(&mut self, stmt: &Stmt) {
        if let StmtKind::Block(block) = &stmt.kind {
            self.block(block);
            return;
        }
        self.level += 1;
        self.stmt(stmt);
        self.level -= 1;
    }

    fn creator(&mut self, word: &str, creator: &Creator) {
        match &creator.kind {
            CreatorKind::Anonymous(stream) => {
                let head = self.stream_head(stream);
                self.line(&format!("{word} {head}"));
                self.stream_body(&stream.body);
            }
            CreatorKind::Named(name, of, arguments) => {
                let of = of.as_ref().map(|of| format!("<{of}>")).unwrap_or_default();
                self.line(&format!("{word} {name}{of}({})", list(arguments)));
            }
        }
        if !creator.portals.is_empty() {
            self.add(&format!(" to {}", list(&creator.portals)));
        }
        self.add(";");
    }
}
