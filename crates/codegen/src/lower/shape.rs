//! Shapes as runs of cells.

use super::Outcome;
use crate::ir::{Cell, Kind, Scalar};
use thalweg_lang::hir::Type;
use thalweg_lang::value::{Shape, Value};

/// The number of scalars in a value of a shape.
pub(crate) fn cells_of(shape: &Shape, structs: &[Vec<Shape>]) -> usize {
    match shape {
        Shape::Scalar(Type::Void) => 0,
        Shape::Scalar(Type::Complex) => 2,
        Shape::Scalar(Type::Vector(count)) => usize::from(*count),
        Shape::Scalar(_) => 1,
        Shape::Array(_, 0) => 0,
        Shape::Array(element, length) => length * cells_of(element, structs),
        Shape::Struct(id) => structs[id.0 as usize].iter().map(|field| cells_of(field, structs)).sum(),
    }
}

/// The content of its cells.
pub(crate) fn cell_of(shape: &Shape, structs: &[Vec<Shape>]) -> Outcome<Cell> {
    Ok(match shape {
        Shape::Scalar(Type::Bit | Type::Boolean) => Cell::Of(Kind::Bool),
        Shape::Scalar(Type::Int | Type::Void) => Cell::Of(Kind::Int),
        Shape::Scalar(Type::Float | Type::Complex | Type::Vector(_)) => Cell::Of(Kind::Float),
        Shape::Scalar(other) => return Err(format!("values of type {other:?} cannot be stored")),
        Shape::Array(element, _) => cell_of(element, structs)?,
        Shape::Struct(id) => {
            let mut all = None;
            for field in &structs[id.0 as usize] {
                let cell = cell_of(field, structs)?;
                all = Some(if all.is_none_or(|all| all == cell) { cell } else { Cell::Mixed });
            }
            all.unwrap_or(Cell::Of(Kind::Int))
        }
    })
}

/// The kind of a scalar type.
pub(super) fn kind_of(ty: &Type) -> Outcome<Kind> {
    match ty {
        Type::Bit | Type::Boolean => Ok(Kind::Bool),
        Type::Int | Type::Void => Ok(Kind::Int),
        Type::Float => Ok(Kind::Float),
        other => Err(format!("type {other:?} is not a scalar type")),
    }
}

/// Whether values of a type are single scalars.
pub(super) fn is_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Bit | Type::Boolean | Type::Int | Type::Float)
}

/// The number of components of a complex number or vector.
pub(super) fn components(ty: &Type) -> Option<usize> {
    match ty {
        Type::Complex => Some(2),
        Type::Vector(count) => Some(usize::from(*count)),
        _ => None,
    }
}

/// The shape of a value of a type.
pub(crate) fn shape_of(value: &Value, ty: &Type) -> Shape {
    match (value, ty) {
        (Value::Array(elements), Type::Array(element)) => {
            let inner = match elements.get(0) {
                Some(first) => shape_of(&first, element),
                None => Shape::Scalar(Type::Int),
            };
            Shape::Array(std::sync::Arc::new(inner), elements.len())
        }
        (_, Type::Struct(id)) => Shape::Struct(*id),
        (_, other) => Shape::Scalar(other.clone()),
    }
}

/// The scalars of a value, in order.
pub(crate) fn flatten(value: &Value, shape: &Shape, structs: &[Vec<Shape>], out: &mut Vec<Scalar>) {
    match (value, shape) {
        (Value::Bool(x), _) => out.push(Scalar::Bool(*x)),
        (Value::Int(x), _) => out.push(Scalar::Int(*x)),
        (Value::Float(x), _) => out.push(Scalar::Float(*x)),
        (Value::Complex(re, im), _) => out.extend([Scalar::Float(*re), Scalar::Float(*im)]),
        (Value::Vector(parts), Shape::Scalar(Type::Vector(count))) => {
            out.extend(parts.iter().take(usize::from(*count)).map(|part| Scalar::Float(*part)));
        }
        (Value::Array(elements), Shape::Array(element, _)) => {
            elements.iter().for_each(|value| flatten(&value, element, structs, out));
        }
        (Value::Struct(fields), Shape::Struct(id)) => {
            let shapes = &structs[id.0 as usize];
            fields.iter().zip(shapes).for_each(|(value, shape)| flatten(value, shape, structs, out));
        }
        _ => {}
    }
}
