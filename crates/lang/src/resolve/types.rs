//! Types.

use super::Resolver;
use crate::ast::{self, Primitive, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::hir::{Shaped, StreamId, Type};

const PRIMITIVES: [&str; 10] =
    ["boolean", "bit", "int", "float", "complex", "float2", "float3", "float4", "void", "String"];

/// The type of a keyword. There are no 64-bit types: `double` is `float`.
pub(super) fn primitive(primitive: Primitive) -> Type {
    match primitive {
        Primitive::Boolean => Type::Boolean,
        Primitive::Bit => Type::Bit,
        Primitive::Int => Type::Int,
        Primitive::Float | Primitive::Double => Type::Float,
        Primitive::Complex => Type::Complex,
        Primitive::Float2 => Type::Vector(2),
        Primitive::Float3 => Type::Vector(3),
        Primitive::Float4 => Type::Vector(4),
    }
}

impl<'a> Resolver<'a> {
    /// A type without array lengths.
    pub fn ty(&mut self, ty: &'a ast::Type) -> Option<Type> {
        match &ty.kind {
            TypeKind::Void => Some(Type::Void),
            TypeKind::Primitive(kind) => Some(primitive(*kind)),
            TypeKind::Named(name) => self.named_type(name),
            TypeKind::Array(element, _) => {
                let inner = self.ty(element)?;
                self.not_void(&inner, element.span)?;
                Some(Type::Array(Box::new(inner)))
            }
            TypeKind::Portal(name) => self.portal(name),
        }
    }

    /// A type other than `void`.
    pub fn value_type(&mut self, ty: &'a ast::Type) -> Option<Type> {
        let resolved = self.ty(ty)?;
        self.not_void(&resolved, ty.span)?;
        Some(resolved)
    }

    fn not_void(&mut self, ty: &Type, span: crate::Span) -> Option<()> {
        if *ty == Type::Void {
            let error = Diagnostic::new(span, "a value cannot have type `void`");
            return self.error(error.label("expected another type"));
        }
        Some(())
    }

    fn named_type(&mut self, name: &'a ast::Name) -> Option<Type> {
        if let Some(&(id, _)) = self.tables.structs.get(name.text.as_str()) {
            return Some(Type::Struct(crate::hir::StructId(id)));
        }
        // `String` is not a keyword of the language; programs use it because StreamIt was translated to Java.
        if name.text == "String" || name.text == "string" {
            return Some(Type::String);
        }
        // What parses as a declaration may be a statement with a misspelt keyword.
        let words = ["add", "body", "loop", "return", "handler"];
        let names = self.tables.structs.keys().copied().chain(PRIMITIVES).chain(words);
        let error = self.unknown("type", &name.text, name.span, names);
        self.error(error)
    }

    fn portal(&mut self, name: &'a ast::Name) -> Option<Type> {
        let Some(&(id, span)) = self.tables.streams.get(name.text.as_str()) else {
            let error = self.unknown("filter", &name.text, name.span, self.tables.streams.keys().copied());
            return self.error(error);
        };
        if let ast::StreamBody::Composite(..) = self.ast.streams[id as usize].body {
            let message = format!("expected a filter, found `{}`", name.text);
            return self.error(
                Diagnostic::new(name.span, message)
                    .label("only filters have handlers")
                    .other(span, "declared here")
                    .hint("name the filter inside it that has the handlers"),
            );
        }
        Some(Type::Portal(StreamId(id)))
    }

    /// A type with its array lengths, as integer expressions of the current code.
    pub fn shaped(&mut self, ty: &'a ast::Type) -> Option<Shaped> {
        let resolved = self.ty(ty);
        let mut lengths = Some(Vec::new());
        let mut inner = ty;
        while let TypeKind::Array(element, length) = &inner.kind {
            let length = self.length(length);
            lengths = lengths.zip(length).map(|(mut all, length)| {
                all.push(length);
                all
            });
            inner = element;
        }
        Some(Shaped { ty: resolved?, lengths: lengths? })
    }

    fn length(&mut self, length: &'a ast::Expr) -> Option<crate::hir::Expr> {
        let value = self.expr(length)?;
        let value = self.integer(value)?;
        match super::constant::integer(&value) {
            Some(count) if count < 0 => {
                let error = Diagnostic::new(length.span, format!("an array cannot have {count} elements"));
                self.error(error.label("the least length is 0"))
            }
            _ => Some(value),
        }
    }

    /// The name of a type with its article: "an `int`".
    pub fn type_with_article(&self, ty: &Type) -> String {
        let name = self.type_name(ty);
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} `{name}`")
    }

    /// A type in StreamIt syntax, without array lengths.
    pub fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".into(),
            Type::Bit => "bit".into(),
            Type::Boolean => "boolean".into(),
            Type::Int => "int".into(),
            Type::Float => "float".into(),
            Type::Complex => "complex".into(),
            Type::Vector(size) => format!("float{size}"),
            Type::String => "String".into(),
            Type::Struct(id) => self.ast.structs[id.0 as usize].name.text.to_string(),
            Type::Array(element) => format!("{}[]", self.type_name(element)),
            Type::Portal(id) => match &self.ast.streams[id.0 as usize].name {
                Some(name) => format!("portal<{}>", name.text),
                None => "portal".into(),
            },
        }
    }
}
