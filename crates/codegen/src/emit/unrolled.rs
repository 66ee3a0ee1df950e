//! C text of blocks in lanes: items are transposed into lanes, computed, and transposed back.

use super::rows::move_cells;
use super::terms::scalar;
use super::vectors::{converted, function, letter, list, operator, vector};
use crate::ir::Kind;
use crate::unrolled::Block;
use crate::unrolled::dag::{self, Op, Table};
use crate::unrolled::parts::{Arg, Class, Step};
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use thalweg_lang::hir::{BinaryOp, UnaryOp};

/// An effect that GCC 12 keeps. GCC turns two pointers with different steps into multiples of one pointer,
/// then takes stores through it for local ones without effect, and drops the call of the function.
pub(super) const EFFECT: &str = "__asm__ volatile (\"\" ::: \"memory\");";

/// The functions of a block.
pub(crate) fn functions(block: &Block, at: &str, first: usize, lanes: usize) -> String {
    if let Some(across) = block.across {
        return super::components::functions(block, at, first, (across, lanes));
    }
    let straight = super::straight_line::can_be(block, lanes);
    let mut text = String::new();
    for (number, table) in block.tables.iter().enumerate() {
        text.push_str(&table_of(table, &format!("look_{at}_{number}"), lanes));
    }
    for (number, class) in block.parts.classes.iter().enumerate() {
        let part = Part {
            class,
            block: at,
            tables: &block.tables,
            lanes,
            bases: Vec::new(),
            beside: block.beside,
            vectors: block.parts.vectors,
            ones: vec![false; class.loads.len()],
        };
        text.push_str(&part.function(number, straight));
    }
    if straight {
        text.push_str(&super::straight_line::functions(block, at, first, lanes));
        return text;
    }
    let _ = writeln!(
        text,
        "\nstatic __attribute__((noinline)) void blocks_{at}(struct state *state, int64_t from, int64_t first, int64_t last)\n{{"
    );
    text.push_str(
        "    VI *const t = (VI *)(((uintptr_t)state->lanes + sizeof(VI) - 1) & ~(sizeof(VI) - 1));\n",
    );
    text.push_str("    const int64_t count = last - first < LANES ? last - first : LANES;\n");
    for k in 0..block.beside {
        let _ = writeln!(
            text,
            "    const int64_t first{k} = from + {k} * LANES + count <= last ? from + {k} * LANES : last - count;"
        );
    }
    for number in 0..block.parts.classes.len() {
        let entered = block.entrances.iter().filter(|border| border.before == number);
        for (k, border) in entered.flat_map(|border| (0..block.beside).map(move |k| (k, border))) {
            text.push_str(&move_cells(border, true, lanes, (first, k * block.parts.vectors, k)));
        }
        let _ = writeln!(text, "    part_{at}_{number}(t);");
    }
    for (k, border) in (0..block.beside).flat_map(|k| block.exits.iter().map(move |border| (k, border))) {
        text.push_str(&move_cells(border, false, lanes, (first, k * block.parts.vectors, k)));
    }
    text.push_str("}\n");
    text
}

/// Calls of a block for the steady states `first..last`; the last ones are repeated where lanes would be
/// empty.
pub(crate) fn calls(block: &Block, at: &str, (first, last): (&str, &str)) -> String {
    let beside = block.beside;
    if block.across.is_some() {
        return format!("    blocks_{at}(state, {first}, {last});\n");
    }
    format!(
        "    for (int64_t from = {first}; from < {last}; from += {beside} * LANES)\n        blocks_{at}(state, from, {first}, {last});\n"
    )
}

/// The most steps of one block before those of the next one beside it.
const RUN: usize = 32;

/// Splits steps into the runs that one block does before the next: a firing, if it is not too long.
/// Alternating step by step, all blocks would wait for the last results of a firing at the same time; this
/// way one computes while the other waits.
fn runs(firings: &[usize]) -> Vec<Range<usize>> {
    let (mut runs, mut first) = (Vec::new(), 0);
    for firing in firings {
        let end = first + firing;
        while first < end {
            let next = end.min(first + RUN);
            runs.push(first..next);
            first = next;
        }
    }
    runs
}

/// The loads of a step.
fn loads_of(step: &Step) -> impl Iterator<Item = usize> {
    step.args.into_iter().filter_map(|arg| if let Arg::Load(load) = arg { Some(load as usize) } else { None })
}

/// A constant as text.
pub(super) enum Constant {
    /// The same in all instances.
    Known(String),
    /// One value for each instance.
    Each(String),
    /// One value for each lane.
    Lanes(String),
}

impl Constant {
    fn text(&self) -> &str {
        let (Constant::Known(text) | Constant::Each(text) | Constant::Lanes(text)) = self;
        text
    }
}

pub(super) struct Part<'a> {
    pub(super) class: &'a Class,
    pub(super) block: &'a str,
    pub(super) tables: &'a [Table],
    pub(super) lanes: usize,
    /// Distances of instances from the first, added to `t`.
    pub(super) bases: Vec<Vec<u32>>,
    /// Blocks in each lane, and the distance between them.
    pub(super) beside: u32,
    pub(super) vectors: u32,
    /// Loads of one scalar for all lanes.
    pub(super) ones: Vec<bool>,
}

impl Part<'_> {
    fn function(mut self, number: usize, straight: bool) -> String {
        let class = self.class;
        let (mut tables, mut body) = (String::new(), String::new());
        let mut known = HashMap::new();
        let loads: Vec<(usize, u32)> =
            class.loads.iter().map(|load| self.place(&load.at, &mut known)).collect();
        let stores: Vec<(usize, u32)> =
            class.stores.iter().map(|(_, store)| self.place(&store.at, &mut known)).collect();
        for (base, moved) in self.bases.iter().enumerate().skip(1) {
            let by = i64::from(moved.get(1).copied().unwrap_or(0));
            if moved.iter().enumerate().all(|(at, moved)| i64::from(*moved as i32) == at as i64 * by) {
                let _ = writeln!(body, "        VI *const b{base} = t + i * ({by});");
            } else {
                let moved = moved.iter().map(|moved| i64::from(*moved as i32));
                let _ = writeln!(tables, "    static const int32_t at{base}[] = {{{}}};", list(moved));
                let _ = writeln!(body, "        VI *const b{base} = t + at{base}[i];");
            }
        }
        let consts = self.consts(&mut tables);
        let mut loaded = vec![false; class.loads.len()];
        for run in runs(&class.firings) {
            let before = loaded.clone();
            for k in 0..self.beside {
                loaded.copy_from_slice(&before);
                for (at, step) in run.clone().zip(&class.steps[run.clone()]) {
                    for load in loads_of(step).filter(|load| !std::mem::replace(&mut loaded[*load], true)) {
                        let (ty, place) = (vector(class.loads[load].kind), self.at(&loads[load], k));
                        let _ = writeln!(body, "        const {ty} l{load}_{k} = ({ty}){place};");
                    }
                    let value = self.value(step, &consts, k);
                    let _ = writeln!(body, "        const {} v{at}_{k} = {value};", vector(step.kind));
                    let own = class.stores.iter().zip(&stores).filter(|((node, _), _)| *node as usize == at);
                    for (_, place) in own {
                        let _ = writeln!(body, "        {} = (VI)v{at}_{k};", self.at(place, k));
                    }
                }
            }
        }
        let block = self.block;
        if straight {
            return format!(
                "\nstatic inline __attribute__((always_inline)) void part_{block}_{number}(VI *t)\n{{\n{body}}}\n"
            );
        }
        let head = format!(
            "\nstatic __attribute__((noinline)) void part_{block}_{number}(VI *t)\n{{\n    {EFFECT}\n"
        );
        let count = class.instances;
        format!("{head}{tables}    for (int64_t i = 0; i < {count}; i++) {{\n{body}    }}\n}}\n")
    }

    /// The position of an access: its base and first position.
    fn place(&mut self, at: &[u32], known: &mut HashMap<Vec<u32>, usize>) -> (usize, u32) {
        if self.bases.is_empty() {
            self.bases.push(vec![0; at.len()]);
            known.insert(vec![0; at.len()], 0);
        }
        let moved: Vec<u32> = at.iter().map(|place| place.wrapping_sub(at[0])).collect();
        let base = *known.entry(moved).or_insert_with_key(|moved| {
            self.bases.push(moved.clone());
            self.bases.len() - 1
        });
        (base, at[0])
    }

    fn at(&self, (base, place): &(usize, u32), k: u32) -> String {
        let place = place + k * self.vectors;
        if *base == 0 { format!("t[{place}]") } else { format!("b{base}[{place}]") }
    }

    /// Constants as text; those that differ between instances come from tables.
    fn consts(&self, tables: &mut String) -> Vec<Constant> {
        let mut known: HashMap<(Kind, &[u32]), usize> = HashMap::new();
        let mut text = Vec::new();
        for (kind, bits) in &self.class.consts {
            let value = |bits: u32| scalar(dag::scalar(*kind, bits));
            if bits.iter().all(|other| *other == bits[0]) {
                text.push(Constant::Known(value(bits[0])));
                continue;
            }
            let number = known.len();
            let number = *known.entry((*kind, bits)).or_insert_with(|| {
                let ty = if *kind == Kind::Float { "float" } else { "int32_t" };
                let values: Vec<String> = bits.iter().map(|bits| value(*bits)).collect();
                let _ = writeln!(tables, "    static const {ty} c{number}[] = {{{}}};", values.join(", "));
                number
            });
            text.push(Constant::Each(format!("c{number}[i]")));
        }
        text
    }

    /// An operand as a vector.
    fn whole(&self, arg: Arg, consts: &[Constant], k: u32) -> String {
        match arg {
            Arg::Const(at) => {
                let constant = &consts[at as usize];
                match (constant, self.class.consts[at as usize].0) {
                    (Constant::Lanes(text), _) => text.clone(),
                    (constant, Kind::Float) => format!("all_f({})", constant.text()),
                    (constant, Kind::Int) => format!("all_i({})", constant.text()),
                    (constant, Kind::Bool) => format!("all_i(-{})", constant.text()),
                }
            }
            Arg::Load(at) if self.ones[at as usize] => {
                format!("all_{}(l{at}_{k})", letter(self.class.loads[at as usize].kind))
            }
            arg => self.plain(arg, consts, k),
        }
    }

    /// Whether an operand is a scalar.
    fn is_scalar(&self, arg: Arg, consts: &[Constant]) -> bool {
        match arg {
            Arg::Const(at) => !matches!(consts[at as usize], Constant::Lanes(_)),
            Arg::Load(at) => self.ones[at as usize],
            _ => false,
        }
    }

    /// An operand; a constant stays a scalar.
    fn plain(&self, arg: Arg, consts: &[Constant], k: u32) -> String {
        match arg {
            Arg::None => String::new(),
            Arg::Own(at) => format!("v{at}_{k}"),
            Arg::Load(at) => format!("l{at}_{k}"),
            Arg::Const(at) if self.class.consts[at as usize].0 != Kind::Bool => {
                consts[at as usize].text().to_owned()
            }
            arg @ Arg::Const(_) => self.whole(arg, consts, k),
        }
    }

    pub(super) fn value(&self, step: &Step, consts: &[Constant], k: u32) -> String {
        let [a, b, c] = step.args;
        let whole = |arg| self.whole(arg, consts, k);
        match step.op {
            Op::Unary(UnaryOp::Negate) => format!("-{}", whole(a)),
            Op::Unary(_) => format!("~{}", whole(a)),
            Op::Binary(op) => self.binary(op, step.of, (a, b), consts, k),
            Op::Convert => converted(step.of, step.kind, &whole(a)),
            Op::Math(called) => {
                let args: Vec<String> =
                    [a, b].into_iter().filter(|arg| *arg != Arg::None).map(whole).collect();
                function(called, step.of, &args)
            }
            Op::Select => format!("choose({}, {}, {})", whole(a), whole(b), whole(c)),
            Op::Look(table) => self.look(table as usize, &whole(a)),
            Op::RotateLeft(by) => format!("(VI)((VU){0} << {by} | (VU){0} >> {1})", whole(a), 32 - by),
            Op::In { .. } | Op::Same => whole(a),
        }
    }

    fn binary(&self, op: BinaryOp, of: Kind, (a, b): (Arg, Arg), consts: &[Constant], k: u32) -> String {
        let known = match b {
            Arg::Const(at) if of == Kind::Int => match &consts[at as usize] {
                Constant::Known(text) => text.parse().ok(),
                _ => None,
            },
            _ => None,
        };
        let shifts = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        let rest = op == BinaryOp::Rem && of == Kind::Float;
        let constants = self.is_scalar(a, consts) && self.is_scalar(b, consts);
        if (shifts && known.is_none()) || rest || constants {
            return operator(op, of, &self.whole(a, consts, k), &self.whole(b, consts, k), known);
        }
        let a = if shifts { self.whole(a, consts, k) } else { self.plain(a, consts, k) };
        operator(op, of, &a, &self.plain(b, consts, k), known)
    }

    /// A table access: selects among the lanes of a few vectors, or gathers cell by cell.
    fn look(&self, table: usize, at: &str) -> String {
        let (info, name) = (&self.tables[table], format!("look_{}_{table}", self.block));
        let ty = vector(info.kind);
        match short(info, self.lanes) {
            Some(vectors) => format!("({ty})look_{vectors}({name}, {at})"),
            None => format!(
                "({{ const VI at = {at}; {ty} r; for (int l = 0; l < LANES; l++) r[l] = {name}[at[l]]; r; }})"
            ),
        }
    }
}

/// The number of vectors of a table, if they are few.
fn short(table: &Table, lanes: usize) -> Option<usize> {
    let vectors = table.values.len().div_ceil(lanes).next_power_of_two();
    (vectors <= 4).then_some(vectors)
}

/// A table. A short one is stored as bits; of four vectors, the second half is stored as the exclusive or
/// with the first.
pub(super) fn table_of(table: &Table, name: &str, lanes: usize) -> String {
    use crate::ir::Scalar;
    let bits = |value: &Scalar| match value {
        Scalar::Bool(x) => -i32::from(*x),
        Scalar::Int(x) => *x,
        Scalar::Float(x) => x.to_bits() as i32,
    };
    let Some(vectors) = short(table, lanes) else {
        let ty = if table.kind == Kind::Float { "float" } else { "int32_t" };
        let values: Vec<String> = table
            .values
            .iter()
            .map(|value| if table.kind == Kind::Bool { bits(value).to_string() } else { scalar(*value) })
            .collect();
        return format!("\nstatic const {ty} {name}[] = {{{}}};\n", values.join(", "));
    };
    let mut values: Vec<i32> = table.values.iter().map(bits).collect();
    values.resize(vectors * lanes, 0);
    if vectors == 4 {
        (2 * lanes..4 * lanes).for_each(|at| values[at] ^= values[at - 2 * lanes]);
    }
    let values = list(values.into_iter().map(i64::from));
    let room = vectors * lanes;
    format!("\nstatic const int32_t {name}[{room}] __attribute__((aligned(64))) = {{{values}}};\n")
}
