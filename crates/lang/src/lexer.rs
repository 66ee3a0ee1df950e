//! Text to tokens.
//!
//! A token is a kind and a place; the parser reads the value of a number or string from the text. Characters that
//! form no token are reported here and stay in the sequence as [`Kind::Invalid`], so the parser does not report
//! them again.

use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};
use logos::{Lexer, Logos};

macro_rules! kinds {
    ($($text:tt $name:ident)*) => {
        /// Kinds of tokens.
        #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
        #[logos(skip r"[ \t\r\n\x0b\x0c\x1a\u{feff}]+")]
        #[expect(missing_docs, reason = "the texts say it")]
        pub enum Kind {
            $(#[token($text)] $name,)*
            #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
            Name,
            #[regex(r"0[xX][0-9a-fA-F]+")]
            Hex,
            #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?[if]?")]
            Number,
            #[token("#", line_comment)]
            Directive,
            #[token("\"", |lexer| quoted(lexer, b'"'))]
            String,
            #[token("'", |lexer| quoted(lexer, b'\''))]
            Char,
            #[token("//", line_comment)]
            #[token("/*", block_comment)]
            Comment,
            /// No token of the language; the lexer has reported it.
            Invalid,
            /// After the last token of a file.
            End,
        }

        impl Kind {
            /// The text of the kinds that have a fixed text.
            pub fn text(self) -> Option<&'static str> {
                match self {
                    $(Kind::$name => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    "filter" Filter "pipeline" Pipeline "splitjoin" SplitJoin "feedbackloop" FeedbackLoop
    "portal" Portal "to" To "handler" Handler "stateful" Stateful "iter" Iter
    "add" Add "split" Split "join" Join "duplicate" Duplicate "roundrobin" RoundRobin
    "body" Body "loop" Loop "enqueue" Enqueue
    "init" Init "prework" Prework "work" Work "peek" Peek "pop" Pop "push" Push
    "boolean" Boolean "float" Float "bit" Bit "int" Int "void" Void "double" Double "complex" Complex
    "float2" Float2 "float3" Float3 "float4" Float4
    "struct" Struct "template" Template "native" Native "static" Static "helper" Helper
    "if" If "else" Else "while" While "for" For "switch" Switch "case" Case "default" Default
    "break" Break "continue" Continue "return" Return "do" Do "pi" Pi "true" True "false" False
    "(" Open ")" Close "{" OpenBrace "}" CloseBrace "[" OpenBracket "]" CloseBracket
    ";" Semicolon "," Comma "." Dot ":" Colon "?" Question "->" Arrow
    "=" Assign "+=" PlusAssign "-=" MinusAssign "*=" StarAssign "/=" SlashAssign
    "<<=" LeftAssign ">>=" RightAssign
    "++" Increment "--" Decrement
    "+" Plus "-" Minus "*" Star "/" Slash "%" Percent "<<" Left ">>" Right
    "&" And "|" Or "^" Xor "&&" AndAnd "||" OrOr "!" Not "~" Tilde
    "==" Equal "!=" NotEqual "<" Less "<=" LessEqual ">" Greater ">=" GreaterEqual
}

impl Kind {
    /// Whether this is a reserved word.
    pub fn is_keyword(self) -> bool {
        self.text().is_some_and(|text| text.as_bytes()[0].is_ascii_lowercase())
    }
}

/// A token and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its place.
    pub span: Span,
}

fn line_comment(lexer: &mut Lexer<'_, Kind>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find('\n').unwrap_or(rest.len()));
}

fn block_comment(lexer: &mut Lexer<'_, Kind>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find("*/").map_or(rest.len(), |at| at + 2));
}

/// Consumes up to the closing quote, or up to the end of the line if there is none.
fn quoted(lexer: &mut Lexer<'_, Kind>, quote: u8) {
    let rest = lexer.remainder().as_bytes();
    let mut at = 0;
    while at < rest.len() && rest[at] != b'\n' {
        let byte = rest[at];
        at += 1;
        if byte == quote {
            break;
        }
        if byte == b'\\' && matches!(rest.get(at), Some(b'\\' | b'"' | b'\'')) {
            at += 1;
        }
    }
    lexer.bump(at);
}

/// The tokens of a file; the last one is [`Kind::End`].
pub fn lex(number: u32, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexing = Lexing { text: &source.text, tokens: Vec::new(), diagnostics, directives: false };
    for (kind, range) in Kind::lexer(&source.text).spanned() {
        let span = Span::new(number, range.start as u32, range.end as u32);
        lexing.take(kind.unwrap_or(Kind::Invalid), span);
    }
    let end = source.text.len() as u32;
    lexing.push(Kind::End, Span::new(number, end, end));
    lexing.tokens
}

struct Lexing<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    diagnostics: &'a mut Vec<Diagnostic>,
    directives: bool,
}

impl Lexing<'_> {
    fn take(&mut self, kind: Kind, span: Span) {
        match kind {
            Kind::Comment => self.comment(span),
            Kind::Invalid => self.invalid(span),
            Kind::String | Kind::Char => self.quoted(kind, span),
            Kind::Directive => self.directive(span),
            _ => self.push(kind, span),
        }
    }

    /// `iter` is a name unless `(` follows: older programs use it as one.
    fn push(&mut self, kind: Kind, span: Span) {
        if let Some(last) = self.tokens.last_mut()
            && last.kind == Kind::Iter
            && kind != Kind::Open
        {
            last.kind = Kind::Name;
        }
        self.tokens.push(Token { kind, span });
    }

    /// Reports only the first preprocessor line of a file.
    fn directive(&mut self, span: Span) {
        if !self.directives {
            let error = Diagnostic::new(span, "`#` does not begin a line of StreamIt")
                .hint("run `cpp -P` on the file first if this is for the C preprocessor");
            self.diagnostics.push(error);
        }
        self.directives = true;
        self.push(Kind::Invalid, span);
    }

    fn text(&self, span: Span) -> &str {
        &self.text[span.start() as usize..span.end() as usize]
    }

    fn comment(&mut self, span: Span) {
        let text = self.text(span);
        if text.starts_with("/*") && !(text.len() >= 4 && text.ends_with("*/")) {
            let open = span.with_end(span.start() + 2);
            let error = Diagnostic::new(open, "unterminated comment").hint("add `*/`");
            self.diagnostics.push(error);
            self.push(Kind::Invalid, span);
        }
    }

    /// Adjacent invalid characters are one error.
    fn invalid(&mut self, span: Span) {
        if let Some(last) = self.tokens.last_mut()
            && last.kind == Kind::Invalid
            && last.span.end() == span.start()
        {
            last.span = last.span.with_end(span.end());
            if let Some(error) =
                self.diagnostics.last_mut().filter(|error| error.span.start() == last.span.start())
            {
                error.span = last.span;
                error.message =
                    unexpected_characters(&self.text[last.span.start() as usize..span.end() as usize]);
            }
            return;
        }
        self.diagnostics.push(Diagnostic::new(span, unexpected_characters(self.text(span))));
        self.push(Kind::Invalid, span);
    }

    fn quoted(&mut self, kind: Kind, span: Span) {
        if !is_closed(self.text(span)) {
            let what = if kind == Kind::String { "string" } else { "character" };
            let quote = if kind == Kind::String { '"' } else { '\'' };
            let error = Diagnostic::new(span, format!("unterminated {what}"))
                .hint(format!("add `{quote}` on the same line"));
            self.diagnostics.push(error);
            self.push(kind, span);
            // The missing quote may explain any mismatch that follows; the parser does not report it.
            self.push(Kind::Invalid, Span::new(span.file(), span.end(), span.end()));
            return;
        }
        self.push(kind, span);
    }
}

/// Whether a string or character ends in a closing quote that no backslash escapes.
pub(crate) fn is_closed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some((first, [inner @ .., last])) = bytes.split_first() else { return false };
    let backslashes = inner.iter().rev().take_while(|byte| **byte == b'\\').count();
    first == last && backslashes % 2 == 0
}

fn unexpected_characters(text: &str) -> String {
    const SHOWN: usize = 20;
    let plural = if text.chars().nth(1).is_some() { "s" } else { "" };
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    format!("unexpected character{plural} `{shown}{more}`")
}
