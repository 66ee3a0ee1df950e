//! Types that anonymous streams leave out, from what is around them.

use super::Resolver;
use crate::ast::{self, Composite, CreatorKind, StmtKind, Type, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::hir;
use crate::source::Span;

/// What a stream takes and gives, as far as it is seen.
type Types<'a> = (Option<&'a Type>, Option<&'a Type>);

static VOID: Type = Type { kind: TypeKind::Void, span: Span { file: 0, start: 0, end: 0 } };

impl<'a> Resolver<'a> {
    /// What a stream that is made by this statement finds around it.
    pub fn surroundings(&mut self, role: &StmtKind) -> Types<'a> {
        let frame = self.frame();
        let (input, output) = frame.written;
        match (frame.composite, role) {
            (Some(Composite::SplitJoin), _) => (input, output),
            (Some(Composite::FeedbackLoop), StmtKind::Body(_)) => {
                (input.filter(|ty| !is_void(ty)), output.filter(|ty| !is_void(ty)))
            }
            (Some(Composite::FeedbackLoop), _) => {
                (output.filter(|ty| !is_void(ty)), input.filter(|ty| !is_void(ty)))
            }
            _ => match frame.beside {
                Some((stmts, at)) => (self.before(stmts, at, input), self.after(stmts, at, output)),
                None => (None, None),
            },
        }
    }

    /// What the child before gives; the first takes what the pipeline takes.
    fn before(&self, stmts: &'a [ast::Stmt], at: usize, input: Option<&'a Type>) -> Option<&'a Type> {
        match stmts[..at].iter().rev().find(|stmt| !is_plain(stmt)) {
            None => input,
            Some(ast::Stmt { kind: StmtKind::Add(creator), .. }) => self.types_of(creator).1,
            Some(_) => None,
        }
    }

    /// What the child after takes; the last gives what the pipeline gives.
    fn after(&self, stmts: &'a [ast::Stmt], at: usize, output: Option<&'a Type>) -> Option<&'a Type> {
        match stmts[at + 1..].iter().find(|stmt| !is_plain(stmt)) {
            None => output,
            Some(ast::Stmt { kind: StmtKind::Add(creator), .. }) => self.types_of(creator).0,
            Some(_) => None,
        }
    }

    /// What a stream takes and gives, where its types mean the same here.
    fn types_of(&self, creator: &'a ast::Creator) -> Types<'a> {
        match &creator.kind {
            CreatorKind::Anonymous(stream) => written(stream),
            CreatorKind::Named(name, ty, _) => match self.tables.streams.get(name.text.as_str()) {
                Some(&(id, _)) => {
                    let stream = &self.ast.streams[id as usize];
                    let (input, output) = written(stream);
                    let same =
                        |ty: &&Type| stream.params.is_empty() || !matches!(ty.kind, TypeKind::Array(..));
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
        let all = || filter.works.iter().chain(&filter.preworks).map(|work| &work.rates);
        let takes = all().any(|rates| rates.pop.is_some() || rates.peek.is_some());
        let gives = all().any(|rates| rates.push.is_some());
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

    /// The type of what goes round the feedback loop we are in, where it is seen.
    pub fn loop_type(&mut self) -> Option<hir::Type> {
        let frame = self.frame();
        if let Some(input) = frame.input.clone().filter(|ty| *ty != hir::Type::Void) {
            return Some(input);
        }
        let around = frame.written.0.filter(|ty| !is_void(ty));
        let ty = around.or_else(|| {
            let (stmts, _) = self.frame().beside?;
            stmts.iter().find_map(|stmt| match &stmt.kind {
                StmtKind::Body(creator) => self.types_of(creator).0,
                StmtKind::Loop(creator) => self.types_of(creator).1,
                _ => None,
            })
        });
        self.value_type(ty?)
    }
}

fn is_void(ty: &Type) -> bool {
    ty.kind == TypeKind::Void
}

fn written(stream: &ast::Stream) -> Types<'_> {
    match &stream.types {
        Some((input, output)) => (Some(input), Some(output)),
        None => (None, None),
    }
}

/// Whether a statement makes no stream.
fn is_plain(stmt: &ast::Stmt) -> bool {
    matches!(
        stmt.kind,
        StmtKind::Declare(_)
            | StmtKind::Assign(..)
            | StmtKind::Expr(_)
            | StmtKind::Message(_)
            | StmtKind::Empty
    )
}
