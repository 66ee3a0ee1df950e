//! The C function of a filter's firings, several at once where possible.

use super::code::{Form, Function, Writer, alternates, tables};
use super::{deinterleave, simd};
use crate::ir::Code;
use crate::plan::Items;

/// Writes a function that does the firings `first..last`.
pub(crate) fn function(code: &Code, input: &Items, output: &Items, fields: &str, form: Form) -> Function {
    let mut writer = Writer { which: form.which, ..Writer::new(code, (input, output), 1, alternates(code)) };
    writer.head(fields, form);
    writer.begin_fields();
    let vector = if form.lanes > 1 {
        let deinterleaved = deinterleave::firings(code, input, output, form.lanes);
        deinterleaved.or_else(|| simd::firings(code, input, output, form.lanes))
    } else {
        None
    };
    match vector {
        Some(vector) => {
            writer.line("int64_t f = first;");
            writer.text.push_str(&vector);
            writer.line("for (; f < last; f++) {");
        }
        None => writer.line("for (int64_t f = first; f < last; f++) {"),
    }
    writer.firing();
    writer.line("}");
    writer.end_fields();
    writer.text.push_str("}\n");
    Function { tables: tables(code, input, output), rest: writer.text }
}
