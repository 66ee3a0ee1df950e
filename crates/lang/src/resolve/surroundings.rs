//! Types that anonymous streams leave out, from what is around them.
//!
//! A walk through the code of a stream with a name, as it may be executed, makes a wire of each place between two
//! streams; [`Wires`] finds what they carry.

use super::Resolver;
use super::wires::{Wire, Wires, has_names};
use crate::ast::{self, Composite, Creator, CreatorKind, Stmt, StmtKind, StreamBody, Type, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::hir;
use crate::source::Span;
use std::collections::HashMap;

/// What a stream takes and gives, as far as it is seen.
pub(super) type Types<'a> = (Option<&'a Type>, Option<&'a Type>);

static VOID: Type = Type { kind: TypeKind::Void, span: Span { file: 0, start: 0, end: 0 } };

/// What is around the streams in a stream with a name.
#[derive(Default)]
pub(super) struct Surroundings<'a> {
    /// What comes to a stream and is taken from it, by the place where it is made.
    around: HashMap<Span, Types<'a>>,
    /// What goes round a feedback loop, by its place.
    rounds: HashMap<Span, &'a Type>,
}

impl<'a> Resolver<'a> {
    /// Looks at all streams in a stream with a name.
    pub fn look_around(&mut self, stream: &'a ast::Stream) {
        let mut walk = Walk { resolver: self, wires: Wires::new(), made: Vec::new(), loops: Vec::new() };
        let (input, output) = (walk.wires.wire(), walk.wires.wire());
        walk.stream(stream, input, output);
        let Walk { mut wires, made, loops, .. } = walk;
        wires.spread();
        let carried = |wire| wires.carried(wire);
        self.surroundings = Surroundings {
            around: made
                .into_iter()
                .map(|(span, takes, gives)| (span, (carried(takes), carried(gives))))
                .collect(),
            rounds: loops.into_iter().filter_map(|(span, round)| Some((span, carried(round)?))).collect(),
        };
    }

    /// What is around a stream that is made here.
    pub fn around(&self, creator: &Creator) -> Types<'a> {
        self.surroundings.around.get(&creator.span).copied().unwrap_or_default()
    }

    /// What a stream takes and gives, where its types mean the same here.
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

    /// Types of a filter that does not say them: what is around, and nothing where it moves nothing.
    pub fn infer_types(&mut self, filter: &'a ast::Filter, stream: &'a ast::Stream) -> Option<()> {
        let (takes, gives) = moves(filter);
        let (input, output) = self.frame().written;
        let input = if takes { input } else { Some(&VOID) };
        let output = if gives { output } else { Some(&VOID) };
        self.frame().written = (input, output);
        if input.is_some() && output.is_some() {
            return Some(());
        }
        let unseen = if input.is_none() { "takes" } else { "gives" };
        let error = Diagnostic::new(
            Span { end: stream.span.start + 1, ..stream.span },
            format!("what this filter {unseen} cannot be seen from its surroundings"),
        );
        self.error(error.label("it has no types").hint("write them: `int->int filter { ... }`"))
    }

    /// The type of what goes round a feedback loop, where it is seen.
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

/// Whether a filter takes items, and whether it gives some.
fn moves(filter: &ast::Filter) -> (bool, bool) {
    let mut all = filter.works.iter().chain(&filter.preworks).map(|work| &work.rates);
    let takes = all.clone().any(|rates| rates.pop.is_some() || rates.peek.is_some());
    (takes, all.any(|rates| rates.push.is_some()))
}

/// A composite's code, on the way through it.
struct Code {
    kind: Composite,
    /// What its parts take, and what they give; of a feedback loop, its body.
    ends: (Wire, Wire),
    /// In a pipeline the end of the last stream; none behind `return`, `break` and `continue`.
    here: Option<Wire>,
    /// Where the loops around go on.
    exits: Vec<Wire>,
}

struct Walk<'a, 'r> {
    resolver: &'r Resolver<'a>,
    wires: Wires<'a>,
    /// What is before and behind the streams that are made.
    made: Vec<(Span, Wire, Wire)>,
    /// What goes round loops.
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
        self.say(self.resolver.types_of(creator), input, output);
    }

    fn say(&mut self, (takes, gives): Types<'a>, input: Wire, output: Wire) {
        takes.into_iter().for_each(|ty| self.wires.say(input, ty));
        gives.into_iter().for_each(|ty| self.wires.say(output, ty));
    }

    fn stream(&mut self, stream: &'a ast::Stream, input: Wire, output: Wire) {
        self.say(written(stream), input, output);
        match &stream.body {
            StreamBody::Filter(filter) if stream.types.is_none() && moves(filter) == (true, true) => {
                self.wires.filter(input, output);
            }
            StreamBody::Filter(_) => {}
            StreamBody::Composite(kind, block) => {
                let around = self.wires.enter();
                let ends = if *kind == Composite::FeedbackLoop {
                    self.round(stream, input, output)
                } else {
                    (input, output)
                };
                let mut code = Code { kind: *kind, ends, here: Some(input), exits: Vec::new() };
                self.stmts(&block.stmts, &mut code);
                if *kind == Composite::Pipeline {
                    self.reaches(code.here, output);
                }
                self.wires.leave(around);
            }
        }
    }

    /// The ends of a feedback loop's body, which may be another's than the loop's: with a weight of 0 those are nothing.
    fn round(&mut self, stream: &ast::Stream, input: Wire, output: Wire) -> (Wire, Wire) {
        let ends = (self.wires.wire(), self.wires.wire());
        self.wires.join(input, ends.0);
        self.wires.join(output, ends.1);
        self.loops.push((stream.span, ends.0));
        ends
    }

    fn reaches(&mut self, here: Option<Wire>, there: Wire) {
        here.into_iter().for_each(|here| self.wires.join(here, there));
    }

    fn stmts(&mut self, stmts: &'a [Stmt], code: &mut Code) {
        let around = self.wires.enter();
        stmts.iter().for_each(|stmt| self.stmt(stmt, code));
        self.wires.leave(around);
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
            StmtKind::If(_, first, second) => {
                let before = code.here;
                self.part(first, code);
                let first = std::mem::replace(&mut code.here, before);
                second.iter().for_each(|second| self.part(second, code));
                code.here = self.either(first, code.here);
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
                self.reaches(here, output);
            }
            _ => {}
        }
    }

    fn part(&mut self, stmt: &'a Stmt, code: &mut Code) {
        self.stmts(std::slice::from_ref(stmt), code);
    }

    /// Where two ways meet.
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

    /// A turn of a loop begins where the one before ended, and there may be none.
    fn loop_body(&mut self, body: &'a Stmt, code: &mut Code) {
        let exit = self.wires.wire();
        self.reaches(code.here, exit);
        code.exits.push(exit);
        self.part(body, code);
        code.exits.pop();
        self.reaches(code.here, exit);
        code.here = Some(exit);
    }
}
