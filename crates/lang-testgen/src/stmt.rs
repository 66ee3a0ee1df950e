//! Statements that move no items, except pops in expressions.

use super::code::{Coder, Var};
use super::types::{Ty, any, literal, scalar};

/// Limits of nested blocks and loops.
const MAX_LEVEL: usize = 5;
const MAX_LOOPS: u32 = 2;

impl Coder<'_> {
    /// Up to `most` statements.
    pub fn stmts(&mut self, most: u32) {
        for _ in 0..self.choices.below(most + 1) {
            if self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            self.stmt();
        }
    }

    fn stmt(&mut self) {
        let nested = self.level < MAX_LEVEL;
        let loops = nested && self.loops < MAX_LOOPS;
        match self.choices.below(16) {
            0..3 => self.declaration(),
            3..6 => self.assignment(),
            6 | 7 => self.update(),
            8 => self.step_statement(),
            9 if nested => self.choice(),
            10 if loops => self.counted_loop(),
            11 if loops => self.while_loop(),
            12 if loops => self.do_loop(),
            13 => self.call_statement(),
            14 if nested => self.block("", |coder| coder.stmts(2)),
            _ => self.print(),
        }
    }

    fn declaration(&mut self) {
        match self.choices.below(5) {
            3 => {
                let ty = any(self.choices, self.globals.structs.len());
                self.declare(&ty);
            }
            4 => {
                // Two variables of one type, without and with an initial value.
                let ty = scalar(self.choices);
                let (first, second) = (self.name("v"), self.name("v"));
                let value = self.expr(&ty, 1);
                self.line(format!("{} {first}, {second} = {value};", ty.text()));
                self.vars.extend([Var::new(&first, &ty), Var::new(&second, &ty)]);
            }
            _ => {
                let ty = scalar(self.choices);
                self.declare(&ty);
            }
        }
    }

    fn assignment(&mut self) {
        let ty = if self.choices.chance(20) {
            any(self.choices, self.globals.structs.len())
        } else {
            scalar(self.choices)
        };
        match self.changeable(&ty) {
            Some(place) => {
                let value = self.value(&ty);
                self.line(format!("{place} = {value};"));
            }
            None => {
                self.declare(&ty);
            }
        }
    }

    fn update(&mut self) {
        let ty = scalar(self.choices);
        let Some(place) = self.changeable(&ty) else { return self.declaration() };
        let ops: &[&str] = match ty {
            Ty::Int => &["+=", "-=", "*=", "<<=", ">>=", "/="],
            Ty::Boolean | Ty::Bit => return self.assignment(),
            _ => &["+=", "-=", "*="],
        };
        let op = *self.choices.pick(ops);
        let value = if op == "/=" { self.choices.within(2, 9).to_string() } else { self.expr(&ty, 2) };
        self.line(format!("{place} {op} {value};"));
    }

    fn step_statement(&mut self) {
        let ty = if self.choices.chance(20) { Ty::Float } else { Ty::Int };
        let Some(place) = self.changeable(&ty) else { return self.declaration() };
        let text = match self.choices.below(4) {
            0 => format!("{place}++;"),
            1 => format!("{place}--;"),
            2 => format!("++{place};"),
            _ => format!("--{place};"),
        };
        self.line(text);
    }

    fn choice(&mut self) {
        let condition = self.condition();
        let alternative = self.choices.chance(50);
        self.conditionally(|coder| {
            coder.block(&format!("if ({condition})"), |coder| coder.stmts(2));
            if alternative {
                coder.lines.pop();
                coder.block("} else", |coder| coder.stmts(2));
            }
        });
    }

    /// A loop with a constant or data-dependent bound, possibly with an early exit.
    fn counted_loop(&mut self) {
        let most = self.choices.within(1, 5);
        let bound = self.bound(most);
        self.count(&bound, most, |coder, _| {
            coder.stmts(2);
            if coder.choices.chance(25) {
                let (condition, word) = (coder.condition(), *coder.choices.pick(&["break", "continue"]));
                coder.line(format!("if ({condition}) {word};"));
                coder.stmts(1);
            }
        });
    }

    /// An integer that is at most `most`.
    fn bound(&mut self, most: u32) -> String {
        if self.choices.chance(60) {
            return most.to_string();
        }
        let index = self.index(most + 1, 2);
        // `<` binds tighter than `&`.
        format!("({index})")
    }

    fn while_loop(&mut self) {
        let counter = self.name("k");
        let bound = self.bound(4);
        self.line(format!("int {counter} = 0;"));
        let more = if self.choices.chance(40) {
            format!(" && {}", self.conditionally(|coder| coder.operand(&Ty::Boolean, 1)))
        } else {
            String::new()
        };
        self.turns(&format!("while ({counter} < {bound}{more})"), &counter);
    }

    fn do_loop(&mut self) {
        let counter = self.name("k");
        self.line(format!("int {counter} = 0;"));
        self.turns("do", &counter);
        self.lines.pop();
        let most = self.choices.below(4);
        self.line(format!("}} while ({counter} < {most});"));
    }

    fn turns(&mut self, head: &str, counter: &str) {
        self.loops += 1;
        self.conditionally(|coder| {
            coder.block(head, |coder| {
                coder.line(format!("{counter}++;"));
                coder.vars.push(Var::fixed(counter, &Ty::Int));
                coder.stmts(2);
                if coder.choices.chance(15) {
                    let condition = coder.condition();
                    coder.line(format!("if ({condition}) break;"));
                }
            });
        });
        self.loops -= 1;
    }

    fn call_statement(&mut self) {
        match self.own_function_call(None, 1) {
            Some(call) => self.line(format!("{call};")),
            None => self.assignment(),
        }
    }

    /// Prints values after the filter's name.
    pub fn print(&mut self) {
        let Some(tag) = self.prints.clone() else { return self.assignment() };
        let mut text = format!("\"{tag} \"");
        for at in 0..self.choices.within(1, 2) {
            let ty = scalar(self.choices);
            let value = self.operand(&ty, 1);
            let blank = if at == 0 { "" } else { " + \" \"" };
            text += &format!("{blank} + {value}");
        }
        if self.choices.chance(20) {
            self.line(format!("print({text});"));
            self.line("println();");
        } else {
            self.line(format!("println({text});"));
        }
    }

    /// The initial value of a field, if any: a constant.
    pub fn first_value(&mut self, ty: &Ty) -> String {
        match literal(self.choices, ty).filter(|_| self.choices.chance(60)) {
            Some(value) => format!(" = {value}"),
            None => String::new(),
        }
    }
}
