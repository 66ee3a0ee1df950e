//! C text that transposes rows of cells into lanes and back.

use super::vectors::list;
use crate::ir::Kind;
use crate::unrolled::Border;
use std::fmt::Write;

/// The transposing functions for this many lanes.
pub(crate) fn begin(lanes: usize) -> String {
    let mut whole = super::cross::cross(lanes);
    whole.push_str(include_str!("unrolled.h"));
    for width in [2, 4, 8] {
        if width < lanes {
            whole.push_str(&narrow(width, lanes));
        }
    }
    whole
}

/// Transposing functions for contiguous rows of few cells.
fn narrow(width: usize, lanes: usize) -> String {
    let all = lanes as i64;
    let mut text = format!(
        "\nstatic inline __attribute__((always_inline)) void enter_{width}(VI *to, const int32_t *from)\n{{\n"
    );
    let mut vectors: Vec<String> = (0..width).map(|at| format!("load_i(from + {})", at * lanes)).collect();
    let mut names = 0;
    let mut line = |text: &mut String, value: &str| {
        names += 1;
        let _ = writeln!(text, "    const VI x{names} = {value};");
        format!("x{names}")
    };
    vectors = vectors.iter().map(|value| line(&mut text, value)).collect();
    // Even cells come first, odd ones after them.
    let picks = |odd: i64| list((0..all).map(|l| 2 * l + odd));
    let mut groups = vec![(0, 1, vectors)];
    while groups[0].2.len() > 1 {
        let mut next = Vec::new();
        for (cell, step, vectors) in groups {
            for odd in 0..2 {
                let pairs = vectors.chunks(2);
                let made = pairs.map(|pair| {
                    let value =
                        format!("__builtin_shuffle({}, {}, (VI){{{}}})", pair[0], pair[1], picks(odd));
                    line(&mut text, &value)
                });
                next.push((cell + odd * step, step * 2, made.collect()));
            }
        }
        groups = next;
    }
    for (cell, _, vectors) in &groups {
        let _ = writeln!(text, "    to[{cell}] = {};", vectors[0]);
    }
    text.push_str("}\n");
    let _ = write!(
        text,
        "\nstatic inline __attribute__((always_inline)) void leave_{width}(int32_t *to, const VI *from)\n{{\n"
    );
    text.push_str(&together(width, all));
    text.push_str("}\n");
    text
}

/// From lanes to contiguous cells.
fn together(width: usize, all: i64) -> String {
    let (mut text, mut names) = (String::new(), 0);
    // Vectors of cells at equal distances, in order.
    let mut groups: Vec<Vec<String>> = (0..width).map(|cell| vec![format!("from[{cell}]")]).collect();
    while groups.len() > 1 {
        let half = groups.len() / 2;
        let mut next = Vec::new();
        for at in 0..half {
            let mut made = Vec::new();
            for (a, b) in groups[at].iter().zip(&groups[at + half]) {
                for part in 0..2 {
                    let picks =
                        list((0..all).map(|l| (l + part * all) / 2 + if l % 2 == 1 { all } else { 0 }));
                    let _ = writeln!(
                        text,
                        "    const VI y{names} = __builtin_shuffle({a}, {b}, (VI){{{picks}}});"
                    );
                    made.push(format!("y{names}"));
                    names += 1;
                }
            }
            next.push(made);
        }
        groups = next;
    }
    for (at, value) in groups[0].iter().enumerate() {
        let _ = writeln!(text, "    store_i(to + {}, {value});", at as i64 * all);
    }
    text
}

/// The function that moves a border's cells in whole vectors, as squares of rows or contiguous rows; `None`
/// where cells are moved one by one.
pub(super) fn move_of(border: &Border, enter: bool, lanes: usize) -> Option<String> {
    let Border { kind, advance, cells, .. } = border;
    let verb = if enter { "enter" } else { "leave" };
    let narrow = cells == advance && [2, 4, 8].contains(cells) && (*cells as usize) < lanes;
    let wide = *cells as usize >= lanes || (enter && *cells > 4);
    match kind {
        Kind::Bool => None,
        _ if narrow => Some(format!("{verb}_{cells}")),
        _ => wide.then(|| format!("{verb}_row")),
    }
}

pub(super) fn move_cells(
    border: &Border,
    enter: bool,
    lanes: usize,
    (buffers, near, k): (usize, u32, u32),
) -> String {
    let Border { buffer, kind, first, advance, cells, offset, .. } = border;
    let ty = super::terms::cell_type(crate::ir::Cell::Of(*kind));
    let cell = if *kind == Kind::Bool { ty } else { "int32_t" };
    let place =
        format!("({cell} *)state->buffers[{}].items + {first} + first{k} * {advance}", buffers + buffer);
    let near = format!("t + {}", offset + near);
    let (verb, letter) = (if enter { "enter" } else { "leave" }, if *kind == Kind::Bool { "b" } else { "i" });
    let args = if enter { format!("{near}, {place}") } else { format!("{place}, {near}") };
    let any = format!("{verb}_any_{letter}({args}, {advance}, {cells}, count);");
    let fast = move_of(border, enter, lanes).map(|verb| match verb.ends_with("row") {
        true => format!("{verb}s({args}, {advance}, {});", (*cells as usize).max(lanes)),
        false => format!("{verb}({args});"),
    });
    match fast {
        Some(fast) => format!("    if (count == LANES)\n        {fast}\n    else\n        {any}\n"),
        None => format!("    {any}\n"),
    }
}
