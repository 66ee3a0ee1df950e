//! Frames: the variables, functions and channels that code can use.

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
    /// `None` if the type is invalid, which has been reported.
    pub ty: Option<Type>,
    /// The type with array lengths, in terms of the frame that owns the variable.
    pub shape: Option<Shaped>,
}

/// A function or handler that can be called.
#[derive(Clone, Debug)]
pub(super) struct Callable<'a> {
    pub name: &'a ast::Name,
    pub params: Vec<Option<Type>>,
    pub result: Option<Type>,
    pub callee: Callee,
}

/// The kind of code, which determines the statements allowed in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Context {
    /// Values of globals, and lengths in structures.
    Static,
    /// A function of a `helper` block.
    Helper,
    /// Types, rates and initial values of a stream.
    Head,
    Init,
    Prework,
    Work,
    Function,
    Handler,
    Composite(Composite),
}

/// Code with its own variables.
#[derive(Debug)]
pub(super) struct Code {
    pub place: Context,
    /// All variables declared in it.
    pub locals: Vec<Variable>,
    /// The visible variables, innermost scope last.
    scopes: Vec<HashMap<SmolStr, u32>>,
    /// The number of locals that are parameters.
    pub params: usize,
    /// Unknown names: the name, the scope depth of its use, and the index of its error.
    pub missing: Vec<(SmolStr, usize, usize)>,
    /// The number of enclosing loops.
    pub loops: u32,
    /// The result type; `None` if it is invalid.
    pub result: Option<Type>,
    /// Whether it contains a `return`.
    pub returned: bool,
    pub effects: Effects,
}

impl Code {
    pub fn new(place: Context) -> Code {
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

    /// Records an unknown name with the index of its error.
    pub fn note_unknown(&mut self, name: &str, error: usize) {
        self.missing.push((name.into(), self.scopes.len(), error));
    }

    /// Indices of errors about uses of a name that precede its declaration in this scope.
    pub fn early_uses(&self, name: &str) -> Vec<usize> {
        let here =
            |(missing, scopes, _): &&(SmolStr, usize, usize)| missing == name && *scopes == self.scopes.len();
        self.missing.iter().filter(here).map(|(_, _, error)| *error).collect()
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}

/// A stream, or top-level code, and the names visible in it.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// The name of the stream, if it has one.
    pub name: Option<SmolStr>,
    /// The kind of composite, if it is one.
    pub composite: Option<Composite>,
    /// Parameters; captured ones follow declared ones.
    pub params: Vec<Variable>,
    /// The enclosing frame's variable for each captured parameter.
    pub captures: Vec<Root>,
    /// The parameter index of each captured variable.
    pub captured: HashMap<Root, u32>,
    pub fields: Vec<Variable>,
    /// Names of declared parameters and fields.
    names: HashMap<SmolStr, Root>,
    pub functions: Vec<Callable<'a>>,
    /// The number of functions that are not handlers.
    pub plain_functions: u32,
    /// Whether handlers are called as functions.
    pub calls_handlers: bool,
    /// Function indices by name.
    pub function_names: HashMap<&'a str, u32>,
    /// The input type; `None` if it is invalid or omitted.
    pub input: Option<Type>,
    /// The output type, likewise.
    pub output: Option<Type>,
    /// The types as declared, or as inferred from the enclosing code.
    pub written: (Option<&'a ast::Type>, Option<&'a ast::Type>),
    /// The item type of a feedback loop, if it can be inferred.
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
            code: Code::new(Context::Head),
        }
    }

    /// The number of declared parameters.
    pub fn own_params(&self) -> usize {
        self.params.len() - self.captures.len()
    }

    fn find(&self, name: &str) -> Option<Root> {
        self.code.find(name).map(Root::Local).or_else(|| self.names.get(name).copied())
    }

    /// Adds a declared parameter; returns the place of an earlier one with the same name.
    pub fn add_param(&mut self, variable: Variable) -> Option<Span> {
        let root = Root::Param(self.params.len() as u32);
        let before = self.add_name(&variable, root);
        self.params.push(variable);
        before.map(|(_, first)| first)
    }

    /// Adds a field; returns the field or parameter that already has its name, with its place.
    pub fn add_field(&mut self, variable: Variable) -> Option<(Root, Span)> {
        let root = Root::Field(self.fields.len() as u32);
        let before = self.add_name(&variable, root);
        self.fields.push(variable);
        before
    }

    /// Adds a function; returns the place of an earlier one with the same name.
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

    /// The variable of a root in this frame; `None` for globals.
    pub fn variable(&self, root: Root) -> Option<&Variable> {
        match root {
            Root::Local(at) => self.code.locals.get(at as usize),
            Root::Param(at) => self.params.get(at as usize),
            Root::Field(at) => self.fields.get(at as usize),
            Root::Global(_) => None,
        }
    }

    /// The visible names, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let locals = self.code.scopes.iter().flat_map(|scope| scope.keys());
        locals.chain(self.names.keys()).map(SmolStr::as_str)
    }
}

impl<'a> Resolver<'a> {
    /// The innermost frame.
    pub fn frame(&mut self) -> &mut Frame<'a> {
        // Top-level code needs a frame too.
        if self.frames.is_empty() {
            self.frames.push(Frame::new(None));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The current code.
    pub fn code(&mut self) -> &mut Code {
        &mut self.frame().code
    }

    /// Runs `what` with other code as the current code of this frame; returns that code too.
    pub fn in_code<T>(&mut self, code: Code, what: impl FnOnce(&mut Self) -> T) -> (T, Code) {
        let outer = std::mem::replace(self.code(), code);
        let result = what(self);
        let code = std::mem::replace(self.code(), outer);
        (result, code)
    }

    /// Runs `what` in a new scope.
    pub fn scoped<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> T {
        self.code().scopes.push(HashMap::new());
        let result = what(self);
        let code = self.code();
        code.scopes.pop();
        let open = code.scopes.len();
        code.missing.iter_mut().for_each(|(_, scopes, _)| *scopes = open.min(*scopes));
        result
    }

    /// Looks up a variable by name; a variable of an outer frame is captured.
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

    /// The variable of a root in the innermost frame.
    pub fn variable(&self, root: Root) -> Option<&Variable> {
        match root {
            Root::Global(at) => self.globals.get(at as usize),
            _ => self.frames.last()?.variable(root),
        }
    }

    /// The type of a variable; `None` if it is invalid.
    pub fn type_of(&self, root: Root) -> Option<Type> {
        self.variable(root)?.ty.clone()
    }

    /// Declares a local and returns its index; reports conflicts.
    pub fn declare_local(&mut self, variable: Variable) -> u32 {
        self.refuse_shadow(&variable);
        self.amend_early_uses(&variable.name, variable.span);
        let code = self.code();
        let at = code.locals.len() as u32;
        if let Some(scope) = code.scopes.last_mut() {
            scope.insert(variable.name.clone(), at);
        }
        code.locals.push(variable);
        at
    }

    /// A local without a name in the program.
    pub fn hidden_local(&mut self, name: SmolStr, span: Span, ty: Type) -> u32 {
        let shape = Some(Shaped { ty: ty.clone(), lengths: Vec::new() });
        let locals = &mut self.code().locals;
        locals.push(Variable { name, span, ty: Some(ty), shape });
        locals.len() as u32 - 1
    }

    fn refuse_shadow(&mut self, variable: &Variable) {
        let frame = self.frame();
        let name = &variable.name;
        let earlier = frame.code.scopes.last().and_then(|scope| scope.get(name)).copied();
        match (earlier, frame.names.get(name)) {
            (Some(at), _) => {
                let first = frame.code.locals[at as usize].span;
                self.shadows(variable.span, first, format!("`{name}` is declared twice in one block"));
            }
            (None, Some(&Root::Param(at))) => {
                let first = frame.params[at as usize].span;
                self.shadows_parameter(name, variable.span, first);
            }
            _ => {}
        }
    }

    /// Reports a local or field that has the name of a parameter.
    pub fn shadows_parameter(&mut self, name: &str, span: Span, param: Span) {
        self.shadows(span, param, format!("`{name}` shadows a parameter of the stream"));
    }

    fn shadows(&mut self, span: Span, first: Span, message: String) {
        self.error::<()>(
            crate::Diagnostic::new(span, message)
                .label("declared here")
                .other(first, "first declared here")
                .hint("rename one of them"),
        );
    }
}
