//! Tables many of whose values are looked at in known places.
//!
//! GCC makes a vector in memory of each such value, and loads sixteen times as much as there is. So it is not
//! told where the table is: then a value is loaded as it stands, and given to all lanes on the way.

use super::expr::{cell_type, mem_name};
use super::simd::Vectors;
use crate::ir::{Area, Cell, Code, Ex, Mem, MemKind, walk_exprs};
use std::collections::{BTreeMap, BTreeSet};

/// As many vectors as there are registers.
const MANY: usize = 32;

impl Vectors<'_> {
    /// Hides where such tables are, up to the end of the block.
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

/// Tables many of whose values are looked at in known places.
fn large(code: &Code) -> Vec<Mem> {
    let mut places: BTreeMap<Mem, BTreeSet<i32>> = BTreeMap::new();
    walk_exprs(&code.body, &mut |ex| {
        if let Ex::Load(Area::Mem(mem), at, _) = ex
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
