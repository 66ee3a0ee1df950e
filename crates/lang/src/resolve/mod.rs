//! From the syntax tree to the resolved program: names become numbers, every expression gets a type, every
//! conversion becomes explicit, and variables that anonymous streams use from the enclosing code become extra
//! parameters.
//!
//! An error is reported where it occurs. A function that cannot resolve its input returns `None`, and callers
//! propagate `None` without another report. So every mistake is reported once, and the rest is still checked.
//!
//! **Accepted beyond the language's description.** Published programs rely on the following: an integer for a bit;
//! integer conditions; `i += 2.5`, which truncates the sum to an integer; calls of handlers as functions; `exp`,
//! `log`, `sin`, `cos` and `sqrt` of complex numbers; an explicit rate of 0 with a type other than `void`; a peek
//! rate below the pop rate; popping fewer items than declared.
//!
//! | file | contents |
//! |---|---|
//! | `declare`, `top_level` | top-level items: names and signatures, then globals, structures, helpers |
//! | `frame`, `names`, `capture` | visibility of variables; captures of anonymous streams |
//! | `types`, `convert`, `constant` | types, promotions, integers known at compile time |
//! | `expr`, `literal`, `place`, `operators`, `call`, `builtins` | expressions |
//! | `stmt`, `assign`, `lists`, `message`, `creator` | statements |
//! | `stream`, `filter`, `functions`, `surroundings`, `wires`, `flow` | streams |
//! | `effects`, `rates`, `count`, `window` | effects of a filter's code: state, and item counts against rates |

mod assign;
mod builtins;
mod call;
mod capture;
mod constant;
mod convert;
mod count;
mod creator;
mod declare;
mod effects;
mod expr;
mod filter;
mod flow;
mod frame;
mod functions;
mod lists;
mod literal;
mod message;
mod names;
mod operators;
mod place;
mod rates;
mod stmt;
mod stream;
mod surroundings;
mod top_level;
mod types;
mod window;
mod wires;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, StreamId, Type};
use declare::{Signature, Tables};
use effects::Effects;
use frame::{Callable, Frame, Variable};
use smol_str::SmolStr;
use std::collections::HashMap;

/// The limit of reported errors.
pub const MAX_ERRORS: usize = 100;

/// Resolves a program.
///
/// # Errors
/// All errors, each mistake once, in source order.
pub fn resolve(program: &ast::Program) -> Result<hir::Program, Vec<Diagnostic>> {
    let mut resolver = Resolver::new(program);
    let resolved = resolver.program();
    let mut errors = resolver.diagnostics;
    errors.sort_by_key(|error| (error.span.file(), error.span.start()));
    errors.truncate(MAX_ERRORS);
    match resolved {
        Some(resolved) if errors.is_empty() => Ok(resolved),
        _ => Err(errors),
    }
}

/// The fields of a structure.
#[derive(Default)]
struct Fields {
    /// Their types; `None` for an invalid one.
    types: Vec<Option<Type>>,
    /// Their indices by name.
    names: HashMap<SmolStr, u32>,
}

/// The state of name resolution.
struct Resolver<'a> {
    ast: &'a ast::Program,
    /// Top-level names.
    tables: Tables<'a>,
    /// Signatures of named streams, by number.
    signatures: Vec<Signature<'a>>,
    structs: Vec<Fields>,
    natives: Vec<Callable<'a>>,
    helpers: Vec<Callable<'a>>,
    helper_effects: Vec<Effects>,
    globals: Vec<Variable>,
    /// Named streams first; `None` for those not resolved yet or invalid.
    streams: Vec<Option<hir::Stream>>,
    /// Inferred item types within the current named stream.
    surroundings: surroundings::Surroundings<'a>,
    /// The enclosing frames, innermost last: anonymous streams nest.
    frames: Vec<Frame<'a>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Resolver<'a> {
    fn new(ast: &'a ast::Program) -> Resolver<'a> {
        Resolver {
            ast,
            tables: Tables::default(),
            signatures: Vec::new(),
            structs: Vec::new(),
            natives: Vec::new(),
            helpers: Vec::new(),
            helper_effects: Vec::new(),
            globals: Vec::new(),
            streams: vec![None; ast.streams.len()],
            surroundings: surroundings::Surroundings::default(),
            frames: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    fn program(&mut self) -> Option<hir::Program> {
        self.declare();
        let (globals, global_inits) = self.all_globals();
        let structs = self.all_structs();
        let helpers = self.all_helpers();
        let ast = self.ast;
        for (index, stream) in ast.streams.iter().enumerate() {
            self.named_stream(StreamId(index as u32), stream);
        }
        let top = self.top();
        Some(hir::Program {
            structs: structs?,
            globals: globals?,
            global_inits: global_inits?,
            natives: self.all_natives()?,
            helpers: helpers?,
            streams: std::mem::take(&mut self.streams).into_iter().collect::<Option<_>>()?,
            top: top?,
        })
    }

    /// Records an error; returns `None` for the item that could not be resolved.
    fn error<T>(&mut self, error: Diagnostic) -> Option<T> {
        // A type is resolved at its declaration and again at each use, so the same error may occur twice.
        let known = |seen: &Diagnostic| seen.span == error.span && seen.message == error.message;
        if self.diagnostics.len() < 2 * MAX_ERRORS && !self.diagnostics.iter().any(known) {
            self.diagnostics.push(error);
        }
        None
    }
}
