//! Inference of the types that anonymous streams omit.
//!
//! A walk over the control flow of a named stream creates a wire for each connection between two streams; [`Wires`]
//! infers their item types.

use super::Resolver;
use super::wires::{Wire, Wires, has_names};
use crate::ast::{self, Composite, Creator, CreatorKind, Stmt, StmtKind, StreamBody, Type, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::hir;
use crate::source::Span;
use std::collections::HashMap;

/// Input and output type of a stream, as far as they are known.
pub(super) type Types<'a> = (Option<&'a Type>, Option<&'a Type>);

static VOID: Type = Type { kind: TypeKind::Void, span: Span::new(0, 0, 0) };

/// Inferred types within a named stream.
#[derive(Default)]
pub(super) struct Surroundings<'a> {
    /// Types before and after each created stream, by the place of its creation.
    around: HashMap<Span, Types<'a>>,
    /// The item type of each feedback loop, by its place.
    rounds: HashMap<Span, &'a Type>,
}

impl<'a> Resolver<'a> {
    /// Infers the types of all streams within a named stream.
    pub fn infer_item_types(&mut self, stream: &'a ast::Stream) {
        let mut walk = Walk { resolver: self, wires: Wires::new(), made: Vec::new(), loops: Vec::new() };
        let (input, output) = (walk.wires.wire(), walk.wires.wire());
        walk.stream(stream, input, output);
        let Walk { mut wires, made, loops, .. } = walk;
        wires.propagate();
        let carried = |wire| wires.carried(wire);
        self.surroundings = Surroundings {
            around: made
                .into_iter()
                .map(|(span, input_type, output_type)| (span, (carried(input_type), carried(output_type))))
                .collect(),
            rounds: loops.into_iter().filter_map(|(span, round)| Some((span, carried(round)?))).collect(),
        };
    }

    /// The types before and after a stream that is created here.
    pub fn types_around(&self, creator: &Creator) -> Types<'a> {
        self.surroundings.around.get(&creator.span).copied().unwrap_or_default()
    }

    /// The declared types of a stream, where they are meaningful at the place of creation.
    fn types_of(&self, creator: &'a Creator) -> Types<'a> {
        match &creator.kind {
            CreatorKind::Anonymous(stream) => written(stream),
            CreatorKind::Named(name, ty, _) => match self.tables.streams.get(name.text.as_str()) {
                Some(&(id, _)) => {
                    let stream = &self.ast.streams[id as usize];
                    let (input, output) = written(stream);
                    let same = |ty: &&Type| stream.params.is_empty() || !has_names(ty);
                    (input.filter(same), output.filter(same))
                }
                None => match name.text.as_str() {
                    "FileReader" => (Some(&VOID), ty.as_ref()),
                    "FileWriter" => (ty.as_ref(), Some(&VOID)),
                    _ => (ty.as_ref(), ty.as_ref()),
                },
            },
        }
    }

    /// Infers the types of a filter that omits them; `void` for a side on which it moves nothing.
    pub fn infer_types(&mut self, filter: &'a ast::Filter, stream: &'a ast::Stream) -> Option<()> {
        let (pops, pushes) = moves(filter);
        let (input, output) = self.frame().written;
        let input = if pops { input } else { Some(&VOID) };
        let output = if pushes { output } else { Some(&VOID) };
        self.frame().written = (input, output);
        if input.is_some() && output.is_some() {
            return Some(());
        }
        let side = if input.is_none() { "input" } else { "output" };
        let error = Diagnostic::new(
            stream.span.with_end(stream.span.start() + 1),
            format!("cannot infer the {side} type of this filter"),
        );
        self.error(error.label("types omitted here").hint("write the types: `int->int filter { ... }`"))
    }

    /// The item type of a feedback loop, if it can be inferred.
    pub fn loop_type(&mut self, stream: &'a ast::Stream) -> Option<hir::Type> {
        let ty = self.surroundings.rounds.get(&stream.span).copied()?;
        self.value_type(ty)
    }
}

fn written(stream: &ast::Stream) -> Types<'_> {
    match &stream.types {
        Some((input, output)) => (Some(input), Some(output)),
        None => (None, None),
    }
}

/// Whether a filter pops or peeks, and whether it pushes, by its declared rates.
fn moves(filter: &ast::Filter) -> (bool, bool) {
    let mut all = filter.works.iter().chain(&filter.preworks).map(|work| &work.rates);
    let pops = all.clone().any(|rates| rates.pop.is_some() || rates.peek.is_some());
    (pops, all.any(|rates| rates.push.is_some()))
}

/// The body of a composite, during the walk.
struct Code {
    kind: Composite,
    /// Input and output of its children; for a feedback loop, of its body.
    ends: (Wire, Wire),
    /// In a pipeline the output of the last child; `None` after `return`, `break` and `continue`.
    here: Option<Wire>,
    /// Where control continues after each enclosing loop.
    exits: Vec<Wire>,
}

struct Walk<'a, 'r> {
    resolver: &'r Resolver<'a>,
    wires: Wires<'a>,
    /// The wires before and after each created stream.
    made: Vec<(Span, Wire, Wire)>,
    /// The wire of each feedback loop.
    loops: Vec<(Span, Wire)>,
}

impl<'a> Walk<'a, '_> {
    fn creator(&mut self, creator: &'a Creator, input: Wire, output: Wire) {
        self.made.push((creator.span, input, output));
        match &creator.kind {
            CreatorKind::Anonymous(stream) => return self.stream(stream, input, output),
            CreatorKind::Named(name, None, _) if name.text == "Identity" => self.wires.join(input, output),
            CreatorKind::Named(..) => {}
        }
        self.declare(self.resolver.types_of(creator), input, output);
    }

    fn declare(&mut self, (input_type, output_type): Types<'a>, input: Wire, output: Wire) {
        input_type.into_iter().for_each(|ty| self.wires.declare(input, ty));
        output_type.into_iter().for_each(|ty| self.wires.declare(output, ty));
    }

    fn stream(&mut self, stream: &'a ast::Stream, input: Wire, output: Wire) {
        self.declare(written(stream), input, output);
        match &stream.body {
            StreamBody::Filter(filter) if stream.types.is_none() && moves(filter) == (true, true) => {
                self.wires.filter(input, output);
            }
            StreamBody::Filter(_) => {}
            StreamBody::Composite(kind, block) => {
                let around = self.wires.enter_scope();
                let ends = if *kind == Composite::FeedbackLoop {
                    self.round(stream, input, output)
                } else {
                    (input, output)
                };
                let mut code = Code { kind: *kind, ends, here: Some(input), exits: Vec::new() };
                self.stmts(&block.stmts, &mut code);
                if *kind == Composite::Pipeline {
                    self.join_if_reachable(code.here, output);
                }
                self.wires.leave_scope(around);
            }
        }
    }

    /// The ends of a feedback loop's body. They may differ from the loop's own ends, which are `void` with a weight
    /// of 0.
    fn round(&mut self, stream: &ast::Stream, input: Wire, output: Wire) -> (Wire, Wire) {
        let ends = (self.wires.wire(), self.wires.wire());
        self.wires.join(input, ends.0);
        self.wires.join(output, ends.1);
        self.loops.push((stream.span, ends.0));
        ends
    }

    fn join_if_reachable(&mut self, here: Option<Wire>, there: Wire) {
        here.into_iter().for_each(|here| self.wires.join(here, there));
    }

    fn stmts(&mut self, stmts: &'a [Stmt], code: &mut Code) {
        let around = self.wires.enter_scope();
        stmts.iter().for_each(|stmt| self.stmt(stmt, code));
        self.wires.leave_scope(around);
    }

    fn stmt(&mut self, stmt: &'a Stmt, code: &mut Code) {
        let (input, output) = code.ends;
        match &stmt.kind {
            StmtKind::Add(creator) if code.kind == Composite::Pipeline => {
                let before = code.here.unwrap_or_else(|| self.wires.wire());
                let behind = self.wires.wire();
                self.creator(creator, before, behind);
                code.here = Some(behind);
            }
            StmtKind::Add(creator) | StmtKind::Body(creator) => self.creator(creator, input, output),
            StmtKind::Loop(creator) => self.creator(creator, output, input),
            StmtKind::Block(block) => self.stmts(&block.stmts, code),
            StmtKind::If(branches, otherwise) => {
                let before = code.here;
                let mut ends = Vec::with_capacity(branches.len());
                for (_, body) in branches {
                    self.part(body, code);
                    ends.push(std::mem::replace(&mut code.here, before));
                }
                otherwise.iter().for_each(|otherwise| self.part(otherwise, code));
                for end in ends {
                    code.here = self.either(end, code.here);
                }
            }
            StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::For { body, .. } => {
                self.loop_body(body, code);
            }
            StmtKind::Break | StmtKind::Continue => {
                if let (Some(here), Some(&exit)) = (code.here.take(), code.exits.last()) {
                    self.wires.join(here, exit);
                }
            }
            StmtKind::Return(_) if code.kind == Composite::Pipeline => {
                let here = code.here.take();
                self.join_if_reachable(here, output);
            }
            _ => {}
        }
    }

    fn part(&mut self, stmt: &'a Stmt, code: &mut Code) {
        self.stmts(std::slice::from_ref(stmt), code);
    }

    /// Joins two control-flow paths.
    fn either(&mut self, first: Option<Wire>, second: Option<Wire>) -> Option<Wire> {
        match (first, second) {
            (Some(first), Some(second)) if first != second => {
                let meet = self.wires.wire();
                self.wires.join(first, meet);
                self.wires.join(second, meet);
                Some(meet)
            }
            (first, second) => first.or(second),
        }
    }

    /// An iteration starts where the previous one ended; the loop may have no iteration.
    fn loop_body(&mut self, body: &'a Stmt, code: &mut Code) {
        let exit = self.wires.wire();
        self.join_if_reachable(code.here, exit);
        code.exits.push(exit);
        self.part(body, code);
        code.exits.pop();
        self.join_if_reachable(code.here, exit);
        code.here = Some(exit);
    }
}
