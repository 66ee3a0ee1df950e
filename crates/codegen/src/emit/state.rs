//! C text of a program's state block, and of its initial value.

use super::code::{field_name, structure};
use super::literal;
use super::program::Writer;
use crate::ir::{Cell, MemKind};
use crate::lower::{cell_of, cells_of, flatten, shape_of};
use std::collections::BTreeMap;
use std::fmt::Write;
use thalweg_lang::flat::NodeId;
use thalweg_lang::hir::StreamBody;
use thalweg_lang::tree;

/// The most scalars of a field's initial value: the text needs four characters a byte.
const MOST: u64 = 1 << 24;

impl Writer<'_> {
    /// The structures of filters' state.
    pub(super) fn structures(&mut self) -> Result<(), String> {
        let nodes: Vec<u32> = self.nodes().map(|(node, _)| node).collect();
        for node in nodes {
            let fields = self.fields(node)?;
            let fields: Vec<_> =
                fields.into_iter().map(|(at, (name, cell, cells))| (at, name, cell, cells)).collect();
            let mut text = structure(&fields);
            if self.flows(node) {
                text = text.replacen(
                    "    uint64_t random;",
                    "    uint64_t random;\n    int64_t idle, wants, apart;",
                    1,
                );
            }
            let name = match self.structures.get(&text) {
                Some(name) => name.clone(),
                None => {
                    let name = format!("kept_{node}");
                    self.line(format!("\nstruct {name} {text};"));
                    self.structures.insert(text, name.clone());
                    name
                }
            };
            self.kept.insert(node, name);
        }
        Ok(())
    }

    /// Fields that a node's code uses and changes.
    pub(super) fn fields(&self, node: u32) -> Result<BTreeMap<u32, (String, Cell, usize)>, String> {
        let Some(codes) = &self.codes[node as usize] else { return Ok(BTreeMap::new()) };
        let Some(id) = self.compiled.flat.filter(NodeId(node)) else {
            return Ok(BTreeMap::new());
        };
        let tree::Code::Written { stream, fields, .. } = &self.compiled.tree.filters[id.0 as usize].code
        else {
            return Ok(BTreeMap::new());
        };
        let StreamBody::Filter(filter) = &self.compiled.program.streams[stream.0 as usize].body else {
            return Ok(BTreeMap::new());
        };
        let mut used = BTreeMap::new();
        for code in codes.all() {
            let vars = code.vars.iter().filter_map(|var| var.field.map(|(field, _)| field));
            let mems = code.mems.iter().filter_map(|mem| match mem.kind {
                MemKind::Field(field) => Some(field),
                _ => None,
            });
            for field in vars.chain(mems) {
                let structs = &self.compiled.tree.structs;
                let variable = &filter.fields[field as usize];
                let shape = shape_of(&fields[field as usize], &variable.ty.ty);
                used.insert(
                    field,
                    (variable.name.to_string(), cell_of(&shape, structs)?, cells_of(&shape, structs)),
                );
            }
        }
        Ok(used)
    }

    pub(super) fn state(&mut self) {
        let buffers: usize = self.parts.iter().map(crate::parts::Part::buffers).sum();
        let queues = self.compiled.flat.channels().len();
        self.line("\nstruct state {\n    struct env env;");
        self.line(format!(
            "    struct queue queues[{}];\n    struct buffer buffers[{}];",
            queues.max(1),
            buffers.max(1)
        ));
        for (node, kept) in self.kept.clone() {
            self.line(format!("    struct {kept} node_{node};"));
        }
        let plans = self.parts.iter().filter_map(|part| part.plan.as_ref());
        let vectors = plans.map(crate::plan::Plan::vectors).max().unwrap_or(0);
        if vectors > 0 {
            self.line(format!("    char lanes[({vectors} + 1) * sizeof(VI)];"));
        }
        if self.large > 0 {
            self.line(format!("    char large[{}];\n}};", self.large + 64));
            self.line(
                "\n/* The memory of large locals. */\nstatic inline char *large(struct env *env)\n{\n    \
                 return (char *)((uintptr_t)(((struct state *)env)->large + 63) & ~(uintptr_t)63);\n}",
            );
        } else {
            self.line("};");
        }
        self.places();
    }

    /// The places of nodes' states, for code that does the same for many nodes. A loop over a table takes time in proportion
    /// to the nodes in the C compiler, and as many statements take more.
    fn places(&mut self) {
        let nodes = self.compiled.flat.nodes().len() as u32;
        let place = |node: u32| match self.kept.get(&node) {
            Some(kept) => format!("{{__builtin_offsetof(struct state, node_{node}), sizeof(struct {kept})}}"),
            None => "{0, 0}".to_owned(),
        };
        let places: Vec<String> = (0..nodes).map(place).collect();
        self.line(format!(
            "\n/* Where the state of each node is, and its bytes; 0 for nodes without. All begin with the same fields. */\n\
             static const struct {{ uint64_t at, bytes; }} places[] = {{{}}};\n\
             struct kept {{ int64_t fired; uint64_t random; }};\n\
             static inline struct kept *kept_of(struct state *state, uint32_t node)\n{{\n    \
             return (struct kept *)((char *)state + places[node].at);\n}}",
            places.join(", ")
        ));
    }

    /// Sets the initial state of filters; fields without an initial value are zero.
    pub(super) fn begin(&mut self) -> Result<(), String> {
        let (mut body, mut seeds) = (String::new(), Vec::new());
        for (node, _) in self.kept.clone() {
            let Some(id) = self.compiled.flat.filter(NodeId(node)) else { continue };
            let tree::Code::Written { stream, fields, .. } = &self.compiled.tree.filters[id.0 as usize].code
            else {
                continue;
            };
            let StreamBody::Filter(filter) = &self.compiled.program.streams[stream.0 as usize].body else {
                continue;
            };
            // The interpreter seeds its sequences in the same way.
            let seed = u64::from(id.0) << 2 | 1;
            seeds.push(vec![node.to_string(), format!("{seed}u")]);
            for (at, (_, cell, _)) in self.fields(node)? {
                let structs = &self.compiled.tree.structs;
                let value = &fields[at as usize];
                let shape = shape_of(value, &filter.fields[at as usize].ty.ty);
                if value.cells() > MOST {
                    return Err(format!("the initial value of a field has more than {MOST} numbers"));
                }
                let mut cells = Vec::new();
                flatten(value, &shape, structs, &mut cells);
                if cells.iter().all(|cell| *cell == crate::ir::Scalar::zero(cell.kind())) {
                    continue;
                }
                let name = format!("begin_{node}_{at}");
                let bytes = literal::beginning(&mut self.text, &name, &cells, cell);
                let field = field_name(at);
                let _ = writeln!(body, "    memcpy(state->node_{node}.{field}, {name}, {bytes});");
            }
        }
        let seeds = for_each("seeds", &seeds, "kept_of(state, row[0])->random = row[1];");
        self.line(format!(
            "\nvoid thalweg_begin(struct state *state)\n{{\n    (void)state;\n{seeds}{body}}}"
        ));
        Ok(())
    }

    /// Copies the data of a node from another state.
    pub(super) fn join(&mut self) {
        self.line(
            "\nvoid thalweg_join(struct state *to, const struct state *from, uint32_t node)\n{\n    \
             memcpy((char *)to + places[node].at, (const char *)from + places[node].at, places[node].bytes);\n}",
        );
    }
}

/// C code that does the same for each row of a table.
pub(super) fn for_each(name: &str, rows: &[Vec<String>], what: &str) -> String {
    let Some(columns) = rows.first().map(Vec::len) else { return String::new() };
    let rows: Vec<String> = rows.iter().map(|row| format!("{{{}}}", row.join(", "))).collect();
    format!(
        "    static const int64_t {name}[][{columns}] = {{{}}};\n    for (uint32_t i = 0; i < {}; i++) {{\n        \
         const int64_t *const row = {name}[i];\n        {what}\n    }}\n",
        rows.join(", "),
        rows.len()
    )
}
