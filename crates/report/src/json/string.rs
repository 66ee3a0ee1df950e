//! Parses strings.

use super::parse::{Parsed, Parser};
use std::borrow::Cow;

impl<'a> Parser<'a> {
    /// Reads a string, whose opening quote is next. Only a string with escapes is copied.
    pub(super) fn string(&mut self) -> Parsed<'a, Cow<'a, str>> {
        self.skip(1);
        let plain = self.plain();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = plain.to_owned();
        while !self.take(b'"') {
            text.push(self.escaped()?);
            text += self.plain();
        }
        Ok(Cow::Owned(text))
    }

    /// The characters up to the next quote, backslash or control character.
    fn plain(&mut self) -> &'a str {
        let rest = self.rest();
        let ends = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        self.skip(length);
        &rest[..length]
    }

    fn escaped(&mut self) -> Parsed<'a, char> {
        if !self.take(b'\\') {
            let control = self.peek().is_some();
            return Err(self.expected(if control { "an escape for the control character" } else { "`\"`" }));
        }
        let c = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.expected("one of the escapes `\"` `\\` `/` `b` `f` `n` `r` `t` `u`")),
        };
        self.skip(1);
        Ok(c)
    }

    /// Reads the `u` of an escape and its digits, and a second escape where the first is half of a pair.
    fn unicode(&mut self) -> Parsed<'a, char> {
        let first = self.code_unit()?;
        let mut units = vec![first];
        if (0xD800..0xDC00).contains(&first) && self.take(b'\\') {
            units.push(self.code_unit()?);
        }
        let mut decoded = char::decode_utf16(units);
        match (decoded.next(), decoded.next()) {
            (Some(Ok(c)), None) => Ok(c),
            _ => Err(self.expected("a surrogate pair before here")),
        }
    }

    /// Reads `u` and four hexadecimal digits.
    fn code_unit(&mut self) -> Parsed<'a, u16> {
        if !self.take(b'u') {
            return Err(self.expected("the second half of a surrogate pair"));
        }
        let digits = self.rest().bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
        let unit = u16::from_str_radix(&self.rest()[..digits], 16);
        self.skip(digits);
        match unit {
            Ok(unit) if digits == 4 => Ok(unit),
            _ => Err(self.expected("four hexadecimal digits")),
        }
    }
}
