//! C text that transposes squares of cells in registers.
//!
//! Cells move within quarters of vectors, of four cells, by shuffles of two vectors: first pairs of cells,
//! then pairs of pairs; then whole quarters are gathered, one bit of their index at a time.

use super::vectors::list;
use std::fmt::Write;

/// A function for this many vectors of as many lanes.
pub(super) fn cross(lanes: usize) -> String {
    let mut text = format!(
        "\n/* Transposes {lanes} vectors. */\n\
         typedef int64_t VL __attribute__((vector_size(LANES * 4)));\n\
         static inline __attribute__((always_inline)) void cross(VI *r)\n{{\n"
    );
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); 4];
    for group in 0..lanes / 4 {
        for (column, name) in quarters(&mut text, group, lanes as i64).into_iter().enumerate() {
            columns[column].push(name);
        }
    }
    for (column, vectors) in columns.into_iter().enumerate() {
        for (quarter, name) in gathered(&mut text, column, vectors, lanes as i64).into_iter().enumerate() {
            let _ = writeln!(text, "    r[{}] = {name};", 4 * quarter + column);
        }
    }
    text.push_str("}\n");
    text
}

/// From four vectors, those with the first cells of each quarter, with the second ones, and so on.
fn quarters(text: &mut String, group: usize, lanes: i64) -> [String; 4] {
    let cells = |more: i64| {
        list((0..lanes).map(|l| l / 4 * 4 + l % 4 / 2 + 2 * more + if l % 2 == 1 { lanes } else { 0 }))
    };
    let pairs =
        |more: i64| list((0..lanes / 2).map(|l| l / 2 * 2 + more + if l % 2 == 1 { lanes / 2 } else { 0 }));
    for (half, vector) in [4 * group, 4 * group + 2].into_iter().enumerate() {
        for more in 0..2 {
            let _ = writeln!(
                text,
                "    const VI a{group}_{half}_{more} = __builtin_shuffle(r[{vector}], r[{}], (VI){{{}}});",
                vector + 1,
                cells(more)
            );
        }
    }
    for column in 0..4 {
        let (of, more) = (column / 2, column % 2);
        let _ = writeln!(
            text,
            "    const VI b{group}_{column} = (VI)__builtin_shuffle((VL)a{group}_0_{of}, (VL)a{group}_1_{of}, (VL){{{}}});",
            pairs(more)
        );
    }
    [0, 1, 2, 3].map(|column| format!("b{group}_{column}"))
}

/// Vectors of all first quarters, of all second quarters, and so on.
fn gathered(text: &mut String, column: usize, vectors: Vec<String>, lanes: i64) -> Vec<String> {
    let all = lanes / 4;
    let picks = |odd: i64| list((0..lanes).map(|l| (2 * (l / 4) + odd) * 4 + l % 4));
    // By the low bits of the quarter's index so far.
    let mut groups = vec![(0, 1, vectors)];
    while groups[0].2.len() > 1 {
        let mut next = Vec::new();
        for (first, step, vectors) in groups {
            for odd in 0..2 {
                let made = vectors.chunks(2).enumerate().map(|(at, pair)| {
                    let quarter = first + odd * step;
                    let name = format!("c{column}_{step}_{quarter}_{at}");
                    let _ = writeln!(
                        text,
                        "    const VI {name} = __builtin_shuffle({}, {}, (VI){{{}}});",
                        pair[0],
                        pair[1],
                        picks(odd)
                    );
                    name
                });
                next.push((first + odd * step, step * 2, made.collect()));
            }
        }
        groups = next;
    }
    groups.sort_by_key(|(quarter, ..)| *quarter);
    debug_assert_eq!(groups.len() as i64, all);
    groups.into_iter().map(|(_, _, mut vectors)| vectors.remove(0)).collect()
}
