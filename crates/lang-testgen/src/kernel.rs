//! Kernels: filters with the structures that optimisers look for and arbitrary code seldom contains.
//!
//! Weighted sums of windows, blocks with tables, decimation and upsampling, state carried from firing to firing. Items
//! are integers or floats.

use super::choices::Choices;
use super::code::{Coder, Globals};
use super::filter::FilterSpec;
use super::model::{Arg, Filter, Head, Param};
use super::ratio::Ratio;
use super::types::Ty;

/// Kinds of kernels.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A weighted sum of a window.
    WeightedSum,
    /// Decimation: drops most items.
    Decimate,
    /// Upsampling: inserts constants between items.
    Upsample,
    /// Maps a block through tables.
    Table,
    /// Multiplies a block by a matrix.
    Matrix,
    /// Permutes a block, depending on data or not.
    Permute,
    /// A recurrence on the last result.
    Recurrence,
    /// A ring buffer of the last items.
    Ring,
    /// Differences of the two ends of a window.
    Difference,
    /// Starts with constants.
    Delay,
}

const KINDS: [(Kind, u32); 10] = [
    (Kind::WeightedSum, 6),
    (Kind::Decimate, 2),
    (Kind::Upsample, 2),
    (Kind::Table, 3),
    (Kind::Matrix, 2),
    (Kind::Permute, 3),
    (Kind::Recurrence, 3),
    (Kind::Ring, 2),
    (Kind::Difference, 2),
    (Kind::Delay, 1),
];

/// A kernel under construction.
struct Kernel<'a, 'c> {
    coder: Coder<'c>,
    from: &'a Ty,
    to: &'a Ty,
    unit: bool,
    windows: bool,
    first: bool,
}

/// Rates: pop, push, and items peeked beyond those popped.
type KernelRates = (u32, u32, u32);

/// Generates a kernel; `unit` requires as many outputs as inputs.
pub(super) fn kernel(choices: &mut Choices, globals: &Globals, spec: &FilterSpec<'_>, unit: bool) -> Filter {
    let number = Ty::Int;
    let (from, to) = (spec.input.unwrap_or(&number), spec.output.unwrap_or(&number));
    let mut coder = Coder::new(choices, globals);
    coder.level = 1;
    let params = parameter(&mut coder, spec);
    let (windows, first) = (spec.windows, spec.first);
    let mut kernel = Kernel { coder, from, to, unit, windows, first };
    let (pop, push, window) = kernel.write();
    let body = std::mem::take(&mut kernel.coder.lines);
    let head = Head {
        name: spec.name.clone(),
        input: spec.input.cloned(),
        output: spec.output.cloned(),
        named: choices.chance(65),
        typed: true,
        variable: None,
    };
    let gain = Some(Ratio::new(push, pop));
    Filter { head, stateful: false, params, body, gain, window, prints: false }
}

/// The integer `p`, which may differ between similar kernels.
fn parameter(coder: &mut Coder<'_>, spec: &FilterSpec<'_>) -> Vec<Param> {
    let (by, and) = (coder.choices.within(2, 4) as i32, coder.choices.within(2, 9) as i32);
    let value = match spec.around.filter(|_| coder.choices.chance(70)) {
        Some(of) => Arg::Linear { of: of.to_owned(), by, and },
        None => Arg::Constant((by * and).to_string()),
    };
    // The name distinguishes parameters of anonymous filters from those of enclosing streams.
    let name = parameter_name(spec);
    coder.line(format!("int p = {name};"));
    vec![Param { name, ty: Ty::Int.text(), value }]
}

fn parameter_name(spec: &FilterSpec<'_>) -> String {
    format!("p_{}", spec.name.to_lowercase())
}

impl Kernel<'_, '_> {
    fn write(&mut self) -> KernelRates {
        let weights = KINDS.map(|(_, weight)| weight);
        match KINDS[self.coder.choices.weighted(&weights)].0 {
            Kind::WeightedSum if self.windows => self.weighted_sum(),
            Kind::Decimate if !self.unit => self.decimate(),
            Kind::Upsample if !self.unit => self.upsample(),
            Kind::Matrix => self.matrix(),
            Kind::Permute => self.permute(),
            Kind::Recurrence => self.recurrence(),
            Kind::Ring => self.ring(),
            Kind::Difference if self.windows => self.difference(),
            Kind::Delay if self.first => self.delay(),
            _ => self.table(),
        }
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.coder.line(text);
    }

    fn within(&mut self, least: u32, most: u32) -> u32 {
        self.coder.choices.within(least, most)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.coder.choices.chance(percent)
    }

    /// An expression of the input type, converted to the output type.
    fn given(&self, text: &str) -> String {
        match (self.from, self.to) {
            (Ty::Float, Ty::Int) => format!("(int)({text})"),
            _ => text.to_owned(),
        }
    }

    fn push(&mut self, text: &str) {
        let given = self.given(text);
        self.line(format!("push({given});"));
    }

    /// A field of constants, calculated by `init` or written as a list.
    fn constants(&mut self, name: &str, ty: &Ty, length: u32) {
        let float = *ty == Ty::Float;
        if self.chance(40) {
            let one = |choices: &mut Choices| {
                let number = choices.below(9) as i32 - 4;
                if float {
                    format!("{number}.{}", choices.pick(&["0", "5", "25"]))
                } else {
                    number.to_string()
                }
            };
            let all: Vec<String> = (0..length).map(|_| one(self.coder.choices)).collect();
            return self.line(format!("{}[{length}] {name} = {{{}}};", ty.text(), all.join(", ")));
        }
        let (times, modulus) = (self.within(1, 7), self.within(3, 11));
        self.line(format!("{}[{length}] {name};", ty.text()));
        let value = match (float, self.chance(30)) {
            (true, true) => format!("sin((i + p) * 0.{times})"),
            (true, false) => format!("((i * {times} + p) % {modulus}) / 4.0"),
            _ => format!("(i * {times} + p) % {modulus}"),
        };
        self.line(format!("init {{ for (int i = 0; i < {length}; i++) {name}[i] = {value}; }}"));
    }

    /// The work function with its body.
    fn work(&mut self, (pop, push, more): KernelRates, inside: impl FnOnce(&mut Self)) -> KernelRates {
        let peek = if more > 0 { format!(" peek {}", pop + more) } else { String::new() };
        self.line(format!("work pop {pop} push {push}{peek} {{"));
        self.coder.level += 1;
        inside(self);
        self.coder.level -= 1;
        self.line("}");
        (pop, push, more)
    }

    /// Pops and drops items.
    fn drop_items(&mut self, count: u32) {
        match count {
            0 => {}
            1 => self.line("pop();"),
            _ if self.chance(50) => self.line(format!("for (int i = 0; i < {count}; i++) pop();")),
            _ => (0..count).for_each(|_| self.line("pop();")),
        }
    }

    /// Weighted sums of overlapping windows.
    fn weighted_sum(&mut self) -> KernelRates {
        let (taps, pop) = (self.within(2, 20), self.within(1, 3));
        let push = if self.unit { pop } else { self.within(1, 2) };
        let ty = self.from.clone();
        let (name, zero) = (ty.text(), if ty == Ty::Float { "0.0" } else { "0" });
        if self.chance(80) {
            self.constants("weights", &ty, taps + push);
        } else {
            self.line(format!("{name}[{}] weights;", taps + push));
            self.line("init { weights[0] = p; weights[1] = 1; }");
        }
        let (back, after) = (self.chance(30), self.chance(30));
        let more = (push - 1 + taps).saturating_sub(pop);
        self.work((pop, push, more), |kernel| {
            let popped = after && pop == 1 && push == 1;
            for at in 0..push {
                let index = if back { format!("{} - i", taps - 1) } else { "i".to_owned() };
                let item = if at == 0 { "i".to_owned() } else { format!("i + {at}") };
                kernel.line(format!("{name} sum{at} = {zero};"));
                kernel.line(format!(
                    "for (int i = 0; i < {taps}; i++) sum{at} += peek({item}) * weights[{index}];"
                ));
                if !popped {
                    kernel.push(&format!("sum{at}"));
                }
            }
            kernel.drop_items(pop);
            if popped {
                kernel.push("sum0");
            }
        })
    }

    fn decimate(&mut self) -> KernelRates {
        let (pop, kind) = (self.within(2, 9), self.within(0, 3));
        self.work((pop, 1, 0), |kernel| {
            match kind {
                0 => kernel.push("pop()"),
                1 => kernel.push(&format!("peek({})", pop - 1)),
                2 => kernel.line("push(p);"),
                _ => kernel.push("peek(0) + peek(1)"),
            }
            let left = if kind == 0 { pop - 1 } else { pop };
            kernel.drop_items(left);
        })
    }

    fn upsample(&mut self) -> KernelRates {
        let (push, first) = (self.within(2, 9), self.chance(60));
        let again = self.chance(20);
        self.work((1, push, 0), |kernel| {
            if first && !again {
                kernel.push("pop()");
            }
            let filler = if again { kernel.given("peek(0)") } else { "0".to_owned() };
            let count = if again { push } else { push - 1 };
            kernel.line(format!("for (int i = 0; i < {count}; i++) push({filler});"));
            if again {
                kernel.line("pop();");
            } else if !first {
                kernel.push("pop()");
            }
        })
    }

    /// Pops a block into an array.
    fn pop_block(&mut self, size: u32) {
        let name = self.from.text();
        self.line(format!("{name}[{size}] block;"));
        self.line(format!("for (int i = 0; i < {size}; i++) block[i] = pop();"));
    }

    fn size(&mut self) -> u32 {
        *self.coder.choices.pick(&[2, 4, 8, 16])
    }

    fn index(&self, item: &str) -> String {
        if *self.from == Ty::Float { format!("(int)({item})") } else { item.to_owned() }
    }

    fn table(&mut self) -> KernelRates {
        let size = self.size();
        let ty = self.to.clone();
        self.constants("table", &ty, 16);
        let (cut, other) = (self.within(0, 9), self.within(0, 2));
        self.work((size, size, 0), |kernel| {
            kernel.line(format!("for (int i = 0; i < {size}; i++) {{"));
            kernel.coder.level += 1;
            kernel.line(format!("{} x = pop();", kernel.from.text()));
            let index = kernel.index("x");
            match other {
                0 => kernel.line(format!("if (x > {cut}) push(table[({index}) & 15]); else push(table[i]);")),
                1 => kernel.line(format!("push(table[(({index}) + i) & 15] - table[({index} >> 4) & 15]);")),
                _ => {
                    kernel.line(format!("{} y = table[({index}) & 15];", ty.text()));
                    kernel.line(format!("if (i % 2 == 0 && x < {cut}) y = -y;"));
                    kernel.line("push(y);");
                }
            }
            kernel.coder.level -= 1;
            kernel.line("}");
        })
    }

    fn matrix(&mut self) -> KernelRates {
        let size = self.within(2, 6);
        let push = if self.unit { size } else { self.within(1, 6) };
        let ty = self.from.clone();
        self.constants("matrix", &ty, size * push);
        let peeks = self.chance(50);
        self.work((size, push, 0), |kernel| {
            if !peeks {
                kernel.pop_block(size);
            }
            kernel.line(format!("for (int j = 0; j < {push}; j++) {{"));
            kernel.coder.level += 1;
            let item = if peeks { "peek(i)" } else { "block[i]" };
            kernel.line(format!("{} sum = 0;", ty.text()));
            kernel.line(format!("for (int i = 0; i < {size}; i++) sum += {item} * matrix[j * {size} + i];"));
            kernel.push("sum");
            kernel.coder.level -= 1;
            kernel.line("}");
            if peeks {
                kernel.drop_items(size);
            }
        })
    }

    fn permute(&mut self) -> KernelRates {
        let size = self.size();
        match self.within(0, 3) {
            0 => self.work((size, size, 0), |kernel| {
                kernel.line(format!("for (int i = {}; i >= 0; i--)", size - 1));
                kernel.push("peek(i)");
                kernel.drop_items(size);
            }),
            1 => self.work((2, 2, 0), |kernel| {
                let name = kernel.from.text();
                kernel.line(format!("{name} a = pop();"));
                kernel.line(format!("{name} b = pop();"));
                let (a, b) = (kernel.given("a"), kernel.given("b"));
                kernel
                    .line(format!("if (a > b) {{ push({b}); push({a}); }} else {{ push({a}); push({b}); }}"));
            }),
            2 => self.work((2, 2, 0), |kernel| {
                kernel.push("peek(0) + peek(1)");
                kernel.push("peek(0) - peek(1)");
                kernel.drop_items(2);
            }),
            _ => self.work((size, size, 0), |kernel| {
                kernel.pop_block(size);
                kernel.line(format!("for (int i = 0; i < {size}; i++)"));
                kernel.push(&format!("block[(i * 3 + p) & {}]", size - 1));
            }),
        }
    }

    /// State carried from firing to firing.
    fn recurrence(&mut self) -> KernelRates {
        let name = self.from.text();
        self.line(format!("{name} last;"));
        let kind = self.within(0, 3);
        self.work((1, 1, 0), |kernel| match kind {
            0 => {
                kernel.line(
                    "last = last * 0.5 + pop();".replace("0.5", if name == "int" { "3" } else { "0.5" }),
                );
                kernel.push("last");
            }
            1 => {
                kernel.line(format!("{name} x = pop();"));
                kernel.push("x - last");
                kernel.line("last = x;");
            }
            2 => {
                kernel.line(format!("{name} x = pop();"));
                kernel.line("if (x > last) last = x; else last = last - 1;");
                kernel.push("last");
            }
            _ => {
                kernel.push("pop() + last");
                kernel.line("last++;");
                kernel.line("if (last > p) last = 0;");
            }
        })
    }

    fn ring(&mut self) -> KernelRates {
        let (name, size) = (self.from.text(), self.within(2, 9));
        self.line(format!("{name}[{size}] ring;"));
        self.line("int at;");
        self.work((1, 1, 0), |kernel| {
            kernel.push("ring[at]");
            kernel.line("ring[at] = pop();");
            kernel.line(format!("at = (at + 1) % {size};"));
        })
    }

    fn difference(&mut self) -> KernelRates {
        let (more, pop) = (self.within(1, 9), self.within(1, 2));
        let state = self.chance(30);
        if state {
            let name = self.from.text();
            self.line(format!("{name} sum;"));
        }
        self.work((pop, pop, more), |kernel| {
            for at in 0..pop {
                let far = more + at.min(pop - 1);
                if state {
                    kernel.line(format!("sum += peek({far}) - peek({at});"));
                    kernel.push("sum");
                } else {
                    kernel.push(&format!("peek({far}) - peek({at})"));
                }
            }
            kernel.drop_items(pop);
        })
    }

    fn delay(&mut self) -> KernelRates {
        let count = self.within(1, 12);
        self.line(format!("prework push {count} {{ for (int i = 0; i < {count}; i++) push(0); }}"));
        self.work((1, 1, 0), |kernel| kernel.push("pop()"))
    }
}
