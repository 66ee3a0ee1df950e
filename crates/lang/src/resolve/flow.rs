//! Checks that every path through a composite executes its required statements exactly once.

use super::Resolver;
use super::stmt::composite_name;
use crate::ast::{Block, Composite, Stmt, StmtKind, Stream};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Statements that must occur exactly once.
#[derive(Clone, Copy, PartialEq)]
enum Required {
    Split,
    Join,
    Body,
    Loop,
}

/// How often a statement may execute on the paths through code: never, once, more than once.
#[derive(Clone, Copy)]
struct PathCounts {
    never: bool,
    once: bool,
    more: bool,
}

impl PathCounts {
    const NONE: PathCounts = PathCounts { never: false, once: false, more: false };
    const NEVER: PathCounts = PathCounts { never: true, ..PathCounts::NONE };
    const ONCE: PathCounts = PathCounts { once: true, ..PathCounts::NONE };

    fn or(self, other: PathCounts) -> PathCounts {
        PathCounts {
            never: self.never | other.never,
            once: self.once | other.once,
            more: self.more | other.more,
        }
    }

    fn then(self, next: PathCounts) -> PathCounts {
        let some = |ways: PathCounts| ways.never | ways.once | ways.more;
        PathCounts {
            never: self.never && next.never,
            once: (self.once && next.never) | (self.never && next.once),
            more: (self.more && some(next)) | (some(self) && next.more) | (self.once && next.once),
        }
    }
}

impl Resolver<'_> {
    /// Reports required statements that are missing or occur more than once.
    pub fn check_flow(&mut self, kind: Composite, block: &Block, stream: &Stream) {
        let required: &[(Required, &str)] = match kind {
            Composite::Pipeline => &[],
            Composite::SplitJoin => &[(Required::Split, "split"), (Required::Join, "join")],
            Composite::FeedbackLoop => &[
                (Required::Join, "join"),
                (Required::Body, "body"),
                (Required::Loop, "loop"),
                (Required::Split, "split"),
            ],
        };
        for &(required, word) in required {
            let mut walk = Walk { required, found: Vec::new(), left: PathCounts::NONE };
            let ways = walk.stmts(&block.stmts);
            let ways = ways.or(walk.left);
            self.report_flow(kind, word, ways, &walk.found, stream);
        }
    }

    fn report_flow(
        &mut self,
        kind: Composite,
        word: &str,
        ways: PathCounts,
        found: &[Span],
        stream: &Stream,
    ) {
        let name =
            stream.name.as_ref().map_or(stream.span.with_end(stream.span.start() + 1), |name| name.span);
        let kind = composite_name(kind);
        let error = match found {
            [] => Diagnostic::new(name, format!("a {kind} without `{word}`"))
                .label(format!("missing `{word}`"))
                .hint(format!("add `{}`", example(word))),
            [first, .., last] if ways.more => {
                Diagnostic::new(*last, format!("duplicate `{word}` in a {kind}"))
                    .label("this may be a second one")
                    .other(*first, "the first one")
                    .hint("remove one of them, or put each into a branch of an `if`")
            }
            [first, ..] if ways.never => {
                let error =
                    Diagnostic::new(*first, format!("a {kind} needs a `{word}` on every path through it"));
                let hint = format!("add a `{word}` to the other branch too");
                error.label("this is not always executed").hint(hint)
            }
            _ => return,
        };
        self.error::<()>(error);
    }
}

/// An example of a missing statement.
fn example(word: &str) -> &'static str {
    match word {
        "split" => "split duplicate;` or `split roundrobin(1, 1);",
        "join" => "join roundrobin(1, 1);",
        "body" => "body Filter();",
        _ => "loop Identity<float>();",
    }
}

struct Walk {
    required: Required,
    found: Vec<Span>,
    /// Paths that end with `return`.
    left: PathCounts,
}

impl Walk {
    fn stmts(&mut self, stmts: &[Stmt]) -> PathCounts {
        let mut ways = PathCounts::NEVER;
        for stmt in stmts {
            if let StmtKind::Return(_) = stmt.kind {
                self.left = self.left.or(ways);
                return PathCounts::NONE;
            }
            let next = self.stmt(stmt);
            ways = ways.then(next);
        }
        ways
    }

    fn stmt(&mut self, stmt: &Stmt) -> PathCounts {
        let required = match &stmt.kind {
            StmtKind::Split(_) => Required::Split,
            StmtKind::Join(_) => Required::Join,
            StmtKind::Body(_) => Required::Body,
            StmtKind::Loop(_) => Required::Loop,
            StmtKind::Block(block) => return self.stmts(&block.stmts),
            StmtKind::If(branches, otherwise) => {
                let ways: Vec<_> = branches.iter().map(|(_, body)| self.part(body)).collect();
                let otherwise =
                    otherwise.as_ref().map_or(PathCounts::NEVER, |otherwise| self.part(otherwise));
                return ways.into_iter().rev().fold(otherwise, |others, way| way.or(others));
            }
            // The number of iterations is unknown; one iteration is assumed.
            StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::For { body, .. } => {
                return self.part(body);
            }
            _ => return PathCounts::NEVER,
        };
        if required != self.required {
            return PathCounts::NEVER;
        }
        self.found.push(stmt.span);
        PathCounts::ONCE
    }

    fn part(&mut self, stmt: &Stmt) -> PathCounts {
        self.stmts(std::slice::from_ref(stmt))
    }
}
