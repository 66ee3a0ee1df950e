//! A JSON document as a tree whose values know their places in the text, and typed access to them.

use super::misfit::{Misfit, Problem};
use super::parse::Parser;
use std::borrow::Cow;
use std::str::FromStr;
use std::time::Duration;

/// The value read, or what is wrong with it.
pub(super) type Read<T> = Result<T, Misfit>;

/// A value, with its place in the document.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    /// Offset of the first byte.
    pub(super) start: usize,
    /// Offset behind the last byte.
    pub(super) end: usize,
    pub(super) form: Form<'a>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    Null,
    Boolean(bool),
    /// A number as it is written: its reader decides how large it may be.
    Number(&'a str),
    String(Cow<'a, str>),
    Array(Entries<'a>),
    /// The fields in the order of the document.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

/// The entries of an array, by their place in the document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries<'a> {
    pub(super) document: &'a str,
    /// Offset behind the opening bracket.
    pub(super) at: usize,
    pub(super) count: usize,
}

impl<'a> Entries<'a> {
    /// Parses the entries again, one at a time.
    pub(super) fn iter(self) -> impl Iterator<Item = Value<'a>> {
        let mut parser = Parser::of_entries(self);
        (0..self.count).map(move |_| parser.entry())
    }
}

impl<'a> Value<'a> {
    /// An error at this value.
    pub(super) fn misfit(&self, expected: impl Into<String>) -> Misfit {
        self.problem(Problem::Unexpected { expected: expected.into(), found: None })
    }

    /// An error at this value, where `found` says more than the text of the value does.
    pub(super) fn mismatch(&self, expected: impl Into<String>, found: String) -> Misfit {
        self.problem(Problem::Unexpected { expected: expected.into(), found: Some(found) })
    }

    pub(super) fn problem(&self, problem: Problem) -> Misfit {
        Misfit { start: self.start, end: self.end, problem }
    }

    /// The field with this name, which must be there.
    pub(super) fn field(&self, name: &'static str) -> Read<&Value<'a>> {
        self.optional(name)?.ok_or_else(|| self.problem(Problem::Missing(name)))
    }

    /// The field with this name, if it is there.
    pub(super) fn optional(&self, name: &'static str) -> Read<Option<&Value<'a>>> {
        let Form::Object(fields) = &self.form else { return Err(self.misfit("an object")) };
        let mut fields = fields.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
        let field = fields.next();
        match fields.next() {
            Some(second) => Err(second.misfit("each field once")),
            None => Ok(field),
        }
    }

    pub(super) fn array(&self) -> Read<Entries<'a>> {
        match &self.form {
            Form::Array(entries) => Ok(*entries),
            _ => Err(self.misfit("an array")),
        }
    }

    /// The entries of an array that must have `count` of them, `one for` which says what.
    pub(super) fn entries(&self, count: usize, one_for: &str) -> Read<Entries<'a>> {
        let entries = self.array()?;
        if entries.count != count {
            let found = format!("{} entries", entries.count);
            return Err(self.mismatch(format!("{count} entries, one for {one_for}"), found));
        }
        Ok(entries)
    }

    pub(super) fn string(&self) -> Read<&str> {
        match &self.form {
            Form::String(text) => Ok(text),
            _ => Err(self.misfit("a string")),
        }
    }

    /// An integer from 0 to the largest of this unsigned type.
    pub(super) fn integer<N: FromStr>(&self) -> Read<N> {
        let number = match self.form {
            Form::Number(text) => text.parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| self.misfit(format!("an integer from 0 to 2^{} - 1", 8 * size_of::<N>())))
    }

    /// An index into the nodes, channels or ports of the graph, of which there are `count`.
    pub(super) fn index(&self, count: usize, of: &str) -> Read<usize> {
        let index = self.integer()?;
        if index < count { Ok(index) } else { Err(self.misfit(format!("the index of one of {count} {of}"))) }
    }

    /// A field that is an integer.
    pub(super) fn count<N: FromStr>(&self, name: &'static str) -> Read<N> {
        self.field(name)?.integer()
    }

    /// A field that is a time in nanoseconds.
    pub(super) fn nanos(&self, name: &'static str) -> Read<Duration> {
        self.count(name).map(Duration::from_nanos)
    }

    /// A field that is a time in nanoseconds. It may be absent, for zero.
    pub(super) fn any_nanos(&self, name: &'static str) -> Read<Duration> {
        Ok(self.optional(name)?.map(Value::integer).transpose()?.map_or(Duration::ZERO, Duration::from_nanos))
    }

    /// A field that is a time in microseconds with decimals. The time is exact, and in nanoseconds.
    pub(super) fn micros(&self, name: &'static str) -> Read<u64> {
        let value = self.field(name)?;
        let nanos = match value.form {
            Form::Number(text) => exact_nanos(text),
            _ => None,
        };
        nanos.ok_or_else(|| value.misfit("a time in microseconds, with at most three decimals"))
    }

    /// A field that is a mean or a maximum: finite, and not below 0.
    pub(super) fn measure(&self, name: &'static str) -> Read<f64> {
        let value = self.field(name)?;
        let number = match value.form {
            Form::Number(text) => text.parse().ok(),
            _ => None,
        };
        let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| value.misfit("a finite number from 0"))
    }

    /// A field that is true or false. It may be absent, for false.
    pub(super) fn flag(&self, name: &'static str) -> Read<bool> {
        let Some(value) = self.optional(name)? else { return Ok(false) };
        match value.form {
            Form::Boolean(flag) => Ok(flag),
            _ => Err(value.misfit("`true` or `false`")),
        }
    }

    /// A field that is an integer. It may be null or absent, for none.
    pub(super) fn limit<N: FromStr>(&self, name: &'static str) -> Read<Option<N>> {
        let value = self.optional(name)?.filter(|value| !matches!(value.form, Form::Null));
        value.map(Value::integer).transpose()
    }
}

/// The nanoseconds in a decimal number of microseconds.
fn exact_nanos(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    if decimals.len() > 3 {
        return None;
    }
    let part = decimals.parse::<u64>().ok()? * 10_u64.pow(3 - decimals.len() as u32);
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part)
}
