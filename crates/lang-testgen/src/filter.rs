//! Filters.

use super::choices::Choices;
use super::code::{Coder, Function, Globals, Var};
use super::model::{Arg, Filter, Head, Param};
use super::ratio::Ratio;
use super::types::{Ty, any, literal, scalar};
use super::work::Moves;

/// The specification of a filter.
pub(super) struct FilterSpec<'a> {
    pub name: String,
    pub input: Option<&'a Ty>,
    pub output: Option<&'a Ty>,
    pub rates: Rates,
    /// Whether there is only one instance, so that its output can be identified.
    pub alone: bool,
    /// Whether it must print.
    pub shows: bool,
    /// A variable of the enclosing code that arguments may use.
    pub around: Option<&'a str>,
    /// Whether it may have a window.
    pub windows: bool,
    /// Whether it may have `prework`.
    pub first: bool,
    /// Whether it must contain a fault.
    pub fault: bool,
}

/// Required rates.
#[derive(Clone, Copy)]
pub(super) enum Rates {
    Static {
        pop: u32,
        push: u32,
    },
    /// Upper bounds; a bound of 1 or 0 is exact.
    Dynamic {
        pop: u32,
        push: u32,
    },
}

/// Generates a filter.
pub(super) fn filter(choices: &mut Choices, globals: &Globals, spec: &FilterSpec<'_>) -> Filter {
    let mut coder = Coder::new(choices, globals);
    coder.level = 1;
    let params = params(&mut coder, spec);
    fields(&mut coder, spec);
    functions(&mut coder, spec);
    if coder.choices.chance(30) {
        init(&mut coder);
    }
    let prints = spec.shows || (spec.alone && coder.choices.chance(25));
    coder.prints = prints.then(|| spec.name.clone());
    coder.input = spec.input.cloned();
    coder.iterates = true;
    let (gain, window) = match spec.rates {
        Rates::Static { pop, push } => {
            (Some((pop, push)), static_code(&mut coder, spec, (pop, push), &params))
        }
        Rates::Dynamic { pop, push } => {
            dynamic_code(&mut coder, spec, (pop, push));
            (None, 0)
        }
    };
    let gain = gain.and_then(|(pop, push)| (pop > 0 && push > 0).then(|| Ratio::new(push, pop)));
    let body = std::mem::take(&mut coder.lines);
    let head = Head {
        name: spec.name.clone(),
        input: spec.input.cloned(),
        output: spec.output.cloned(),
        named: choices.chance(65),
        typed: true,
        variable: None,
    };
    Filter { head, stateful: choices.chance(20), params, body, gain, window, prints }
}

/// Parameters with their arguments. Constant numbers are never 0 or 1, which would be bits.
fn params(coder: &mut Coder<'_>, spec: &FilterSpec<'_>) -> Vec<Param> {
    let mut params = Vec::new();
    for at in 0..coder.choices.weighted(&[5, 3, 2, 1]) {
        let name = format!("p{at}_{}", spec.name.to_lowercase());
        let (ty, value) = match coder.choices.below(5) {
            0 => (Ty::Int, linear(coder, spec)),
            1 => (Ty::Int, Arg::Constant(coder.choices.within(2, 9).to_string())),
            2 => (Ty::Float, Arg::Constant(format!("{}.5", coder.choices.below(9)))),
            3 => (Ty::Boolean, Arg::Constant((*coder.choices.pick(&["true", "false"])).to_owned())),
            _ => {
                let element = if coder.choices.chance(50) { Ty::Float } else { Ty::Int };
                let ty = Ty::array(element, coder.choices.within(2, 4));
                let list = literal(coder.choices, &ty).unwrap_or_default();
                (ty, Arg::List(list))
            }
        };
        coder.vars.push(Var::fixed(&name, &ty));
        params.push(Param { name, ty: ty.text(), value });
    }
    params
}

fn linear(coder: &mut Coder<'_>, spec: &FilterSpec<'_>) -> Arg {
    let (by, and) = (coder.choices.within(2, 4) as i32, coder.choices.within(2, 9) as i32);
    match spec.around {
        Some(of) => Arg::Linear { of: of.to_owned(), by, and },
        None => Arg::Constant((by * and).to_string()),
    }
}

/// Fields; a filter without input has one that changes in every firing.
fn fields(coder: &mut Coder<'_>, spec: &FilterSpec<'_>) {
    if spec.input.is_none() {
        coder.line("int turn;");
        coder.vars.push(Var::fixed("turn", &Ty::Int));
    }
    for at in 0..coder.choices.weighted(&[3, 3, 2, 1]) {
        let ty = any(coder.choices, coder.globals.structs.len());
        let (name, value) = (format!("field{at}"), coder.first_value(&ty));
        coder.line(format!("{} {name}{value};", ty.text()));
        coder.vars.push(Var::new(&name, &ty));
    }
}

fn init(coder: &mut Coder<'_>) {
    coder.fuel = 4;
    let fields: Vec<Var> = coder.vars.iter().filter(|var| var.changes).cloned().collect();
    coder.block("init", |coder| {
        for field in fields {
            if coder.choices.chance(50) {
                coder.fill(&field.name, &field.ty);
            }
        }
        coder.stmts(2);
    });
}

/// Functions; each can call the preceding ones.
fn functions(coder: &mut Coder<'_>, spec: &FilterSpec<'_>) {
    for at in 0..coder.choices.weighted(&[5, 2, 1]) {
        let name = format!("f{at}");
        match coder.choices.below(4) {
            1 => recursive_function(coder, &name),
            2 if spec.input.is_some() => popping_function(coder, spec, &name),
            3 if spec.output.is_some() => pushing_function(coder, spec, &name),
            _ => plain_function(coder, &name, "", &name),
        }
    }
}

/// A function that moves no items.
pub(super) fn plain_function(coder: &mut Coder<'_>, name: &str, block: &str, called: &str) {
    let result = (!coder.choices.chance(20)).then(|| scalar(coder.choices));
    let params: Vec<Ty> = (0..coder.choices.below(3)).map(|_| scalar(coder.choices)).collect();
    let names: Vec<(String, Ty)> =
        params.iter().enumerate().map(|(at, ty)| (format!("a{at}"), ty.clone())).collect();
    let list: Vec<String> = names.iter().map(|(name, ty)| format!("{} {name}", ty.text())).collect();
    let head = format!("{} {name}({})", result.as_ref().map_or("void".to_owned(), Ty::text), list.join(", "));
    coder.fuel = 3;
    coder.block(&head, |coder| {
        coder.vars.extend(names.iter().map(|(name, ty)| Var::new(name, ty)));
        coder.stmts(2);
        match &result {
            Some(ty) => {
                let value = coder.expr(ty, 3);
                coder.line(format!("return {value};"));
            }
            None if coder.choices.chance(20) => coder.line("return;"),
            None => {}
        }
    });
    let name = format!("{block}{called}");
    coder.functions.push(Function { name, params, result, pops: 0, pushes: 0, recurs: false });
}

fn recursive_function(coder: &mut Coder<'_>, name: &str) {
    let (first, op) = (coder.choices.below(5), *coder.choices.pick(&["+", "*", "-", "^"]));
    coder.block(&format!("int {name}(int n)"), |coder| {
        coder.line(format!("if (n <= 0) return {first};"));
        coder.line(format!("return n {op} {name}(n - 1);"));
    });
    let name = name.to_owned();
    coder.functions.push(Function {
        name,
        params: vec![Ty::Int],
        result: Some(Ty::Int),
        pops: 0,
        pushes: 0,
        recurs: true,
    });
}

fn popping_function(coder: &mut Coder<'_>, spec: &FilterSpec<'_>, name: &str) {
    let Some(input) = spec.input else { return };
    let (pops, ty) = (coder.choices.within(1, 2), input.clone());
    let rates = if coder.choices.chance(70) { format!(" pop {pops}") } else { String::new() };
    coder.block(&format!("void {name}(int a0){rates}"), |coder| {
        coder.vars.push(Var::new("a0", &Ty::Int));
        for _ in 0..pops {
            match coder.changeable(&ty) {
                Some(place) => coder.line(format!("{place} = pop();")),
                None => coder.line("pop();"),
            }
        }
    });
    let name = name.to_owned();
    coder.functions.push(Function {
        name,
        params: vec![Ty::Int],
        result: None,
        pops,
        pushes: 0,
        recurs: false,
    });
}

fn pushing_function(coder: &mut Coder<'_>, spec: &FilterSpec<'_>, name: &str) {
    let Some(output) = spec.output else { return };
    let pushes = coder.choices.within(1, 2);
    let rates = if coder.choices.chance(70) { format!(" push {pushes}") } else { String::new() };
    coder.block(&format!("void {name}(float a0){rates}"), |coder| {
        coder.vars.push(Var::new("a0", &Ty::Float));
        (0..pushes).for_each(|_| coder.push_item(output));
    });
    let name = name.to_owned();
    coder.functions.push(Function {
        name,
        params: vec![Ty::Float],
        result: None,
        pops: 0,
        pushes,
        recurs: false,
    });
}

/// `prework` and `work`; returns the items peeked beyond those popped.
fn static_code(
    coder: &mut Coder<'_>,
    spec: &FilterSpec<'_>,
    (pop, push): (u32, u32),
    params: &[Param],
) -> u32 {
    let takes = spec.input.is_some();
    let peek = if spec.windows && takes && coder.choices.chance(35) {
        pop + coder.choices.within(1, 4)
    } else {
        pop
    };
    if spec.first && coder.choices.chance(12) {
        let first = Moves {
            pop: if takes { coder.choices.below(pop + 2) } else { 0 },
            push: if spec.output.is_some() { coder.choices.below(push + 3) } else { 0 },
            peek: 0,
        };
        firing(coder, spec, "prework", Moves { peek: first.pop, ..first }, params);
    }
    firing(coder, spec, "work", Moves { pop, peek, push }, params);
    peek - pop
}

fn firing(coder: &mut Coder<'_>, spec: &FilterSpec<'_>, word: &str, moves: Moves, params: &[Param]) {
    let mut head = word.to_owned();
    let rate = |count: u32| constant_param(params, count).unwrap_or(count.to_string());
    for (word, count) in [("push", moves.push), ("pop", moves.pop)] {
        if count > 0 {
            head += &format!(" {word} {}", rate(count));
        }
    }
    if moves.peek > moves.pop {
        head += &format!(
            " peek {}",
            if moves.pop > 0 {
                format!("{} + {}", rate(moves.pop), moves.peek - moves.pop)
            } else {
                moves.peek.to_string()
            }
        );
    }
    coder.fuel = 6;
    coder.block(&head, |coder| {
        begin(coder, spec);
        coder.work(spec.output, moves);
        end(coder, spec, word);
    });
}

/// A parameter with this constant value.
fn constant_param(params: &[Param], count: u32) -> Option<String> {
    let count = Arg::Constant(count.to_string());
    params.iter().find(|param| param.ty == "int" && param.value == count).map(|param| param.name.clone())
}

fn begin(coder: &mut Coder<'_>, spec: &FilterSpec<'_>) {
    if spec.input.is_none() {
        coder.line("turn++;");
    }
    if spec.fault {
        fault(coder);
    }
}

fn end(coder: &mut Coder<'_>, spec: &FilterSpec<'_>, word: &str) {
    if spec.shows && word == "work" {
        coder.print();
    }
}

/// A statement that fails in the third firing.
fn fault(coder: &mut Coder<'_>) {
    let (index, zero) = (coder.name("v"), coder.name("v"));
    let does = match coder.choices.below(2) {
        0 => format!("int[4] {index}; {index}[{zero} + 4] = 1;"),
        _ => format!("int {index} = 7 / {zero};"),
    };
    coder.line(format!("if (iter() == 2) {{ int {zero} = 0; {does} }}"));
}

fn dynamic_code(coder: &mut Coder<'_>, spec: &FilterSpec<'_>, (pop, push): (u32, u32)) {
    let mut head = "work".to_owned();
    let mut rate = |word: &str, least: u32, most: u32| match (coder.choices.below(4), most) {
        (_, 0) => {}
        (_, 1) if least == 1 => head += &format!(" {word} 1"),
        (0, _) => head += &format!(" {word} *"),
        (1, _) => head += &format!(" {word} [{least}, {most}]"),
        (2, _) => head += &format!(" {word} [{least}, {least}, {most}]"),
        _ => head += &format!(" {word} [{least}, *]"),
    };
    rate("pop", 1, pop);
    rate("push", 0, push);
    let always = pop > 1 && push > 0 && coder.choices.chance(30);
    if always {
        let end = head.rfind(" push").expect("a push rate above 0");
        head.replace_range(end.., &format!(" push {push}"));
    }
    let ahead = if coder.choices.chance(30) { coder.choices.within(1, 4) } else { 0 };
    match coder.choices.below(3) {
        _ if ahead == 0 => {}
        0 => head += " peek *",
        1 => head += &format!(" peek [1, {}]", pop + ahead),
        _ => head += &format!(" peek [1, 2, {}]", pop + ahead),
    }
    coder.fuel = 6;
    coder.block(&head, |coder| {
        begin(coder, spec);
        coder.dynamic_work(spec.output, (pop, ahead), (push, always));
        end(coder, spec, "work");
    });
}
