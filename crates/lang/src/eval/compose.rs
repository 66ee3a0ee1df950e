//! Code that makes streams: what it asks for is noted, in order, for whoever makes them.

use super::machine::{Machine, Outcome, fail};
use crate::hir::{Body, Creator, Expr, Made, Stmt, StmtKind, Weights};
use crate::source::Span;
use crate::value::{Shape, Value};

/// Room that a request for a stream takes besides its arguments, in words.
const REQUEST: u64 = 128;

/// Something that a composite asks for.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece<'p> {
    /// What.
    pub kind: PieceKind<'p>,
    /// Where.
    pub span: Span,
}

/// What a composite asks for.
#[derive(Clone, PartialEq, Debug)]
pub enum PieceKind<'p> {
    /// `add`
    Add(Request<'p>),
    /// `body`
    Body(Request<'p>),
    /// `loop`
    Loop(Request<'p>),
    /// `split`
    Split(Dealing),
    /// `join`
    Join(Dealing),
    /// `enqueue`
    Enqueue(Value),
}

impl PieceKind<'_> {
    /// The word that asks for it.
    pub fn keyword(&self) -> &'static str {
        match self {
            PieceKind::Add(_) => "add",
            PieceKind::Body(_) => "body",
            PieceKind::Loop(_) => "loop",
            PieceKind::Split(_) => "split",
            PieceKind::Join(_) => "join",
            PieceKind::Enqueue(_) => "enqueue",
        }
    }
}

/// A stream that is asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Request<'p> {
    /// What stands in the program.
    pub creator: &'p Creator,
    /// Its arguments.
    pub args: Vec<Value>,
    /// Portals that it is to hear.
    pub portals: Vec<u32>,
    /// What goes through it, of a stream that the language has.
    pub item: Option<Shape>,
}

/// What `split` and `join` say, in numbers.
#[derive(Clone, PartialEq, Debug)]
pub enum Dealing {
    /// Everything to everybody.
    Duplicate,
    /// As in [`Weights::RoundRobin`].
    RoundRobin(Vec<i32>),
}

impl<'p> Machine<'p, '_> {
    /// Executes the code of a composite; what it asks for. Portals that it declares are numbered from
    /// `next_portal` on, which is moved past them.
    ///
    /// # Errors
    /// It cannot go on.
    pub fn run_composite(&mut self, body: &'p Body, next_portal: &mut u32) -> Outcome<Vec<Piece<'p>>> {
        self.pieces = Some(Vec::new());
        self.next_portal = *next_portal;
        let done = self.run(body);
        *next_portal = self.next_portal;
        done.map(|()| self.pieces.take().unwrap_or_default())
    }

    pub(super) fn exec_composite(&mut self, stmt: &'p Stmt) -> Outcome<()> {
        let kind = match &stmt.kind {
            StmtKind::Add(creator) => PieceKind::Add(self.request(creator)?),
            StmtKind::Body(creator) => PieceKind::Body(self.request(creator)?),
            StmtKind::Loop(creator) => PieceKind::Loop(self.request(creator)?),
            StmtKind::Split(weights) => PieceKind::Split(self.dealing(weights)?),
            StmtKind::Join(weights) => PieceKind::Join(self.dealing(weights)?),
            StmtKind::Enqueue(item) => PieceKind::Enqueue(self.enqueued(item)?),
            _ => return fail(stmt.span, "this is not a statement of a composite"),
        };
        match &mut self.pieces {
            Some(pieces) => pieces.push(Piece { kind, span: stmt.span }),
            None => return fail(stmt.span, "streams are made by composites only"),
        }
        Ok(())
    }

    /// Room for requests is not given back: they become streams.
    fn keep(&mut self, words: u64, span: Span) -> Outcome<()> {
        if self.budget.take(words) { Ok(()) } else { fail(span, "all streams together take too much memory") }
    }

    fn request(&mut self, creator: &'p Creator) -> Outcome<Request<'p>> {
        let args = creator.args.iter().map(|arg| self.eval(arg)).collect::<Outcome<Vec<_>>>()?;
        let words = args.iter().map(Value::words).sum::<u64>();
        self.keep(words + 8 * creator.portals.len() as u64 + REQUEST, creator.span)?;
        let mut portals = Vec::with_capacity(creator.portals.len());
        for place in &creator.portals {
            match self.read(place, creator.span)? {
                Value::Portal(number) => portals.push(number),
                other => return fail(creator.span, format!("{} where a portal is needed", other.kind())),
            }
        }
        let item = match &creator.made {
            Made::Stream(_) => None,
            Made::Identity(item) | Made::FileReader(item) | Made::FileWriter(item) => Some(self.shape(item)?),
        };
        Ok(Request { creator, args, portals, item })
    }

    fn dealing(&mut self, weights: &'p Weights) -> Outcome<Dealing> {
        match weights {
            Weights::Duplicate => Ok(Dealing::Duplicate),
            Weights::RoundRobin(weights) => {
                let weights = weights.iter().map(|weight| self.eval_int(weight));
                Ok(Dealing::RoundRobin(weights.collect::<Outcome<_>>()?))
            }
        }
    }

    fn enqueued(&mut self, expr: &'p Expr) -> Outcome<Value> {
        let item = self.eval(expr)?;
        self.keep(item.words(), expr.span)?;
        Ok(item)
    }
}
