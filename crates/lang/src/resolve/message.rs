//! Messages.

use super::Resolver;
use super::frame::Context;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Latency, Place, Send, StmtKind, StreamId, Type};
use crate::source::Span;
use crate::value::Value;

impl<'a> Resolver<'a> {
    /// `portal.handler(arguments) [latency];`, or a call of a helper or native function.
    pub fn message(&mut self, message: &'a ast::Message, span: Span) -> Option<StmtKind> {
        if let Some(root) = self.lookup(&message.receiver.text) {
            let place = Place { root, path: Vec::new() };
            let args = self.values(&message.arguments);
            let latency = self.latency(&message.latency, span);
            self.can_send(span)?;
            return match self.type_of(root)? {
                Type::Portal(to) => self.send(message, (place, to), args, latency?, span),
                other => {
                    let name = self.type_with_article(&other);
                    let error = Diagnostic::new(
                        message.receiver.span,
                        "cannot send a message to a value that is not a portal",
                    );
                    self.error(
                        error.label(format!("this is {name}")).hint("declare one: `portal<Filter> p;`"),
                    )
                }
            };
        }
        if self.is_block(&message.receiver.text) {
            if message.latency != ast::Latency::Omitted {
                let error = Diagnostic::new(span, "a call has no latency");
                self.error::<()>(error.label("this is a call, not a message").hint("remove the brackets"));
            }
            let call = self.block_call(&message.receiver, &message.name, &message.arguments, span)?;
            return Some(StmtKind::Expr(call));
        }
        self.values(&message.arguments);
        self.unknown_variable(&message.receiver.text, message.receiver.span)
    }

    fn can_send(&mut self, span: Span) -> Option<()> {
        match self.code().place {
            Context::Work | Context::Prework | Context::Function | Context::Handler => {
                self.code().effects.state = true;
                Some(())
            }
            _ => {
                let error = Diagnostic::new(span, "a message cannot be sent here");
                self.error(error.label("only `work`, `prework`, functions and handlers send messages"))
            }
        }
    }

    fn send(
        &mut self,
        message: &'a ast::Message,
        (portal, to): (Place, StreamId),
        args: Vec<Option<Expr>>,
        latency: Latency,
        span: Span,
    ) -> Option<StmtKind> {
        let name = &message.name;
        let handlers = &self.signatures[to.0 as usize].handlers;
        let Some(at) = handlers.iter().position(|handler| handler.name.text == name.text) else {
            let names = handlers.iter().map(|handler| handler.name.text.as_str());
            let mut error = self.unknown("handler", &name.text, name.span, names);
            if let Some(filter) = &self.ast.streams[to.0 as usize].name {
                error = error.other(filter.span, "the portal sends to this filter");
            }
            return self.error(error);
        };
        let handler = handlers[at].clone();
        if args.len() != handler.params.len() {
            let error = self.wrong_count(&name.text, handler.params.len(), args.len(), span);
            return self.error(error.other(handler.name.span, "declared here"));
        }
        let convert = |(value, ty): (Option<Expr>, &Option<Type>)| self.convert(value?, ty.as_ref()?);
        let args: Vec<_> = args.into_iter().zip(&handler.params).map(convert).collect();
        let args = args.into_iter().collect::<Option<_>>()?;
        Some(StmtKind::Send(Box::new(Send { portal, to, handler: at as u32, args, latency })))
    }

    fn latency(&mut self, latency: &'a ast::Latency, span: Span) -> Option<Latency> {
        let zero = || Some(Expr { kind: ExprKind::Constant(Value::Int(0)), ty: Type::Int, span });
        match latency {
            ast::Latency::Any => Some(Latency::Any),
            ast::Latency::Omitted => Some(Latency::Between(zero(), zero())),
            ast::Latency::Between(min, max) => {
                let min = self.latency_bound(min.as_deref());
                let max = self.latency_bound(max.as_deref());
                let (min, max) = (min?, max?);
                self.latency_order(min.as_ref(), max.as_ref())?;
                Some(Latency::Between(min, max))
            }
        }
    }

    fn latency_bound(&mut self, bound: Option<&'a ast::Expr>) -> Option<Option<Expr>> {
        let Some(bound) = bound else { return Some(None) };
        let value = self.expr(bound)?;
        self.integer(value).map(Some)
    }

    fn latency_order(&mut self, min: Option<&Expr>, max: Option<&Expr>) -> Option<()> {
        let known = |bound: Option<&Expr>| bound.and_then(super::constant::integer);
        let (Some(least), Some(most), Some(max)) = (known(min), known(max), max) else { return Some(()) };
        if least <= most {
            return Some(());
        }
        let error =
            Diagnostic::new(max.span, format!("the minimum latency {least} exceeds the maximum {most}"));
        self.error(error.label("less than the minimum").hint("write the smaller bound first"))
    }
}
