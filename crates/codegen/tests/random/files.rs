//! In-memory files for random programs.

use crate::common::{Given, Written, made};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::hir::Type;
use thalweg_lang::value::{Shape, Value};

/// Files with content derived from their names and a seed.
#[derive(Default)]
pub struct Random {
    pub seed: u64,
    /// Items of the longest.
    pub most: u32,
    pub written: Arc<Mutex<BTreeMap<String, Vec<Value>>>>,
}

impl Random {
    fn items(&self, name: &str, layout: &Layout<'_>) -> Vec<Value> {
        let mut next =
            name.bytes().fold(self.seed as u32, |all, byte| all.wrapping_mul(31).wrapping_add(byte.into()));
        let mut number = || {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            next >> 8
        };
        let count = number() % (self.most + 1);
        let mut state = number();
        (0..count)
            .map(|_| {
                let special = number() % 24;
                odd(special, layout.shape).unwrap_or_else(|| made(layout.shape, layout.structs, &mut state))
            })
            .collect()
    }
}

/// Special values, in a few cases.
fn odd(which: u32, shape: &Shape) -> Option<Value> {
    let Shape::Scalar(ty) = shape else { return None };
    Some(match (ty, which) {
        (Type::Float, 0) => Value::Float(0.0),
        (Type::Float, 1) => Value::Float(-0.0),
        (Type::Float, 2) => Value::Float(f32::INFINITY),
        (Type::Float, 3) => Value::Float(f32::NAN),
        (Type::Float, 4) => Value::Float(1e-41),
        (Type::Int, 0) => Value::Int(i32::MIN),
        (Type::Int, 1) => Value::Int(-1),
        (Type::Int, 2..6) => Value::Int(which as i32 - 2),
        _ => return None,
    })
}

impl Files for Random {
    fn source(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(Given(self.items(name, item), 0)))
    }

    fn sink(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        Ok(Box::new(Written(name.to_owned(), self.written.clone())))
    }
}
