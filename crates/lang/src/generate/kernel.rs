//! Filters as programs have them: what optimisers look for, which arbitrary code seldom is.
//!
//! Windows that are summed up with weights, blocks with tables, what thins out and what fills up, state
//! that each firing goes on with. Items are integers or floats.

use super::choices::Choices;
use super::code::{Coder, World};
use super::filter::Wanted;
use super::model::{Arg, Filter, Head, Param};
use super::ratio::Ratio;
use super::types::Ty;

/// What kernels do.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Weighs a window.
    Weigh,
    /// Drops most items.
    Thin,
    /// Puts constants between items.
    Fill,
    /// Deals with a block by tables.
    Table,
    /// Multiplies a block with a matrix.
    Matrix,
    /// Puts a block into another order, by data or not.
    Order,
    /// Goes on from its last result.
    Follow,
    /// Keeps the last items in a ring.
    Ring,
    /// Compares the ends of a window.
    Differ,
    /// Begins with constants.
    Delay,
}

const KINDS: [(Kind, u32); 10] = [
    (Kind::Weigh, 6),
    (Kind::Thin, 2),
    (Kind::Fill, 2),
    (Kind::Table, 3),
    (Kind::Matrix, 2),
    (Kind::Order, 3),
    (Kind::Follow, 3),
    (Kind::Ring, 2),
    (Kind::Differ, 2),
    (Kind::Delay, 1),
];

/// A kernel that is being written.
struct Kernel<'a, 'c> {
    coder: Coder<'c>,
    from: &'a Ty,
    to: &'a Ty,
    unit: bool,
    windows: bool,
    first: bool,
}

/// Rates: pop, push, and how many items beyond those popped are looked at.
type Moved = (u32, u32, u32);

/// Makes a kernel; one with as many items out as in if `unit` says so.
pub(super) fn kernel(choices: &mut Choices, world: &World, wanted: &Wanted<'_>, unit: bool) -> Filter {
    let number = Ty::Int;
    let (from, to) = (wanted.input.unwrap_or(&number), wanted.output.unwrap_or(&number));
    let mut coder = Coder::new(choices, world);
    coder.level = 1;
    let params = parameter(&mut coder, wanted);
    let (windows, first) = (wanted.windows, wanted.first);
    let mut kernel = Kernel { coder, from, to, unit, windows, first };
    let (pop, push, window) = kernel.write();
    let body = std::mem::take(&mut kernel.coder.lines);
    let head = Head {
        name: wanted.name.clone(),
        input: wanted.input.cloned(),
        output: wanted.output.cloned(),
        named: choices.chance(65),
        typed: true,
        variable: None,
    };
    let gain = Some(Ratio::new(push, pop));
    Filter { head, stateful: false, params, body, gain, window, prints: false }
}

/// The integer `p`, which may be another one in each of several alike.
fn parameter(coder: &mut Coder<'_>, wanted: &Wanted<'_>) -> Vec<Param> {
    let (by, and) = (coder.choices.within(2, 4) as i32, coder.choices.within(2, 9) as i32);
    let value = match wanted.around.filter(|_| coder.choices.chance(70)) {
        Some(of) => Arg::Linear { of: of.to_owned(), by, and },
        None => Arg::Constant((by * and).to_string()),
    };
    // Names tell parameters of filters that stand where they are used from those of streams around.
    let name = parameter_name(wanted);
    coder.line(format!("int p = {name};"));
    vec![Param { name, ty: Ty::Int.text(), value }]
}

fn parameter_name(wanted: &Wanted<'_>) -> String {
    format!("p_{}", wanted.name.to_lowercase())
}

impl Kernel<'_, '_> {
    fn write(&mut self) -> Moved {
        let weights = KINDS.map(|(_, weight)| weight);
        match KINDS[self.coder.choices.weighted(&weights)].0 {
            Kind::Weigh if self.windows => self.weigh(),
            Kind::Thin if !self.unit => self.thin(),
            Kind::Fill if !self.unit => self.fill(),
            Kind::Matrix => self.matrix(),
            Kind::Order => self.order(),
            Kind::Follow => self.follow(),
            Kind::Ring => self.ring(),
            Kind::Differ if self.windows => self.differ(),
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

    /// A value that was calculated of the items' type, as the type that is pushed.
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

    /// A field of constants that `init` calculates, or that stand there.
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

    /// The work function, with braces.
    fn work(&mut self, (pop, push, more): Moved, inside: impl FnOnce(&mut Self)) -> Moved {
        let peek = if more > 0 { format!(" peek {}", pop + more) } else { String::new() };
        self.line(format!("work pop {pop} push {push}{peek} {{"));
        self.coder.level += 1;
        inside(self);
        self.coder.level -= 1;
        self.line("}");
        (pop, push, more)
    }

    /// Drops so many items.
    fn drop(&mut self, count: u32) {
        match count {
            0 => {}
            1 => self.line("pop();"),
            _ if self.chance(50) => self.line(format!("for (int i = 0; i < {count}; i++) pop();")),
            _ => (0..count).for_each(|_| self.line("pop();")),
        }
    }

    /// Sums of windows, each one further on.
    fn weigh(&mut self) -> Moved {
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
            kernel.drop(pop);
            if popped {
                kernel.push("sum0");
            }
        })
    }

    fn thin(&mut self) -> Moved {
        let (pop, kind) = (self.within(2, 9), self.within(0, 3));
        self.work((pop, 1, 0), |kernel| {
            match kind {
                0 => kernel.push("pop()"),
                1 => kernel.push(&format!("peek({})", pop - 1)),
                2 => kernel.line("push(p);"),
                _ => kernel.push("peek(0) + peek(1)"),
            }
            let left = if kind == 0 { pop - 1 } else { pop };
            kernel.drop(left);
        })
    }

    fn fill(&mut self) -> Moved {
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

    /// Items of a block into an array.
    fn take(&mut self, size: u32) {
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

    fn table(&mut self) -> Moved {
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

    fn matrix(&mut self) -> Moved {
        let size = self.within(2, 6);
        let push = if self.unit { size } else { self.within(1, 6) };
        let ty = self.from.clone();
        self.constants("matrix", &ty, size * push);
        let looks = self.chance(50);
        self.work((size, push, 0), |kernel| {
            if !looks {
                kernel.take(size);
            }
            kernel.line(format!("for (int j = 0; j < {push}; j++) {{"));
            kernel.coder.level += 1;
            let item = if looks { "peek(i)" } else { "block[i]" };
            kernel.line(format!("{} sum = 0;", ty.text()));
            kernel.line(format!("for (int i = 0; i < {size}; i++) sum += {item} * matrix[j * {size} + i];"));
            kernel.push("sum");
            kernel.coder.level -= 1;
            kernel.line("}");
            if looks {
                kernel.drop(size);
            }
        })
    }

    fn order(&mut self) -> Moved {
        let size = self.size();
        match self.within(0, 3) {
            0 => self.work((size, size, 0), |kernel| {
                kernel.line(format!("for (int i = {}; i >= 0; i--)", size - 1));
                kernel.push("peek(i)");
                kernel.drop(size);
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
                kernel.drop(2);
            }),
            _ => self.work((size, size, 0), |kernel| {
                kernel.take(size);
                kernel.line(format!("for (int i = 0; i < {size}; i++)"));
                kernel.push(&format!("block[(i * 3 + p) & {}]", size - 1));
            }),
        }
    }

    /// State that goes from firing to firing.
    fn follow(&mut self) -> Moved {
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

    fn ring(&mut self) -> Moved {
        let (name, size) = (self.from.text(), self.within(2, 9));
        self.line(format!("{name}[{size}] ring;"));
        self.line("int at;");
        self.work((1, 1, 0), |kernel| {
            kernel.push("ring[at]");
            kernel.line("ring[at] = pop();");
            kernel.line(format!("at = (at + 1) % {size};"));
        })
    }

    fn differ(&mut self) -> Moved {
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
            kernel.drop(pop);
        })
    }

    fn delay(&mut self) -> Moved {
        let count = self.within(1, 12);
        self.line(format!("prework push {count} {{ for (int i = 0; i < {count}; i++) push(0); }}"));
        self.work((1, 1, 0), |kernel| kernel.push("pop()"))
    }
}
