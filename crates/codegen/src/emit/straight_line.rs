//! C text of blocks without loops: one function with vectors as local variables.
//!
//! Without loops all positions in the block's memory are constant, and values can pass from one part to the
//! next in registers. Rows are transposed into lanes just before they are needed, and back as soon as they
//! are complete, so that neither comes in a burst.

use super::rows::move_of;
use super::terms::cell_type;
use super::unrolled::EFFECT;
use crate::ir::Cell;
use crate::unrolled::{Block, Border};
use std::fmt::Write;

/// The most operations, and vectors of variables.
const MOST_STEPS: usize = 2500;
const MOST_VECTORS: u32 = 512;

/// Whether a block can be emitted in this way.
pub(super) fn can_be(block: &Block, lanes: usize) -> bool {
    let steps: usize = block.parts.classes.iter().map(|class| class.steps.len()).sum();
    let moves =
        |border: &Border, enter| border.cells <= border.advance && move_of(border, enter, lanes).is_some();
    block.parts.classes.iter().all(|class| class.instances == 1)
        && steps <= MOST_STEPS
        && block.parts.vectors * block.beside <= MOST_VECTORS
        && block.entrances.iter().all(|border| moves(border, true))
        && block.exits.iter().all(|border| moves(border, false))
}

/// The rows of a border, or as many of their cells as there are lanes.
struct Piece<'a> {
    name: String,
    border: &'a Border,
    /// The first cell.
    at: u32,
    /// The class before which it is transposed into lanes, or after which back.
    class: usize,
}

/// The straight-line function, and its caller for steady states from `from` on.
pub(super) fn functions(block: &Block, at: &str, first: usize, lanes: usize) -> String {
    let enters = pieces(block, true, lanes);
    let leaves = pieces(block, false, lanes);
    let (near, vectors) = (block.parts.vectors, block.parts.vectors * block.beside);
    let borders: Vec<(String, &Border)> = named(block);
    let params: Vec<String> = borders
        .iter()
        .flat_map(|(name, _)| (0..block.beside).map(move |k| format!("int32_t *{name}_{k}")))
        .collect();
    let mut text = format!(
        "\nstatic __attribute__((noinline)) void straight_{at}({})\n{{\n    {EFFECT}\n    VI t[{vectors}];\n",
        params.join(", ")
    );
    let moved = |text: &mut String, pieces: &[Piece<'_>], enter: bool, number: usize| {
        for piece in pieces.iter().filter(|piece| piece.class == number) {
            for k in 0..block.beside {
                let place = piece.border.offset + piece.at + k * near;
                let Some(verb) = move_of(piece.border, enter, lanes) else { continue };
                let (to, row) = (format!("t + {place}"), format!("{}_{k} + {}", piece.name, piece.at));
                let args = if enter { format!("{to}, {row}") } else { format!("{row}, {to}") };
                let by =
                    if verb.ends_with("row") { format!(", {}", piece.border.advance) } else { String::new() };
                let _ = writeln!(text, "    {verb}({args}{by});");
            }
        }
    };
    for number in 0..block.parts.classes.len() {
        moved(&mut text, &enters, true, number);
        let _ = writeln!(text, "    part_{at}_{number}(t);");
        moved(&mut text, &leaves, false, number);
    }
    text.push_str("}\n");
    text.push_str(&caller(block, at, first, &borders));
    text
}

/// The borders, with the names of their pointers.
fn named(block: &Block) -> Vec<(String, &Border)> {
    let enters = block.entrances.iter().enumerate().map(|(at, border)| (format!("in{at}"), border));
    let leaves = block.exits.iter().enumerate().map(|(at, border)| (format!("out{at}"), border));
    enters.chain(leaves).collect()
}

/// The pieces of all entrances, or of all exits, that some class uses.
fn pieces(block: &Block, enter: bool, lanes: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let borders = if enter { &block.entrances } else { &block.exits };
    for (number, border) in borders.iter().enumerate() {
        let whole = !move_of(border, enter, lanes).is_some_and(|verb| verb.ends_with("row"));
        let width = if whole { border.cells } else { lanes as u32 };
        for at in begins(border.cells.max(width), width) {
            let range = border.offset + at..border.offset + at + width;
            let has = |class: &usize| {
                let class = &block.parts.classes[*class];
                let mut loads = class.loads.iter();
                let mut stores = class.stores.iter().map(|(_, store)| store);
                let here = |access: &crate::unrolled::parts::Access| {
                    access.buffer as usize == border.buffer && range.contains(&access.at[0])
                };
                if enter { loads.any(here) } else { stores.any(here) }
            };
            let mut classes = 0..block.parts.classes.len();
            let class = if enter { classes.find(has) } else { classes.rfind(has) };
            let name = format!("{}{number}", if enter { "in" } else { "out" });
            pieces.extend(class.map(|class| Piece { name, border, at, class }));
        }
    }
    pieces
}

/// The first cells of a row's pieces; the last piece ends with the row.
fn begins(cells: u32, width: u32) -> impl Iterator<Item = u32> {
    (0..cells.div_ceil(width)).map(move |piece| (piece * width).min(cells - width))
}

/// The caller: rows are in their buffers; fewer rows than lanes are copied through the block's memory.
fn caller(block: &Block, at: &str, first: usize, borders: &[(String, &Border)]) -> String {
    let mut text = format!(
        "\nstatic __attribute__((noinline)) void blocks_{at}(struct state *state, int64_t from, int64_t first, int64_t last)\n{{\n    \
         const int64_t count = last - first < LANES ? last - first : LANES;\n"
    );
    let mut args = Vec::new();
    for (name, Border { buffer, kind, first: begin, advance, .. }) in borders {
        let cell = cell_type(Cell::Of(*kind));
        let _ = writeln!(
            text,
            "    int32_t *const {name} = (int32_t *)(({cell} *)state->buffers[{}].items + {begin});",
            first + buffer
        );
        for k in 0..block.beside {
            args.push(format!(
                "{name} + (from + {k} * LANES + count <= last ? from + {k} * LANES : last - count) * {advance}"
            ));
        }
    }
    let _ = writeln!(
        text,
        "    if (count == LANES) {{\n        straight_{at}({});\n        return;\n    }}",
        args.join(", ")
    );
    text.push_str(
        "    VI *const t = (VI *)(((uintptr_t)state->lanes + sizeof(VI) - 1) & ~(sizeof(VI) - 1));\n",
    );
    let (mut args, mut offset) = (Vec::new(), 0);
    let mut few = Vec::new();
    for (name, border) in borders {
        let place = format!("(int32_t *)(t + {offset})");
        (0..block.beside).for_each(|_| args.push(place.clone()));
        few.push((name, border, place));
        offset += border.room();
    }
    for (name, Border { advance, cells, .. }, place) in &few[..block.entrances.len()] {
        let _ = writeln!(text, "    few_in({place}, {name} + first * {advance}, {advance}, {cells}, count);");
    }
    let _ = writeln!(text, "    straight_{at}({});", args.join(", "));
    for (name, Border { advance, .. }, place) in &few[block.entrances.len()..] {
        let _ = writeln!(
            text,
            "    memcpy({name} + first * {advance}, {place}, count * {advance} * sizeof(int32_t));"
        );
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_row() {
        let begins = |cells, width| begins(cells, width).collect::<Vec<_>>();
        assert_eq!(begins(32, 16), [0, 16]);
        assert_eq!(begins(37, 16), [0, 16, 21]);
        assert_eq!(begins(16, 16), [0]);
        assert_eq!(begins(4, 4), [0]);
    }
}
