//! Structures, and variables of `static` blocks.

use super::Elaborator;
use crate::Span;
use crate::eval::{MAX_WORDS, Outcome};
use crate::hir::{Body, Struct, StructId, Type};
use crate::value::{Shape, Value};
use std::ops::Range;

/// The limit of the nesting of structures.
const MAX_NESTING: usize = 100;

/// The value of a global before its block is reached; any computation with it fails.
pub(super) const UNINITIALISED: Value = Value::Portal(u32::MAX);

impl<'p> Elaborator<'p> {
    /// Initialises all globals; returns whether all have a value.
    ///
    /// Lengths in a structure may use globals, so its shape is known as soon as those have values. Structures are
    /// therefore tried before each block, after the last block, and after each variable of a block without `init`.
    pub(super) fn make_globals(&mut self) -> bool {
        if let Some(deep) = too_deep(&self.program.structs) {
            let text =
                format!("structures in `{}` are nested more than {MAX_NESTING} levels deep", deep.name);
            self.error(struct_span(deep), text);
            return false;
        }
        let mut pending: Vec<usize> = (0..self.program.structs.len()).collect();
        for (range, body) in &self.program.global_inits {
            if self.make_block(range.clone(), body, &mut pending).is_none() {
                return false;
            }
        }
        for at in pending {
            let made = self.make_struct(at);
            self.accept(made, struct_span(&self.program.structs[at]));
        }
        self.errors.is_empty()
    }

    /// Initialises the variables of a block in order and executes its `init`.
    fn make_block(&mut self, range: Range<u32>, init: &'p Body, pending: &mut Vec<usize>) -> Option<()> {
        pending.retain(|at| self.make_struct(*at).is_err());
        for at in range.start as usize..(range.end as usize).min(self.globals.len()) {
            self.make_global(at)?;
            // A value that `init` may still change must not be read.
            if init.stmts.is_empty() {
                pending.retain(|at| self.make_struct(*at).is_err());
            }
        }
        let done = self.machine(&[], &mut [], &[]).run(init);
        let span = init.stmts.first().map_or(Span::default(), |stmt| stmt.span);
        self.accept(done, span)
    }

    fn make_global(&mut self, at: usize) -> Option<()> {
        let variable = &self.program.globals[at];
        let shape = self.machine(&[], &mut [], &[]).shape(&variable.ty);
        let shape = self.accept(shape, variable.span)?;
        self.reserve(shape.words(&self.structs, MAX_WORDS).unwrap_or(MAX_WORDS), variable.span)?;
        self.globals[at] = Value::zero(&shape, &self.structs);
        if let Some(init) = &variable.init {
            let value = self.machine(&[], &mut [], &[]).first_value(&shape, Some(init), variable.span);
            self.globals[at] = self.accept(value, variable.span)?;
        }
        Some(())
    }

    /// Determines the field shapes of a structure.
    fn make_struct(&mut self, at: usize) -> Outcome<()> {
        let program = self.program;
        let mut machine = self.machine(&[], &mut [], &[]);
        let fields = program.structs[at].fields.iter().map(|(_, ty)| machine.shape(ty));
        let shapes = fields.collect::<Outcome<Vec<Shape>>>()?;
        self.structs[at] = shapes;
        Ok(())
    }
}

/// A structure nested too deeply, if any. Each round raises depths by at most one, and depths are final after as
/// many rounds as the greatest depth.
fn too_deep(structs: &[Struct]) -> Option<&Struct> {
    let mut depths = vec![1; structs.len()];
    for _ in 0..=MAX_NESTING {
        for (at, known) in structs.iter().enumerate() {
            let inner = known.fields.iter().filter_map(|(_, field)| struct_in(&field.ty));
            let deepest = inner.filter_map(|id| depths.get(id.0 as usize)).max();
            depths[at] = deepest.map_or(1, |depth| depth + 1);
        }
    }
    depths.iter().position(|depth| *depth > MAX_NESTING).map(|at| &structs[at])
}

fn struct_in(ty: &Type) -> Option<StructId> {
    match ty {
        Type::Array(element) => struct_in(element),
        Type::Struct(id) => Some(*id),
        _ => None,
    }
}

fn struct_span(of: &Struct) -> Span {
    of.fields.iter().find_map(|(_, ty)| ty.lengths.first()).map_or(Span::default(), |length| length.span)
}
