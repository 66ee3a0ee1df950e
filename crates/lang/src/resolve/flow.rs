//! Whether the code of a composite says what it must, and once, on every way through it.

use super::Resolver;
use super::stmt::composite_name;
use crate::ast::{Block, Composite, Stmt, StmtKind, Stream};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Statements that are wanted once.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Split,
    Join,
    Body,
    Loop,
}

/// How often a statement may be executed on the ways through code: never, once, more often.
#[derive(Clone, Copy)]
struct Ways {
    never: bool,
    once: bool,
    more: bool,
}

impl Ways {
    const NONE: Ways = Ways { never: false, once: false, more: false };
    const NEVER: Ways = Ways { never: true, ..Ways::NONE };
    const ONCE: Ways = Ways { once: true, ..Ways::NONE };

    fn or(self, other: Ways) -> Ways {
        Ways { never: self.never | other.never, once: self.once | other.once, more: self.more | other.more }
    }

    fn then(self, next: Ways) -> Ways {
        let some = |ways: Ways| ways.never | ways.once | ways.more;
        Ways {
            never: self.never && next.never,
            once: (self.once && next.never) | (self.never && next.once),
            more: (self.more && some(next)) | (some(self) && next.more) | (self.once && next.once),
        }
    }
}

impl Resolver<'_> {
    /// Reports what is missing, or said twice.
    pub fn check_flow(&mut self, kind: Composite, block: &Block, stream: &Stream) {
        let wanted: &[(Wanted, &str)] = match kind {
            Composite::Pipeline => &[],
            Composite::SplitJoin => &[(Wanted::Split, "split"), (Wanted::Join, "join")],
            Composite::FeedbackLoop => &[
                (Wanted::Join, "join"),
                (Wanted::Body, "body"),
                (Wanted::Loop, "loop"),
                (Wanted::Split, "split"),
            ],
        };
        for &(wanted, word) in wanted {
            let mut walk = Walk { wanted, found: Vec::new(), left: Ways::NONE };
            let ways = walk.stmts(&block.stmts);
            let ways = ways.or(walk.left);
            self.report_flow(kind, word, ways, &walk.found, stream);
        }
    }

    fn report_flow(&mut self, kind: Composite, word: &str, ways: Ways, found: &[Span], stream: &Stream) {
        let name =
            stream.name.as_ref().map_or(Span { end: stream.span.start + 1, ..stream.span }, |name| name.span);
        let kind = composite_name(kind);
        let error = match found {
            [] => Diagnostic::new(name, format!("a {kind} without `{word}`"))
                .label("it is missing here")
                .hint(format!("write `{}` in it", example(word))),
            [first, .., last] if ways.more => Diagnostic::new(*last, format!("a {kind} has one `{word}`"))
                .label("this may be another")
                .other(*first, "this is the first")
                .hint("leave one of them out, or put each into a branch of an `if`"),
            [first, ..] if ways.never => {
                let error =
                    Diagnostic::new(*first, format!("a {kind} needs a `{word}` on every way through it"));
                let hint = format!("say in the other branch too what the `{word}` is");
                error.label("this is not always executed").hint(hint)
            }
            _ => return,
        };
        self.error::<()>(error);
    }
}

/// What a statement that is missing may look like.
fn example(word: &str) -> &'static str {
    match word {
        "split" => "split duplicate;` or `split roundrobin(1, 1);",
        "join" => "join roundrobin(1, 1);",
        "body" => "body Filter();",
        _ => "loop Identity<float>();",
    }
}

struct Walk {
    wanted: Wanted,
    found: Vec<Span>,
    /// Ways that end with `return`.
    left: Ways,
}

impl Walk {
    fn stmts(&mut self, stmts: &[Stmt]) -> Ways {
        let mut ways = Ways::NEVER;
        for stmt in stmts {
            if let StmtKind::Return(_) = stmt.kind {
                self.left = self.left.or(ways);
                return Ways::NONE;
            }
            let next = self.stmt(stmt);
            ways = ways.then(next);
        }
        ways
    }

    fn stmt(&mut self, stmt: &Stmt) -> Ways {
        let wanted = match &stmt.kind {
            StmtKind::Split(_) => Wanted::Split,
            StmtKind::Join(_) => Wanted::Join,
            StmtKind::Body(_) => Wanted::Body,
            StmtKind::Loop(_) => Wanted::Loop,
            StmtKind::Block(block) => return self.stmts(&block.stmts),
            StmtKind::If(_, first, second) => {
                let first = self.part(first);
                let second = second.as_ref().map_or(Ways::NEVER, |second| self.part(second));
                return first.or(second);
            }
            // How often a loop runs is not seen: once is what was meant.
            StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::For { body, .. } => {
                return self.part(body);
            }
            _ => return Ways::NEVER,
        };
        if wanted != self.wanted {
            return Ways::NEVER;
        }
        self.found.push(stmt.span);
        Ways::ONCE
    }

    fn part(&mut self, stmt: &Stmt) -> Ways {
        self.stmts(std::slice::from_ref(stmt))
    }
}
