//! Top-level names, and signatures of items that can be used elsewhere.

use super::frame::Callable;
use super::{Fields, Resolver};
use crate::ast::{self, StreamBody};
use crate::diagnostic::Diagnostic;
use crate::hir::{Callee, StreamId, Type};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::HashMap;

/// The number of each name, and the place of its declaration.
type Table<'a> = HashMap<&'a str, (u32, Span)>;

/// Top-level names.
#[derive(Default)]
pub(super) struct Tables<'a> {
    pub structs: Table<'a>,
    pub streams: Table<'a>,
    /// Globals resolved so far: an initial value may use only preceding ones.
    pub globals: Table<'a>,
    /// Functions, by block and name.
    pub natives: HashMap<&'a str, Table<'a>>,
    pub helpers: HashMap<&'a str, Table<'a>>,
}

/// The parts of a named stream that other streams depend on.
pub(super) struct Signature<'a> {
    pub input: Option<Type>,
    pub output: Option<Type>,
    pub params: Vec<(SmolStr, Option<Type>)>,
    pub handlers: Vec<Callable<'a>>,
}

impl<'a> Resolver<'a> {
    /// Records all top-level names and signatures.
    pub fn declare(&mut self) {
        let ast = self.ast;
        for (at, structure) in ast.structs.iter().enumerate() {
            let known = &mut self.tables.structs;
            let earlier = insert(known, &structure.name, at);
            self.report_duplicate("structure", &structure.name, earlier);
        }
        for (at, stream) in ast.streams.iter().enumerate() {
            let Some(name) = &stream.name else { continue };
            let earlier = insert(&mut self.tables.streams, name, at);
            self.report_duplicate("stream", name, earlier);
        }
        self.struct_types();
        self.declare_natives();
        self.declare_helpers();
        for stream in &ast.streams {
            let signature = self.signature(stream);
            self.signatures.push(signature);
        }
    }

    /// Reports a name that is declared a second time.
    pub fn report_duplicate(&mut self, what: &str, name: &ast::Name, first: Option<Span>) {
        let Some(first) = first else { return };
        let message = format!("the {what} `{}` is declared twice", name.text);
        let hint = match what {
            "structure" | "stream" | "static variable" => {
                "rename one of them: all files of a program share one name space"
            }
            _ => "rename one of them",
        };
        self.error::<()>(
            Diagnostic::new(name.span, message)
                .label("declared again here")
                .other(first, "first declared here")
                .hint(hint),
        );
    }

    fn struct_types(&mut self) {
        for structure in &self.ast.structs {
            let mut spans = Table::new();
            let mut fields = Fields::default();
            for (at, field) in structure.fields.iter().enumerate() {
                let earlier = insert(&mut spans, &field.name, at);
                self.report_duplicate("field", &field.name, earlier);
                fields.types.push(self.value_type(&field.ty));
                fields.names.insert(field.name.text.clone(), at as u32);
            }
            self.structs.push(fields);
        }
        self.refuse_recursive_structs();
    }

    fn declare_natives(&mut self) {
        for block in &self.ast.natives {
            for (result, name, params) in &block.functions {
                let at = self.natives.len();
                let functions = self.tables.natives.entry(&block.name.text).or_default();
                let earlier = insert(functions, name, at);
                self.report_duplicate("native function", name, earlier);
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
                let earlier = insert(functions, &function.name, at);
                self.report_duplicate("helper function", &function.name, earlier);
                let callee = Callee::Helper(at as u32);
                let callable = self.callable(&function.result, &function.name, &function.params, callee);
                self.helpers.push(callable);
            }
        }
    }

    /// The signature of a function.
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
            // Messages refer to a handler by its index here; calls within the filter use other numbers.
            let callee = Callee::Function(at as u32);
            handlers.push(self.callable(&handler.result, &handler.name, &handler.params, callee));
        }
        handlers
    }

    /// The stream that is the entry point.
    pub fn top(&mut self) -> Option<StreamId> {
        let tops: Vec<usize> = (0..self.signatures.len()).filter(|at| self.is_top(*at)).collect();
        let Some((&first, others)) = tops.split_first() else { return self.missing_top() };
        let place = |this: &Self, at: usize| {
            let stream = &this.ast.streams[at];
            stream.name.as_ref().map_or(stream.span, |name| name.span)
        };
        let earlier = place(self, first);
        for &other in others {
            let error =
                Diagnostic::new(place(self, other), "the program has two `void->void` streams")
                    .label("a second entry point")
                    .other(earlier, "the first entry point")
                    .hint("the one `void->void` stream is the entry point: give the other an input or an output, or remove it");
            self.error::<()>(error);
        }
        self.refuse_top_params(first);
        Some(StreamId(first as u32))
    }

    fn is_top(&self, at: usize) -> bool {
        let signature = &self.signatures[at];
        signature.input == Some(Type::Void) && signature.output == Some(Type::Void)
    }

    fn missing_top<T>(&mut self) -> Option<T> {
        // The entry point may be a stream with invalid types, which have been reported.
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
            Diagnostic::new(span, "the program has no `void->void` stream")
                .hint("declare the entry point of the program: `void->void pipeline Main { ... }`"),
        )
    }

    fn refuse_top_params(&mut self, top: usize) {
        if let Some(param) = self.ast.streams[top].params.first() {
            let error =
                Diagnostic::new(param.name.span, "the entry point of a program cannot have parameters")
                    .label("no value is passed to this")
                    .hint("make it a local or a `static` variable");
            self.error::<()>(error);
        }
    }
}

/// Adds a name; returns the place of an earlier declaration, if any.
pub(super) fn insert<'a>(table: &mut Table<'a>, name: &'a ast::Name, at: usize) -> Option<Span> {
    match table.entry(name.text.as_str()) {
        std::collections::hash_map::Entry::Occupied(entry) => Some(entry.get().1),
        std::collections::hash_map::Entry::Vacant(entry) => {
            entry.insert((at as u32, name.span));
            None
        }
    }
}
