//! Function merging: in a long program, functions that differ only in numbers become one.
//!
//! Filters created by recursion, or by a loop with other parameters in each iteration, become hundreds of
//! functions that differ in sizes, and the C compiler takes about a tenth of a second for each. With
//! parameters instead of constants, one function is compiled for all of them. A program is long by the size
//! of its functions together, or by their number.

use super::terms::scalar;
use crate::ir::Scalar;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// When functions are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Merging {
    /// Bytes of all functions up to which none are merged.
    pub(crate) long: usize,
    /// The number of functions up to which none are merged.
    pub(crate) apart: usize,
    /// The least number of equal shapes that are merged.
    pub(crate) many: usize,
}

/// These limits cost a few seconds of compiling.
impl Default for Merging {
    fn default() -> Merging {
        Merging { long: 400_000, apart: 128, many: 4 }
    }
}

/// The functions of all firings, without duplicates.
#[derive(Default)]
pub(super) struct Functions {
    all: Vec<Function>,
    /// Their names, by their text and whether they are inlined.
    names: HashMap<(bool, String), String>,
}

struct Function {
    /// The comment before it.
    comment: String,
    /// Its attributes and return type.
    kind: &'static str,
    name: String,
    /// The text from the parameters on.
    text: String,
}

/// A function of a shape, with its numbers.
type Member<'a> = (&'a Function, Vec<Number>);

impl Functions {
    /// The name of a function with this text; a new one if there is none yet.
    pub(super) fn name(&mut self, stem: &str, kind: &'static str, comment: &str, text: String) -> String {
        let count = self.names.len();
        let name = self.names.entry((kind.starts_with("inline"), text)).or_insert_with_key(|(_, text)| {
            let name = format!("{stem}_{count}");
            let (comment, text) = (comment.replace("*/", "* /"), text.clone());
            self.all.push(Function { comment, kind, name: name.clone(), text });
            name
        });
        name.clone()
    }

    /// The text of all functions.
    pub(super) fn text(&self, when: Merging) -> String {
        let mut text = String::new();
        let bytes: usize = self.all.iter().map(|function| function.text.len()).sum();
        if bytes <= when.long && self.all.len() <= when.apart {
            self.all.iter().for_each(|function| function.write(&mut text));
            return text;
        }
        let mut shapes: BTreeMap<(&str, String), Vec<Member<'_>>> = BTreeMap::new();
        for function in &self.all {
            let (shape, numbers) = shape(&function.text);
            shapes.entry((function.kind, shape)).or_default().push((function, numbers));
        }
        // Functions may call others, so all are declared first.
        self.all.iter().for_each(|function| function.declare(&mut text));
        for (at, ((kind, shape), group)) in shapes.iter().enumerate() {
            if group.len() < when.many {
                group.iter().for_each(|(function, _)| function.write(&mut text));
            } else {
                as_one(&mut text, &format!("merged_{at}"), (kind, shape), group);
            }
        }
        text
    }
}

impl Function {
    fn declare(&self, text: &mut String) {
        let (gives, head) = (gives(self.kind), self.text.split_once("\n{").map_or("", |(head, _)| head));
        let _ = writeln!(text, "static {gives} {}{head};", self.name);
    }

    fn write(&self, text: &mut String) {
        let Function { comment, kind, name, text: rest } = self;
        let _ = write!(text, "\n/* {comment} */\nstatic {kind} {name}{rest}");
    }
}

/// The return type, which follows the attributes.
fn gives(kind: &str) -> &str {
    kind.rsplit(' ').next().unwrap_or_default()
}

/// Stands for an integer in a shape.
const NUMBER: char = '\u{1}';

/// Stands for the length of a local array, which must be constant.
const LENGTH: char = '\u{2}';

/// Stands for a float in a shape.
const FLOAT: char = '\u{3}';

/// An integer, or the bits of a float.
type Number = i32;

/// Splits a text into its shape and its numbers. Numbers that must be compile-time constants stay in the
/// shape.
fn shape(text: &str) -> (String, Vec<Number>) {
    let (mut shape, mut numbers, mut in_table) = (String::with_capacity(text.len()), Vec::new(), false);
    for line in text.split_inclusive('\n') {
        let begins = line.trim_start();
        in_table |= begins.starts_with("static const");
        let is_list = line.contains('{') && line.contains('}');
        if in_table || is_list || begins.starts_with('#') || line.contains('"') {
            in_table &= !line.contains('}');
            shape.push_str(line);
        } else {
            let is_array = line.trim_end().ends_with("];") && !line.contains('=');
            without_numbers(line, if is_array { LENGTH } else { NUMBER }, &mut shape, &mut numbers);
        }
    }
    (shape, numbers)
}

/// Appends a line with a placeholder for each number.
fn without_numbers(line: &str, mark: char, shape: &mut String, numbers: &mut Vec<Number>) {
    let mut rest = line;
    while let Some(at) = rest.find(is_word) {
        let (mut before, from) = rest.split_at(at);
        let (word, mut after) = first_word(from);
        let found = match (word.parse::<i32>(), float(word)) {
            (Ok(number), _) => Some((mark, number, -number)),
            (_, Some(x)) => Some((FLOAT, x.to_bits() as i32, (-x).to_bits() as i32)),
            _ => None,
        };
        // `(-5)` is a number too.
        let negative = before.strip_suffix("(-").filter(|_| found.is_some()).zip(after.strip_prefix(')'));
        (before, after) = negative.unwrap_or((before, after));
        shape.push_str(before);
        match found {
            Some((mark, number, minus)) => {
                shape.push(mark);
                numbers.push(if negative.is_some() { minus } else { number });
            }
            None => shape.push_str(word),
        }
        rest = after;
    }
    shape.push_str(rest);
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Splits off a name or a number.
fn first_word(text: &str) -> (&str, &str) {
    let end = |from: usize| text[from..].find(|c| !is_word(c)).map_or(text.len(), |at| from + at);
    let mut at = end(0);
    // The exponent of a hexadecimal float.
    if text.starts_with("0x") && text[..at].ends_with('p') && text[at..].starts_with('-') {
        at = end(at + 1);
    }
    text.split_at(at)
}

/// Parses a float as [`scalar`] writes non-negative ones.
fn float(word: &str) -> Option<f32> {
    let digits = word.strip_suffix('f').filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let Some(hexadecimal) = digits.strip_prefix("0x") else { return digits.parse().ok() };
    let (mantissa, exponent) = hexadecimal.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.')?;
    let (fraction, exponent) = (u32::from_str_radix(fraction, 16).ok()?, exponent.parse::<i32>().ok()?);
    let exponent = if whole == "1" { u32::try_from(exponent + 127).ok()? } else { 0 };
    Some(f32::from_bits(exponent << 23 | fraction >> 1))
}

/// Writes a function with the numbers as parameters, and wrappers that call it.
fn as_one(text: &mut String, name: &str, (kind, shape): (&str, &str), group: &[Member<'_>]) {
    let (head, body) = shape.split_once("\n{\n").expect("a function has a body");
    let parameters = head.trim_start_matches('(').trim_end_matches(')');
    // A parameter for each distinct sequence of numbers over all members. (Variables of programs never have
    // these names: theirs end in an underscore and a number.)
    let mut known: BTreeMap<(bool, Vec<Number>), usize> = BTreeMap::new();
    let mut one = String::new();
    let mut at = 0;
    for c in body.chars() {
        if c != NUMBER && c != LENGTH && c != FLOAT {
            one.push(c);
            continue;
        }
        let all: Vec<Number> = group.iter().map(|(_, numbers)| numbers[at]).collect();
        at += 1;
        let (most, next) = (*all.iter().max().expect("a shape has members"), known.len());
        if c == LENGTH || all.iter().all(|number| *number == all[0]) {
            one.push_str(&literal(c == FLOAT, most));
        } else {
            let _ = write!(one, "known{}", known.entry((c == FLOAT, all)).or_insert(next));
        }
    }
    let _ = writeln!(text, "\n/* {} and others */", group[0].0.comment);
    // Clones of it for the numbers of each member would undo the merging.
    let _ = writeln!(
        text,
        "static __attribute__((noclone)) {kind} {name}({parameters}, const int32_t *restrict known)\n{{"
    );
    for ((is_float, _), at) in &known {
        let _ = match is_float {
            true => writeln!(text, "    const float known{at} = float_of(known[{at}]);"),
            false => writeln!(text, "    const int32_t known{at} = known[{at}];"),
        };
    }
    text.push_str(&one);
    let last = |part: &'_ str| part.rsplit([' ', '*']).next().unwrap_or_default().to_owned();
    let names: Vec<String> = parameters.split(", ").map(last).collect();
    let gives = gives(kind);
    for (at, (function, _)) in group.iter().enumerate() {
        let mut numbers = vec![0; known.len()];
        known.iter().for_each(|((_, all), place)| numbers[*place] = all[at]);
        let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
        let back = if gives == "void" { "" } else { "return " };
        let _ = write!(
            text,
            "\nstatic {gives} {}({parameters})\n{{\n    static const int32_t known[] = {{{}}};\n    \
             {back}{name}({}, known);\n}}\n",
            function.name,
            numbers.join(", "),
            names.join(", ")
        );
    }
}

/// A number that all members share.
fn literal(is_float: bool, number: Number) -> String {
    scalar(if is_float { Scalar::Float(f32::from_bits(number as u32)) } else { Scalar::Int(number) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_parameters_where_possible() {
        let text = "(int32_t n)\n{\n    static const int32_t t[2] = {\n        5, 6,\n    };\n    float x_1[86];\n    \
                    x = y_2 + 35 * 0.5f - 2;\n    v = (VI){0, 1};\n}\n";
        let (shape, numbers) = shape(text);
        assert_eq!(numbers, [86, 35, 0.5f32.to_bits() as i32, 2]);
        assert!(
            shape.contains("x = y_2 + \u{1} * \u{3} - \u{1};") && shape.contains("x_1[\u{2}]"),
            "{shape}"
        );
        assert!(shape.contains("t[2]") && shape.contains("5, 6,") && shape.contains("{0, 1}"), "{shape}");
    }

    #[test]
    fn floats_keep_all_their_bits() {
        let bits =
            [0, 1, 1 << 31, 0x3f80_0001, 0x7f7f_ffff, 0xc2f6_0000, 0x8000_0001, 0x3300_0000, 0x4b80_0000];
        for bits in bits {
            let text = format!("(x + {});", scalar(Scalar::Float(f32::from_bits(bits))));
            let (mut shape, mut numbers) = (String::new(), Vec::new());
            without_numbers(&text, NUMBER, &mut shape, &mut numbers);
            assert_eq!((shape.as_str(), &numbers[..]), ("(x + \u{3});", &[bits as i32][..]), "{text}");
            assert_eq!(format!("(x + {});", literal(true, numbers[0])), text);
        }
    }

    #[test]
    fn many_functions_make_a_long_program() {
        let mut functions = Functions::default();
        for n in 0..129 {
            let text = format!("(float *to)\n{{\n    *to = *to + {n}.0f;\n}}\n");
            functions.name("work", "__attribute__((noinline)) void", "a filter", text);
        }
        assert_eq!(
            functions.text(Merging { apart: 129, ..Merging::default() }).matches("*to =").count(),
            129
        );
        let text = functions.text(Merging::default());
        assert_eq!(text.matches("*to = *to + known0;").count(), 1, "{text}");
        assert_eq!(text.matches("*to =").count(), 1, "{text}");
    }

    #[test]
    fn functions_that_differ_in_numbers_are_merged() {
        let mut functions = Functions::default();
        for n in 3..9 {
            let text = format!(
                "(int32_t *restrict to, int32_t n)\n{{\n    int32_t a[{n}];\n    *to = a[n] + {n} + 7;\n}}\n"
            );
            functions.name("work", "__attribute__((noinline)) void", "a filter", text);
        }
        assert_eq!(functions.text(Merging::default()).matches("*to =").count(), 6);
        let text = functions.text(Merging { long: 0, apart: 0, many: 4 });
        assert_eq!(text.matches("*to = a[n] + known0 + 7;").count(), 1, "{text}");
        assert!(text.contains("int32_t a[8];"), "{text}");
        assert!(text.contains("static void work_2(int32_t *restrict to, int32_t n)\n{\n    static const int32_t known[] = {5};\n    merged_0(to, n, known);"), "{text}");
    }
}
