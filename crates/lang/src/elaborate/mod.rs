//! Elaboration: executing all code that makes streams, and what is done once before anything runs.
//!
//! First the variables of `static` blocks get their values, then the stream that is the program is
//! made, and with it all that are in it: a composite's code is executed to its end, and then the streams
//! it has asked for are made, in that order. A filter is made by giving its fields their first values,
//! executing its `init` and evaluating its rates.
//!
//! What is made is checked as far as it can be without knowing how often each filter fires: arguments
//! and items have the shapes that are declared, neighbours give what is taken, splitters and joiners
//! have a weight for each child, rates are numbers that make sense.
//!
//! What does not end is ended: by [`Limits`] on steps, on memory, on the number of streams and on how
//! deep they are nested. An error is reported once for each place in the source, with the first stream
//! it was found in.
//!
//! ```
//! use thalweg_lang::{Sources, elaborate, parse, resolve, tree};
//!
//! let sources = Sources::of("ones.str", "
//!     void->void pipeline Ones { add One(3); add Print(); }
//!     void->int filter One(int n) { work push n { for (int i = 0; i < n; i++) push(1); } }
//!     int->void filter Print { work pop 1 { println(pop()); } }
//! ");
//! let (parsed, errors) = parse(&sources);
//! assert!(errors.is_empty());
//! let program = resolve::resolve(&parsed).expect("names and types are right");
//! let made = elaborate::elaborate(&program).expect("its streams can be made");
//! let text = "\
//! Ones: void->void pipeline
//!   One: void->int filter, push 3
//!   Print: int->void filter, pop 1
//! ";
//! assert_eq!(tree::describe(&made, &program), text);
//! ```

mod composite;
mod dealing;
mod feedback;
mod filter;
mod globals;
mod limits;
mod names;
mod outside;
mod pipeline;
mod rates;
mod report;
mod splitjoin;
mod stream;
#[cfg(test)]
mod tests;

pub use limits::Limits;

use crate::diagnostic::Diagnostic;
use crate::eval::{Budget, Code, Globals, Machine, Scratch};
use crate::hir::{Function, Program, StreamId};
use crate::tree::{Filter, FilterId, Tree};
use crate::value::{Shape, Value};
use outside::Outside;
use smol_str::SmolStr;
use std::collections::HashSet;

/// Makes all streams of a program, within the [`Limits`] that hold where nothing else is said.
///
/// # Errors
/// All that is wrong with them, as far as it can be found in one go.
pub fn elaborate(program: &Program) -> Result<Tree, Vec<Diagnostic>> {
    elaborate_within(program, &Limits::default())
}

/// Makes all streams of a program.
///
/// It does so on a thread of its own, so that nesting is bounded by the limits alone and not by the
/// caller's stack.
///
/// # Errors
/// All that is wrong with them, as far as it can be found in one go.
pub fn elaborate_within(program: &Program, limits: &Limits) -> Result<Tree, Vec<Diagnostic>> {
    let work = || Elaborator::new(program, limits).run();
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("elaborate".to_owned());
        match builder.stack_size(limits::THREAD_STACK).spawn_scoped(scope, work) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(why) => {
                let span = program
                    .streams
                    .get(program.top.0 as usize)
                    .map_or(crate::Span::default(), |top| top.span);
                Err(vec![Diagnostic::new(span, format!("there is no thread to make the streams on: {why}"))])
            }
        }
    })
}

/// What composites push, as it were.
static NOTHING: Shape = Shape::VOID;

/// What has been made so far.
struct Elaborator<'p> {
    program: &'p Program,
    limits: &'p Limits,
    structs: Vec<Vec<Shape>>,
    globals: Vec<Value>,
    filters: Vec<Filter>,
    portals: Vec<Vec<FilterId>>,
    next_portal: u32,
    outside: Outside,
    scratch: Scratch,
    budget: Budget,
    /// The streams that are being made, from the whole to the innermost.
    path: Vec<(SmolStr, Option<StreamId>)>,
    /// How many streams have been made.
    streams: u32,
    errors: Vec<Diagnostic>,
    /// What has been reported, and where.
    reported: HashSet<(crate::Span, String)>,
    /// There is no sense in going on.
    stopped: bool,
}

impl<'p> Elaborator<'p> {
    fn new(program: &'p Program, limits: &'p Limits) -> Elaborator<'p> {
        Elaborator {
            program,
            limits,
            structs: vec![Vec::new(); program.structs.len()],
            globals: vec![globals::NOT_YET; program.globals.len()],
            filters: Vec::new(),
            portals: Vec::new(),
            next_portal: 0,
            outside: Outside::new(),
            scratch: Scratch::default(),
            budget: Budget { steps: limits.steps, words: limits.words, stack: limits::CODE_STACK },
            path: Vec::new(),
            streams: 0,
            errors: Vec::new(),
            reported: HashSet::new(),
            stopped: false,
        }
    }

    fn run(mut self) -> Result<Tree, Vec<Diagnostic>> {
        let known = self.make_globals();
        // Streams would fail on every global that has no value.
        let root = if known { self.make_top() } else { None };
        match root {
            Some(root) if self.errors.is_empty() => Ok(Tree {
                root,
                filters: self.filters,
                portals: self.portals,
                globals: self.globals,
                structs: self.structs,
                printed: self.outside.printed,
            }),
            _ => Err(self.errors),
        }
    }

    /// A machine for code with these parameters and fields.
    fn machine<'a>(
        &'a mut self,
        params: &'a [Value],
        fields: &'a mut [Value],
        functions: &'p [Function],
    ) -> Machine<'p, 'a> {
        let code =
            Code { program: self.program, structs: &self.structs, params, functions, output: &NOTHING };
        let globals = Globals::Changing(&mut self.globals);
        Machine::new(code, globals, fields, &mut self.outside, &mut self.scratch, &mut self.budget)
    }
}
