//! Prints the tree as source text: every operation in its own parentheses, one statement per line. Parsing the
//! text yields the same tree except for places.

mod expr;
mod stmt;
mod stream;

use super::Program;
use std::fmt;

impl fmt::Display for Program {
    /// Structures, `static`, `native` and `helper` blocks, then streams.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { text: String::new(), level: 0 };
        self.structs.iter().for_each(|item| printer.structure(item));
        self.globals.iter().for_each(|item| printer.global(item));
        self.natives.iter().for_each(|item| printer.native(item));
        self.helpers.iter().for_each(|item| printer.helper(item));
        for stream in &self.streams {
            let head = printer.stream_head(stream);
            printer.line(&head);
            printer.stream_body(&stream.body);
        }
        f.write_str(&printer.text)
    }
}

/// Indented lines of output.
struct Printer {
    text: String,
    level: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        for _ in 0..self.level {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Appends to the last line.
    fn add(&mut self, text: &str) {
        self.text.pop();
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Prints `{` at the end of the last line, then the content, then `}`.
    fn braces(&mut self, inside: impl FnOnce(&mut Self)) {
        self.add(" {");
        self.level += 1;
        inside(self);
        self.level -= 1;
        self.line("}");
    }
}

/// Items separated by commas.
fn list<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
