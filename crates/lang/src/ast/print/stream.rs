//! Printing of streams and other top-level items.

use super::{Printer, list};
use crate::ast::{
    Composite, Filter, Function, Global, Helper, Native, Stream, StreamBody, Struct, Variable, Work,
};

impl Printer {
    pub(super) fn structure(&mut self, item: &Struct) {
        self.line(&format!("struct {}", item.name));
        self.braces(|printer| item.fields.iter().for_each(|field| printer.line(&format!("{field};"))));
    }

    pub(super) fn global(&mut self, item: &Global) {
        self.line("static");
        self.braces(|printer| {
            printer.fields(&item.fields);
            if let Some(init) = &item.init {
                printer.line("init");
                printer.block(init);
            }
        });
    }

    pub(super) fn native(&mut self, item: &Native) {
        self.line(&format!("native {}", item.name));
        self.braces(|printer| {
            for (result, name, params) in &item.functions {
                printer.line(&format!("{result} {name}({});", list(params)));
            }
        });
    }

    pub(super) fn helper(&mut self, item: &Helper) {
        self.line(&format!("helper {}", item.name));
        self.braces(|printer| item.functions.iter().for_each(|function| printer.function(function)));
    }

    /// The declaration of a stream up to its body.
    pub(super) fn stream_head(&self, stream: &Stream) -> String {
        let types = stream.types.as_ref().map(|(from, to)| format!("{from}->{to} ")).unwrap_or_default();
        let keyword = match &stream.body {
            StreamBody::Filter(filter) if filter.stateful => "stateful filter",
            StreamBody::Filter(_) => "filter",
            StreamBody::Composite(Composite::Pipeline, _) => "pipeline",
            StreamBody::Composite(Composite::SplitJoin, _) => "splitjoin",
            StreamBody::Composite(Composite::FeedbackLoop, _) => "feedbackloop",
        };
        match &stream.name {
            None => format!("{types}{keyword}"),
            Some(name) => format!("{types}{keyword} {name}({})", list(&stream.params)),
        }
    }

    pub(super) fn stream_body(&mut self, body: &StreamBody) {
        match body {
            StreamBody::Filter(filter) => self.braces(|printer| printer.filter(filter)),
            StreamBody::Composite(_, block) => self.block(block),
        }
    }

    fn filter(&mut self, filter: &Filter) {
        self.fields(&filter.fields);
        for init in &filter.inits {
            self.line("init");
            self.block(init);
        }
        filter.preworks.iter().for_each(|work| self.work("prework", work));
        filter.works.iter().for_each(|work| self.work("work", work));
        filter.functions.iter().for_each(|function| self.function(function));
        for handler in &filter.handlers {
            self.line(&format!("handler {}({})", handler.name, list(&handler.params)));
            self.add(&handler.rates.to_string());
            self.block(&handler.body);
        }
    }

    fn fields(&mut self, fields: &[Variable]) {
        fields.iter().for_each(|field| self.line(&format!("{} {field};", field.ty)));
    }

    fn work(&mut self, word: &str, work: &Work) {
        self.line(&format!("{word}{}", work.rates));
        self.block(&work.body);
    }

    fn function(&mut self, function: &Function) {
        let Function { result, name, params, rates, body } = function;
        self.line(&format!("{result} {name}({}){rates}", list(params)));
        self.block(body);
    }
}
