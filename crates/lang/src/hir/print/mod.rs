//! Prints the resolved program, for debugging and tests.
//!
//! Variables carry their indices: `x#0` is a local, `n$0` a parameter of the stream, `sum@0` a field and `SIZE!0` a
//! global. A type with parentheses is a conversion: `float(n$0)`. Constants show their types: `1`, `1.0`, `1b` (a
//! bit), `true`.

mod expr;
mod stmt;

use super::{
    Body, Filter, Function, Program, Rate, Rates, Root, Shaped, Stream, StreamBody, Type, Variable, Work,
};
use crate::ast::Composite;
use smol_str::SmolStr;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(self);
        printer.program();
        f.write_str(&printer.text)
    }
}

/// The text so far, and the visible variables.
struct Printer<'a> {
    program: &'a Program,
    params: &'a [(SmolStr, Shaped)],
    fields: &'a [Variable],
    locals: &'a [(SmolStr, Type)],
    text: String,
    indent: usize,
}

impl<'a> Printer<'a> {
    fn new(program: &'a Program) -> Printer<'a> {
        Printer { program, params: &[], fields: &[], locals: &[], text: String::new(), indent: 0 }
    }

    fn program(&mut self) {
        let program = self.program;
        self.line(format!("program {}", self.stream_name(program.top.0)));
        for structure in &program.structs {
            let fields = structure.fields.iter().map(|(name, ty)| format!("{name}: {}", self.shaped(ty)));
            self.line(format!("struct {} {{ {} }}", structure.name, fields.collect::<Vec<_>>().join(", ")));
        }
        for (at, global) in program.globals.iter().enumerate() {
            self.variable("global", &format!("{}!{at}", global.name), global);
        }
        for (range, body) in program.global_inits.iter().filter(|(_, body)| !body.stmts.is_empty()) {
            self.body(&format!("init of globals {}..{}", range.start, range.end), body);
        }
        for native in &program.natives {
            let params: Vec<_> = native.params.iter().map(|ty| self.ty(ty)).collect();
            self.line(format!(
                "native {}({}) -> {}",
                native.name,
                params.join(", "),
                self.ty(&native.result)
            ));
        }
        program.helpers.iter().for_each(|helper| self.function("helper", helper));
        for (at, stream) in program.streams.iter().enumerate() {
            self.text.push('\n');
            self.stream(at as u32, stream);
        }
    }

    fn stream(&mut self, at: u32, stream: &'a Stream) {
        self.params = &stream.params;
        let kind = match &stream.body {
            StreamBody::Filter(_) => "filter",
            StreamBody::Composite(Composite::Pipeline, _) => "pipeline",
            StreamBody::Composite(Composite::SplitJoin, _) => "splitjoin",
            StreamBody::Composite(Composite::FeedbackLoop, _) => "feedbackloop",
        };
        let types = match &stream.types {
            Some((input, output)) => format!("{} -> {}", self.shaped(input), self.shaped(output)),
            None => "? -> ?".into(),
        };
        let own = stream.params.len() - stream.captures as usize;
        let params = stream.params.iter().enumerate().map(|(at, (name, ty))| {
            let captured = if at < own { "" } else { "captured " };
            format!("{captured}{name}: {}", self.shaped(ty))
        });
        let params = params.collect::<Vec<_>>().join(", ");
        self.line(format!("{kind} {}({params}) {types}", self.stream_name(at)));
        match &stream.body {
            StreamBody::Filter(filter) => self.nested(|this| this.filter(filter)),
            StreamBody::Composite(_, body) => self.code(body),
        }
        self.params = &[];
    }

    fn filter(&mut self, filter: &'a Filter) {
        self.fields = &filter.fields;
        if filter.stateful {
            self.line("stateful");
        }
        if filter.keeps_state {
            self.line("keeps state");
        }
        for (at, field) in filter.fields.iter().enumerate() {
            self.variable("field", &format!("{}@{at}", field.name), field);
        }
        if let Some(init) = &filter.init {
            self.body("init", init);
        }
        if let Some(prework) = &filter.prework {
            self.work("prework", prework);
        }
        self.work("work", &filter.work);
        filter.functions.iter().for_each(|function| self.function("function", function));
        filter.handlers.iter().for_each(|handler| self.function("handler", handler));
        self.fields = &[];
    }

    fn variable(&mut self, what: &str, name: &str, variable: &'a Variable) {
        let ty = self.shaped(&variable.ty);
        let init = variable.init.as_ref().map_or(String::new(), |init| format!(" = {}", self.init(init)));
        self.line(format!("{what} {name}: {ty}{init}"));
    }

    fn work(&mut self, word: &str, work: &'a Work) {
        let rates = self.rates(&work.rates);
        self.body(&format!("{word} {rates}"), &work.body);
    }

    fn function(&mut self, what: &str, function: &'a Function) {
        self.locals = &function.body.locals;
        let params = function.params.iter().enumerate();
        let params: Vec<_> = params
            .map(|(at, ty)| format!("{}: {}", self.root(Root::Local(at as u32)), self.shaped(ty)))
            .collect();
        let head =
            format!("{what} {}({}) -> {}", function.name, params.join(", "), self.shaped(&function.result));
        self.body(&head, &function.body);
    }

    fn rates(&self, rates: &Rates) -> String {
        let peek = rates.peek.as_ref().map_or(String::new(), |peek| format!(" peek {}", self.rate(peek)));
        format!("push {} pop {}{peek}", self.rate(&rates.push), self.rate(&rates.pop))
    }

    fn rate(&self, rate: &Rate) -> String {
        let bound = |bound: &Option<_>| bound.as_ref().map_or("*".into(), |count| self.expr(count));
        match rate {
            Rate::Static(count) => self.expr(count),
            Rate::Dynamic { min, average: None, max } => format!("[{}, {}]", bound(min), bound(max)),
            Rate::Dynamic { min, average, max } => {
                format!("[{}, {}, {}]", bound(min), bound(average), bound(max))
            }
        }
    }

    /// A head line with indented code below it.
    fn body(&mut self, head: &str, body: &'a Body) {
        self.line(head);
        self.code(body);
    }

    fn code(&mut self, body: &'a Body) {
        self.locals = &body.locals;
        self.nested(|this| this.stmts(&body.stmts));
        self.locals = &[];
    }

    fn nested(&mut self, what: impl FnOnce(&mut Self)) {
        self.indent += 1;
        what(self);
        self.indent -= 1;
    }

    fn line(&mut self, text: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:width$}{text}", "", width = 2 * self.indent);
    }

    fn stream_name(&self, at: u32) -> String {
        let name = self.program.streams.get(at as usize).map_or("?", |stream| stream.name.as_str());
        format!("{name}#{at}")
    }

    fn shaped(&self, shaped: &Shaped) -> String {
        let mut ty = &shaped.ty;
        while let Type::Array(element) = ty {
            ty = element;
        }
        let lengths: Vec<_> =
            shaped.lengths.iter().map(|length| format!("[{}]", self.expr(length))).collect();
        format!("{}{}", self.ty(ty), lengths.concat())
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".into(),
            Type::Bit => "bit".into(),
            Type::Boolean => "boolean".into(),
            Type::Int => "int".into(),
            Type::Float => "float".into(),
            Type::Complex => "complex".into(),
            Type::Vector(size) => format!("float{size}"),
            Type::String => "string".into(),
            Type::Struct(id) => self
                .program
                .structs
                .get(id.0 as usize)
                .map_or("?".into(), |structure| structure.name.to_string()),
            Type::Array(element) => format!("{}[]", self.ty(element)),
            Type::Portal(id) => format!("portal<{}>", self.stream_name(id.0)),
        }
    }
}
