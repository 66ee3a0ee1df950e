//! Top-level items other than streams: globals, structures, natives and helpers.

use super::Resolver;
use super::declare::insert;
use super::frame::{Code, Context, Frame, Variable};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Body, Type};

/// For each `static` block the range of its globals, and its `init` code.
type GlobalInits = Vec<(std::ops::Range<u32>, Body)>;

impl<'a> Resolver<'a> {
    /// Runs `what` in a new frame in which only globals are visible.
    fn in_top_level_frame<T>(&mut self, place: Context, what: impl FnOnce(&mut Self) -> T) -> T {
        let mut frame = Frame::new(None);
        frame.code = Code::new(place);
        let frames = std::mem::replace(&mut self.frames, vec![frame]);
        let result = what(self);
        self.frames = frames;
        result
    }

    /// The variables of `static` blocks, and their `init` code.
    pub fn all_globals(&mut self) -> (Option<Vec<hir::Variable>>, Option<GlobalInits>) {
        let (mut variables, mut inits) = (Some(Vec::new()), Some(Vec::new()));
        for block in &self.ast.globals {
            let first = self.globals.len() as u32;
            for field in &block.fields {
                let variable = self.global(field);
                variables = variables.zip(variable).map(|(mut all, variable)| {
                    all.push(variable);
                    all
                });
            }
            let range = first..self.globals.len() as u32;
            let body = self.in_top_level_frame(Context::Static, |this| match &block.init {
                Some(init) => this.body(Code::new(Context::Static), &[], init).0,
                None => Some(Body::default()),
            });
            inits = inits.zip(body).map(|(mut all, body)| {
                all.push((range, body));
                all
            });
        }
        (variables, inits)
    }

    fn global(&mut self, field: &'a ast::Variable) -> Option<hir::Variable> {
        let (variable, resolved) =
            self.in_top_level_frame(Context::Static, |this| this.state_variable(field));
        let at = self.globals.len();
        self.globals.push(variable);
        let earlier = insert(&mut self.tables.globals, &field.name, at);
        self.report_duplicate("static variable", &field.name, earlier);
        resolved
    }

    /// A field or global with its initial value; the first result is known even if the initial value is invalid.
    pub fn state_variable(&mut self, field: &'a ast::Variable) -> (Variable, Option<hir::Variable>) {
        let ty = self.value_type(&field.ty);
        let shape = ty.is_some().then(|| self.shaped(&field.ty)).flatten();
        let init = field.init.as_ref().map(|init| self.first_value(init, ty.as_ref(), shape.as_ref()));
        let (name, span) = (field.name.text.clone(), field.name.span);
        let variable = Variable { name: name.clone(), span, ty, shape: shape.clone() };
        let init = match init {
            Some(None) => return (variable, None),
            Some(init) => init,
            None => None,
        };
        (variable, shape.map(|ty| hir::Variable { name, ty, init, span }))
    }

    /// The structures, with array lengths.
    pub fn all_structs(&mut self) -> Option<Vec<hir::Struct>> {
        let mut structs = Some(Vec::new());
        for structure in &self.ast.structs {
            let fields: Vec<_> = self.in_top_level_frame(Context::Static, |this| {
                let field = |field: &'a ast::Param| Some((field.name.text.clone(), this.shaped(&field.ty)?));
                structure.fields.iter().map(field).collect()
            });
            let fields: Option<Vec<_>> = fields.into_iter().collect();
            structs = structs.zip(fields).map(|(mut all, fields)| {
                all.push(hir::Struct { name: structure.name.text.clone(), fields });
                all
            });
        }
        structs
    }

    /// Reports structures that contain themselves. Repeatedly removes structures that contain only removed ones;
    /// the rest is infinite.
    pub fn refuse_recursive_structs(&mut self) {
        let within: Vec<Vec<usize>> = self.structs.iter().map(contained).collect();
        let mut left: Vec<usize> = within.iter().map(Vec::len).collect();
        let mut users = vec![Vec::new(); within.len()];
        for (user, parts) in within.iter().enumerate() {
            parts.iter().for_each(|part| users[*part].push(user));
        }
        let mut finite: Vec<usize> = (0..left.len()).filter(|at| left[*at] == 0).collect();
        while let Some(part) = finite.pop() {
            for &user in &users[part] {
                left[user] -= 1;
                if left[user] == 0 {
                    finite.push(user);
                }
            }
        }
        for at in (0..left.len()).filter(|at| left[*at] > 0) {
            let name = &self.ast.structs[at].name;
            let message = format!("structure `{}` has infinite size", name.text);
            let error = Diagnostic::new(name.span, message)
                .label("it contains itself, directly or through other structures");
            self.error::<()>(error.hint("structures are stored by value; store an index instead"));
        }
    }

    /// The functions of `native` blocks.
    pub fn all_natives(&mut self) -> Option<Vec<hir::Native>> {
        let mut natives = Vec::new();
        let mut callables = self.natives.iter();
        for block in &self.ast.natives {
            for (_, name, _) in &block.functions {
                let callable = callables.next()?;
                natives.push(hir::Native {
                    name: format!("{}.{}", block.name.text, name.text).into(),
                    params: callable.params.iter().cloned().collect::<Option<_>>()?,
                    result: callable.result.clone()?,
                });
            }
        }
        Some(natives)
    }

    /// The functions of `helper` blocks. Calls within a block need no prefix.
    pub fn all_helpers(&mut self) -> Option<Vec<hir::Function>> {
        let mut helpers = Some(Vec::new());
        for block in &self.ast.helpers {
            let resolved = self.in_top_level_frame(Context::Helper, |this| this.helper_block(block));
            helpers = helpers.zip(resolved).map(|(mut all, functions)| {
                all.extend(functions);
                all
            });
        }
        helpers
    }

    fn helper_block(&mut self, block: &'a ast::Helper) -> Option<Vec<hir::Function>> {
        // Blocks are resolved in order, and each function appends its effects to `helper_effects`.
        let first = self.helper_effects.len();
        let callables = self.helpers[first..first + block.functions.len()].to_vec();
        for callable in &callables {
            self.frame().add_function(callable.clone());
        }
        let mut functions = Vec::new();
        for (function, callable) in block.functions.iter().zip(&callables) {
            let (resolved, effects) = self.function(Context::Helper, function, callable);
            self.helper_effects.push(effects);
            functions.push(resolved.map(|mut resolved| {
                resolved.name = format!("{}.{}", block.name.text, resolved.name).into();
                resolved
            }));
        }
        functions.into_iter().collect()
    }
}

/// Structures contained in the fields of a structure.
fn contained(fields: &super::Fields) -> Vec<usize> {
    let mut parts = Vec::new();
    for ty in &fields.types {
        let mut ty = ty.as_ref();
        while let Some(Type::Array(element)) = ty {
            ty = Some(element);
        }
        if let Some(Type::Struct(id)) = ty {
            parts.push(id.0 as usize);
        }
    }
    parts
}
