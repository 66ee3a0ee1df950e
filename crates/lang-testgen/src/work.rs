//! Bodies of firings: the pops and pushes of the rates, with other statements between them.

use super::code::{Coder, Var};
use super::types::Ty;

/// Items of a firing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Moves {
    pub pop: u32,
    pub peek: u32,
    pub push: u32,
}

impl Coder<'_> {
    /// The body of a firing with static rates.
    pub fn work(&mut self, output: Option<&Ty>, moves: Moves) {
        let mut pushes = moves.push;
        (self.pops, self.window) = (moves.pop, moves.peek);
        self.stmts(2);
        while self.pops > 0 || pushes > 0 {
            // Everything is popped before the last push, so that pushed items can depend on all input.
            if self.pops > 0 && (pushes <= 1 || self.choices.chance(50)) {
                self.pop_some();
            } else if let Some(output) = output.filter(|_| pushes > 0) {
                pushes -= self.push_some(output, pushes);
            }
            self.stmts(1);
        }
        self.stmts(1);
    }

    /// Pops one or more items.
    fn pop_some(&mut self) {
        let Some(ty) = self.input.clone() else { return };
        match self.choices.below(6) {
            1 if self.pops > 1 => self.pop_in_loop(&ty),
            2 => {
                self.pop_item();
                self.line("pop();");
            }
            3 => {
                if let Some(place) = self.changeable(&ty) {
                    let taken = self.pop_item();
                    return self.line(format!("{place} = {taken};"));
                }
                self.pop_one(&ty);
            }
            4 => self.moving_call(|pops, pushes| pops > 0 && pushes == 0),
            _ => self.pop_one(&ty),
        }
    }

    fn pop_one(&mut self, ty: &Ty) {
        let (name, taken) = (self.name("v"), self.pop_item());
        self.line(format!("{} {name} = {taken};", ty.text()));
        self.vars.push(Var::new(&name, ty));
    }

    /// Pops several items into an array, or sums them.
    fn pop_in_loop(&mut self, ty: &Ty) {
        let times = self.choices.within(2, self.pops);
        self.pops -= times;
        self.window = self.window.saturating_sub(times);
        let name = self.name("v");
        if ty.is_number() && self.choices.chance(50) {
            self.line(format!("{} {name} = 0;", ty.text()));
            self.count(&times.to_string(), times, |coder, _| coder.line(format!("{name} += pop();")));
            return self.vars.push(Var::new(&name, ty));
        }
        let all = Ty::array(ty.clone(), times);
        self.line(format!("{} {name};", all.text()));
        self.count(&times.to_string(), times, |coder, index| coder.line(format!("{name}[{index}] = pop();")));
        self.vars.push(Var::new(&name, &all));
    }

    /// A call of a function with rates, if one fits; else a plain pop.
    fn moving_call(&mut self, fits: impl Fn(u32, u32) -> bool) {
        let fitting = self.functions.iter().filter(|function| {
            fits(function.pops, function.pushes) && function.pops <= self.pops && function.result.is_none()
        });
        let fitting: Vec<_> = fitting.cloned().collect();
        let ty = self.input.clone();
        if fitting.is_empty() {
            return ty.iter().for_each(|ty| self.pop_one(ty));
        }
        let function = self.choices.pick(&fitting).clone();
        let args: Vec<String> =
            function.params.iter().map(|ty| self.conditionally(|coder| coder.expr(ty, 1))).collect();
        self.pops -= function.pops;
        self.window = self.window.saturating_sub(function.pops);
        self.line(format!("{}({});", function.name, args.join(", ")));
    }

    /// Pushes one or more items; returns their number.
    fn push_some(&mut self, output: &Ty, most: u32) -> u32 {
        match self.choices.below(6) {
            1 if most > 1 => {
                let times = self.choices.within(2, most);
                self.count(&times.to_string(), times, |coder, _| coder.push_item(output));
                times
            }
            2 if most > 1 => {
                // Both branches push the same number.
                let condition = self.condition();
                self.conditionally(|coder| {
                    coder.block(&format!("if ({condition})"), |coder| {
                        (0..2).for_each(|_| coder.push_item(output))
                    });
                    coder.lines.pop();
                    coder.block("} else", |coder| {
                        coder.count("2", 2, |coder, _| coder.push_item(output));
                    });
                });
                2
            }
            3 => match self.function_that_pushes(most) {
                Some((call, pushes)) => {
                    self.line(call);
                    pushes
                }
                None => {
                    self.push_item(output);
                    1
                }
            },
            _ => {
                self.push_item(output);
                1
            }
        }
    }

    fn function_that_pushes(&mut self, most: u32) -> Option<(String, u32)> {
        let fits = |function: &&super::code::Function| {
            function.pops == 0 && (1..=most).contains(&function.pushes) && function.result.is_none()
        };
        let function = self.functions.iter().find(fits).cloned()?;
        let args: Vec<String> = function.params.iter().map(|ty| self.expr(ty, 1)).collect();
        Some((format!("{}({});", function.name, args.join(", ")), function.pushes))
    }

    pub fn push_item(&mut self, output: &Ty) {
        let value = self.value(output);
        self.line(format!("push({value});"));
    }

    /// The body of a firing that pops 1 to `most_in` items, peeks up to `ahead` more, and pushes 0 to `most_out`, or
    /// `most_out` if it `always` does.
    pub fn dynamic_work(
        &mut self,
        output: Option<&Ty>,
        (most_in, ahead): (u32, u32),
        (most_out, always): (u32, bool),
    ) {
        let Some(input) = self.input.clone() else { return };
        let name = self.name("v");
        self.line(format!("{} {name} = pop();", input.text()));
        self.vars.push(Var::new(&name, &input));
        self.maybe_peek(&name, ahead);
        self.stmts(2);
        if most_in > 1 {
            let bound = self.index(most_in, 2);
            self.count(&format!("({bound})"), most_in - 1, |coder, _| {
                coder.line(format!("{name} = pop();"));
                coder.stmts(1);
            });
            self.maybe_peek(&name, ahead);
        }
        if let Some(output) = output.filter(|_| most_out > 0) {
            let bound = if always { most_out.to_string() } else { self.index(most_out + 1, 2) };
            self.count(&format!("({bound})"), most_out, |coder, _| coder.push_item(output));
        }
        self.stmts(2);
    }

    /// Possibly peeks at one of the next items.
    fn maybe_peek(&mut self, name: &str, ahead: u32) {
        if ahead > 0 && self.choices.chance(70) {
            let (condition, index) = (self.condition(), self.index(ahead, 2));
            self.line(format!("if ({condition}) {name} = peek({index});"));
        }
    }
}
