//! What a firing does: so many pops and pushes as its rates say, with other statements between them.

use super::code::{Coder, Var};
use super::types::Ty;

/// Items that a firing moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Moves {
    pub pop: u32,
    pub peek: u32,
    pub push: u32,
}

impl Coder<'_> {
    /// The body of a firing of static rates.
    pub fn work(&mut self, output: Option<&Ty>, moves: Moves) {
        let mut pushes = moves.push;
        (self.pops, self.window) = (moves.pop, moves.peek);
        self.stmts(2);
        while self.pops > 0 || pushes > 0 {
            // All is popped before the last push, so that what is pushed can depend on it.
            if self.pops > 0 && (pushes <= 1 || self.choices.chance(50)) {
                self.take_some();
            } else if let Some(output) = output.filter(|_| pushes > 0) {
                pushes -= self.give_some(output, pushes);
            }
            self.stmts(1);
        }
        self.stmts(1);
    }

    /// Pops one or more.
    fn take_some(&mut self) {
        let Some(ty) = self.input.clone() else { return };
        match self.choices.below(6) {
            1 if self.pops > 1 => self.take_in_loop(&ty),
            2 => {
                self.take();
                self.line("pop();");
            }
            3 => {
                if let Some(place) = self.changeable(&ty) {
                    let taken = self.take();
                    return self.line(format!("{place} = {taken};"));
                }
                self.take_one(&ty);
            }
            4 => self.call_that_moves(|pops, pushes| pops > 0 && pushes == 0),
            _ => self.take_one(&ty),
        }
    }

    fn take_one(&mut self, ty: &Ty) {
        let (name, taken) = (self.name("v"), self.take());
        self.line(format!("{} {name} = {taken};", ty.text()));
        self.vars.push(Var::new(&name, ty));
    }

    /// Pops several into an array, or adds them up.
    fn take_in_loop(&mut self, ty: &Ty) {
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
    fn call_that_moves(&mut self, fits: impl Fn(u32, u32) -> bool) {
        let fitting = self.functions.iter().filter(|function| {
            fits(function.pops, function.pushes) && function.pops <= self.pops && function.result.is_none()
        });
        let fitting: Vec<_> = fitting.cloned().collect();
        let ty = self.input.clone();
        if fitting.is_empty() {
            return ty.iter().for_each(|ty| self.take_one(ty));
        }
        let function = self.choices.pick(&fitting).clone();
        let args: Vec<String> =
            function.params.iter().map(|ty| self.perhaps(|coder| coder.expr(ty, 1))).collect();
        self.pops -= function.pops;
        self.window = self.window.saturating_sub(function.pops);
        self.line(format!("{}({});", function.name, args.join(", ")));
    }

    /// Pushes one or more; how many.
    fn give_some(&mut self, output: &Ty, most: u32) -> u32 {
        match self.choices.below(6) {
            1 if most > 1 => {
                let times = self.choices.within(2, most);
                self.count(&times.to_string(), times, |coder, _| coder.give(output));
                times
            }
            2 if most > 1 => {
                // As many on either way.
                let condition = self.condition();
                self.perhaps(|coder| {
                    coder
                        .block(&format!("if ({condition})"), |coder| (0..2).for_each(|_| coder.give(output)));
                    coder.lines.pop();
                    coder.block("} else", |coder| {
                        coder.count("2", 2, |coder, _| coder.give(output));
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
                    self.give(output);
                    1
                }
            },
            _ => {
                self.give(output);
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

    pub fn give(&mut self, output: &Ty) {
        let value = self.value(output);
        self.line(format!("push({value});"));
    }

    /// The body of a firing that pops from one to `most_in` items, looks at so many more at the most, and pushes
    /// from none to `most_out`.
    pub fn dynamic_work(&mut self, output: Option<&Ty>, (most_in, ahead): (u32, u32), most_out: u32) {
        let Some(input) = self.input.clone() else { return };
        let name = self.name("v");
        self.line(format!("{} {name} = pop();", input.text()));
        self.vars.push(Var::new(&name, &input));
        self.look_ahead(&name, ahead);
        self.stmts(2);
        if most_in > 1 {
            let bound = self.index(most_in, 2);
            self.count(&format!("({bound})"), most_in - 1, |coder, _| {
                coder.line(format!("{name} = pop();"));
                coder.stmts(1);
            });
            self.look_ahead(&name, ahead);
        }
        if let Some(output) = output.filter(|_| most_out > 0) {
            let bound = self.index(most_out + 1, 2);
            self.count(&format!("({bound})"), most_out, |coder, _| coder.give(output));
        }
        self.stmts(2);
    }

    /// Looks at one of the next items, or does not.
    fn look_ahead(&mut self, name: &str, ahead: u32) {
        if ahead > 0 && self.choices.chance(70) {
            let (condition, index) = (self.condition(), self.index(ahead, 2));
            self.line(format!("if ({condition}) {name} = peek({index});"));
        }
    }
}
