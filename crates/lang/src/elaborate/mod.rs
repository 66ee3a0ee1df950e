//! Elaboration: executes all code that creates streams, and the initialisation of filters.
//!
//! First the variables of `static` blocks get their values. Then the entry point is instantiated with all streams
//! in it: the body of a composite runs to its end, and the streams that it requested are instantiated in that
//! order. A filter is instantiated by initialising its fields, executing its `init` and evaluating its rates.
//!
//! Every instance is checked as far as possible without a schedule: arguments and items have the declared shapes,
//! neighbours agree on item types, splitters and joiners have one weight per child, rates are valid.
//!
//! [`Limits`] on steps, memory, number of streams and nesting depth end code that does not terminate. An error is
//! reported once per place in the source, with the first stream in which it was found.
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
//! let program = resolve::resolve(&parsed).expect("the program resolves");
//! let made = elaborate::elaborate(&program).expect("its streams can be instantiated");
//! let text = "\
//! Ones: void->void pipeline
//!   One: void->int filter, push 3
//!   Print: int->void filter, pop 1
//! ";
//! assert_eq!(tree::describe(&made, &program), text);
//! ```

mod composite;
mod feedback;
mod filter;
mod globals;
mod host;
mod limits;
mod names;
mod pipeline;
mod rates;
mod report;
mod splitjoin;
mod stream;
#[cfg(test)]
mod tests;
mod weights;

pub use limits::Limits;

use crate::diagnostic::Diagnostic;
use crate::eval::{Budget, Code, Globals, Machine, Scratch};
use crate::hir::{Function, Program, StreamId};
use crate::tree::{Filter, FilterId, Tree};
use crate::value::{Shape, Value};
use host::ElaborationHost;
use smol_str::SmolStr;
use std::collections::HashSet;

/// Instantiates all streams of a program, within the default [`Limits`].
///
/// # Errors
/// All errors that can be found in one run.
pub fn elaborate(program: &Program) -> Result<Tree, Vec<Diagnostic>> {
    elaborate_within(program, &Limits::default())
}

/// Instantiates all streams of a program.
///
/// Runs on its own thread, so that only the limits bound nesting, not the caller's stack.
///
/// # Errors
/// All errors that can be found in one run.
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
                Err(vec![Diagnostic::new(span, format!("cannot start a thread for elaboration: {why}"))])
            }
        }
    })
}

/// The output type in code of composites, which pushes no items.
static VOID_SHAPE: Shape = Shape::VOID;

/// The state of elaboration.
struct Elaborator<'p> {
    program: &'p Program,
    limits: &'p Limits,
    structs: Vec<Vec<Shape>>,
    globals: Vec<Value>,
    filters: Vec<Filter>,
    portals: Vec<Vec<FilterId>>,
    next_portal: u32,
    host: ElaborationHost,
    scratch: Scratch,
    budget: Budget,
    /// The streams being instantiated, from the entry point to the innermost.
    path: Vec<(SmolStr, Option<StreamId>)>,
    /// The number of streams instantiated so far.
    streams: u32,
    errors: Vec<Diagnostic>,
    /// Errors that have been reported, with their places.
    reported: HashSet<(crate::Span, String)>,
    /// A limit was exceeded; nothing more is instantiated.
    stopped: bool,
}

impl<'p> Elaborator<'p> {
    fn new(program: &'p Program, limits: &'p Limits) -> Elaborator<'p> {
        Elaborator {
            program,
            limits,
            structs: vec![Vec::new(); program.structs.len()],
            globals: vec![globals::UNINITIALISED; program.globals.len()],
            filters: Vec::new(),
            portals: Vec::new(),
            next_portal: 0,
            host: ElaborationHost::new(),
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
        // Without values of globals every stream that uses one would fail.
        let root = if known { self.make_top() } else { None };
        match root {
            Some(root) if self.errors.is_empty() => Ok(Tree {
                root,
                filters: self.filters,
                portals: self.portals,
                globals: self.globals,
                structs: self.structs,
                printed: self.host.printed,
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
            Code { program: self.program, structs: &self.structs, params, functions, output: &VOID_SHAPE };
        let globals = Globals::Changing(&mut self.globals);
        Machine::new(code, globals, fields, &mut self.host, &mut self.scratch, &mut self.budget)
    }
}
