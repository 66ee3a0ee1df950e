//! Firings with dynamic rates, as a function from queue to queue.
//!
//! `in` and `out` point to the firing's first items; `have` and `room` count items from there. They are local
//! variables while the function runs. Before a callback may access the queues, the function updates the
//! queues from the variables; afterwards it recomputes the variables, since queues may have moved.

use super::code::{Form, Function, Writer, alternates, tables};
use super::terms::{bare, cell_type, type_of};
use super::way::Way;
use crate::ir::{Code, Expr, Stmt, Var, inner_mut, walk};
use crate::lower::{fixed, may_idle, may_wait};
use crate::plan::Items;
use std::borrow::Cow;

/// Consecutive firings that move nothing after which a filter is taken to be done, as in the interpreter.
pub(super) const IDLE: u32 = 1 << 16;

/// The most items that a firing may have popped, or pushed, where it waits or requests room. A queue has room
/// for at most twice as many, so positions fit 32 bits.
const MOST: u32 = 1 << 29;

/// Writes a function that does up to `most` firings, and returns their number.
///
/// With `tries` it does not wait: a firing that lacks items is rolled back, which only restores the fields in
/// variables to their values at its beginning.
pub(crate) fn flow(
    code: &Code,
    input: Option<&Items>,
    output: Option<&Items>,
    fields: &str,
    (form, tries): (Form, bool),
) -> Function {
    let none = Items::in_line(crate::ir::Cell::Of(crate::ir::Kind::Int), 1, 0);
    let (items_in, items_out) = (input.unwrap_or(&none), output.unwrap_or(&none));
    let mut writer = Writer {
        which: form.which,
        way: Way::of(code, tries, output.is_some()),
        ..Writer::new(code, (items_in, items_out), 1, alternates(code))
    };
    writer.text.push_str(&format!(
        "(struct env *env, uint32_t node, struct {fields} *restrict fields, struct queue *from, \
         struct queue *to, int64_t most)\n{{\n"
    ));
    writer.line("(void)env, (void)node, (void)fields, (void)from, (void)to;");
    writer.before(form);
    writer.ends(input.is_some(), output.is_some());
    writer.begin_fields();
    writer.saved(true);
    let idles = input.is_some() && may_idle(code);
    writer.line("int64_t f = 0;");
    let several = several(code).filter(|_| input.is_some());
    if let Some(taken) = several {
        writer.begin_several(taken, output.is_some());
    } else if writer.way.chunks {
        writer.begin_chunk(idles);
    } else {
        writer.line("for (; f < most; f++) {");
        writer.depth += 1;
        writer.begins(input.is_some(), output.is_some(), idles);
    }
    writer.saved(false);
    writer.firing_begins();
    writer.locals();
    writer.stmts(&code.body);
    if idles {
        writer.line("fields->idle = moved ? 0 : fields->idle + 1;");
    }
    writer.depth -= 1;
    writer.line("}");
    if several.is_some() || writer.way.chunks {
        writer.count_room();
        writer.depth -= 1;
        writer.line("}");
    }
    writer.take_back();
    if input.is_some() {
        // An empty queue starts again at its beginning, which stays in the cache.
        writer.line("from->written = have == 0 ? 0 : from->written;");
        writer.line("from->read = from->written - have;");
    }
    if output.is_some() {
        writer.line("to->written = to->mask + 1 - room;");
    }
    writer.end_fields();
    writer.line("return f;");
    writer.text.push_str("}\n");
    Function { tables: tables(code, items_in, items_out), rest: writer.text }
}

/// The items that each firing pops, where one check of items and room serves several firings.
fn several(code: &Code) -> Option<i32> {
    let Some(Stmt::Moved { taken, .. }) = code.body.last() else { return None };
    let mut rooms = false;
    walk(&code.body, &mut |st| rooms |= matches!(st, Stmt::Room { .. }));
    taken.as_int().filter(|taken| *taken > 0 && !rooms && !may_wait(code))
}

/// The code without checks for room, and without the report of moved items.
pub(crate) fn without_looks(code: &Code) -> Cow<'_, Code> {
    fn strip(stmts: &mut Vec<Stmt>) {
        stmts.retain(|st| !matches!(st, Stmt::Room { .. } | Stmt::Moved { .. }));
        stmts.iter_mut().for_each(|st| inner_mut(st).for_each(strip));
    }
    if fixed(code).is_none() {
        return Cow::Borrowed(code);
    }
    let mut code = code.clone();
    strip(&mut code.body);
    Cow::Owned(code)
}

impl Writer<'_> {
    /// Declares `in`, `have`, `out` and `room`.
    fn ends(&mut self, input: bool, output: bool) {
        let (ty, cells) = (cell_type(self.input.cell), self.input.cells);
        if input {
            self.line(format!("const {ty} *in = (const {ty} *)from->items + from->read * {cells};"));
            self.line("int64_t have = from->written - from->read;");
        } else {
            self.line("const int32_t *in = 0;");
            self.line("int64_t have = INT64_MAX;");
        }
        let (ty, cells) = (cell_type(self.output.cell), self.output.cells);
        if output {
            self.line(format!("{ty} *out = ({ty} *)to->items + to->written * {cells};"));
            self.line("int64_t room = to->mask + 1 - to->written;");
        } else {
            self.line("int32_t *out = 0;");
            self.line("int64_t room = INT64_MAX;");
        }
        // Items that the firing has popped and that have left its queue.
        self.line("int64_t gone = 0;");
        self.line("(void)in, (void)have, (void)out, (void)room, (void)gone;");
    }

    /// Saves the fields in variables as they are when a firing begins; declares the saved values, or sets
    /// them.
    fn saved(&mut self, declared: bool) {
        let (code, tries) = (self.code, self.way.tries);
        for (at, var) in code.vars.iter().enumerate().filter(|(_, var)| tries && var.field.is_some()) {
            let (ty, name) = (type_of(var.kind), self.name(Var(at as u32)));
            let ty = if declared { format!("{ty} ") } else { String::new() };
            self.line(format!("{ty}before_{name} = {name};"));
        }
    }

    /// The exit of a firing that lacks items, if it is to be rolled back.
    fn take_back(&mut self) {
        let code = self.code;
        if !self.way.tries {
            return;
        }
        self.line("if (0) {");
        self.line("dry:;");
        for (at, _) in code.vars.iter().enumerate().filter(|(_, var)| var.field.is_some()) {
            let name = self.name(Var(at as u32));
            self.line(format!("    {name} = before_{name};"));
        }
        self.line("}");
        if self.way.chunks {
            self.line("end:;");
            self.count_room();
        }
    }

    /// The loop over a chunk: firings for which there is room, as long as they can begin.
    fn begin_chunk(&mut self, idles: bool) {
        let begins = self.code.begins;
        self.line("int64_t begun = 0, last;");
        self.line(format!("while (f < most && have >= {}) {{", begins.items));
        self.depth += 1;
        self.line(format!("if (__builtin_expect(room < {}, 0)) {{", begins.room));
        self.grow("0", begins.room);
        self.line("}");
        self.line(format!("last = most - f < room / {0} ? most : f + room / {0};", begins.room));
        self.line("for (; f < last; f++) {");
        self.depth += 1;
        self.line(format!("if (have < {})", begins.items));
        self.line("    goto end;");
        if idles {
            self.line(format!("if (fields->idle >= {IDLE})"));
            self.line("    goto end;");
        }
        if may_idle(self.code) {
            self.line("int64_t moved = 0;");
        }
    }

    /// Subtracts the room of firings that did not count it.
    fn count_room(&mut self) {
        if let Some(gives) = self.way.gives {
            self.line(format!("room -= (f - begun) * {gives};"));
            self.line("begun = f;");
        }
    }

    /// Leaves the loop if the next firing cannot begin.
    fn begins(&mut self, input: bool, output: bool, idles: bool) {
        let begins = self.code.begins;
        if input {
            self.line(format!("if (have < {})", begins.items));
            self.line("    break;");
        }
        if idles {
            self.line(format!("if (fields->idle >= {IDLE})"));
            self.line("    break;");
        }
        if may_idle(self.code) {
            self.line("int64_t moved = 0;");
        }
        if output && begins.room > 0 {
            self.line(format!("if (__builtin_expect(room < {}, 0)) {{", begins.room));
            self.grow("0", begins.room);
            self.line("}");
        }
    }

    /// The nested loops over firings; the inner one runs those with items and room checked together.
    fn begin_several(&mut self, taken: i32, output: bool) {
        let begins = self.code.begins;
        self.line(format!("while (f < most && have >= {}) {{", begins.items));
        self.depth += 1;
        self.line(format!("int64_t last = (have - {}) / {taken} + 1;", begins.items));
        if output && begins.room > 0 {
            self.line(format!("if (__builtin_expect(room < {}, 0)) {{", begins.room));
            self.grow("0", begins.room);
            self.line("}");
            self.line(format!("last = last < room / {0} ? last : room / {0};", begins.room));
        }
        self.line("last = last < most - f ? f + last : most;");
        self.line("for (; f < last; f++) {");
        self.depth += 1;
    }

    /// Requests room for more items behind those that have been pushed.
    fn grow(&mut self, given: &str, more: u32) {
        self.line(format!("    to->written = to->mask + 1 - room + {given};"));
        let which = self.which;
        // The budget does not count what earlier firings have popped, or this one before it waited.
        self.line("    if (from)");
        self.line("        from->read = from->written - have + gone;");
        self.line(format!("    if ({given} > {MOST} || env->more(env, to, {more}))"));
        self.line(format!("        fail(env, node, {which}, UINT32_MAX, fields->fired + f + 1, 0, 0);"));
        self.line("    if (env->full)");
        self.line("        most = f + 1;");
        self.find_out(given);
    }

    fn find_out(&mut self, given: &str) {
        let (ty, cells) = (cell_type(self.output.cell), self.output.cells);
        self.line(format!("    out = ({ty} *)to->items + (to->written - {given}) * {cells};"));
        self.line(format!("    room = to->mask + 1 - to->written + {given};"));
    }

    /// Waits for items in the middle of a firing. Popped items are removed from the queue before it waits, so
    /// that a long firing does not fill the queue, unless they are read again; afterwards `in` is where its
    /// first item would be.
    pub(super) fn need(&mut self, taken: &Expr, ahead: &Expr, given: &Expr) {
        let upto = format!("(int64_t){} + {} + 1", self.ex(taken), self.ex(ahead));
        let gone =
            if self.code.keeps_taken { "0".to_owned() } else { format!("(int64_t){}", self.ex(taken)) };
        let given = self.ex(given);
        let (ty, cells) = (cell_type(self.input.cell), self.input.cells);
        self.line(format!("if (__builtin_expect({upto} > have, 0)) {{"));
        if self.way.tries {
            self.line(format!("    fields->wants = {upto};"));
            self.line("    goto dry;");
            self.line("}");
            return;
        }
        self.line(format!("    if ({} > {MOST})", self.ex(taken)));
        let which = self.which;
        self.line(format!("        fail(env, node, {which}, UINT32_MAX, fields->fired + f + 1, 0, 0);"));
        self.line(format!("    from->read = from->written - have + {gone};"));
        self.line("    if (to)");
        self.line(format!("        to->written = to->mask + 1 - room + {given};"));
        self.line("    do");
        self.line(format!("        env->wait(env, node, {upto} - {gone}, f);"));
        self.line(format!("    while (from->written - from->read + {gone} < {upto});"));
        self.line(format!("    in = (const {ty} *)from->items + (from->read - {gone}) * {cells};"));
        self.line(format!("    have = from->written - from->read + {gone};"));
        self.line(format!("    gone = {gone};"));
        self.line("    if (to) {");
        self.depth += 1;
        self.find_out(&given);
        let begins = self.code.begins.room;
        if begins > 0 {
            // The firing does not look again at the room with which it began, and the queue may be another now.
            self.line(format!("if (__builtin_expect(room < {begins}, 0)) {{"));
            self.grow(&given, begins);
            self.line("}");
        }
        self.depth -= 1;
        self.line("    }");
        self.line("}");
    }

    pub(super) fn room(&mut self, given: &Expr) {
        let given = self.ex(given);
        self.line(format!("if (__builtin_expect({} >= room, 0)) {{", bare(&given)));
        self.grow(&given, 1);
        self.line("}");
    }

    pub(super) fn moved(&mut self, taken: &Expr, given: &Expr) {
        let (taken, given) = (self.ex(taken), self.ex(given));
        if may_idle(self.code) {
            self.line(format!("moved = {taken} | {given};"));
        }
        self.line("gone = 0;");
        for (side, count, items, left) in
            [("in", &taken, self.input, "have"), ("out", &given, self.output, "room")]
        {
            if count != "0" {
                let cells = items.cells;
                self.line(format!("{side} += (int64_t){count} * {cells};"));
                if left == "have" || self.way.gives.is_none() {
                    self.line(format!("{left} -= {};", bare(count)));
                }
            }
        }
    }
}
