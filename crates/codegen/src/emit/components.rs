//! C text of lanes within a block: see [`unrolled::lanes`](crate::unrolled).

use super::prefetch;
use super::terms::scalar;
use super::unrolled::{Constant, EFFECT, Part, table_of};
use super::vectors::{letter, list, vector};
use crate::ir::Kind;
use crate::unrolled::dag;
use crate::unrolled::lanes::beside;
use crate::unrolled::parts::{Access, Arg, Class};
use crate::unrolled::{Block, Border};
use std::collections::HashMap;
use std::fmt::Write;

/// The functions of a block, with vectors of `lanes` lanes.
pub(super) fn functions(block: &Block, at: &str, first: usize, (lanes, all): (usize, usize)) -> String {
    super::scattered::narrow(&whole(block, at, first, lanes), lanes, all)
}

fn whole(block: &Block, at: &str, first: usize, lanes: usize) -> String {
    let mut text = String::new();
    for (number, table) in block.tables.iter().enumerate() {
        text.push_str(&table_of(table, &format!("look_{at}_{number}"), lanes));
    }
    let borders: Vec<&Border> = block.entrances.iter().chain(&block.exits).collect();
    let mut calls = String::new();
    let asks = prefetch::busiest(&block.parts.classes);
    for (number, class) in block.parts.classes.iter().enumerate() {
        let part = Part {
            class,
            block: at,
            tables: &block.tables,
            lanes,
            bases: Vec::new(),
            beside: beside(class, lanes),
            vectors: 0,
            ones: Vec::new(),
        };
        let iterations = (class.instances / lanes) as u32 / part.beside;
        let asked = if number == asks { &block.entrances[..] } else { &[] };
        let requests = prefetch::requests(asked, iterations.max(1), part.beside);
        let across = Components {
            part,
            borders: &borders,
            lanes,
            requests,
            bases: Vec::new(),
            numbers: HashMap::new(),
        };
        text.push_str(&across.function(number));
        let args: Vec<String> = (0..borders.len()).map(|border| format!(", r{border}")).collect();
        let _ = writeln!(calls, "        part_{at}_{number}(t{});", args.concat());
    }
    let _ = writeln!(
        text,
        "\nstatic __attribute__((noinline)) void blocks_{at}(struct state *state, int64_t first, int64_t last)\n{{\n    \
         int32_t *const t = (int32_t *)(((uintptr_t)state->lanes + sizeof(VI) - 1) & ~(sizeof(VI) - 1));\n    \
         for (int64_t s = first; s < last; s++) {{"
    );
    for (number, Border { buffer, first: begin, advance, .. }) in borders.iter().enumerate() {
        let _ = writeln!(
            text,
            "        int32_t *const r{number} = (int32_t *)state->buffers[{}].items + {begin} + s * {advance};",
            first + buffer
        );
    }
    text.push_str(&calls);
    text.push_str("    }\n}\n");
    text
}

struct Components<'a> {
    part: Part<'a>,
    borders: &'a [&'a Border],
    lanes: usize,
    /// Prefetches of input in each iteration.
    requests: Vec<String>,
    /// The distances of vectors of instances from the first, in cells.
    bases: Vec<Vec<i64>>,
    numbers: HashMap<Vec<i64>, usize>,
}

/// The position of a cell in the first vector of instances, and its distances in the next ones.
struct Place {
    pointer: String,
    base: usize,
    first: u32,
    /// All lanes read one cell.
    one: bool,
}

impl Components<'_> {
    fn function(mut self, number: usize) -> String {
        let class = self.part.class;
        let loads: Vec<Place> = class.loads.iter().map(|load| self.place(load)).collect();
        self.part.ones = loads.iter().map(|load| load.one).collect();
        let stores: Vec<Place> = class.stores.iter().map(|(_, store)| self.place(store)).collect();
        let mut tables = self.tables();
        let beside = self.part.beside;
        let consts = self.consts(&mut tables);
        let mut body = String::new();
        let mut loaded = vec![false; class.loads.len()];
        let mut requests = self.requests.iter().enumerate().peekable();
        for (at, step) in class.steps.iter().enumerate() {
            let due =
                |(number, _): &(usize, &String)| number * class.steps.len() < (at + 1) * self.requests.len();
            while let Some((_, request)) = requests.next_if(due) {
                let _ = writeln!(body, "        {request}");
            }
            for arg in step.args {
                if let Arg::Load(load) = arg
                    && !std::mem::replace(&mut loaded[load as usize], true)
                {
                    self.load(&mut body, class, load as usize, &loads[load as usize]);
                }
            }
            for k in 0..beside {
                let value = self.part.value(step, &consts[k as usize], k);
                let _ = writeln!(body, "        const {} v{at}_{k} = {value};", vector(step.kind));
            }
            for ((_, access), place) in
                class.stores.iter().zip(&stores).filter(|((node, _), _)| *node as usize == at)
            {
                for k in 0..beside {
                    let (letter, to) = (letter(access.kind), self.cell(place, k));
                    let ty = super::terms::type_of(access.kind);
                    let _ = writeln!(body, "        store_{letter}(({ty} *)({to}), v{at}_{k});");
                }
            }
        }
        let block = self.part.block;
        let pointers: Vec<String> =
            (0..self.borders.len()).map(|border| format!(", int32_t *restrict r{border}")).collect();
        let vectors = class.instances / self.lanes;
        format!(
            "\nstatic void part_{block}_{number}(int32_t *restrict t{})\n{{\n    {EFFECT}\n{tables}    \
             for (int64_t i = 0; i < {vectors}; i += {beside}) {{\n{body}    }}\n}}\n",
            pointers.concat()
        )
    }

    fn load(&self, body: &mut String, class: &Class, load: usize, place: &Place) {
        let kind = class.loads[load].kind;
        let (letter, cell) = (letter(kind), super::terms::type_of(kind));
        let ty = if place.one { cell } else { vector(kind) };
        for k in 0..self.part.beside {
            let from = self.cell(place, k);
            // A value that all of them share is loaded once.
            let value = if k > 0 && self.bases[place.base].iter().all(|by| *by == 0) {
                format!("l{load}_0")
            } else if place.one {
                format!("*(const {cell} *)({from})")
            } else {
                format!("load_{letter}((const {cell} *)({from}))")
            };
            let _ = writeln!(body, "        const {ty} l{load}_{k} = {value};");
        }
    }

    fn cell(&self, place: &Place, k: u32) -> String {
        let (pointer, first, base) = (&place.pointer, place.first, place.base);
        let moved = &self.bases[base];
        match steady(moved) {
            Some(0) => format!("{pointer} + {first}"),
            Some(by) => format!("{pointer} + {} + i * {by}", i64::from(first) + i64::from(k) * by),
            None => format!("{pointer} + {first} + at{base}[i + {k}]"),
        }
    }

    fn place(&mut self, access: &Access) -> Place {
        let border = self.borders.iter().position(|border| border.buffer == access.buffer as usize);
        let (pointer, less) = match border {
            Some(border) => (format!("r{border}"), self.borders[border].offset),
            None => ("t".to_owned(), 0),
        };
        let firsts: Vec<u32> = access.at.chunks(self.lanes).map(|chunk| chunk[0]).collect();
        let one = access.at.get(1) == Some(&access.at[0]);
        let moved: Vec<i64> = firsts.iter().map(|at| i64::from(*at) - i64::from(firsts[0])).collect();
        let next = self.numbers.len();
        let base = *self.numbers.entry(moved.clone()).or_insert(next);
        if base == next {
            self.bases.push(moved);
        }
        Place { pointer, base, first: firsts[0] - less, one }
    }

    fn tables(&self) -> String {
        let mut text = String::new();
        for (base, moved) in self.bases.iter().enumerate().filter(|(_, moved)| steady(moved).is_none()) {
            let _ =
                writeln!(text, "    static const int32_t at{base}[] = {{{}}};", list(moved.iter().copied()));
        }
        text
    }

    /// Constants as text, for each of the vectors side by side; constants that differ come from tables.
    fn consts(&self, tables: &mut String) -> Vec<Vec<Constant>> {
        let mut all: Vec<Vec<Constant>> = (0..self.part.beside).map(|_| Vec::new()).collect();
        for (number, (kind, bits)) in self.part.class.consts.iter().enumerate() {
            let value = |bits: u32| scalar(dag::scalar(*kind, bits));
            let (ty, letter) = if *kind == Kind::Float { ("float", "f") } else { ("int32_t", "i") };
            let vectors = || bits.chunks(self.lanes);
            let first = &bits[..self.lanes];
            let by_lane = first.iter().any(|other| *other != bits[0]) || *kind == Kind::Bool;
            let sign = if *kind == Kind::Bool { "-" } else { "" };
            let mut table = |bits: &mut dyn Iterator<Item = u32>| {
                let values: Vec<String> = bits.map(|bits| format!("{sign}{}", value(bits))).collect();
                let _ = writeln!(tables, "    static const {ty} c{number}[] = {{{}}};", values.join(", "));
            };
            let same = vectors().all(|vector| vector == first);
            let each = vectors().all(|vector| vector.iter().all(|other| *other == vector[0]));
            let text: Box<dyn Fn(usize) -> Constant> = if same && !by_lane {
                Box::new(|_| Constant::Known(value(bits[0])))
            } else if same {
                table(&mut first.iter().copied());
                Box::new(move |_| Constant::Lanes(format!("load_{letter}(c{number})")))
            } else if each && *kind != Kind::Bool {
                table(&mut vectors().map(|vector| vector[0]));
                Box::new(move |k| Constant::Each(format!("c{number}[i + {k}]")))
            } else {
                table(&mut bits.iter().copied());
                let lanes = self.lanes;
                Box::new(move |k| Constant::Lanes(format!("load_{letter}(c{number} + (i + {k}) * {lanes})")))
            };
            all.iter_mut().enumerate().for_each(|(k, texts)| texts.push(text(k)));
        }
        all
    }
}

/// The common difference of an arithmetic progression, if it is one.
fn steady(moved: &[i64]) -> Option<i64> {
    let by = moved.get(1).copied().unwrap_or(0);
    moved.iter().enumerate().all(|(at, moved)| *moved == at as i64 * by).then_some(by)
}
