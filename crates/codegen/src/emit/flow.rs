//! Firings at dynamic rates, as a function from queue to queue.
//!
//! `in` and `out` are where the firing's first items stand, or will; `have` and `room` count from there. They
//! are variables for as long as the function runs; before anybody else may look at the queues these are
//! brought up to date, and afterwards the variables are found anew, since queues may have moved.

use super::code::{Form, Function, Writer, alternates, tables};
use super::expr::{bare, cell_type};
use super::items::Items;
use crate::ir::{Code, Ex, St, walk};

/// Firings in a row that move nothing after which a filter never will again, as the interpreter has it.
const IDLE: u32 = 1 << 16;

/// Writes a function that fires so often at the most, and says how often it has.
pub(crate) fn flow(
    code: &Code,
    input: Option<&Items>,
    output: Option<&Items>,
    fields: &str,
    form: Form,
) -> Function {
    let none = Items::in_line(crate::ir::Cell::Of(crate::ir::Kind::Int), 1, 0);
    let (items_in, items_out) = (input.unwrap_or(&none), output.unwrap_or(&none));
    let mut writer = Writer {
        code,
        input: items_in,
        output: items_out,
        text: String::new(),
        depth: 1,
        which: form.which,
        apart: alternates(code),
    };
    writer.text.push_str(&format!(
        "(struct env *env, uint32_t node, struct {fields} *restrict fields, struct queue *from, \
         struct queue *to, int64_t most)\n{{\n"
    ));
    writer.line("(void)env, (void)node, (void)fields, (void)from, (void)to;");
    writer.before(form);
    writer.ends(input.is_some(), output.is_some());
    writer.begin_fields();
    let idles = input.is_some() && may_idle(code);
    writer.line("int64_t f = 0;");
    writer.line("for (; f < most; f++) {");
    writer.depth += 1;
    writer.begins(input.is_some(), output.is_some(), idles);
    writer.locals();
    writer.stmts(&code.body);
    if idles {
        writer.line("fields->idle = moved ? 0 : fields->idle + 1;");
    }
    writer.depth -= 1;
    writer.line("}");
    if input.is_some() {
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

/// Whether a firing may move nothing.
pub(crate) fn may_idle(code: &Code) -> bool {
    let moves = |ex: &Ex| ex.as_int().is_some_and(|items| items > 0);
    let mut moved = false;
    walk(&code.body, &mut |st| {
        moved |= matches!(st, St::Moved { taken, given } if moves(taken) || moves(given));
    });
    !moved
}

/// Whether a firing may wait in its middle.
pub(crate) fn may_wait(code: &Code) -> bool {
    let mut waits = false;
    walk(&code.body, &mut |st| waits |= matches!(st, St::Need { .. }));
    waits
}

impl Writer<'_> {
    /// Where items stand before the first firing.
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
        self.line("(void)in, (void)have, (void)out, (void)room;");
    }

    /// Whether the next firing can begin.
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

    /// Asks for room for more items behind those given.
    fn grow(&mut self, given: &str, more: u32) {
        self.line(format!("    to->written = to->mask + 1 - room + {given};"));
        self.line(format!("    env->more(env, to, {more});"));
        self.find_out(given);
    }

    fn find_out(&mut self, given: &str) {
        let (ty, cells) = (cell_type(self.output.cell), self.output.cells);
        self.line(format!("    out = ({ty} *)to->items + (to->written - {given}) * {cells};"));
        self.line(format!("    room = to->mask + 1 - to->written + {given};"));
    }

    pub(super) fn need(&mut self, taken: &Ex, ahead: &Ex, given: &Ex) {
        let upto = format!("(int64_t){} + {} + 1", self.ex(taken), self.ex(ahead));
        let given = self.ex(given);
        let (ty, cells) = (cell_type(self.input.cell), self.input.cells);
        self.line(format!("if (__builtin_expect({upto} > have, 0)) {{"));
        self.line("    from->read = from->written - have;");
        self.line("    if (to)");
        self.line(format!("        to->written = to->mask + 1 - room + {given};"));
        self.line("    do");
        self.line(format!("        env->wait(env, node, {upto}, f);"));
        self.line(format!("    while (from->written - from->read < {upto});"));
        self.line(format!("    in = (const {ty} *)from->items + from->read * {cells};"));
        self.line("    have = from->written - from->read;");
        self.line("    if (to) {");
        self.depth += 1;
        self.find_out(&given);
        self.depth -= 1;
        self.line("    }");
        self.line("}");
    }

    pub(super) fn room(&mut self, given: &Ex) {
        let given = self.ex(given);
        self.line(format!("if (__builtin_expect({} >= room, 0)) {{", bare(&given)));
        self.grow(&given, 1);
        self.line("}");
    }

    pub(super) fn moved(&mut self, taken: &Ex, given: &Ex) {
        let (taken, given) = (self.ex(taken), self.ex(given));
        if may_idle(self.code) {
            self.line(format!("moved = {taken} | {given};"));
        }
        for (side, count, items, left) in
            [("in", &taken, self.input, "have"), ("out", &given, self.output, "room")]
        {
            if count != "0" {
                let cells = items.cells;
                self.line(format!("{side} += (int64_t){count} * {cells};"));
                self.line(format!("{left} -= {};", bare(count)));
            }
        }
    }
}
