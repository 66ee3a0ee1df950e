//! Top-level items.

use super::recover::starts_type;
use super::{Parsed, Parser};
use crate::ast::{Function, Name};
use crate::ast::{Global, Helper, Native, Param, Program, Struct, Type};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;

impl Parser<'_> {
    /// `program := ( struct | stream | native | helper | global )* EOF`
    pub(super) fn program(&mut self, program: &mut Program) {
        while !self.at(Kind::End) {
            let before = self.at;
            if self.item(program).is_err() {
                self.skip_item();
            }
            if self.at == before {
                self.bump();
            }
        }
    }

    fn item(&mut self, program: &mut Program) -> Parsed<()> {
        use Kind::{FeedbackLoop, Filter, Pipeline, SplitJoin, Stateful};
        self.correct_item();
        match self.kind() {
            Kind::Struct => program.structs.push(self.structure()?),
            Kind::Native => program.natives.push(self.native()?),
            Kind::Static => program.globals.push(self.global()?),
            Kind::Helper => program.helpers.push(self.helper()?),
            Kind::Semicolon => {
                self.bump();
            }
            Kind::CloseBrace => self.unmatched_brace(),
            Stateful | Filter | Pipeline | SplitJoin | FeedbackLoop => {
                program.streams.push(self.named_stream()?);
            }
            kind if starts_type(kind)
                && self.lookahead(1) == Kind::Name
                && self.lookahead(2) == Kind::Open =>
            {
                self.function_outside_filter();
            }
            kind if starts_type(kind) => program.streams.push(self.named_stream()?),
            _ => {
                let hint =
                    self.hint().unwrap_or_else(|| "move statements into a stream or function".to_owned());
                let expected = "a stream, `struct`, `static`, `native` or `helper`";
                return self.unexpected_with(expected, Some(hint));
            }
        }
        Ok(())
    }

    /// Reports a function outside a filter, and skips it.
    fn function_outside_filter(&mut self) {
        let error = Diagnostic::new(self.span(), "function outside a filter")
            .hint("move it into the filter that calls it, or into `helper Name { ... }`");
        self.report_here(error);
        if self.skip_to_block() {
            self.skip_group();
        }
    }

    fn unmatched_brace(&mut self) {
        if !std::mem::take(&mut self.in_stray_code) {
            let error = Diagnostic::new(self.span(), "unexpected closing brace `}`");
            self.report_here(error.hint("remove it, or look for an extra `}` before it"));
        }
        self.bump();
    }

    /// `'struct' ID '{' (type ID ';')* '}'`
    fn structure(&mut self) -> Parsed<Struct> {
        self.bump();
        let name = self.name("the name of the structure")?;
        let mut fields = Vec::new();
        self.group(|parser| parser.struct_fields(&mut fields))?;
        Ok(Struct { name, fields })
    }

    fn struct_fields(&mut self, fields: &mut Vec<Param>) -> Parsed<()> {
        let variables = {
            let ty = self.ty()?;
            self.variables(ty)?
        };
        for variable in variables {
            if variable.init.is_some() {
                let error =
                    Diagnostic::new(variable.name.span, "a structure field cannot have an initial value");
                self.report(
                    error.hint("it starts as 0; assign to it after declaring a variable of the structure"),
                );
            }
            fields.push(Param { ty: variable.ty, name: variable.name });
        }
        self.semicolon("a field");
        Ok(())
    }

    /// `'native' ID '{' (type ID params ';')* '}'`
    fn native(&mut self) -> Parsed<Native> {
        self.bump();
        let name = self.name("the name of the native functions")?;
        let mut functions = Vec::new();
        self.group(|parser| {
            functions.push(parser.native_function()?);
            Ok(())
        })?;
        Ok(Native { name, functions })
    }

    fn native_function(&mut self) -> Parsed<(Type, Name, Vec<Param>)> {
        let result = self.ty()?;
        let name = self.name("the name of a function")?;
        let params = self.params()?;
        self.semicolon("a native function");
        Ok((result, name, params))
    }

    /// `'static' '{' (field ';')* [ 'init' block ] '}'`
    fn global(&mut self) -> Parsed<Global> {
        self.bump();
        let mut global = Global { fields: Vec::new(), init: None };
        self.group(|parser| parser.global_part(&mut global))?;
        Ok(global)
    }

    fn global_part(&mut self, global: &mut Global) -> Parsed<()> {
        let start = self.span();
        if self.eat(Kind::Init) {
            let block = self.block()?;
            if global.init.replace(block).is_some() {
                let error = Diagnostic::new(start, "duplicate `init` in this `static` block");
                self.report(error.hint("merge the two `init` blocks"));
            }
            return Ok(());
        }
        let ty = self.ty()?;
        global.fields.extend(self.fields(ty)?);
        self.semicolon("a variable");
        Ok(())
    }

    /// `'helper' ID '{' (funcdecl)* '}'`
    fn helper(&mut self) -> Parsed<Helper> {
        self.bump();
        let name = self.name("the name of the helper functions")?;
        let mut functions: Vec<Function> = Vec::new();
        self.group(|parser| {
            let result = parser.ty()?;
            functions.push(parser.function(result)?);
            Ok(())
        })?;
        Ok(Helper { name, functions })
    }

    /// `'{' part* '}'`
    fn group(&mut self, mut part: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        let start = self.expect(Kind::OpenBrace, "to open the block")?;
        while !matches!(self.kind(), Kind::CloseBrace | Kind::End) && !self.at_item() {
            let before = self.at;
            let read = self.eat(Kind::Semicolon) || part(self).is_ok();
            if !read || self.at == before {
                self.next_part(before);
            }
        }
        self.close_brace(start);
        Ok(())
    }
}
