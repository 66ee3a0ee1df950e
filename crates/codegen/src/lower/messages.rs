//! Messages: sending them, and the handlers that receive them.
//!
//! The arguments of a message are consecutive 32-bit scalars. A handler is lowered as a firing that pops one
//! item made of them.

use super::{Lower, Outcome, Val, cells_of};
use crate::ir::{Area, Code, Expr, Kind, Message, Site, Stmt, Why};
use thalweg_lang::hir::{self, BinaryOp, Latency, Send, StreamBody};
use thalweg_lang::source::Span;
use thalweg_lang::tree::{self, Tree};
use thalweg_lang::value::Shape;

/// A filter's handler of a message.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Handler {
    pub(crate) code: Code,
    /// The shapes of its arguments; `None` for a scalar.
    pub(crate) shapes: Vec<Option<Shape>>,
    /// The number of scalars of its arguments.
    pub(crate) cells: usize,
}

/// Lowers a handler.
pub(super) fn lower_handler(
    program: &hir::Program,
    tree: &Tree,
    filter: &tree::Filter,
    handler: u32,
) -> Outcome<Handler> {
    let tree::Code::Written { stream, params, fields } = &filter.code else {
        return Err("the filter has no source code".into());
    };
    let StreamBody::Filter(hir) = &program.streams[stream.0 as usize].body else {
        return Err("the stream is not a filter".into());
    };
    let mut lower = Lower::new(program, tree, hir, filter, (params, fields), filter.work)?;
    let declared = &program.streams[stream.0 as usize].params;
    lower.param_types = declared.iter().map(|(_, shaped)| shaped.ty.clone()).collect();
    (lower.flows, lower.handles, lower.around) = (false, true, 1);
    let function = hir.handlers.get(handler as usize).ok_or("unknown handler")?;
    let (shapes, cells) = lower.handle(function)?;
    Ok(Handler { code: lower.code, shapes, cells })
}

impl<'a> Lower<'a> {
    /// Lowers a handler's body.
    fn handle(&mut self, function: &'a hir::Function) -> Outcome<(Vec<Option<Shape>>, usize)> {
        // Lengths of parameters may depend on other parameters, which are data here.
        let end = self.label();
        self.push_frame(&function.body, end, None);
        let (mut cells, mut shapes, mut values) = (0, Vec::new(), Vec::new());
        for param in &function.params {
            let shape = self.shape(param)?;
            let item = Area::In(Box::new(Expr::int(0)));
            values.push(self.load_cells(&item, &Expr::int(cells as i64), &shape)?);
            cells += cells_of(&shape, &self.tree.structs);
            shapes.push((!matches!(shape, Shape::Scalar(_))).then_some(shape));
        }
        self.frames.pop();
        self.put_in(function, values)?;
        self.code.body = std::mem::take(&mut self.out);
        Ok((shapes, cells))
    }

    /// Lowers `send`: arguments are evaluated first, then the latency.
    pub(super) fn send(&mut self, send: &'a Send, span: Span) -> Outcome<()> {
        let portal = self.portal(&send.portal)?;
        let mut exprs: Vec<&hir::Expr> = send.args.iter().collect();
        let (least, most) = match &send.latency {
            Latency::Any => (None, None),
            Latency::Between(least, most) => (least.as_ref(), most.as_ref()),
        };
        exprs.extend(least.iter().chain(&most));
        let mut values = self.operands(&exprs)?;
        self.span = span;
        let mut bound = |lower: &mut Self, given: Option<&hir::Expr>| match given {
            None => Ok(None),
            Some(_) => lower.integer(values.pop().unwrap_or(Val::Nothing)).map(Some),
        };
        let most = bound(self, most)?;
        let least = bound(self, least)?;
        let latency = match (&send.latency, least, most) {
            (Latency::Any, ..) => None,
            (_, Some(least), Some(most)) => {
                let ends = self.compare(BinaryOp::Gt, least.clone(), most.clone());
                let why = "the latency [{0}:{1}] ends before it begins";
                self.check(ends, why.into(), vec![least, most.clone()]);
                Some(most)
            }
            (_, least, most) => Some(most.or(least).unwrap_or(Expr::int(0))),
        };
        let (mut args, mut shapes) = (Vec::new(), Vec::new());
        for value in values {
            shapes.push(match &value {
                Val::Area(_, _, shape) => Some(shape.clone()),
                _ => None,
            });
            self.flat(value, &mut args)?;
        }
        let message = self.code.messages.len() as u32;
        let (cells, timed) = (args.len(), latency.is_some());
        self.code.messages.push(Message { portal, handler: send.handler, timed, shapes, cells });
        // The engine, which delivers the message, supplies the reason of a failure.
        self.code.sites.push(Site { span, why: Why(String::new()) });
        let site = self.code.sites.len() as u32 - 1;
        self.emit(Stmt::Send { message, latency, args, site });
        Ok(())
    }

    fn integer(&mut self, value: Val) -> Outcome<Expr> {
        match value {
            Val::Scalar(ex) => match ex.kind(&self.code) {
                Kind::Int => Ok(ex),
                kind => Ok(self.convert_scalar(ex, kind, Kind::Int)),
            },
            _ => Err("a latency is not a number".into()),
        }
    }

    /// Appends the scalars of a value, in order.
    fn flat(&mut self, value: Val, out: &mut Vec<Expr>) -> Outcome<()> {
        match value {
            Val::Scalar(ex) => out.push(ex),
            Val::Cells(parts) => out.extend(parts),
            Val::Area(area, at, shape) => {
                let mut kinds = Vec::new();
                self.kinds(&shape, &mut kinds)?;
                if kinds.len() > MOST {
                    return Err(format!("an argument of a message has more than {MOST} scalars"));
                }
                for (cell, kind) in kinds.into_iter().enumerate() {
                    let at = at.clone().plus(Expr::int(cell as i64));
                    out.push(Expr::Load(area.clone(), Box::new(at), kind));
                }
            }
            Val::Nothing | Val::Text(_) => return Err("an argument of a message is not a number".into()),
        }
        Ok(())
    }
}

/// The most scalars of an argument of a message.
const MOST: usize = 4096;
