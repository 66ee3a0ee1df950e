//! Printing of generated programs.

use super::model::{Arg, Composite, Filter, Head, Loop, Param, Program, Recursive, Stream, Weights};
use std::fmt;

impl fmt::Display for Program {
    /// Structures, `static` and `helper` blocks, the entry point, then all named streams in the order of their use.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fields) in self.structs.iter().enumerate() {
            writeln!(f, "struct Struct{number} {{")?;
            fields.iter().try_for_each(|(name, ty)| writeln!(f, "    {} {name};", ty.text()))?;
            writeln!(f, "}}\n")?;
        }
        for line in &self.preamble {
            writeln!(f, "{line}")?;
        }
        let mut printer = Printer::default();
        printer.declare(&self.top);
        printer.declarations.iter().try_for_each(|lines| writeln!(f, "{}\n", lines.join("\n")))
    }
}

/// Declarations, each a list of lines.
#[derive(Default)]
struct Printer {
    declarations: Vec<Vec<String>>,
}

fn indented(lines: &[String]) -> impl Iterator<Item = String> {
    lines.iter().map(|line| format!("    {line}"))
}

impl Printer {
    /// Declares a named stream; its declaration precedes those of the streams that it uses.
    fn declare(&mut self, stream: &Stream) {
        let at = self.declarations.len();
        self.declarations.push(Vec::new());
        let lines = match stream {
            Stream::Filter(filter) => filter_lines(filter, &signature(&filter.params)),
            Stream::Pipeline(of) | Stream::SplitJoin(of, ..) => {
                let (word, body) = self.composite(stream, of);
                block(&head_text(&of.head, word), body)
            }
            Stream::Loop(of) => {
                let body = self.feedback(of);
                block(&head_text(&of.head, "feedbackloop"), body)
            }
            Stream::Recursive(of) => self.recursive(of),
            _ => Vec::new(),
        };
        self.declarations[at] = lines;
    }

    /// The `add`, `body` or `loop` statement of a stream, with preceding statements that it needs.
    fn make(&mut self, word: &str, stream: &Stream, omit: bool) -> Vec<String> {
        match stream {
            Stream::Filter(filter) => self.make_filter(word, filter, omit),
            Stream::Identity(ty) => vec![format!("{word} Identity<{}>();", ty.text())],
            Stream::Reader(ty, name) => vec![format!("{word} FileReader<{}>(\"{name}\");", ty.text())],
            Stream::Writer(ty, name) => vec![format!("{word} FileWriter<{}>(\"{name}\");", ty.text())],
            Stream::Pipeline(of) | Stream::SplitJoin(of, ..) => {
                self.make_composite(word, stream, &of.head, |printer| printer.composite(stream, of))
            }
            Stream::Loop(of) => {
                self.make_composite(word, stream, &of.head, |printer| ("feedbackloop", printer.feedback(of)))
            }
            Stream::Repeat(variable, count, child) => {
                let mut inside = self.make(word, child, omit);
                if let [one] = &inside[..] {
                    return vec![format!(
                        "for (int {variable} = 0; {variable} < {count}; {variable}++) {one}"
                    )];
                }
                inside =
                    block(&format!("for (int {variable} = 0; {variable} < {count}; {variable}++)"), inside);
                inside
            }
            Stream::Recursive(of) => {
                self.declare(stream);
                vec![format!("{word} {}({});", of.name, of.depth)]
            }
        }
    }

    fn make_composite<'w>(
        &mut self,
        word: &str,
        stream: &Stream,
        head: &Head,
        body: impl FnOnce(&mut Self) -> (&'w str, Vec<String>),
    ) -> Vec<String> {
        if head.named {
            self.declare(stream);
            let value = head.variable.as_ref().map_or(String::new(), |(_, value)| value.to_string());
            return vec![format!("{word} {}({value});", head.name)];
        }
        let (kind, mut lines) = body(self);
        if let Some((name, value)) = &head.variable {
            lines.insert(0, format!("int {name} = {value};"));
        }
        let types = if head.typed { head.types() + " " } else { String::new() };
        closed(block(&format!("{word} {types}{kind}"), lines))
    }

    fn make_filter(&mut self, word: &str, filter: &Filter, omit: bool) -> Vec<String> {
        let mut lines = Vec::new();
        for param in &filter.params {
            match &param.value {
                Arg::List(list) => {
                    lines.push(format!("{} {} = {list};", param.ty, local_name(filter, param)))
                }
                value if !filter.head.named => {
                    lines.push(format!("{} {} = {};", param.ty, param.name, arg_text(value)));
                }
                _ => {}
            }
        }
        if filter.head.named {
            let name = &filter.head.name;
            // Each filter occurs only once in the model, also within a recursive stream.
            self.declarations.push(filter_lines(filter, &signature(&filter.params)));
            let args: Vec<String> = filter
                .params
                .iter()
                .map(|param| match &param.value {
                    Arg::List(_) => local_name(filter, param),
                    value => arg_text(value),
                })
                .collect();
            let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
            lines.push(format!("{word} {name}{args};"));
            return lines;
        }
        let types = if omit && !filter.head.typed { String::new() } else { filter.head.types() + " " };
        let stateful = if filter.stateful { "stateful " } else { "" };
        let inside = block(&format!("{word} {types}{stateful}filter"), filter.body.clone());
        lines.extend(closed(unshifted(inside)));
        lines
    }

    fn composite(&mut self, stream: &Stream, of: &Composite) -> (&'static str, Vec<String>) {
        let mut lines = Vec::new();
        let Stream::SplitJoin(_, split, join) = stream else {
            of.children.iter().for_each(|child| lines.extend(self.make("add", child, false)));
            return ("pipeline", lines);
        };
        // A child may omit its types if those of all children are the splitjoin's own.
        let says = of.head.named || of.head.typed;
        lines.push(format!("split {};", weights_text(split)));
        for child in &of.children {
            let same = child.input() == of.head.input.as_ref() && child.output() == of.head.output.as_ref();
            let ends = child.input().is_some() && child.output().is_some();
            lines.extend(self.make("add", child, says && same && ends));
        }
        lines.push(format!("join {};", weights_text(join)));
        ("splitjoin", lines)
    }

    fn feedback(&mut self, of: &Loop) -> Vec<String> {
        let mut lines = vec![format!("join roundrobin({}, {});", of.join.0, of.join.1)];
        lines.extend(self.make("body", &of.body, false));
        lines.push(match of.split {
            Some((outside, back)) => format!("split roundrobin({outside}, {back});"),
            None => "split duplicate;".to_owned(),
        });
        lines.extend(self.make("loop", &of.back, false));
        let Some((enqueue, made)) = of.first.split_last() else { return lines };
        lines.extend(made.iter().cloned());
        match of.enqueued {
            1 => lines.push(enqueue.clone()),
            times => lines.push(format!("for (int e = 0; e < {times}; e++) {enqueue}")),
        }
        lines
    }

    fn recursive(&mut self, of: &Recursive) -> Vec<String> {
        let ty = of.ty.text();
        let leaf = self.make("add", &of.leaf, false);
        let name = &of.name;
        let Some(weight) = of.weight else {
            let mut lines = leaf;
            lines.push(format!("if (n > 1) add {name}(n - 1);"));
            return block(&format!("{ty}->{ty} pipeline {name}(int n)"), lines);
        };
        let mut lines = block("if (n <= 1)", leaf);
        lines.pop();
        let again = format!("add {name}(n - 1);");
        let inner = [
            format!("split roundrobin({weight});"),
            again.clone(),
            again,
            format!("join roundrobin({weight});"),
        ];
        lines.push("} else {".to_owned());
        lines.extend(indented(&closed(block(&format!("add {ty}->{ty} splitjoin"), inner.to_vec()))));
        lines.push("}".to_owned());
        block(&format!("{ty}->{ty} pipeline {name}(int n)"), lines)
    }
}

fn head_text(head: &Head, word: &str) -> String {
    let param = head.variable.as_ref().map_or(String::new(), |(name, _)| format!("(int {name})"));
    format!("{} {word} {}{param}", head.types(), head.name)
}

fn signature(params: &[Param]) -> String {
    if params.is_empty() {
        return String::new();
    }
    let params: Vec<String> = params.iter().map(|param| format!("{} {}", param.ty, param.name)).collect();
    format!("({})", params.join(", "))
}

fn filter_lines(filter: &Filter, signature: &str) -> Vec<String> {
    let stateful = if filter.stateful { "stateful " } else { "" };
    let head = format!("{} {stateful}filter {}{signature}", filter.head.types(), filter.head.name);
    unshifted(block(&head, filter.body.clone()))
}

/// Undoes one level of indentation: filter bodies are already indented.
fn unshifted(mut lines: Vec<String>) -> Vec<String> {
    let last = lines.len() - 1;
    lines[1..last].iter_mut().for_each(|line| *line = line.split_off(4));
    lines
}

/// A block in braces.
fn block(head: &str, inside: Vec<String>) -> Vec<String> {
    let mut lines = vec![format!("{head} {{")];
    lines.extend(indented(&inside));
    lines.push("}".to_owned());
    lines
}

/// Appends the optional `;` after an anonymous stream.
fn closed(mut lines: Vec<String>) -> Vec<String> {
    lines.last_mut().into_iter().for_each(|line| line.push(';'));
    lines
}

fn arg_text(arg: &Arg) -> String {
    match arg {
        Arg::Constant(text) | Arg::List(text) => text.clone(),
        Arg::Linear { of, by, and } => format!("{of} * {by} + {and}"),
    }
}

/// The variable that holds an array argument.
fn local_name(filter: &Filter, param: &Param) -> String {
    if filter.head.named { format!("{}_list", param.name) } else { param.name.clone() }
}

fn weights_text(weights: &Weights) -> String {
    match weights {
        Weights::Duplicate => "duplicate".to_owned(),
        Weights::Null => "roundrobin(0)".to_owned(),
        Weights::RoundRobin(weights, verbose) => match &weights[..] {
            [1, rest @ ..] if !verbose && rest.iter().all(|weight| *weight == 1) => "roundrobin".to_owned(),
            [first, rest @ ..] if !verbose && *first > 0 && rest.iter().all(|weight| weight == first) => {
                format!("roundrobin({first})")
            }
            weights => {
                let weights: Vec<String> = weights.iter().map(u32::to_string).collect();
                format!("roundrobin({})", weights.join(", "))
            }
        },
    }
}
