//! Text to tokens.
//!
//! Tokens carry their kind and place alone; what a number or a string means is read from the text by the
//! parser. What is no token is reported here and stays in the sequence as [`Kind::Invalid`], so that the
//! parser knows why something does not fit and need not report it again.

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
            /// No token of the language; it has been reported.
            Invalid,
            /// After the last token of a file.
            End,
        }

        impl Kind {
            /// How it is written, where it is always written alike.
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
    /// Whether it is a word that the language keeps for itself.
    pub fn is_keyword(self) -> bool {
        self.text().is_some_and(|text| text.as_bytes()[0].is_ascii_lowercase())
    }
}

/// A token where it stands.
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

/// To the closing quote, or to the end of the line where there is none.
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

/// The tokens of a file, of which the last is [`Kind::End`].
pub fn lex(number: u32, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexing = Lexing { text: &source.text, tokens: Vec::new(), diagnostics, directives: false };
    for (kind, range) in Kind::lexer(&source.text).spanned() {
        let span = Span { file: number, start: range.start as u32, end: range.end as u32 };
        lexing.take(kind.unwrap_or(Kind::Invalid), span);
    }
    let end = source.text.len() as u32;
    lexing.push(Kind::End, Span { file: number, start: end, end });
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

    /// `iter` is a name where no `(` follows: in programs older than the word it is one.
    fn push(&mut self, kind: Kind, span: Span) {
        if let Some(last) = self.tokens.last_mut()
            && last.kind == Kind::Iter
            && kind != Kind::Open
        {
            last.kind = Kind::Name;
        }
        self.tokens.push(Token { kind, span });
    }

    /// Lines for the C preprocessor are one error for all of a file.
    fn directive(&mut self, span: Span) {
        if !self.directives {
            let error = Diagnostic::new(span, "the language has no lines that begin with `#`")
                .hint("if this is meant for the C preprocessor, run `cpp -P` first");
            self.diagnostics.push(error);
        }
        self.directives = true;
        self.push(Kind::Invalid, span);
    }

    fn text(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn comment(&mut self, span: Span) {
        let text = self.text(span);
        if text.starts_with("/*") && !(text.len() >= 4 && text.ends_with("*/")) {
            let open = Span { end: span.start + 2, ..span };
            let error = Diagnostic::new(open, "this comment does not end before the file does")
                .hint("close it with `*/`");
            self.diagnostics.push(error);
            self.push(Kind::Invalid, span);
        }
    }

    /// Neighbouring characters that do not belong are one error.
    fn invalid(&mut self, span: Span) {
        if let Some(last) = self.tokens.last_mut()
            && last.kind == Kind::Invalid
            && last.span.end == span.start
        {
            last.span.end = span.end;
            if let Some(error) =
                self.diagnostics.last_mut().filter(|error| error.span.start == last.span.start)
            {
                error.span = last.span;
                error.message = strange(&self.text[last.span.start as usize..span.end as usize]);
            }
            return;
        }
        self.diagnostics.push(Diagnostic::new(span, strange(self.text(span))));
        self.push(Kind::Invalid, span);
    }

    fn quoted(&mut self, kind: Kind, span: Span) {
        if !is_closed(self.text(span)) {
            let what = if kind == Kind::String { "string" } else { "character" };
            let quote = if kind == Kind::String { '"' } else { '\'' };
            let error = Diagnostic::new(span, format!("this {what} does not end before its line does"))
                .hint(format!("close it with `{quote}`"));
            self.diagnostics.push(error);
            self.push(kind, span);
            // Whatever does not fit now may be a part of it.
            self.push(Kind::Invalid, Span { start: span.end, ..span });
            return;
        }
        self.push(kind, span);
    }
}

/// Whether a string or character has its closing quote: a quote at its end that no backslash takes away.
pub(crate) fn is_closed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some((first, [inner @ .., last])) = bytes.split_first() else { return false };
    let backslashes = inner.iter().rev().take_while(|byte| **byte == b'\\').count();
    first == last && backslashes % 2 == 0
}

fn strange(text: &str) -> String {
    const SHOWN: usize = 20;
    let plural = if text.chars().nth(1).is_some() { "s do" } else { " does" };
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    format!("the character{plural} not belong to the language: `{shown}{more}`")
}
