//! Which variables, functions and channels the code we are in has.

use super::Resolver;
use super::effects::Effects;
use crate::ast::{self, Composite};
use crate::hir::{Callee, Root, Shaped, Type};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::HashMap;

/// A variable, parameter, field or global.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: SmolStr,
    pub span: Span,
    /// None where it is wrong, which has been reported.
    pub ty: Option<Type>,
    /// The same with lengths, in terms of the frame that it belongs to.
    pub shape: Option<Shaped>,
}

/// A function that can be called, or a handler.
#[derive(Clone, Debug)]
pub(super) struct Callable<'a> {
    pub name: &'a ast::Name,
    pub params: Vec<Option<Type>>,
    pub result: Option<Type>,
    pub callee: Callee,
}

/// What kind of code it is; that decides what may stand in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Where {
    /// Values of globals, and lengths in structures.
    Static,
    /// A function of a `helper` block.
    Helper,
    /// Types, rates and first values of a stream.
    Head,
    Init,
    Prework,
    Work,
    Function,
    Handler,
    Composite(Composite),
}

/// Code with variables of its own.
#[derive(Debug)]
pub(super) struct Code {
    pub place: Where,
    /// All that were declared in it.
    pub locals: Vec<Variable>,
    /// Those that can be seen, the innermost scope last.
    scopes: Vec<HashMap<SmolStr, u32>>,
    /// How many of the locals are parameters.
    pub params: usize,
    /// Names that were used where there is no such variable: in how many scopes, and which error says so.
    pub missing: Vec<(SmolStr, usize, usize)>,
    /// Loops around where we are.
    pub loops: u32,
    /// What `return` gives; none where that is wrong.
    pub result: Option<Type>,
    /// There is a `return`.
    pub returned: bool,
    pub effects: Effects,
}

impl Code {
    pub fn new(place: Where) -> Code {
        Code {
            place,
            locals: Vec::new(),
            scopes: vec![HashMap::new()],
            params: 0,
            missing: Vec::new(),
            loops: 0,
            result: Some(Type::Void),
            returned: false,
            effects: Effects::default(),
        }
    }

    /// Notes a name that cannot be found, with the number of the error about it.
    pub fn misses(&mut self, name: &str, error: usize) {
        self.missing.push((name.into(), self.scopes.len(), error));
    }

    /// Errors about a name that would have been found, had it been declared before.
    pub fn missed(&self, name: &str) -> Vec<usize> {
        let here =
            |(missing, scopes, _): &&(SmolStr, usize, usize)| missing == name && *scopes == self.scopes.len();
        self.missing.iter().filter(here).map(|(_, _, error)| *error).collect()
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}

/// A stream, or code outside of all, and what can be seen from it.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// What the stream is called, where it has a name.
    pub name: Option<SmolStr>,
    /// What a composite is.
    pub composite: Option<Composite>,
    /// Parameters, what is captured after those that were written.
    pub params: Vec<Variable>,
    /// For each captured parameter, whose value it has in the frame around.
    pub captures: Vec<Root>,
    /// Where a captured variable is among the parameters.
    pub captured: HashMap<Root, u32>,
    pub fields: Vec<Variable>,
    /// Names of parameters that were written, and of fields.
    names: HashMap<SmolStr, Root>,
    pub functions: Vec<Callable<'a>>,
    /// How many of them are no handlers.
    pub plain_functions: u32,
    /// Handlers are called like functions.
    pub calls_handlers: bool,
    /// Functions by their names.
    pub function_names: HashMap<&'a str, u32>,
    /// What it takes; none where that is wrong or not said.
    pub input: Option<Type>,
    /// What it gives.
    pub output: Option<Type>,
    /// Types as written, or as its surroundings have them.
    pub written: (Option<&'a ast::Type>, Option<&'a ast::Type>),
    /// What goes round a feedback loop, where that is seen.
    pub loop_item: Option<Type>,
    pub code: Code,
}

impl<'a> Frame<'a> {
    pub fn new(composite: Option<Composite>) -> Frame<'a> {
        Frame {
            name: None,
            composite,
            params: Vec::new(),
            captures: Vec::new(),
            captured: HashMap::new(),
            fields: Vec::new(),
            names: HashMap::new(),
            functions: Vec::new(),
            plain_functions: 0,
            calls_handlers: false,
            function_names: HashMap::new(),
            input: None,
            output: None,
            written: (None, None),
            loop_item: None,
            code: Code::new(Where::Head),
        }
    }

    /// How many parameters were written.
    pub fn own_params(&self) -> usize {
        self.params.len() - self.captures.len()
    }

    fn find(&self, name: &str) -> Option<Root> {
        self.code.find(name).map(Root::Local).or_else(|| self.names.get(name).copied())
    }

    /// Adds a parameter that was written; where one of its name is, if there is one.
    pub fn add_param(&mut self, variable: Variable) -> Option<Span> {
        let root = Root::Param(self.params.len() as u32);
        let before = self.add_name(&variable, root);
        self.params.push(variable);
        before.map(|(_, first)| first)
    }

    /// Adds a field; which field or parameter has its name already, and where it is, if there is one.
    pub fn add_field(&mut self, variable: Variable) -> Option<(Root, Span)> {
        let root = Root::Field(self.fields.len() as u32);
        let before = self.add_name(&variable, root);
        self.fields.push(variable);
        before
    }

    /// Adds a function; whether there is one of its name.
    pub fn add_function(&mut self, function: Callable<'a>) -> Option<Span> {
        let name = function.name.text.as_str();
        let before = self.function_names.insert(name, self.functions.len() as u32);
        self.functions.push(function);
        before.map(|at| self.functions[at as usize].name.span)
    }

    fn add_name(&mut self, variable: &Variable, root: Root) -> Option<(Root, Span)> {
        let before = self.names.insert(variable.name.clone(), root)?;
        self.variable(before).map(|variable| (before, variable.span))
    }

    /// What a root of this frame stands for; not of globals.
    pub fn variable(&self, root: Root) -> Option<&Variable> {
        match root {
            Root::Local(at) => self.code.locals.get(at as usize),
            Root::Param(at) => self.params.get(at as usize),
            Root::Field(at) => self.fields.get(at as usize),
            Root::Global(_) => None,
        }
    }

    /// Names that can be seen here, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let locals = self.code.scopes.iter().flat_map(|scope| scope.keys());
        locals.chain(self.names.keys()).map(SmolStr::as_str)
    }
}

impl<'a> Resolver<'a> {
    /// The innermost frame.
    pub fn frame(&mut self) -> &mut Frame<'a> {
        // Outside of all there is a frame as well, so that there is one whatever is resolved.
        if self.frames.is_empty() {
            self.frames.push(Frame::new(None));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The code we are in.
    pub fn code(&mut self) -> &mut Code {
        &mut self.frame().code
    }

    /// Does something with code of its own in the same frame; also what the code was.
    pub fn in_code<T>(&mut self, code: Code, what: impl FnOnce(&mut Self) -> T) -> (T, Code) {
        let outer = std::mem::replace(self.code(), code);
        let result = what(self);
        let code = std::mem::replace(self.code(), outer);
        (result, code)
    }

    /// Does something in a scope of its own.
    pub fn scoped<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> T {
        self.code().scopes.push(HashMap::new());
        let result = what(self);
        let code = self.code();
        code.scopes.pop();
        let open = code.scopes.len();
        code.missing.iter_mut().for_each(|(_, scopes, _)| *scopes = open.min(*scopes));
        result
    }

    /// A variable by its name, as this frame has it: what is of another frame is captured.
    pub fn lookup(&mut self, name: &str) -> Option<Root> {
        for at in (0..self.frames.len()).rev() {
            if let Some(mut root) = self.frames[at].find(name) {
                for frame in at + 1..self.frames.len() {
                    root = self.capture(frame, root, 0);
                }
                return Some(root);
            }
        }
        self.tables.globals.get(name).map(|&(at, _)| Root::Global(at))
    }

    /// What a root of the innermost frame stands for.
    pub fn variable(&self, root: Root) -> Option<&Variable> {
        match root {
            Root::Global(at) => self.globals.get(at as usize),
            _ => self.frames.last()?.variable(root),
        }
    }

    /// The type of a variable; none where that is wrong.
    pub fn type_of(&self, root: Root) -> Option<Type> {
        self.variable(root)?.ty.clone()
    }

    /// Declares a local, or reports why it cannot be; its number all the same.
    pub fn declare_local(&mut self, variable: Variable) -> u32 {
        self.refuse_shadow(&variable);
        self.comes_late(&variable.name, variable.span);
        let code = self.code();
        let at = code.locals.len() as u32;
        if let Some(scope) = code.scopes.last_mut() {
            scope.insert(variable.name.clone(), at);
        }
        code.locals.push(variable);
        at
    }

    /// A local that no name means.
    pub fn hidden_local(&mut self, name: SmolStr, span: Span, ty: Type) -> u32 {
        let shape = Some(Shaped { ty: ty.clone(), lengths: Vec::new() });
        let locals = &mut self.code().locals;
        locals.push(Variable { name, span, ty: Some(ty), shape });
        locals.len() as u32 - 1
    }

    fn refuse_shadow(&mut self, variable: &Variable) {
        let frame = self.frame();
        let name = &variable.name;
        let twice = frame.code.scopes.last().and_then(|scope| scope.get(name)).copied();
        match (twice, frame.names.get(name)) {
            (Some(at), _) => {
                let first = frame.code.locals[at as usize].span;
                self.hides(variable.span, first, format!("`{name}` is declared twice in one block"));
            }
            (None, Some(&Root::Param(at))) => {
                let first = frame.params[at as usize].span;
                self.hides_parameter(name, variable.span, first);
            }
            _ => {}
        }
    }

    /// Reports a local or a field with the name of a parameter.
    pub fn hides_parameter(&mut self, name: &str, span: Span, param: Span) {
        self.hides(span, param, format!("`{name}` hides a parameter of the stream"));
    }

    fn hides(&mut self, span: Span, first: Span, message: String) {
        self.error::<()>(
            crate::Diagnostic::new(span, message)
                .label("declared here")
                .other(first, "declared here before")
                .hint("give one of them another name"),
        );
    }
}
