//! Tables with many reads at constant indices.
//!
//! GCC creates a vector constant in memory for each such value, and so loads sixteen times as much data as
//! there is. So the address of the table is hidden from GCC: then a value is loaded as a scalar and
//! broadcast.

use super::simd::Vectors;
use super::terms::{cell_type, mem_name};
use crate::ir::{Area, Cell, Code, Expr, Mem, MemKind, walk_exprs};
use std::collections::{BTreeMap, BTreeSet};

/// The number of values from which on tables are hidden: as many vectors as there are registers.
const MANY: usize = 32;

impl Vectors<'_> {
    /// Hides the addresses of such tables, up to the end of the block.
    pub(super) fn hide_tables(&mut self) {
        let code = self.inner.code;
        for mem in large(code) {
            let (name, ty) = (mem_name(code, mem.0), cell_type(code.mems[mem.0 as usize].cell));
            self.line(format!("const {ty} *at{} = {name};", mem.0));
            self.line(format!("__asm__ volatile (\"\" : \"+r\" (at{}));", mem.0));
            self.line(format!("const {ty} *const {name} = at{};", mem.0));
        }
    }
}

/// Tables with many reads at constant indices.
fn large(code: &Code) -> Vec<Mem> {
    let mut places: BTreeMap<Mem, BTreeSet<i32>> = BTreeMap::new();
    walk_exprs(&code.body, &mut |ex| {
        if let Expr::Load(Area::Mem(mem), at, _) = ex
            && let Some(at) = at.as_int()
        {
            places.entry(*mem).or_default().insert(at);
        }
    });
    let is_table = |mem: &Mem| {
        let info = &code.mems[mem.0 as usize];
        matches!(info.kind, MemKind::Table(_)) && info.cell != Cell::Mixed
    };
    places.retain(|mem, _| is_table(mem));
    let all: usize = places.values().map(BTreeSet::len).sum();
    if all > MANY { places.into_keys().collect() } else { Vec::new() }
}
