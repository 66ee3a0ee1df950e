//! Values of number, character and string literals.

use super::Parser;
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Kind, is_closed};
use std::iter::Peekable;
use std::str::Chars;

/// A number: an integer if it has integer form and fits, else a float; imaginary with the suffix `i`.
fn number(text: &str) -> Literal {
    if let Ok(int) = text.parse() {
        return Literal::Int(int);
    }
    // A number that is too large becomes infinite. Every text of this form parses.
    let float = |text: &str| text.parse().unwrap_or(f32::NAN);
    match text.strip_suffix('i') {
        Some(text) => Literal::Imaginary(float(text)),
        None => Literal::Float(float(text.strip_suffix('f').unwrap_or(text))),
    }
}

/// The lower 32 bits of a hexadecimal number; higher digits are dropped.
pub(super) fn hexadecimal(text: &str) -> Literal {
    let digits = &text[2..];
    let lower = &digits[digits.len().saturating_sub(8)..];
    Literal::Int(u32::from_str_radix(lower, 16).unwrap_or(0) as i32)
}

impl Parser<'_> {
    /// Consumes a number token.
    pub(super) fn number(&mut self) -> Literal {
        let span = self.bump();
        let literal = number(self.text_at(span));
        if self.at(Kind::Dot) && self.adjoins(span) {
            self.report_malformed_number();
            self.bump();
        }
        literal
    }

    /// Consumes a point and the number token after it.
    pub(super) fn fraction(&mut self) -> Literal {
        self.report_malformed_number();
        let point = self.bump();
        let digits = self.bump();
        let text = self.text_at(point.to(digits));
        number(&format!("0.{}", text.trim_start_matches('.').trim_start()))
    }

    fn report_malformed_number(&mut self) {
        let hint = self.hint().unwrap_or_default();
        let error =
            Diagnostic::new(self.span(), "expected digits on both sides of the decimal point").hint(hint);
        self.report_here(error);
    }

    /// The value of the current string token.
    pub(super) fn string(&mut self) -> Literal {
        Literal::String(self.unquoted().into())
    }

    /// The value of the current character token.
    pub(super) fn character(&mut self) -> Literal {
        let text = self.unquoted();
        let mut characters = text.chars();
        let code = characters.next().and_then(|first| u8::try_from(u32::from(first)).ok());
        match (code, characters.next()) {
            (Some(code), None) => Literal::Char(code),
            _ => {
                if is_closed(self.text_at(self.span())) {
                    let error = Diagnostic::new(
                        self.span(),
                        "a character literal must contain one Latin-1 character",
                    )
                    .hint("use `\"` for a string");
                    self.report_here(error);
                }
                Literal::Char(0)
            }
        }
    }

    /// The text between the quotes of the current token, with escapes replaced.
    fn unquoted(&mut self) -> String {
        let text = self.text_at(self.span());
        let inside = if is_closed(text) { &text[1..text.len() - 1] } else { &text[1..] };
        let (mut out, mut wrong) = (String::new(), None);
        let mut characters = inside.chars().peekable();
        while let Some(character) = characters.next() {
            let decoded = if character == '\\' { escape(&mut characters) } else { Ok(character) };
            match decoded {
                Ok(character) => out.push(character),
                Err(escape) => wrong = wrong.or(Some(escape)),
            }
        }
        if let Some(escape) = wrong {
            let error = Diagnostic::new(self.span(), format!("unknown escape `\\{escape}`")).hint(
                r"valid escapes are `\n`, `\t`, `\r`, `\b`, `\f`, `\\`, `\'`, `\q`, `\101` and `\u0041`"
                    .replace("\\q", "\\\""),
            );
            self.report_here(error);
        }
        out
    }
}

/// The character of an escape sequence after its backslash, or the text of an unknown escape.
fn escape(characters: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    let Some(first) = characters.next() else { return Err(String::new()) };
    Ok(match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '\\' | '\'' | '"' => first,
        '0'..='7' => octal(first, characters),
        'u' => return unicode(characters),
        _ => return Err(first.to_string()),
    })
}

/// Up to three octal digits; three digits only up to 377.
fn octal(first: char, characters: &mut Peekable<Chars<'_>>) -> char {
    let most = if first <= '3' { 2 } else { 1 };
    let mut code = first.to_digit(8).unwrap_or(0);
    for _ in 0..most {
        let Some(digit) = characters.peek().and_then(|next| next.to_digit(8)) else { break };
        characters.next();
        code = code * 8 + digit;
    }
    char::from_u32(code).unwrap_or('\0')
}

/// Four hexadecimal digits after one or more `u`.
fn unicode(characters: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    while characters.next_if_eq(&'u').is_some() {}
    let digits: String = (0..4).map_while(|_| characters.next_if(char::is_ascii_hexdigit)).collect();
    let code = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4);
    code.and_then(char::from_u32).ok_or_else(|| format!("u{digits}"))
}
