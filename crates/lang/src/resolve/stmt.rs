//! Statements.

use super::Resolver;
use super::frame::Where;
use crate::ast::{self, Composite};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, Stmt, StmtKind, Type, Weights};
use crate::source::Span;

impl<'a> Resolver<'a> {
    /// Statements in order; none if one of them is wrong.
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
            ast::StmtKind::If(condition, first, second) => {
                let condition = self.condition_of(condition);
                let first = self.part(first);
                let second = second.as_ref().map_or(Some(Vec::new()), |second| self.part(second));
                Some(StmtKind::If(condition?, first?, second?))
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

    /// A statement that is part of another, with a scope of its own.
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
            return self
                .error(error.label("no loop is around this").hint("`return` leaves the code as a whole"));
        }
        Some(kind)
    }

    fn return_stmt(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<StmtKind> {
        let wanted = self.code().result.clone();
        self.code().returned = true;
        let Some(value) = value else {
            if wanted.is_some_and(|wanted| wanted != Type::Void) {
                let error = Diagnostic::new(span, "the function gives a value, but none stands here");
                return self.error(
                    error
                        .label("a value is missing")
                        .hint("write `return value;`, or make the function `void`"),
                );
            }
            return Some(StmtKind::Return(None));
        };
        let resolved = self.expr(value)?;
        match wanted? {
            Type::Void => {
                let error = Diagnostic::new(value.span, "a value is given back where none is wanted");
                self.error(
                    error.label("nobody takes this").hint("say before the function's name what it gives"),
                )
            }
            wanted => Some(StmtKind::Return(Some(self.convert(resolved, &wanted)?))),
        }
    }

    fn push(&mut self, value: &'a ast::Expr, span: Span) -> Option<StmtKind> {
        let allowed = self.moves_items("push", span);
        let value = self.expr(value);
        allowed?;
        let effects = &mut self.code().effects;
        effects.push = effects.push.or(Some(span));
        match self.frame().output.clone()? {
            Type::Void => {
                let error = Diagnostic::new(span, "`push` in a filter whose output is `void`");
                self.error(error.label("nobody takes this").hint("say in the filter's type what it gives"))
            }
            output => Some(StmtKind::Push(self.convert(value?, &output)?)),
        }
    }

    /// Whether items can be moved here; reports where they cannot.
    pub fn moves_items(&mut self, what: &str, span: Span) -> Option<()> {
        let place = match self.code().place {
            Where::Work | Where::Prework | Where::Function => return Some(()),
            Where::Static => "in a `static` or `struct` declaration",
            Where::Helper => "in a helper function: it belongs to no filter",
            Where::Head => "in a declaration",
            Where::Init => "in `init`",
            Where::Handler => "in a message handler",
            Where::Composite(_) => "in the code of a composite",
        };
        let error = Diagnostic::new(span, format!("`{what}` {place}")).label("no items are moved here");
        self.error(error.hint("items are moved in `work` and `prework`, and in functions called there"))
    }

    fn composite_stmt(&mut self, kind: &'a ast::StmtKind, span: Span) -> Option<StmtKind> {
        self.stands_in_composite(kind, span)?;
        Some(match kind {
            ast::StmtKind::Add(creator) => StmtKind::Add(self.creator(creator)?),
            ast::StmtKind::Body(creator) => StmtKind::Body(self.creator(creator)?),
            ast::StmtKind::Loop(creator) => StmtKind::Loop(self.creator(creator)?),
            ast::StmtKind::Split(weights) => StmtKind::Split(self.weights(weights)?),
            ast::StmtKind::Join(weights) => {
                if *weights == ast::Weights::Duplicate {
                    let error = Diagnostic::new(span, "`join` cannot duplicate");
                    let error =
                        error.label("items are put together in turn").hint("write `join roundrobin;`");
                    return self.error(error);
                }
                StmtKind::Join(self.weights(weights)?)
            }
            ast::StmtKind::Enqueue(value) => {
                let wanted = self.frame().loop_item.clone();
                let value = self.expr(value)?;
                StmtKind::Enqueue(match wanted {
                    Some(wanted) => self.convert(value, &wanted)?,
                    None => value,
                })
            }
            _ => return None,
        })
    }

    /// Reports a statement that does not belong to the kind of stream that it is in.
    fn stands_in_composite(&mut self, kind: &ast::StmtKind, span: Span) -> Option<()> {
        use Composite::{FeedbackLoop, Pipeline, SplitJoin};
        let (word, homes): (_, &[Composite]) = match kind {
            ast::StmtKind::Add(_) => ("add", &[Pipeline, SplitJoin]),
            ast::StmtKind::Body(_) => ("body", &[FeedbackLoop]),
            ast::StmtKind::Loop(_) => ("loop", &[FeedbackLoop]),
            ast::StmtKind::Enqueue(_) => ("enqueue", &[FeedbackLoop]),
            ast::StmtKind::Split(_) => ("split", &[SplitJoin, FeedbackLoop]),
            _ => ("join", &[SplitJoin, FeedbackLoop]),
        };
        if let Where::Composite(here) = self.code().place
            && homes.contains(&here)
        {
            return Some(());
        }
        let names: Vec<_> = homes.iter().map(|home| composite_name(*home)).collect();
        let error = Diagnostic::new(span, format!("`{word}` cannot stand here"))
            .label(format!("only in the code of a {}", names.join(" or a ")));
        let hint = match (word, self.code().place) {
            ("add", Where::Composite(FeedbackLoop)) => "the streams of a loop are its `body` and its `loop`",
            ("body" | "loop", Where::Composite(_)) => "streams are put into this with `add`",
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
                return this
                    .error(error.label("items are counted").hint("with a weight of 0 nothing is moved"));
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
