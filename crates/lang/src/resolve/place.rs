//! Places: variables with their fields and elements.

use super::Resolver;
use crate::ast::{self, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::hir::{Place, Step, StructId, Type};
use crate::source::Span;

/// A field or element access.
enum Written<'a> {
    Member(&'a ast::Name),
    Index(&'a ast::Expr),
}

impl<'a> Resolver<'a> {
    /// A place and its type.
    pub fn place(&mut self, expr: &'a ast::Expr) -> Option<(Place, Type)> {
        let mut steps = Vec::new();
        let mut root = expr;
        loop {
            root = match &root.kind {
                ExprKind::Member(of, name) => {
                    steps.push((Written::Member(name), root.span));
                    of
                }
                ExprKind::Index(of, at) => {
                    steps.push((Written::Index(at), root.span));
                    of
                }
                _ => break,
            };
        }
        let start = self.root(root);
        let mut at = start.map(|(place, ty)| (place, ty, root.span));
        while let Some((step, span)) = steps.pop() {
            at = self.part_of(at, step).map(|(place, ty)| (place, ty, span));
        }
        at.map(|(place, ty, _)| (place, ty))
    }

    /// A place that is assigned to.
    pub fn target(&mut self, expr: &'a ast::Expr) -> Option<(Place, Type)> {
        let (place, ty) = self.place(expr)?;
        self.note_write(place.root, expr.span)?;
        Some((place, ty))
    }

    fn root(&mut self, expr: &'a ast::Expr) -> Option<(Place, Type)> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let Some(root) = self.lookup(name) else { return self.unknown_variable(name, expr.span) };
                Some((Place { root, path: Vec::new() }, self.type_of(root)?))
            }
            ExprKind::Error => None,
            _ => {
                let error = Diagnostic::new(expr.span, "expected a variable");
                self.error(error.label("not a variable").hint("store the value in a variable first"))
            }
        }
    }

    /// One access further. An index is resolved even if the array is invalid.
    fn part_of(&mut self, from: Option<(Place, Type, Span)>, step: Written<'a>) -> Option<(Place, Type)> {
        match step {
            Written::Index(index) => {
                let index = self.expr(index).and_then(|index| self.integer(index));
                let (mut place, ty, span) = from?;
                let Type::Array(element) = ty else {
                    let name = self.type_with_article(&ty);
                    let error = Diagnostic::new(span, format!("cannot index {name}"));
                    return self.error(error.label("not an array"));
                };
                let index = index?;
                if let Some(at) = super::constant::integer(&index).filter(|at| *at < 0) {
                    let error = Diagnostic::new(index.span, format!("array index {at} is negative"));
                    return self.error(
                        error.label("the least index is 0").hint("valid indices are 0 to `length - 1`"),
                    );
                }
                place.path.push(Step::Index(index));
                Some((place, *element))
            }
            Written::Member(name) => {
                let (mut place, ty, _) = from?;
                let (at, ty) = self.member(&ty, name)?;
                place.path.push(Step::Field(at));
                Some((place, ty))
            }
        }
    }

    fn member(&mut self, ty: &Type, name: &'a ast::Name) -> Option<(u32, Type)> {
        let components: &[&str] = match ty {
            Type::Struct(id) => return self.field(*id, name),
            Type::Complex => &["real", "imag"],
            Type::Vector(2) => &["x", "y"],
            Type::Vector(3) => &["x", "y", "z"],
            Type::Vector(_) => &["x", "y", "z", "w"],
            _ => {
                let is = self.type_with_article(ty);
                let error = Diagnostic::new(name.span, format!("{is} has no part `{}`", name.text));
                let error = error.label("only structures, complex numbers and vectors have parts");
                return self.error(error);
            }
        };
        match components.iter().position(|component| name.text == *component) {
            Some(at) => Some((at as u32, Type::Float)),
            None => {
                let is = self.type_with_article(ty);
                let error = Diagnostic::new(name.span, format!("{is} has no part `{}`", name.text));
                self.error(error.label(format!("its parts are `{}`", components.join("`, `"))))
            }
        }
    }

    fn field(&mut self, id: StructId, name: &'a ast::Name) -> Option<(u32, Type)> {
        let fields = &self.structs[id.0 as usize];
        if let Some(&at) = fields.names.get(&name.text) {
            return Some((at, fields.types[at as usize].clone()?));
        }
        let structure = &self.ast.structs[id.0 as usize].name;
        let names = fields.names.keys().map(smol_str::SmolStr::as_str);
        let error = self
            .unknown("field", &name.text, name.span, names)
            .label(format!("not a field of `{}`", structure.text))
            .other(structure.span, "declared here");
        self.error(error)
    }
}
