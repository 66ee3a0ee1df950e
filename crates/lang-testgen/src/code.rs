//! Code under construction, with the variables and items available to it.

use super::choices::Choices;
use super::types::{Fields, Ty, literal};

/// A variable, field or parameter.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub name: String,
    pub ty: Ty,
    /// Whether it may be assigned to.
    pub changes: bool,
    /// The exclusive upper bound of a nonnegative integer variable.
    pub below: Option<u32>,
}

impl Var {
    pub fn new(name: &str, ty: &Ty) -> Var {
        Var { name: name.to_owned(), ty: ty.clone(), changes: true, below: None }
    }

    pub fn fixed(name: &str, ty: &Ty) -> Var {
        Var { changes: false, ..Var::new(name, ty) }
    }

    pub fn index(name: &str, below: u32) -> Var {
        Var { below: Some(below), ..Var::fixed(name, &Ty::Int) }
    }
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// The name in calls.
    pub name: String,
    pub params: Vec<Ty>,
    pub result: Option<Ty>,
    /// Items that it pops and pushes.
    pub pops: u32,
    pub pushes: u32,
    /// Whether it calls itself as often as its first argument says, which must then be small.
    pub recurs: bool,
}

/// Declarations visible to all filters.
#[derive(Clone, Default, Debug)]
pub(super) struct Globals {
    pub structs: Vec<Fields>,
    pub statics: Vec<Var>,
    pub helpers: Vec<Function>,
    /// Whether `random()` may be called.
    pub random: bool,
}

/// Code under construction.
pub(super) struct Coder<'a> {
    pub choices: &'a mut Choices,
    pub globals: &'a Globals,
    /// Visible variables.
    pub vars: Vec<Var>,
    pub functions: Vec<Function>,
    /// The lines so far, and the indentation of the next line.
    pub lines: Vec<String>,
    pub level: usize,
    /// The number of names generated.
    pub names: u32,
    /// The input type.
    pub input: Option<Ty>,
    /// `pop()`s that expressions may still use.
    pub pops: u32,
    /// The exclusive upper bound of `peek` indices.
    pub window: u32,
    /// Nesting depth of code that may execute more or less often than once.
    pub conditional: u32,
    /// The number of enclosing loops.
    pub loops: u32,
    /// Nesting depth of index expressions.
    pub indices: u32,
    /// Whether `iter()` is allowed.
    pub iterates: bool,
    /// The prefix of printed lines; `None` if the code must not print.
    pub prints: Option<String>,
    /// Statements that may still be generated.
    pub fuel: u32,
}

impl<'a> Coder<'a> {
    pub fn new(choices: &'a mut Choices, globals: &'a Globals) -> Coder<'a> {
        let functions = globals.helpers.clone();
        Coder {
            choices,
            globals,
            vars: globals.statics.clone(),
            functions,
            lines: Vec::new(),
            level: 0,
            names: 0,
            input: None,
            pops: 0,
            window: 0,
            conditional: 0,
            loops: 0,
            indices: 0,
            iterates: false,
            prints: None,
            fuel: 0,
        }
    }

    pub fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{:1$}{text}", "", self.level * 4, text = text.as_ref()));
    }

    /// A head line with a block in braces; variables declared in the block go out of scope.
    pub fn block(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(if head.is_empty() { "{".to_owned() } else { format!("{head} {{") });
        self.inside(inside);
        self.line("}");
    }

    /// The content of a block.
    pub fn inside(&mut self, inside: impl FnOnce(&mut Self)) {
        let seen = self.vars.len();
        self.level += 1;
        inside(self);
        self.level -= 1;
        self.vars.truncate(seen);
    }

    /// Code that may execute more or less often than once.
    pub fn conditionally<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.conditional += 1;
        let result = inside(self);
        self.conditional -= 1;
        result
    }

    /// A counting loop; `inside` receives the name of the counter.
    pub fn count(&mut self, bound: &str, times: u32, inside: impl FnOnce(&mut Self, &str)) {
        let index = self.name("i");
        self.loops += 1;
        self.conditional += 1;
        self.block(&format!("for (int {index} = 0; {index} < {bound}; {index}++)"), |coder| {
            coder.vars.push(Var::index(&index, times));
            inside(coder, &index);
        });
        self.conditional -= 1;
        self.loops -= 1;
    }

    pub fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Declares and fills a new variable.
    pub fn declare(&mut self, ty: &Ty) -> String {
        let name = self.name("v");
        match ty {
            Ty::Struct(number) => {
                self.line(format!("{} {name};", ty.text()));
                self.vars.push(Var::new(&name, ty));
                for (field, ty) in &self.globals.structs[*number] {
                    self.fill(&format!("{name}.{field}"), ty);
                }
            }
            Ty::Array(..) => {
                let constant = literal(self.choices, ty).filter(|_| self.choices.chance(30));
                match constant {
                    Some(list) => self.line(format!("{} {name} = {list};", ty.text())),
                    None => {
                        self.line(format!("{} {name};", ty.text()));
                        self.fill(&name, ty);
                    }
                }
                self.vars.push(Var::new(&name, ty));
            }
            _ => {
                let value = self.expr(ty, 2);
                self.line(format!("{} {name} = {value};", ty.text()));
                self.vars.push(Var::new(&name, ty));
            }
        }
        name
    }

    /// Assigns to a place, part by part.
    pub fn fill(&mut self, place: &str, ty: &Ty) {
        match ty {
            Ty::Array(element, length) => {
                let length = *length;
                self.count(&length.to_string(), length, |coder, index| {
                    coder.fill(&format!("{place}[{index}]"), element);
                });
            }
            Ty::Struct(number) => {
                if let Some(same) = self.existing(ty)
                    && same != place
                {
                    return self.line(format!("{place} = {same};"));
                }
                for (field, ty) in &self.globals.structs[*number] {
                    self.fill(&format!("{place}.{field}"), ty);
                }
            }
            _ => {
                let value = self.expr(ty, 2);
                self.line(format!("{place} = {value};"));
            }
        }
    }

    /// A value of any type; a value with parts may need statements before it.
    pub fn value(&mut self, ty: &Ty) -> String {
        if ty.is_scalar() {
            return self.expr(ty, 3);
        }
        if self.may_pop(ty) && self.choices.chance(40) {
            return self.pop_item();
        }
        if self.may_peek(ty) && self.choices.chance(40) {
            return self.peek_item();
        }
        match self.existing(ty) {
            Some(place) if self.choices.chance(60) => place,
            _ => self.declare(ty),
        }
    }

    pub fn may_pop(&self, ty: &Ty) -> bool {
        self.pops > 0 && self.conditional == 0 && self.input.as_ref() == Some(ty)
    }

    pub fn may_peek(&self, ty: &Ty) -> bool {
        self.window > 0 && self.input.as_ref() == Some(ty)
    }

    pub fn pop_item(&mut self) -> String {
        self.pops -= 1;
        self.window = self.window.saturating_sub(1);
        "pop()".to_owned()
    }

    pub fn peek_item(&mut self) -> String {
        let index = self.index(self.window, 1);
        format!("peek({index})")
    }
}
