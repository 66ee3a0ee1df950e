//! Streams.

use super::Resolver;
use super::frame::{Code, Context, Frame, Variable};
use crate::ast::{self, StreamBody};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Root, Shaped, StreamId, Type};
use smol_str::SmolStr;

impl<'a> Resolver<'a> {
    /// Resolves a named stream.
    pub fn named_stream(&mut self, id: StreamId, stream: &'a ast::Stream) {
        self.infer_item_types(stream);
        self.frames = vec![Frame::new(composite(stream))];
        self.streams[id.0 as usize] = self.stream(stream);
    }

    /// Resolves an anonymous stream; also returns its captures.
    pub fn anonymous_stream(
        &mut self,
        stream: &'a ast::Stream,
        around: (Option<&'a ast::Type>, Option<&'a ast::Type>),
    ) -> (StreamId, Vec<Root>) {
        let id = StreamId(self.streams.len() as u32);
        self.streams.push(None);
        let mut frame = Frame::new(composite(stream));
        frame.written = around;
        self.frames.push(frame);
        let resolved = self.stream(stream);
        self.streams[id.0 as usize] = resolved;
        let captures = self.frames.pop().map(|frame| frame.captures);
        (id, captures.unwrap_or_default())
    }

    fn stream(&mut self, stream: &'a ast::Stream) -> Option<hir::Stream> {
        self.frame().name = stream.name.as_ref().map(|name| name.text.clone());
        self.stream_params(stream);
        let types = self.stream_types(stream);
        let body = match &stream.body {
            StreamBody::Filter(filter) => {
                let filter = self.filter(filter, stream.span);
                filter.map(|filter| hir::StreamBody::Filter(Box::new(filter)))
            }
            StreamBody::Composite(kind, block) => {
                if *kind == ast::Composite::FeedbackLoop {
                    self.frame().loop_item = self.loop_type(stream);
                }
                let (body, _) = self.body(Code::new(Context::Composite(*kind)), &[], block);
                self.check_flow(*kind, block, stream);
                body.map(|body| hir::StreamBody::Composite(*kind, body))
            }
        };
        let (types, body) = (types?, body?);
        let frame = self.frame();
        let param = |param: &Variable| Some((param.name.clone(), param.shape.clone()?));
        let params = frame.params.iter().map(param).collect::<Option<_>>()?;
        let captures = frame.captures.len() as u32;
        Some(hir::Stream { name: stream_name(stream), span: stream.span, types, params, captures, body })
    }

    fn stream_params(&mut self, stream: &'a ast::Stream) {
        for param in &stream.params {
            let ty = self.value_type(&param.ty);
            let shape = ty.is_some().then(|| self.shaped(&param.ty)).flatten();
            let (name, span) = (param.name.text.clone(), param.name.span);
            let earlier = self.frame().add_param(Variable { name, span, ty, shape });
            self.report_duplicate("parameter", &param.name, earlier);
        }
    }

    /// The types of a stream. The outer `None` means that they are invalid, the inner one that a composite omits
    /// them and inherits them from its children.
    fn stream_types(&mut self, stream: &'a ast::Stream) -> Option<Option<(Shaped, Shaped)>> {
        if let Some((input, output)) = &stream.types {
            self.frame().written = (Some(input), Some(output));
        } else if let StreamBody::Filter(filter) = &stream.body {
            self.infer_types(filter, stream)?;
        } else {
            return Some(None);
        }
        let (Some(input), Some(output)) = self.frame().written else { return Some(None) };
        let (input, output) = (self.shaped(input), self.shaped(output));
        let frame = self.frame();
        frame.input = input.as_ref().map(|shape| shape.ty.clone());
        frame.output = output.as_ref().map(|shape| shape.ty.clone());
        if stream.name.is_none() && (&frame.input, &frame.output) == (&Some(Type::Void), &Some(Type::Void)) {
            let error = Diagnostic::new(stream.span, "a stream inside another cannot be `void->void`");
            self.error::<()>(error.label("no input and no output").hint("declare an input or output type"));
        }
        Some(Some((input?, output?)))
    }
}

fn composite(stream: &ast::Stream) -> Option<ast::Composite> {
    match stream.body {
        StreamBody::Filter(_) => None,
        StreamBody::Composite(kind, _) => Some(kind),
    }
}

fn stream_name(stream: &ast::Stream) -> SmolStr {
    let kind = match stream.body {
        StreamBody::Filter(_) => "filter",
        StreamBody::Composite(ast::Composite::Pipeline, _) => "pipeline",
        StreamBody::Composite(ast::Composite::SplitJoin, _) => "splitjoin",
        StreamBody::Composite(ast::Composite::FeedbackLoop, _) => "feedbackloop",
    };
    stream.name.as_ref().map_or(SmolStr::new_static(kind), |name| name.text.clone())
}
