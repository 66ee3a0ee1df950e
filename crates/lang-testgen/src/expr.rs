//! Expressions. Parentheses are written where precedence requires them, and seldom elsewhere.

use super::code::Coder;
use super::types::{Ty, literal};

/// Binding levels of operators, loosest first.
const TERNARY: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const BITS: u8 = 3;
const EQUAL: u8 = 4;
const COMPARE: u8 = 5;
const SUM: u8 = 6;
const PRODUCT: u8 = 7;
const CAST: u8 = 8;
const SIGN: u8 = 9;
const VALUE: u8 = 10;

/// The text of an expression, and the binding level of its outermost operator.
pub(super) struct Expr(String, u8);

impl Expr {
    fn value(text: impl Into<String>) -> Expr {
        Expr(text.into(), VALUE)
    }

    /// The text as an operand of an operator of this level.
    fn at(self, level: u8) -> String {
        if self.1 < level { format!("({})", self.0) } else { self.0 }
    }
}

/// Accesses from a variable to a part.
#[derive(Clone)]
enum Step {
    Field(String),
    Index(u32),
}

impl Coder<'_> {
    /// The text of an expression of a type without parts.
    pub fn expr(&mut self, ty: &Ty, depth: u32) -> String {
        self.any(ty, depth).0
    }

    /// An expression as an operand of `+`.
    pub fn operand(&mut self, ty: &Ty, depth: u32) -> String {
        self.any(ty, depth).at(PRODUCT)
    }

    /// A condition.
    pub fn condition(&mut self) -> String {
        self.expr(&Ty::Boolean, 2)
    }

    fn any(&mut self, ty: &Ty, depth: u32) -> Expr {
        let made = match self.choices.below(10) {
            0..3 => self.leaf(ty),
            _ if depth == 0 => self.leaf(ty),
            3 => self.ternary(ty, depth - 1),
            4 => self.call(ty, depth - 1),
            _ => self.operation(ty, depth - 1),
        };
        if self.choices.chance(4) { Expr::value(format!("({})", made.0)) } else { made }
    }

    /// An expression without operands.
    fn leaf(&mut self, ty: &Ty) -> Expr {
        match self.choices.weighted(&[3, 12, 4, 4]) {
            2 if self.may_pop(ty) => return Expr::value(self.pop_item()),
            3 if self.may_peek(ty) => return Expr::value(self.peek_item()),
            1.. => {
                if let Some(place) = self.existing(ty) {
                    return Expr::value(place);
                }
            }
            0 => {}
        }
        let text = literal(self.choices, ty).unwrap_or_else(|| "0".to_owned());
        Expr(text, if *ty == Ty::Complex { SUM } else { VALUE })
    }

    fn ternary(&mut self, ty: &Ty, depth: u32) -> Expr {
        let condition = self.any(&Ty::Boolean, depth).at(OR);
        let (first, second) = self.conditionally(|coder| (coder.any(ty, depth), coder.any(ty, depth)));
        // Nested choices would parse without parentheses, but would be hard to read.
        Expr(format!("{condition} ? {} : {}", first.at(OR), second.at(OR)), TERNARY)
    }

    fn binary(&mut self, op: &str, level: u8, operands: (&Ty, &Ty), depth: u32) -> Expr {
        let first = self.any(operands.0, depth).at(level);
        let second = self.any(operands.1, depth).at(level + 1);
        Expr(format!("{first} {op} {second}"), level)
    }

    fn operation(&mut self, ty: &Ty, depth: u32) -> Expr {
        match ty {
            Ty::Int => self.int(depth),
            Ty::Float => self.float(depth),
            Ty::Boolean => self.boolean(depth),
            Ty::Bit => self.bit(depth),
            Ty::Complex | Ty::Vector(_) => self.parts(ty, depth),
            Ty::Struct(_) | Ty::Array(..) => self.leaf(ty),
        }
    }

    fn int(&mut self, depth: u32) -> Expr {
        let both = (&Ty::Int, &Ty::Int);
        match self.choices.below(16) {
            0 | 1 => self.binary("+", SUM, both, depth),
            2 => self.binary("-", SUM, both, depth),
            3 => self.binary("*", PRODUCT, both, depth),
            4 => self.division(depth),
            5 => self.binary("&", BITS, both, depth),
            6 => self.binary("|", BITS, both, depth),
            7 => self.binary("^", BITS, both, depth),
            8 => self.binary("<<", PRODUCT, both, depth),
            9 => self.binary(">>", PRODUCT, both, depth),
            10 => Expr(format!("-{}", self.any(&Ty::Int, depth).at(VALUE)), SIGN),
            11 => Expr(format!("~{}", self.any(&Ty::Int, depth).at(SIGN)), SIGN),
            12 => Expr(format!("(int){}", self.any(&Ty::Float, depth).at(SIGN)), CAST),
            13 => self.step(),
            14 => self.binary("+", SUM, (&Ty::Boolean, &Ty::Bit), depth),
            _ if self.iterates => Expr::value("iter()"),
            _ => self.leaf(&Ty::Int),
        }
    }

    /// Division by an expression that is not 0.
    fn division(&mut self, depth: u32) -> Expr {
        let op = if self.choices.chance(50) { "/" } else { "%" };
        let first = self.any(&Ty::Int, depth).at(PRODUCT);
        let second = match self.choices.below(3) {
            0 => self.choices.within(2, 9).to_string(),
            1 => format!("-{}", self.choices.within(1, 9)),
            _ => format!("(({} & 7) + 1)", self.any(&Ty::Int, depth).at(BITS)),
        };
        Expr(format!("{first} {op} {second}"), PRODUCT)
    }

    /// `++` or `--` on an assignable place.
    fn step(&mut self) -> Expr {
        let Some(place) = self.changeable(&Ty::Int) else { return self.leaf(&Ty::Int) };
        match self.choices.below(4) {
            0 => Expr(format!("{place}++"), CAST),
            1 => Expr(format!("{place}--"), CAST),
            2 => Expr(format!("++{place}"), CAST),
            _ => Expr(format!("--{place}"), CAST),
        }
    }

    fn float(&mut self, depth: u32) -> Expr {
        let both = (&Ty::Float, &Ty::Float);
        match self.choices.below(12) {
            0 | 1 => self.binary("+", SUM, both, depth),
            2 => self.binary("-", SUM, both, depth),
            3 | 4 => self.binary("*", PRODUCT, both, depth),
            5 => self.binary("/", PRODUCT, both, depth),
            6 => self.binary("*", PRODUCT, (&Ty::Int, &Ty::Float), depth),
            7 => self.binary("-", SUM, (&Ty::Float, &Ty::Int), depth),
            8 => Expr(format!("-{}", self.any(&Ty::Float, depth).at(VALUE)), SIGN),
            9 => Expr(format!("(float){}", self.any(&Ty::Int, depth).at(SIGN)), CAST),
            10 => Expr::value(format!("abs({})", self.any(&Ty::Complex, depth).0)),
            _ if self.globals.random && self.choices.chance(30) => Expr::value("random()"),
            _ => self.leaf(&Ty::Float),
        }
    }

    fn boolean(&mut self, depth: u32) -> Expr {
        match self.choices.below(9) {
            0 => self.logic("&&", AND, depth),
            1 => self.logic("||", OR, depth),
            2 => Expr(format!("!{}", self.any(&Ty::Boolean, depth).at(VALUE)), CAST),
            3 | 4 => self.equality(depth),
            5 => self.binary("^", BITS, (&Ty::Boolean, &Ty::Boolean), depth),
            _ => {
                let op = *self.choices.pick(&["<", "<=", ">", ">="]);
                let ty = if self.choices.chance(35) { Ty::Float } else { Ty::Int };
                self.binary(op, COMPARE, (&ty, &Ty::Int), depth)
            }
        }
    }

    /// The second operand may not be evaluated.
    fn logic(&mut self, op: &str, level: u8, depth: u32) -> Expr {
        let first = self.any(&Ty::Boolean, depth).at(level);
        let second = self.conditionally(|coder| coder.any(&Ty::Boolean, depth).at(level + 1));
        Expr(format!("{first} {op} {second}"), level)
    }

    fn equality(&mut self, depth: u32) -> Expr {
        let op = if self.choices.chance(50) { "!=" } else { "==" };
        let ty = [Ty::Int, Ty::Float, Ty::Bit, Ty::Boolean, Ty::Complex, Ty::Vector(2)];
        let ty = self.choices.pick(&ty).clone();
        self.binary(op, EQUAL, (&ty, &ty), depth)
    }

    fn bit(&mut self, depth: u32) -> Expr {
        let both = (&Ty::Bit, &Ty::Bit);
        match self.choices.below(6) {
            0 => self.binary("&", BITS, both, depth),
            1 => self.binary("|", BITS, both, depth),
            2 => self.binary("^", BITS, both, depth),
            3 => Expr(format!("~{}", self.any(&Ty::Bit, depth).at(SIGN)), SIGN),
            4 => Expr(format!("({}) & 1", self.any(&Ty::Int, depth).0), BITS),
            _ => self.any(&Ty::Boolean, depth),
        }
    }

    /// An expression of a complex number or a vector.
    fn parts(&mut self, ty: &Ty, depth: u32) -> Expr {
        match (self.choices.below(8), ty) {
            (0 | 1, _) => self.binary("+", SUM, (ty, ty), depth),
            (2, _) => self.binary("-", SUM, (ty, ty), depth),
            (3, _) => self.binary("*", PRODUCT, (ty, ty), depth),
            (4, _) => self.binary("/", PRODUCT, (ty, &Ty::Float), depth),
            (5, _) => self.binary("*", PRODUCT, (&Ty::Float, ty), depth),
            (6, _) => Expr(format!("-{}", self.any(ty, depth).at(VALUE)), SIGN),
            (_, Ty::Vector(count)) => {
                let parts: Vec<String> = (0..*count).map(|_| self.expr(&Ty::Float, depth.min(1))).collect();
                Expr::value(format!("float{count}({})", parts.join(", ")))
            }
            _ => {
                let (real, imaginary) = (self.any(&Ty::Float, depth).at(SUM), self.choices.below(9));
                Expr(format!("{real} + {imaginary}i"), SUM)
            }
        }
    }

    /// A call of a built-in function or of a function of the program.
    fn call(&mut self, ty: &Ty, depth: u32) -> Expr {
        if self.choices.chance(40)
            && let Some(call) = self.own_function_call(Some(ty), depth)
        {
            return Expr::value(call);
        }
        let names: &[&str] = match ty {
            Ty::Float => &[
                "sqrt", "sin", "cos", "floor", "abs", "atan2", "max", "exp", "pow", "round", "ceil", "min",
                "tan", "asin", "acos", "atan", "log", "log10", "sinh", "cosh", "tanh", "rint",
            ],
            Ty::Int => &["abs", "max", "min"],
            _ => return self.operation(ty, depth),
        };
        let name = *self.choices.pick(names);
        let two = ["max", "min", "pow", "atan2"].contains(&name);
        let first = self.expr(ty, depth);
        let rest = if two { format!(", {}", self.expr(ty, depth)) } else { String::new() };
        Expr::value(format!("{name}({first}{rest})"))
    }

    /// A call of a function of the program that moves no items and has this result type, if there is one.
    pub fn own_function_call(&mut self, result: Option<&Ty>, depth: u32) -> Option<String> {
        let fits = |function: &&super::code::Function| {
            function.result.as_ref() == result && function.pops + function.pushes == 0
        };
        let fitting: Vec<_> = self.functions.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let function = self.choices.pick(&fitting).clone();
        let args = self.args(&function, depth)?;
        Some(format!("{}({args})", function.name))
    }

    /// The arguments of a call.
    pub fn args(&mut self, function: &super::code::Function, depth: u32) -> Option<String> {
        let mut args = Vec::new();
        for (at, ty) in function.params.iter().enumerate() {
            args.push(match ty {
                _ if at == 0 && function.recurs => self.index(6, 1),
                ty if ty.is_scalar() => self.expr(ty, depth.min(1)),
                ty => self.existing(ty)?,
            });
        }
        Some(args.join(", "))
    }

    /// An integer at least 0 and below a bound.
    pub fn index(&mut self, below: u32, depth: u32) -> String {
        let fits = |var: &&super::code::Var| var.below.is_some_and(|most| most <= below);
        let counters: Vec<String> = self.vars.iter().filter(fits).map(|var| var.name.clone()).collect();
        match self.choices.below(4) {
            1 if !counters.is_empty() => self.choices.pick(&counters).clone(),
            2 | 3 if depth > 0 && self.indices < 2 => {
                self.indices += 1;
                let any = self.conditionally(|coder| coder.any(&Ty::Int, depth - 1).at(BITS));
                self.indices -= 1;
                match below {
                    _ if below.is_power_of_two() => format!("{any} & {}", below - 1),
                    _ => format!("({any} & 255) % {below}"),
                }
            }
            _ => self.choices.below(below).to_string(),
        }
    }

    /// A readable place of a type.
    pub fn existing(&mut self, ty: &Ty) -> Option<String> {
        self.place(ty, false)
    }

    /// An assignable place of a type.
    pub fn changeable(&mut self, ty: &Ty) -> Option<String> {
        self.place(ty, true)
    }

    fn place(&mut self, ty: &Ty, changes: bool) -> Option<String> {
        let mut places = Vec::new();
        for var in self.vars.iter().filter(|var| var.changes || !changes) {
            self.collect(&var.ty, ty, (&var.name, &mut Vec::new()), &mut places);
        }
        if places.is_empty() {
            return None;
        }
        let (name, steps) = self.choices.pick(&places).clone();
        let mut text = name;
        for step in steps {
            match step {
                Step::Field(field) => text += &format!(".{field}"),
                Step::Index(length) => text += &format!("[{}]", self.index(length, 1)),
            }
        }
        Some(text)
    }

    /// Collects all parts of a type within another.
    fn collect(
        &self,
        of: &Ty,
        spec: &Ty,
        (name, steps): (&str, &mut Vec<Step>),
        places: &mut Vec<(String, Vec<Step>)>,
    ) {
        if of == spec {
            places.push((name.to_owned(), steps.clone()));
            return;
        }
        let components: &[&str] = match of {
            Ty::Complex => &["real", "imag"],
            Ty::Vector(count) => &["x", "y", "z", "w"][..*count as usize],
            _ => &[],
        };
        let mut parts: Vec<(Step, Ty)> = Vec::new();
        match of {
            Ty::Array(element, length) => parts.push((Step::Index(*length), (**element).clone())),
            Ty::Struct(number) => {
                let fields = self.globals.structs[*number].iter();
                parts.extend(fields.map(|(field, ty)| (Step::Field(field.clone()), ty.clone())));
            }
            _ => parts.extend(components.iter().map(|part| (Step::Field((*part).to_owned()), Ty::Float))),
        }
        for (step, ty) in parts {
            steps.push(step);
            self.collect(&ty, spec, (name, steps), places);
            steps.pop();
        }
    }
}
