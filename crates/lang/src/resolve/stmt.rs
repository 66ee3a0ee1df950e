//! Statements.

use super::Resolver;
use super::frame::Context;
use crate::ast::{self, Composite};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, Stmt, StmtKind, Type, Weights};
use crate::source::Span;

impl<'a> Resolver<'a> {
    /// Resolves statements in order; `None` if one of them is invalid.
    pub fn stmts(&mut self, list: &'a [ast::Stmt]) -> Option<Vec<Stmt>> {
        let mut resolved = Some(Vec::with_capacity(list.len()));
        for stmt in list {
            let mut out = Vec::new();
            let right = self.stmt(stmt, &mut out);
            if right.is_none() {
                resolved = None;
            } else if let Some(all) = &mut resolved {
                all.append(&mut out);
            }
        }
        resolved
    }

    fn stmt(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) -> Option<()> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            ast::StmtKind::Declare(variables) => return self.declare_variables(variables, out),
            ast::StmtKind::Empty => return Some(()),
            ast::StmtKind::Expr(value) => self.expr_stmt(value, span)?,
            ast::StmtKind::Message(message) => self.message(message, span)?,
            ast::StmtKind::Assign(place, op, value) => self.assign(place, *op, value)?,
            ast::StmtKind::Push(value) => self.push(value, span)?,
            ast::StmtKind::Return(value) => self.return_stmt(value.as_ref(), span)?,
            ast::StmtKind::Break | ast::StmtKind::Continue => self.jump(&stmt.kind, span)?,
            ast::StmtKind::Block(block) => StmtKind::Block(self.scoped(|this| this.stmts(&block.stmts))?),
            ast::StmtKind::If(..)
            | ast::StmtKind::While(..)
            | ast::StmtKind::DoWhile(..)
            | ast::StmtKind::For { .. } => self.control(&stmt.kind)?,
            ast::StmtKind::Add(_)
            | ast::StmtKind::Body(_)
            | ast::StmtKind::Loop(_)
            | ast::StmtKind::Split(_)
            | ast::StmtKind::Join(_)
            | ast::StmtKind::Enqueue(_) => self.composite_stmt(&stmt.kind, span)?,
        };
        out.push(Stmt { kind, span });
        Some(())
    }

    fn control(&mut self, kind: &'a ast::StmtKind) -> Option<StmtKind> {
        match kind {
            ast::StmtKind::If(branches, otherwise) => {
                let branches: Vec<_> = branches
                    .iter()
                    .map(|(condition, body)| self.condition_of(condition).zip(self.part(body)))
                    .collect();
                let otherwise = otherwise.as_ref().map_or(Some(Vec::new()), |otherwise| self.part(otherwise));
                Some(StmtKind::If(branches.into_iter().collect::<Option<_>>()?, otherwise?))
            }
            ast::StmtKind::While(condition, body) => {
                let condition = self.condition_of(condition);
                let body = self.loop_body(body);
                Some(StmtKind::While(condition?, body?))
            }
            ast::StmtKind::DoWhile(body, condition) => {
                let body = self.loop_body(body);
                let condition = self.condition_of(condition);
                Some(StmtKind::DoWhile(body?, condition?))
            }
            ast::StmtKind::For { init, condition, step, body } => self.scoped(|this| {
                let init = this.optional(init.as_deref());
                let condition = match condition {
                    Some(condition) => this.condition_of(condition).map(Some),
                    None => Some(None),
                };
                let step = this.optional(step.as_deref());
                let body = this.loop_body(body);
                Some(StmtKind::For { init: init?, condition: condition?, step: step?, body: body? })
            }),
            _ => None,
        }
    }

    fn condition_of(&mut self, condition: &'a ast::Expr) -> Option<Expr> {
        let value = self.expr(condition)?;
        self.condition(value)
    }

    /// A substatement, in its own scope.
    fn part(&mut self, stmt: &'a ast::Stmt) -> Option<Vec<Stmt>> {
        self.scoped(|this| match &stmt.kind {
            ast::StmtKind::Block(block) => this.stmts(&block.stmts),
            _ => this.stmts(std::slice::from_ref(stmt)),
        })
    }

    fn optional(&mut self, stmt: Option<&'a ast::Stmt>) -> Option<Vec<Stmt>> {
        stmt.map_or(Some(Vec::new()), |stmt| self.stmts(std::slice::from_ref(stmt)))
    }

    fn loop_body(&mut self, stmt: &'a ast::Stmt) -> Option<Vec<Stmt>> {
        self.code().loops += 1;
        let body = self.part(stmt);
        self.code().loops -= 1;
        body
    }

    fn jump(&mut self, kind: &ast::StmtKind, span: Span) -> Option<StmtKind> {
        let (kind, word) = match kind {
            ast::StmtKind::Break => (StmtKind::Break, "break"),
            _ => (StmtKind::Continue, "continue"),
        };
        if self.code().loops == 0 {
            let error = Diagnostic::new(span, format!("`{word}` outside of a loop"));
            return self.error(error.label("not inside a loop").hint("use `return` to leave the whole body"));
        }
        Some(kind)
    }

    fn return_stmt(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<StmtKind> {
        let required = self.code().result.clone();
        self.code().returned = true;
        let Some(value) = value else {
            if let Some(required) = required.filter(|required| *required != Type::Void) {
                let name = self.type_with_article(&required);
                let error = Diagnostic::new(span, format!("`return` without a value, expected {name}"));
                return self.error(
                    error.label("missing value").hint("write `return value;`, or make the function `void`"),
                );
            }
            return Some(StmtKind::Return(None));
        };
        let resolved = self.expr(value)?;
        match required? {
            Type::Void => {
                let error = Diagnostic::new(value.span, "`return` with a value in a `void` function");
                self.error(
                    error.label("unexpected value").hint("declare a result type before the function's name"),
                )
            }
            required => Some(StmtKind::Return(Some(self.convert(resolved, &required)?))),
        }
    }

    fn push(&mut self, value: &'a ast::Expr, span: Span) -> Option<StmtKind> {
        let allowed = self.check_moves("push", span);
        let value = self.expr(value);
        allowed?;
        let effects = &mut self.code().effects;
        effects.push = effects.push.or(Some(span));
        match self.frame().output.clone()? {
            Type::Void => {
                let error = Diagnostic::new(span, "`push` in a filter with output type `void`");
                self.error(
                    error.label("no stream receives this item").hint("declare the filter's output type"),
                )
            }
            output => Some(StmtKind::Push(self.convert(value?, &output)?)),
        }
    }

    /// Whether items can be moved here; reports an error if not.
    pub fn check_moves(&mut self, what: &str, span: Span) -> Option<()> {
        let place = match self.code().place {
            Context::Work | Context::Prework | Context::Function => return Some(()),
            Context::Static => "in a `static` or `struct` declaration",
            Context::Helper => "in a helper function, which belongs to no filter",
            Context::Head => "in a declaration",
            Context::Init => "in `init`",
            Context::Handler => "in a message handler",
            Context::Composite(_) => "in a pipeline, splitjoin or feedbackloop",
        };
        let error = Diagnostic::new(span, format!("`{what}` {place}")).label("items cannot be moved here");
        self.error(error.hint("move items in `work`, `prework` or functions that they call"))
    }

    fn composite_stmt(&mut self, kind: &'a ast::StmtKind, span: Span) -> Option<StmtKind> {
        self.check_composite_stmt(kind, span)?;
        Some(match kind {
            ast::StmtKind::Add(creator) => StmtKind::Add(self.creator(creator)?),
            ast::StmtKind::Body(creator) => StmtKind::Body(self.creator(creator)?),
            ast::StmtKind::Loop(creator) => StmtKind::Loop(self.creator(creator)?),
            ast::StmtKind::Split(weights) => StmtKind::Split(self.weights(weights)?),
            ast::StmtKind::Join(weights) => {
                if *weights == ast::Weights::Duplicate {
                    let error = Diagnostic::new(span, "`join` cannot duplicate");
                    let error = error.label("a joiner takes items in turn").hint("write `join roundrobin;`");
                    return self.error(error);
                }
                StmtKind::Join(self.weights(weights)?)
            }
            ast::StmtKind::Enqueue(value) => {
                let required = self.frame().loop_item.clone();
                let value = self.expr(value)?;
                StmtKind::Enqueue(match required {
                    Some(required) => self.convert(value, &required)?,
                    None => value,
                })
            }
            _ => return None,
        })
    }

    /// Reports a statement that is not allowed in this kind of stream.
    fn check_composite_stmt(&mut self, kind: &ast::StmtKind, span: Span) -> Option<()> {
        use Composite::{FeedbackLoop, Pipeline, SplitJoin};
        let (word, allowed): (_, &[Composite]) = match kind {
            ast::StmtKind::Add(_) => ("add", &[Pipeline, SplitJoin]),
            ast::StmtKind::Body(_) => ("body", &[FeedbackLoop]),
            ast::StmtKind::Loop(_) => ("loop", &[FeedbackLoop]),
            ast::StmtKind::Enqueue(_) => ("enqueue", &[FeedbackLoop]),
            ast::StmtKind::Split(_) => ("split", &[SplitJoin, FeedbackLoop]),
            _ => ("join", &[SplitJoin, FeedbackLoop]),
        };
        if let Context::Composite(here) = self.code().place
            && allowed.contains(&here)
        {
            return Some(());
        }
        let names: Vec<_> = allowed.iter().map(|composite| composite_name(*composite)).collect();
        let error = Diagnostic::new(span, format!("`{word}` is not allowed here"))
            .label(format!("allowed only in a {}", names.join(" or a ")));
        let hint = match (word, self.code().place) {
            ("add", Context::Composite(FeedbackLoop)) => {
                "use `body` and `loop` for the streams of a feedbackloop"
            }
            ("body" | "loop", Context::Composite(_)) => "use `add` for the streams in this",
            _ => return self.error(error),
        };
        self.error(error.hint(hint))
    }

    fn weights(&mut self, weights: &'a ast::Weights) -> Option<Weights> {
        let ast::Weights::RoundRobin(weights) = weights else { return Some(Weights::Duplicate) };
        let weight = |this: &mut Self, weight: &'a ast::Expr| {
            let value = this.expr(weight)?;
            let value = this.integer(value)?;
            if super::constant::integer(&value).is_some_and(|count| count < 0) {
                let error = Diagnostic::new(weight.span, "a weight cannot be negative");
                return this.error(error.label("expected 0 or more").hint("use 0 for no items"));
            }
            Some(value)
        };
        let weights: Vec<_> = weights.iter().map(|one| weight(self, one)).collect();
        Some(Weights::RoundRobin(weights.into_iter().collect::<Option<_>>()?))
    }
}

/// The keyword.
pub(super) fn composite_name(composite: Composite) -> &'static str {
    match composite {
        Composite::Pipeline => "pipeline",
        Composite::SplitJoin => "splitjoin",
        Composite::FeedbackLoop => "feedbackloop",
    }
}
