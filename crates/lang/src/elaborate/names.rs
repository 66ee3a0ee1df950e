//! Names of children: different ones.

use smol_str::{SmolStr, format_smolstr};
use std::collections::HashMap;

/// Gives names to the children of one stream.
#[derive(Default)]
pub(super) struct Names {
    used: HashMap<SmolStr, u32>,
}

impl Names {
    /// A name as it is, or if another child has it with a number: `Name`, `Name.2`, `Name.3`.
    pub(super) fn next(&mut self, name: SmolStr) -> SmolStr {
        let count = self.used.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format_smolstr!("{name}.{count}") }
    }
}
