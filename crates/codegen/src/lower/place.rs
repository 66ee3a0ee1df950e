//! Places: variables and their parts.

use super::shape::{components, flatten, is_scalar, kind_of, shape_of};
use super::{Bind, Lower, Outcome, Part, Val, cell_of, cells_of};
use crate::ir::{Area, Cell, Expr, Kind, Mem, MemKind, Scalar, Stmt, Var, VarInfo};
use std::borrow::Cow;
use thalweg_lang::hir::{BinaryOp, Place, Root, Step, Type};
use thalweg_lang::source::Span;
use thalweg_lang::value::{Shape, Value};

/// A place with evaluated indices.
#[derive(Clone, Debug)]
pub(super) struct Loc {
    kind: LocKind,
    /// Indices, with the lengths that they must be less than.
    checks: Vec<(Expr, usize, Span)>,
}

#[derive(Clone, Debug)]
enum LocKind {
    Var(Var),
    Cells(Area, Expr, Shape),
    Text(Vec<Part>),
    Known(Value, Type),
}

/// The longest run of cells that is copied without a loop.
const SHORT: usize = 8;

/// The most cells of different kinds that are copied.
const MOST_MIXED: usize = 4096;

/// The longest local that is cleared without a loop: it may become scalars.
const SHORT_CLEAR: usize = 64;

impl<'a> Lower<'a> {
    /// Evaluates the indices of a place. They are checked when the place is used.
    pub(super) fn place(&mut self, place: &'a Place) -> Outcome<Loc> {
        let mut indices = Vec::new();
        for (at, step) in place.path.iter().enumerate() {
            if let Step::Index(index) = step {
                let later = place.path[at + 1..].iter().any(|step| match step {
                    Step::Index(index) => self.has_effects(index),
                    Step::Field(_) => false,
                });
                let index_span = index.span;
                let mut index = self.scalar(index)?;
                if index.kind(&self.code) == Kind::Bool {
                    index = self.convert_scalar(index, Kind::Bool, Kind::Int);
                }
                if later {
                    index = self.spill(index);
                }
                indices.push((index, index_span));
            }
        }
        self.place_at(place, indices)
    }

    fn place_at(&mut self, place: &'a Place, indices: Vec<(Expr, Span)>) -> Outcome<Loc> {
        if let Some((value, ty)) = self.known_root(place.root)
            && let Some(found) = find(&value, ty, &place.path, &indices)
        {
            return Ok(Loc { kind: LocKind::Known(found.0, found.1), checks: Vec::new() });
        }
        let (area, shape) = match self.root(place.root)? {
            Bind::Scalar(var) => return Ok(Loc { kind: LocKind::Var(var), checks: Vec::new() }),
            Bind::Text(parts) => return Ok(Loc { kind: LocKind::Text(parts), checks: Vec::new() }),
            Bind::None => return Err("a variable is used before its declaration".into()),
            Bind::Area(mem, shape) => (Area::Mem(mem), shape),
        };
        self.walk(area, shape, &place.path, indices)
    }

    fn walk(
        &mut self,
        area: Area,
        mut shape: Shape,
        path: &[Step],
        indices: Vec<(Expr, Span)>,
    ) -> Outcome<Loc> {
        let structs = &self.tree.structs;
        let (mut at, mut indices, mut checks) = (Expr::int(0), indices.into_iter(), Vec::new());
        for step in path {
            match (step, &shape) {
                (Step::Index(_), Shape::Array(element, length)) => {
                    let (index, span) = indices.next().ok_or("an index is missing")?;
                    checks.push((index.clone(), *length, span));
                    at = at.plus(index.times(cells_of(element, structs) as i64));
                    shape = (**element).clone();
                }
                (Step::Field(field), Shape::Struct(id)) => {
                    let fields = &structs[id.0 as usize];
                    let before: usize = fields[..*field as usize].iter().map(|f| cells_of(f, structs)).sum();
                    at = at.plus(Expr::int(before as i64));
                    shape = fields[*field as usize].clone();
                }
                (Step::Field(part), Shape::Scalar(ty)) if components(ty).is_some() => {
                    at = at.plus(Expr::int(i64::from(*part)));
                    shape = Shape::Scalar(Type::Float);
                }
                _ => return Err("a field or index is applied to a value that has no parts".into()),
            }
        }
        Ok(Loc { kind: LocKind::Cells(area, at, shape), checks })
    }

    /// The portal at a place.
    pub(super) fn portal(&mut self, place: &'a Place) -> Outcome<u32> {
        match self.place(place)?.kind {
            LocKind::Known(Value::Portal(portal), _) => Ok(portal),
            _ => Err("the portal of a message is chosen while the program runs".into()),
        }
    }

    /// The value of a variable that never changes.
    fn known_root(&self, root: Root) -> Option<(Value, Type)> {
        let declared = |root: Root| self.root_type(root);
        match root {
            Root::Param(at) => Some((self.params.get(at as usize)?.clone(), declared(root)?)),
            Root::Global(at) => Some((self.tree.globals.get(at as usize)?.clone(), declared(root)?)),
            Root::Field(at) if !self.changing[at as usize] => {
                Some((self.fields.get(at as usize)?.clone(), declared(root)?))
            }
            _ => None,
        }
    }

    fn root_type(&self, root: Root) -> Option<Type> {
        Some(match root {
            Root::Param(at) => self.param_types.get(at as usize)?.clone(),
            Root::Global(at) => self.program.globals.get(at as usize)?.ty.ty.clone(),
            Root::Field(at) => self.filter.fields.get(at as usize)?.ty.ty.clone(),
            Root::Local(_) => return None,
        })
    }

    /// The storage of a variable; tables and fields are created on first use.
    fn root(&mut self, root: Root) -> Outcome<Bind> {
        if let Root::Local(at) = root {
            return Ok(self.frame().locals[at as usize].clone());
        }
        if let Some(bind) = self.roots.get(&root) {
            return Ok(bind.clone());
        }
        let ty = self.root_type(root).ok_or("unknown variable")?;
        let bind = match (self.known_root(root), root) {
            (Some((value, _)), _) => self.table(&value, &ty)?,
            (None, Root::Field(at)) => self.field(at, &ty)?,
            _ => return Err("unknown variable".into()),
        };
        self.roots.insert(root, bind.clone());
        Ok(bind)
    }

    pub(super) fn table(&mut self, value: &Value, ty: &Type) -> Outcome<Bind> {
        let shape = shape_of(value, ty);
        let mut cells = Vec::new();
        flatten(value, &shape, &self.tree.structs, &mut cells);
        Ok(Bind::Area(self.mem(MemKind::Table(cells), &shape, "table")?, shape))
    }

    fn field(&mut self, at: u32, ty: &Type) -> Outcome<Bind> {
        let name = self.filter.fields[at as usize].name.clone();
        if is_scalar(ty) {
            let kind = kind_of(ty)?;
            self.code.vars.push(VarInfo { kind, name: name.to_string(), field: Some((at, 0)) });
            return Ok(Bind::Scalar(Var(self.code.vars.len() as u32 - 1)));
        }
        let value = self.fields.get(at as usize).ok_or("a field has no value")?;
        let shape = shape_of(value, ty);
        Ok(Bind::Area(self.mem(MemKind::Field(at), &shape, &name)?, shape))
    }

    /// Emits checks of indices that are not proven valid.
    fn check_indices(&mut self, checks: &[(Expr, usize, Span)]) {
        for (index, length, span) in checks {
            let (low, high) = self.range(index);
            if low >= 0 && high < *length as i64 {
                continue;
            }
            self.span = *span;
            let index = self.spill(index.clone());
            let below = self.compare(BinaryOp::Lt, index.clone(), Expr::int(0));
            let above = self.compare(BinaryOp::Ge, index.clone(), Expr::int(*length as i64));
            let outside = self.binary_scalar(BinaryOp::BitOr, Kind::Bool, below, above);
            self.check(outside, format!("index {{0}} is outside an array of length {length}"), vec![index]);
        }
    }

    /// The value at a place.
    pub(super) fn read(&mut self, place: &'a Place) -> Outcome<Val> {
        let loc = self.place(place)?;
        self.load(&loc)
    }

    pub(super) fn load(&mut self, loc: &Loc) -> Outcome<Val> {
        self.check_indices(&loc.checks);
        match &loc.kind {
            LocKind::Var(var) => {
                Ok(Val::Scalar(self.known.constant(*var).map_or(Expr::Var(*var), Expr::Const)))
            }
            LocKind::Cells(area, at, shape) => self.load_cells(area, at, shape),
            LocKind::Text(parts) => Ok(Val::Text(parts.clone())),
            LocKind::Known(value, ty) => self.constant(value, ty),
        }
    }

    /// Lowers a constant.
    pub(super) fn constant(&mut self, value: &Value, ty: &Type) -> Outcome<Val> {
        let float = |x: f32| Expr::Const(Scalar::Float(x));
        Ok(match value {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                Val::Scalar(Expr::Const(Scalar::of(value).ok_or("a constant is not a scalar")?))
            }
            Value::Complex(re, im) => Val::Cells(vec![float(*re), float(*im)]),
            Value::Vector(parts) => {
                let count = components(ty).unwrap_or(4);
                Val::Cells(parts.iter().take(count).map(|part| float(*part)).collect())
            }
            Value::String(text) => Val::Text(vec![Part::Text(text.to_string())]),
            Value::Struct(_) | Value::Array(_) => match self.table(value, ty)? {
                Bind::Area(mem, shape) => Val::Area(Area::Mem(mem), Expr::int(0), shape),
                _ => Val::Nothing,
            },
            Value::Portal(_) => return Err("a portal is used as a value".into()),
        })
    }

    /// The value in cells.
    pub(super) fn load_cells(&mut self, area: &Area, at: &Expr, shape: &Shape) -> Outcome<Val> {
        let load = |at: Expr, kind| Expr::Load(area.clone(), Box::new(at), kind);
        Ok(match shape {
            Shape::Scalar(ty) => match components(ty) {
                Some(count) => Val::Cells(
                    (0..count as i64)
                        .map(|part| load(at.clone().plus(Expr::int(part)), Kind::Float))
                        .collect(),
                ),
                None => Val::Scalar(load(at.clone(), kind_of(ty)?)),
            },
            _ => Val::Area(area.clone(), at.clone(), shape.clone()),
        })
    }

    /// Stores a value to a place.
    pub(super) fn store(&mut self, loc: &Loc, value: Val) -> Outcome<()> {
        self.check_indices(&loc.checks);
        match (&loc.kind, value) {
            (LocKind::Var(var), Val::Scalar(value)) => {
                self.set(*var, value);
                Ok(())
            }
            (LocKind::Cells(area, at, shape), value) => self.store_cells(area, at, shape, value),
            _ => Err("unsupported assignment".into()),
        }
    }

    /// Stores a value to cells.
    pub(super) fn store_cells(&mut self, area: &Area, at: &Expr, shape: &Shape, value: Val) -> Outcome<()> {
        match (shape, value) {
            (Shape::Scalar(ty), Val::Scalar(value)) => {
                self.emit(Stmt::Store(area.clone(), at.clone(), kind_of(ty)?, value));
                Ok(())
            }
            (Shape::Scalar(_), Val::Cells(parts)) => {
                // Evaluate all parts first: they may read the cells that are stored to.
                let parts: Vec<Expr> = parts.into_iter().map(|part| self.spill(part)).collect();
                for (part, value) in parts.into_iter().enumerate() {
                    self.emit(Stmt::Store(
                        area.clone(),
                        at.clone().plus(Expr::int(part as i64)),
                        Kind::Float,
                        value,
                    ));
                }
                Ok(())
            }
            (shape, Val::Area(from, from_at, from_shape)) if *shape == from_shape => {
                self.copy((area, at), (&from, &from_at), shape)
            }
            (shape, Val::Area(_, _, given)) => {
                Err(format!("a value of shape {given} is assigned to one of shape {shape}"))
            }
            _ => Err("unsupported assignment".into()),
        }
    }

    fn copy(&mut self, to: (&Area, &Expr), from: (&Area, &Expr), shape: &Shape) -> Outcome<()> {
        if to == from {
            return Ok(());
        }
        let cells = cells_of(shape, &self.tree.structs);
        let (to_cell, from_cell) = (self.cell(to.0)?, self.cell(from.0)?);
        match (to_cell, from_cell) {
            (Cell::Of(a), Cell::Of(b)) if a == b => self.copy_run(to, from, cells, a),
            // Cells of mixed kinds are copied as 32 bits each.
            (Cell::Mixed, Cell::Mixed) => self.copy_run(to, from, cells, Kind::Int),
            _ => {
                let mut kinds = Vec::new();
                self.kinds(shape, &mut kinds)?;
                for (cell, kind) in kinds.into_iter().enumerate() {
                    self.copy_cell(to, from, &Expr::int(cell as i64), kind);
                }
                self.budget()?;
            }
        }
        Ok(())
    }

    pub(super) fn copy_run(&mut self, to: (&Area, &Expr), from: (&Area, &Expr), cells: usize, kind: Kind) {
        if cells <= SHORT {
            (0..cells).for_each(|cell| self.copy_cell(to, from, &Expr::int(cell as i64), kind));
            return;
        }
        self.over_cells(cells, |lower, cell| lower.copy_cell(to, from, &cell, kind));
    }

    /// Emits a loop over cells.
    fn over_cells(&mut self, cells: usize, each: impl FnOnce(&mut Self, Expr)) {
        let var = self.var(Kind::Int, "c");
        let before = std::mem::take(&mut self.out);
        each(self, Expr::Var(var));
        let body = std::mem::replace(&mut self.out, before);
        self.emit(Stmt::For { var, from: Expr::int(0), to: Expr::int(cells as i64), step: 1, body });
    }

    fn copy_cell(&mut self, to: (&Area, &Expr), from: (&Area, &Expr), cell: &Expr, kind: Kind) {
        let value = Expr::Load(from.0.clone(), Box::new(from.1.clone().plus(cell.clone())), kind);
        self.emit(Stmt::Store(to.0.clone(), to.1.clone().plus(cell.clone()), kind, value));
    }

    /// Sets all cells to zero.
    pub(super) fn clear(&mut self, mem: Mem, shape: &Shape) -> Outcome<()> {
        let cells = cells_of(shape, &self.tree.structs);
        let area = Area::Mem(mem);
        let kind = match self.cell(&area)? {
            Cell::Of(kind) => kind,
            Cell::Mixed => Kind::Int,
        };
        let store = |at: Expr| Stmt::Store(area.clone(), at, kind, Expr::Const(Scalar::zero(kind)));
        if cells <= SHORT_CLEAR {
            (0..cells).for_each(|cell| self.emit(store(Expr::int(cell as i64))));
        } else {
            self.over_cells(cells, |lower, cell| lower.emit(store(cell)));
        }
        Ok(())
    }

    pub(super) fn kinds(&self, shape: &Shape, out: &mut Vec<Kind>) -> Outcome<()> {
        let structs = &self.tree.structs;
        match (shape, cell_of(shape, structs)?) {
            (shape, Cell::Of(kind)) => out.extend(std::iter::repeat_n(kind, cells_of(shape, structs))),
            (Shape::Array(element, length), Cell::Mixed) => {
                for _ in 0..*length {
                    self.kinds(element, out)?;
                }
            }
            (Shape::Struct(id), Cell::Mixed) => {
                for field in &structs[id.0 as usize] {
                    self.kinds(field, out)?;
                }
            }
            _ => {}
        }
        if out.len() > MOST_MIXED {
            return Err(format!("a structure of more than {MOST_MIXED} cells of different types is copied"));
        }
        Ok(())
    }

    fn cell(&self, area: &Area) -> Outcome<Cell> {
        match area {
            Area::Mem(mem) => Ok(self.code.mems[mem.0 as usize].cell),
            Area::In(_) if self.handles => Ok(Cell::Mixed),
            Area::In(_) => cell_of(&self.input, &self.tree.structs),
            Area::Out(_) => cell_of(&self.output, &self.tree.structs),
        }
    }

    /// The kind of a scalar place; `None` for larger ones.
    pub(super) fn kind_at(&self, loc: &Loc) -> Option<Kind> {
        match &loc.kind {
            LocKind::Var(var) => Some(self.code.vars[var.0 as usize].kind),
            LocKind::Cells(_, _, Shape::Scalar(ty)) => kind_of(ty).ok(),
            LocKind::Known(value, _) => Scalar::of(value).map(Scalar::kind),
            _ => None,
        }
    }

    /// A copy of a value that later statements do not change.
    pub(super) fn freeze(&mut self, value: Val) -> Outcome<Val> {
        Ok(match value {
            Val::Scalar(ex) => Val::Scalar(self.spill(ex)),
            Val::Cells(parts) => Val::Cells(parts.into_iter().map(|part| self.spill(part)).collect()),
            Val::Area(area, at, shape) if self.is_fixed(&area, &at) => Val::Area(area, at, shape),
            Val::Area(area, at, shape) => {
                let mem = self.mem(MemKind::Local, &shape, "copy")?;
                self.store_cells(&Area::Mem(mem), &Expr::int(0), &shape, Val::Area(area, at, shape.clone()))?;
                Val::Area(Area::Mem(mem), Expr::int(0), shape)
            }
            Val::Text(parts) => Val::Text(
                parts
                    .into_iter()
                    .map(|part| match part {
                        Part::Value(cells, ty) => {
                            Part::Value(cells.into_iter().map(|cell| self.spill(cell)).collect(), ty)
                        }
                        stays => stays,
                    })
                    .collect(),
            ),
            Val::Nothing => Val::Nothing,
        })
    }

    fn is_fixed(&self, area: &Area, at: &Expr) -> bool {
        at.constant().is_some()
            && match area {
                Area::Mem(mem) => matches!(self.code.mems[mem.0 as usize].kind, MemKind::Table(_)),
                Area::In(item) => item.constant().is_some(),
                Area::Out(_) => false,
            }
    }
}

/// The part of a constant at indices that are all constants.
fn find(value: &Value, ty: Type, path: &[Step], indices: &[(Expr, Span)]) -> Option<(Value, Type)> {
    let (mut value, mut ty, mut indices) = (value, ty, indices.iter());
    for step in path {
        (value, ty) = match (step, value, ty) {
            (Step::Index(_), Value::Array(elements), Type::Array(element)) => {
                let at = usize::try_from(indices.next()?.0.as_int()?).ok()?;
                match elements.get(at)? {
                    Cow::Borrowed(value) => (value, *element),
                    // A number, which has no parts.
                    Cow::Owned(number) => return Some((number, *element)),
                }
            }
            (Step::Field(0), Value::Complex(re, _), _) => return Some((Value::Float(*re), Type::Float)),
            (Step::Field(1), Value::Complex(_, im), _) => return Some((Value::Float(*im), Type::Float)),
            (Step::Field(at), Value::Vector(parts), _) => {
                return Some((Value::Float(*parts.get(*at as usize)?), Type::Float));
            }
            _ => return None,
        };
    }
    // Larger parts are tables, created once for the whole variable.
    let whole = path.is_empty() && matches!(value, Value::Array(_) | Value::Struct(_));
    (!whole && !matches!(value, Value::Array(_) | Value::Struct(_))).then(|| (value.clone(), ty))
}

impl Lower<'_> {
    /// A place with indices that later statements do not change.
    pub(super) fn freeze_loc(&mut self, loc: Loc) -> Loc {
        let kind = match loc.kind {
            LocKind::Cells(area, at, shape) => LocKind::Cells(area, self.spill(at), shape),
            other => other,
        };
        let checks = loc.checks.into_iter().map(|(index, length, span)| (self.spill(index), length, span));
        Loc { kind, checks: checks.collect() }
    }
}
