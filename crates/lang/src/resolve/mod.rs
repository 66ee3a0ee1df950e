//! From the syntax tree to the resolved program: names become numbers, every expression gets its type,
//! every conversion is written out, and anonymous streams get what they use of their surroundings as
//! further parameters.
//!
//! What is wrong is reported and left out: a function that could not resolve something answers `None`,
//! and who gets `None` says nothing more about it. So a mistake is told once, and the rest is checked.
//!
//! **Where the programs decide.** Published programs count on some things that the language's description
//! does not say or says otherwise, so they are accepted: an integer for a bit; conditions that are integers;
//! `i += 2.5`, which cuts the sum to an integer; handlers called like functions; `exp`, `log`, `sin`, `cos`
//! and `sqrt` of complex numbers; a rate of 0, where it is written, beside a type that is not `void`; a
//! peek rate less than the pop rate; taking fewer items than declared.
//!
//! | file | what |
//! |---|---|
//! | `declare`, `outside` | what stands at the top of files: names and signatures, then globals, structures, helpers |
//! | `frame`, `names`, `capture` | which variables can be seen from where; what anonymous streams close over |
//! | `types`, `convert`, `constant` | types, promotions, integers known here |
//! | `expr`, `literal`, `place`, `operators`, `call`, `builtins` | expressions |
//! | `stmt`, `assign`, `lists`, `message`, `creator` | statements |
//! | `stream`, `filter`, `functions`, `surroundings`, `wires`, `flow` | streams |
//! | `effects`, `rates`, `count`, `window` | what a filter's code does: state, and items against rates |

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
mod outside;
mod place;
mod rates;
mod stmt;
mod stream;
mod surroundings;
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

/// More than these are not reported: who has so many reads the first ones.
pub const MAX_ERRORS: usize = 100;

/// Resolves a program.
///
/// # Errors
/// All that is wrong with it, each mistake once, in the order of the source.
pub fn resolve(program: &ast::Program) -> Result<hir::Program, Vec<Diagnostic>> {
    let mut resolver = Resolver::new(program);
    let resolved = resolver.program();
    let mut errors = resolver.diagnostics;
    errors.sort_by_key(|error| (error.span.file, error.span.start));
    errors.truncate(MAX_ERRORS);
    match resolved {
        Some(resolved) if errors.is_empty() => Ok(resolved),
        _ => Err(errors),
    }
}

/// A structure's fields.
#[derive(Default)]
struct Fields {
    /// Their types; none for what is wrong.
    types: Vec<Option<Type>>,
    /// Their places by their names.
    names: HashMap<SmolStr, u32>,
}

/// The state of the work.
struct Resolver<'a> {
    ast: &'a ast::Program,
    /// Names of the top of files.
    tables: Tables<'a>,
    /// Of streams with names, by their numbers.
    signatures: Vec<Signature<'a>>,
    structs: Vec<Fields>,
    natives: Vec<Callable<'a>>,
    helpers: Vec<Callable<'a>>,
    helper_effects: Vec<Effects>,
    globals: Vec<Variable>,
    /// Those with names first; what is not yet or cannot be resolved is none.
    streams: Vec<Option<hir::Stream>>,
    /// Of the stream with a name that we are in.
    surroundings: surroundings::Surroundings<'a>,
    /// The code we are in, innermost last: anonymous streams stand in others.
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

    /// Notes what is wrong, and answers for what could not be resolved.
    fn error<T>(&mut self, error: Diagnostic) -> Option<T> {
        // A type is looked at where it is declared and again where it is used.
        let known = |seen: &Diagnostic| seen.span == error.span && seen.message == error.message;
        if self.diagnostics.len() < 2 * MAX_ERRORS && !self.diagnostics.iter().any(known) {
            self.diagnostics.push(error);
        }
        None
    }
}
