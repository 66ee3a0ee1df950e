//! C functions of firings.

use super::literal;
use super::terms::{bare, cell_type, clean, mem_name, type_of};
use super::way::Way;
use crate::ir::{Area, Cell, Code, Expr, Kind, Label, MemInfo, MemKind, Stmt, walk, walk_exprs};
use crate::plan::{Items, Pattern};
use std::fmt::Write;

/// Writes the firings of one filter.
pub(crate) struct Writer<'a> {
    pub(crate) code: &'a Code,
    /// By variable.
    pub(crate) names: Vec<String>,
    pub(crate) input: &'a Items,
    pub(crate) output: &'a Items,
    pub(crate) text: String,
    pub(crate) depth: usize,
    /// 0 for `work`, 1 for `prework`, from 2 on for handlers.
    pub(crate) which: u32,
    /// Whether differences are protected from contraction with sums: see [`alternates`].
    pub(crate) apart: bool,
    /// How firings with dynamic rates proceed: see [`flow`](super::flow::flow).
    pub(crate) way: Way,
}

impl<'a> Writer<'a> {
    /// A writer without text, for `work`, at a depth of indentation.
    pub(super) fn new(
        code: &'a Code,
        (input, output): (&'a Items, &'a Items),
        depth: usize,
        apart: bool,
    ) -> Self {
        let (names, text, way) = (super::terms::names(code), String::new(), Way::default());
        Writer { code, names, input, output, text, depth, which: 0, apart, way }
    }
}

/// Whether there are products, sums and differences of floats. GCC 12 contracts a product and a sum beside a
/// difference to one instruction with one rounding in place of two, although `-ffp-contract=off` is set.
pub(crate) fn alternates(code: &Code) -> bool {
    use thalweg_lang::hir::{BinaryOp, UnaryOp};
    let (mut products, mut sums, mut differences) = (false, false, false);
    walk_exprs(&code.body, &mut |ex| match ex {
        Expr::Binary(BinaryOp::Mul, Kind::Float, ..) => products = true,
        Expr::Binary(BinaryOp::Add, Kind::Float, ..) => sums = true,
        Expr::Binary(BinaryOp::Sub, Kind::Float, ..) | Expr::Unary(UnaryOp::Negate, Kind::Float, _) => {
            differences = true
        }
        _ => {}
    });
    products && sums && differences
}

/// The form of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Form {
    /// 0 for `work`, 1 for `prework`, from 2 on for handlers.
    pub(crate) which: u32,
    /// Whether there is a `prework`, so that the first firing does not count.
    pub(crate) after_prework: bool,
    /// Firings at once; 1 without vectors.
    pub(crate) lanes: usize,
    /// Called rarely: optimised for size.
    pub(crate) seldom: bool,
}

/// The text of a function without its name.
pub(crate) struct Function {
    /// The tables it uses.
    pub(crate) tables: String,
    /// The text from the parameters on.
    pub(crate) rest: String,
}

/// Firings that move more cells, or have more statements, are separated by an empty `asm` statement:
/// compilers that vectorise such firings take minutes (GCC 12 with 64 cells: 17 s against 0.1 s; with the 600
/// statements of eight of Serpent's substitutions: 21 s).
const MOST_MOVES: usize = 12;
const MOST_STATEMENTS: usize = 200;

/// The parameters that all these functions have in common.
const PARAMS: &str = "struct env *restrict env, uint32_t node";

pub(super) fn tables(code: &Code, input: &Items, output: &Items) -> String {
    let mut text = String::new();
    for (at, mem) in used_mems(code) {
        if let MemKind::Table(values) = &mem.kind {
            literal::table(&mut text, &mem_name(code, at as u32), values, mem.cell);
        }
    }
    for (items, name) in [(input, "read_at"), (output, "write_at")] {
        if let Pattern::Table(at) = &items.pattern {
            let values: Vec<String> = at.iter().map(i64::to_string).collect();
            literal::list(&mut text, "int64_t", name, &values);
        }
    }
    text
}

/// Whether a firing has many statements.
fn is_long(code: &Code) -> bool {
    let mut count = 0;
    walk(&code.body, &mut |_| count += 1);
    count > MOST_STATEMENTS
}

/// Cells of items that each firing moves, counting each access in the text once.
fn moves(code: &Code) -> usize {
    let mut moves = 0;
    walk(&code.body, &mut |st| moves += usize::from(matches!(st, Stmt::Store(Area::Out(_), ..))));
    walk_exprs(&code.body, &mut |ex| moves += usize::from(matches!(ex, Expr::Load(Area::In(_), ..))));
    moves
}

/// The runs of cells that are read or written, with their indices.
pub(crate) fn used_mems(code: &Code) -> impl Iterator<Item = (usize, &MemInfo)> {
    let mut used = vec![false; code.mems.len()];
    let mut note = |area: &Area| {
        if let Area::Mem(mem) = area {
            used[mem.0 as usize] = true;
        }
    };
    walk(&code.body, &mut |st| {
        if let Stmt::Store(area, ..) = st {
            note(area);
        }
    });
    walk_exprs(&code.body, &mut |ex| {
        if let Expr::Load(area, ..) = ex {
            note(area);
        }
    });
    code.mems.iter().enumerate().filter(move |(at, _)| used[*at])
}

impl Writer<'_> {
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        let depth = self.depth;
        let _ = writeln!(self.text, "{:1$}{2}", "", depth * 4, text.as_ref());
    }

    pub(super) fn head(&mut self, fields: &str, form: Form) {
        let mut params = format!("{PARAMS}, struct {fields} *restrict fields");
        for (items, name, side, constant) in
            [(self.input, "in", "read", "const "), (self.output, "out", "write", "")]
        {
            let _ = write!(params, ", {constant}{} *restrict {name}", cell_type(items.cell));
            if items.pattern == Pattern::Ring {
                let _ = write!(params, "0, int64_t {side}0, int64_t {side}_mask");
            } else {
                params.push('0');
            }
        }
        let _ = writeln!(self.text, "({params}, int64_t first, int64_t last)\n{{");
        self.line("(void)env, (void)node, (void)fields, (void)in0, (void)out0;");
        self.before(form);
    }

    /// The number of earlier firings of `work`, where the code reads it, and the other declarations of a
    /// function.
    pub(super) fn before(&mut self, form: Form) {
        let mut iter = false;
        walk_exprs(&self.code.body, &mut |ex| iter |= matches!(ex, Expr::Iter));
        if iter {
            let minus = if form.after_prework && form.which != 1 { " - 1" } else { "" };
            let before = if form.which < 2 { "before" } else { "counted" };
            self.line(format!("const int64_t {before} = fields->fired{minus};"));
            // A handler may run before the very first firing.
            if form.which >= 2 {
                self.line("const int64_t before = counted + first < 0 ? -first : counted;");
            }
        }
        self.fuel();
    }

    /// Loads scalar fields into variables, from the first firing to the last.
    pub(super) fn begin_fields(&mut self) {
        let code = self.code;
        let mut random = false;
        walk(&code.body, &mut |st| random |= matches!(st, Stmt::Random(_)));
        if random {
            self.line("uint64_t random = fields->random;");
        }
        for (at, mem) in used_mems(code) {
            if let MemKind::Field(field) = &mem.kind {
                let ty = cell_type(mem.cell);
                self.line(format!(
                    "{ty} *restrict {} = fields->{};",
                    mem_name(code, at as u32),
                    field_name(*field)
                ));
            }
        }
        for (at, var) in code.vars.iter().enumerate() {
            if let Some((field, cell)) = var.field {
                let ty = type_of(var.kind);
                let name = self.name(crate::ir::Var(at as u32));
                self.line(format!("{ty} {name} = fields->{}[{cell}];", field_name(field)));
            }
        }
    }

    pub(super) fn end_fields(&mut self) {
        let code = self.code;
        let mut random = false;
        walk(&code.body, &mut |st| random |= matches!(st, Stmt::Random(_)));
        if random {
            self.line("fields->random = random;");
        }
        for (at, var) in code.vars.iter().enumerate() {
            if let Some((field, cell)) = var.field {
                let name = self.name(crate::ir::Var(at as u32));
                self.line(format!("fields->{}[{cell}] = {name};", field_name(field)));
            }
        }
    }

    /// The body of the loop over firings.
    pub(super) fn firing(&mut self) {
        self.depth += 1;
        for (items, name, side, constant) in
            [(self.input, "in", "read", "const "), (self.output, "out", "write", "")]
        {
            let ty = cell_type(items.cell);
            if items.pattern == Pattern::Ring {
                self.line(format!("{constant}{ty} *restrict {name} = {name}0;"));
                self.line(format!("const int64_t {side} = {side}0 + {};", step_of(items)));
                self.line(format!("(void){side};"));
            } else {
                self.line(format!("{constant}{ty} *restrict {name} = {name}0 + ({});", items.start("f")));
            }
        }
        self.line("(void)in, (void)out;");
        self.firing_begins();
        if moves(self.code) > MOST_MOVES || is_long(self.code) {
            self.line("__asm__ volatile (\"\");");
        }
        self.locals();
        let code = self.code;
        self.stmts(&code.body);
        self.depth -= 1;
    }

    pub(super) fn locals(&mut self) {
        let code = self.code;
        let mut used = vec![false; code.vars.len()];
        walk(&code.body, &mut |st| match st {
            Stmt::Set(var, _) | Stmt::Random(var) | Stmt::For { var, .. } => used[var.0 as usize] = true,
            _ => {}
        });
        walk_exprs(&code.body, &mut |ex| {
            if let Expr::Var(var) = ex {
                used[var.0 as usize] = true;
            }
        });
        for kind in [Kind::Bool, Kind::Int, Kind::Float] {
            let names: Vec<String> = code
                .vars
                .iter()
                .enumerate()
                .filter(|(at, var)| used[*at] && var.kind == kind && var.field.is_none())
                .map(|(at, _)| self.name(crate::ir::Var(at as u32)))
                .collect();
            for names in names.chunks(8) {
                self.line(format!("{} {};", type_of(kind), names.join(", ")));
            }
        }
        for (at, _) in used_mems(code).filter(|(_, mem)| mem.kind == MemKind::Local) {
            self.local(at);
        }
    }

    /// Declares a local run of cells.
    pub(super) fn local(&mut self, at: usize) {
        let mem = &self.code.mems[at];
        let (ty, name) = (cell_type(mem.cell), mem_name(self.code, at as u32));
        match self.code.large()[at] {
            Some(place) => self.line(format!("{ty} *const {name} = ({ty} *)(large(env) + {});", 4 * place)),
            None => self.line(format!("{ty} {name}[{}];", mem.cells.max(1))),
        }
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|st| self.st(st));
    }

    fn inside(&mut self, stmts: &[Stmt]) {
        self.depth += 1;
        self.stmts(stmts);
        self.depth -= 1;
    }

    /// The body of a loop.
    fn iteration(&mut self, st: &Stmt, body: &[Stmt]) {
        self.inside(body);
        self.depth += 1;
        self.turn_ends(st);
        self.depth -= 1;
    }

    fn st(&mut self, st: &Stmt) {
        match st {
            Stmt::Set(var, value) => {
                let text = format!("{} = {};", self.name(*var), bare(&self.ex(value)));
                self.line(text);
            }
            Stmt::Store(area, at, kind, value) => {
                let value = match (self.cell_of(area), kind) {
                    (Cell::Mixed, Kind::Float) => format!("bits_of({})", bare(&self.ex(value))),
                    _ => bare(&self.ex(value)).to_owned(),
                };
                let text = format!("{} = {value};", self.cell(area, at));
                self.line(text);
            }
            Stmt::If(condition, then, otherwise) => self.choice(condition, then, otherwise),
            Stmt::For { var, from, to, step, body } => {
                let name = self.name(*var);
                let sign = if *step > 0 { "<" } else { ">" };
                let (from, to) = (self.ex(from), self.ex(to));
                let text = format!("for ({name} = {}; {name} {sign} {to}; {name} += {step}) {{", bare(&from));
                self.line(text);
                self.iteration(st, body);
                self.line("}");
            }
            Stmt::Loop(body) => {
                self.line("for (;;) {");
                self.iteration(st, body);
                self.line("}");
            }
            Stmt::Block(label, body) => {
                self.line("{");
                self.inside(body);
                self.line("}");
                self.line(format!("end{}: ;", label.0));
            }
            Stmt::Leave(label) => self.line(format!("goto end{};", label.0)),
            Stmt::Calls { body, back, to, blocks } => self.calls(body, *back, to, blocks),
            Stmt::Label(label) => self.function_begins(*label),
            Stmt::Jump(label) => self.line(format!("goto at{};", label.0)),
            Stmt::Check(condition, site, args) => self.check(condition, *site, args),
            Stmt::Random(var) => {
                let text = format!("{} = next_random(&random);", self.name(*var));
                self.line(text);
            }
            Stmt::Print(format, args) => self.print(*format, args),
            Stmt::Send { message, latency, args, site } => {
                self.send((*message, *site), latency.as_ref(), args);
            }
            Stmt::Need { taken, ahead, given } => self.need(taken, ahead, given),
            Stmt::Room { given } => self.room(given),
            Stmt::Moved { taken, given } => self.moved(taken, given),
        }
    }

    fn calls(&mut self, body: &[Stmt], back: Label, to: &Expr, blocks: &[Label]) {
        let cases = blocks.iter().enumerate().map(|(at, block)| format!("case {at}: goto end{};", block.0));
        let cases: Vec<String> = cases.collect();
        self.line("{");
        self.inside(body);
        self.line(format!("at{}: ;", back.0));
        let to = self.ex(to);
        // In one line, so that `merging` keeps these numbers.
        self.line(format!("    switch ({}) {{ {} }}", bare(&to), cases.join(" ")));
        self.line("}");
    }

    fn choice(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let condition = self.ex(condition);
        let condition = bare(&condition).to_owned();
        if then.is_empty() {
            self.line(format!("if (!({condition})) {{"));
            self.inside(otherwise);
        } else {
            self.line(format!("if ({condition}) {{"));
            self.inside(then);
            if !otherwise.is_empty() {
                self.line("} else {");
                self.inside(otherwise);
            }
        }
        self.line("}");
    }

    fn check(&mut self, condition: &Expr, site: u32, args: &[Expr]) {
        let which = self.which;
        let mut shown: Vec<String> = args.iter().map(|arg| self.ex(arg)).collect();
        shown.resize(2, "0".into());
        let condition = self.ex(condition);
        self.line(format!("if (__builtin_expect({}, 0))", bare(&condition)));
        let text = format!(
            "    fail(env, node, {which}, {site}, fields->fired + f + 1, {}, {});",
            bare(&shown[0]),
            bare(&shown[1])
        );
        self.line(text);
    }

    /// Scalars as 32 bits each.
    pub(super) fn args(&mut self, args: &[Expr]) {
        let args: Vec<String> = args
            .iter()
            .map(|arg| match arg.kind(self.code) {
                Kind::Float => format!("bits_of({})", bare(&self.ex(arg))),
                _ => self.ex(arg),
            })
            .collect();
        let list = if args.is_empty() { "0".to_owned() } else { args.join(", ") };
        self.line(format!("    const int32_t args[] = {{{list}}};"));
    }

    fn print(&mut self, format: u32, args: &[Expr]) {
        let which = self.which;
        self.line("{");
        self.args(args);
        self.line(format!("    if (env->print(env->host, node, {which}, {format}, args))"));
        self.line(format!("        fail(env, node, {which}, UINT32_MAX, fields->fired + f + 1, 0, 0);"));
        self.line("}");
    }
}

fn step_of(items: &Items) -> String {
    match items.group_stride {
        1 => "f".into(),
        by => format!("f * {by}"),
    }
}

/// The name of a field in its structure.
pub(crate) fn field_name(field: u32) -> String {
    format!("field{field}")
}

/// The structure of a filter's state: each changing field as an array of cells.
pub(crate) fn structure(fields: &[(u32, String, Cell, usize)]) -> String {
    let mut text = String::from("{\n    int64_t fired;\n    uint64_t random;\n");
    for (field, name, cell, cells) in fields {
        let ty = cell_type(*cell);
        let _ = writeln!(text, "    {ty} {}[{}]; /* {} */", field_name(*field), (*cells).max(1), clean(name));
    }
    text.push('}');
    text
}
