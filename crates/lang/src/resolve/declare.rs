//! What stands at the top of files: names, and types of what can be used from elsewhere.

use super::frame::Callable;
use super::{Fields, Resolver};
use crate::ast::{self, StreamBody};
use crate::diagnostic::Diagnostic;
use crate::hir::{Callee, StreamId, Type};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::HashMap;

/// A name's number, and where it was declared.
type Table<'a> = HashMap<&'a str, (u32, Span)>;

/// Names of the top of files.
#[derive(Default)]
pub(super) struct Tables<'a> {
    pub structs: Table<'a>,
    pub streams: Table<'a>,
    /// Those that have been resolved: values use only what stands before.
    pub globals: Table<'a>,
    /// Functions, by block and name.
    pub natives: HashMap<&'a str, Table<'a>>,
    pub helpers: HashMap<&'a str, Table<'a>>,
}

/// What others must know of a stream with a name.
pub(super) struct Signature<'a> {
    pub input: Option<Type>,
    pub output: Option<Type>,
    pub params: Vec<(SmolStr, Option<Type>)>,
    pub handlers: Vec<Callable<'a>>,
}

impl<'a> Resolver<'a> {
    /// Notes all names of the top, and types of signatures.
    pub fn declare(&mut self) {
        let ast = self.ast;
        for (at, structure) in ast.structs.iter().enumerate() {
            let known = &mut self.tables.structs;
            let twice = insert(known, &structure.name, at);
            self.twice("structure", &structure.name, twice);
        }
        for (at, stream) in ast.streams.iter().enumerate() {
            let Some(name) = &stream.name else { continue };
            let twice = insert(&mut self.tables.streams, name, at);
            self.twice("stream", name, twice);
        }
        self.struct_types();
        self.declare_natives();
        self.declare_helpers();
        for stream in &ast.streams {
            let signature = self.signature(stream);
            self.signatures.push(signature);
        }
    }

    /// Reports a name that is declared again.
    pub fn twice(&mut self, what: &str, name: &ast::Name, first: Option<Span>) {
        let Some(first) = first else { return };
        let message = format!("there are two {what}s `{}`", name.text);
        let hint = match what {
            "structure" | "stream" | "static variable" => {
                "all files of a program share one name space: rename one of them"
            }
            _ => "give one of them another name",
        };
        self.error::<()>(
            Diagnostic::new(name.span, message)
                .label("declared again here")
                .other(first, "declared here before")
                .hint(hint),
        );
    }

    fn struct_types(&mut self) {
        for structure in &self.ast.structs {
            let mut spans = Table::new();
            let mut fields = Fields::default();
            for (at, field) in structure.fields.iter().enumerate() {
                let twice = insert(&mut spans, &field.name, at);
                self.twice("field", &field.name, twice);
                fields.types.push(self.value_type(&field.ty));
                fields.names.insert(field.name.text.clone(), at as u32);
            }
            self.structs.push(fields);
        }
        self.refuse_endless_structs();
    }

    fn declare_natives(&mut self) {
        for block in &self.ast.natives {
            for (result, name, params) in &block.functions {
                let at = self.natives.len();
                let functions = self.tables.natives.entry(&block.name.text).or_default();
                let twice = insert(functions, name, at);
                self.twice("native function", name, twice);
                let callable = self.callable(result, name, params, Callee::Native(at as u32));
                self.natives.push(callable);
            }
        }
    }

    fn declare_helpers(&mut self) {
        for block in &self.ast.helpers {
            for function in &block.functions {
                let at = self.helpers.len();
                let functions = self.tables.helpers.entry(&block.name.text).or_default();
                let twice = insert(functions, &function.name, at);
                self.twice("helper function", &function.name, twice);
                let callee = Callee::Helper(at as u32);
                let callable = self.callable(&function.result, &function.name, &function.params, callee);
                self.helpers.push(callable);
            }
        }
    }

    /// What must be known of a function to call it.
    pub fn callable(
        &mut self,
        result: &'a ast::Type,
        name: &'a ast::Name,
        params: &'a [ast::Param],
        callee: Callee,
    ) -> Callable<'a> {
        let params = params.iter().map(|param| self.value_type(&param.ty)).collect();
        Callable { name, params, result: self.ty(result), callee }
    }

    fn signature(&mut self, stream: &'a ast::Stream) -> Signature<'a> {
        let (input, output) = match &stream.types {
            Some((input, output)) => (self.ty(input), self.ty(output)),
            None => (None, None),
        };
        let params = stream.params.iter();
        let params = params.map(|param| (param.name.text.clone(), self.value_type(&param.ty))).collect();
        let handlers = match &stream.body {
            StreamBody::Filter(filter) => self.handlers(filter),
            StreamBody::Composite(..) => Vec::new(),
        };
        Signature { input, output, params, handlers }
    }

    fn handlers(&mut self, filter: &'a ast::Filter) -> Vec<Callable<'a>> {
        let mut handlers = Vec::new();
        for (at, handler) in filter.handlers.iter().enumerate() {
            // Messages find a handler by its place; calls have other numbers, in the filter.
            let callee = Callee::Function(at as u32);
            handlers.push(self.callable(&handler.result, &handler.name, &handler.params, callee));
        }
        handlers
    }

    /// The one stream that is the program.
    pub fn top(&mut self) -> Option<StreamId> {
        let tops: Vec<usize> = (0..self.signatures.len()).filter(|at| self.is_top(*at)).collect();
        let Some((&first, others)) = tops.split_first() else { return self.no_top() };
        let place = |this: &Self, at: usize| {
            let stream = &this.ast.streams[at];
            stream.name.as_ref().map_or(stream.span, |name| name.span)
        };
        let earlier = place(self, first);
        for &other in others {
            let error =
                Diagnostic::new(place(self, other), "there are two streams that could be the program")
                    .label("this is `void->void`")
                    .other(earlier, "and this is")
                    .hint("exactly one stream of a program takes nothing and gives nothing");
            self.error::<()>(error);
        }
        self.refuse_top_params(first);
        Some(StreamId(first as u32))
    }

    fn is_top(&self, at: usize) -> bool {
        let signature = &self.signatures[at];
        signature.input == Some(Type::Void) && signature.output == Some(Type::Void)
    }

    fn no_top<T>(&mut self) -> Option<T> {
        // It may be one whose types are wrong.
        let unknown = |(stream, signature): (&ast::Stream, &Signature<'_>)| {
            stream.types.is_some() && (signature.input.is_none() || signature.output.is_none())
        };
        if self.ast.streams.iter().zip(&self.signatures).any(unknown) {
            return None;
        }
        let last = self.ast.streams.last();
        let span =
            last.map_or(Span::default(), |stream| stream.name.as_ref().map_or(stream.span, |n| n.span));
        self.error(
            Diagnostic::new(span, "no stream of the program is `void->void`")
                .hint("the program itself is a stream that takes nothing and gives nothing: `void->void pipeline Main { ... }`"),
        )
    }

    fn refuse_top_params(&mut self, top: usize) {
        if let Some(param) = self.ast.streams[top].params.first() {
            let error = Diagnostic::new(param.name.span, "the program itself has parameters")
                .label("nobody gives it a value")
                .hint("make it a variable, or a `static` one");
            self.error::<()>(error);
        }
    }
}

/// Adds a name; where it was before, if it was.
pub(super) fn insert<'a>(table: &mut Table<'a>, name: &'a ast::Name, at: usize) -> Option<Span> {
    match table.entry(name.text.as_str()) {
        std::collections::hash_map::Entry::Occupied(entry) => Some(entry.get().1),
        std::collections::hash_map::Entry::Vacant(entry) => {
            entry.insert((at as u32, name.span));
            None
        }
    }
}
