//! Unique names of children.

use smol_str::{SmolStr, format_smolstr};
use std::collections::HashMap;

/// Names the children of one stream.
#[derive(Default)]
pub(super) struct Names {
    used: HashMap<SmolStr, u32>,
}

impl Names {
    /// The name itself, or `Name.2`, `Name.3` if other children have it.
    pub(super) fn next(&mut self, name: SmolStr) -> SmolStr {
        let count = self.used.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format_smolstr!("{name}.{count}") }
    }
}
