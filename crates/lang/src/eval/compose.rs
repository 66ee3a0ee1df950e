//! Code of composites: records its requests in order, for elaboration.

use super::machine::{Machine, Outcome, fail};
use crate::hir::{Body, Creator, Expr, Made, Stmt, StmtKind, Weights};
use crate::source::Span;
use crate::value::{Shape, Value};

/// Memory of a request without its arguments, in words.
const REQUEST: u64 = 128;

/// A request of a composite, with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Directive<'p> {
    /// The request.
    pub kind: DirectiveKind<'p>,
    /// Its place.
    pub span: Span,
}

/// Requests of a composite.
#[derive(Clone, PartialEq, Debug)]
pub enum DirectiveKind<'p> {
    /// `add`
    Add(Request<'p>),
    /// `body`
    Body(Request<'p>),
    /// `loop`
    Loop(Request<'p>),
    /// `split`
    Split(RawWeights),
    /// `join`
    Join(RawWeights),
    /// `enqueue`
    Enqueue(Value),
}

impl DirectiveKind<'_> {
    /// The keyword of the request.
    pub fn keyword(&self) -> &'static str {
        match self {
            DirectiveKind::Add(_) => "add",
            DirectiveKind::Body(_) => "body",
            DirectiveKind::Loop(_) => "loop",
            DirectiveKind::Split(_) => "split",
            DirectiveKind::Join(_) => "join",
            DirectiveKind::Enqueue(_) => "enqueue",
        }
    }
}

/// A request for a stream instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Request<'p> {
    /// The statement in the program.
    pub creator: &'p Creator,
    /// Its arguments.
    pub args: Vec<Value>,
    /// Portals that it is registered with.
    pub portals: Vec<u32>,
    /// The item type, for a built-in stream.
    pub item: Option<Shape>,
}

/// Evaluated weights of `split` or `join`, before validation.
#[derive(Clone, PartialEq, Debug)]
pub enum RawWeights {
    /// Every child receives every item.
    Duplicate,
    /// As in [`Weights::RoundRobin`].
    RoundRobin(Vec<i32>),
}

impl<'p> Machine<'p, '_> {
    /// Executes the code of a composite and returns its requests. Portals that it declares are numbered from
    /// `next_portal`, which is advanced past them.
    ///
    /// # Errors
    /// The code fails.
    pub fn run_composite(&mut self, body: &'p Body, next_portal: &mut u32) -> Outcome<Vec<Directive<'p>>> {
        self.directives = Some(Vec::new());
        self.next_portal = *next_portal;
        let done = self.run(body);
        *next_portal = self.next_portal;
        done.map(|()| self.directives.take().unwrap_or_default())
    }

    pub(super) fn exec_composite(&mut self, stmt: &'p Stmt) -> Outcome<()> {
        let kind = match &stmt.kind {
            StmtKind::Add(creator) => DirectiveKind::Add(self.request(creator)?),
            StmtKind::Body(creator) => DirectiveKind::Body(self.request(creator)?),
            StmtKind::Loop(creator) => DirectiveKind::Loop(self.request(creator)?),
            StmtKind::Split(weights) => DirectiveKind::Split(self.weights(weights)?),
            StmtKind::Join(weights) => DirectiveKind::Join(self.weights(weights)?),
            StmtKind::Enqueue(item) => DirectiveKind::Enqueue(self.enqueued(item)?),
            _ => return fail(stmt.span, "this is not a statement of a composite"),
        };
        match &mut self.directives {
            Some(directives) => directives.push(Directive { kind, span: stmt.span }),
            None => return fail(stmt.span, "only composites create streams"),
        }
        Ok(())
    }

    /// Reserves memory that is never returned: requests become streams.
    fn reserve(&mut self, words: u64, span: Span) -> Outcome<()> {
        if self.budget.reserve(words) {
            Ok(())
        } else {
            fail(span, "the streams together take too much memory")
        }
    }

    fn request(&mut self, creator: &'p Creator) -> Outcome<Request<'p>> {
        let args = creator.args.iter().map(|arg| self.eval(arg)).collect::<Outcome<Vec<_>>>()?;
        let words = args.iter().map(Value::words).sum::<u64>();
        self.reserve(words + 8 * creator.portals.len() as u64 + REQUEST, creator.span)?;
        let mut portals = Vec::with_capacity(creator.portals.len());
        for place in &creator.portals {
            match self.read(place, creator.span)? {
                Value::Portal(number) => portals.push(number),
                other => return fail(creator.span, format!("expected a portal, found {}", other.kind())),
            }
        }
        let item = match &creator.made {
            Made::Stream(_) => None,
            Made::Identity(item) | Made::FileReader(item) | Made::FileWriter(item) => Some(self.shape(item)?),
        };
        Ok(Request { creator, args, portals, item })
    }

    fn weights(&mut self, weights: &'p Weights) -> Outcome<RawWeights> {
        match weights {
            Weights::Duplicate => Ok(RawWeights::Duplicate),
            Weights::RoundRobin(weights) => {
                let weights = weights.iter().map(|weight| self.eval_int(weight));
                Ok(RawWeights::RoundRobin(weights.collect::<Outcome<_>>()?))
            }
        }
    }

    fn enqueued(&mut self, expr: &'p Expr) -> Outcome<Value> {
        let item = self.eval(expr)?;
        self.reserve(item.words(), expr.span)?;
        Ok(item)
    }
}
