//! Blocks and statements.

use super::{Parsed, Parser};
use crate::ast::{Block, Expr, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

impl Parser<'_> {
    /// `block := '{' stmt* '}'`
    pub(super) fn block(&mut self) -> Parsed<Block> {
        let start = self.expect(Kind::OpenBrace, "")?;
        let mut stmts = Vec::new();
        while !matches!(self.kind(), Kind::CloseBrace | Kind::End) && !self.ends_block() {
            let before = self.at;
            match self.stmt() {
                Ok(stmt) if self.at > before => stmts.push(stmt),
                _ => self.next_statement(before),
            }
        }
        self.close_brace(start);
        Ok(Block { stmts, span: self.since(start) })
    }

    /// Skips to the next possible statement after one that could not be read.
    fn next_statement(&mut self, before: usize) {
        let lacks_meaning = matches!(self.kind(), Kind::Switch | Kind::Case | Kind::Default);
        self.skip_from(before);
        if lacks_meaning && self.at(Kind::OpenBrace) {
            self.skip_group();
        }
        // The condition of an `if` could not be read; parse its `else` branch as a statement.
        self.eat(Kind::Else);
    }

    /// Consumes the `}` of a block; a missing one is reported and assumed.
    pub(super) fn close_brace(&mut self, open: Span) {
        if self.eat(Kind::CloseBrace) {
            return;
        }
        let error = Diagnostic::new(self.span(), format!("expected `}}`, found {}", self.found()))
            .label("missing `}` before this")
            .other(open, "unclosed brace");
        self.report_here(error);
    }

    /// A statement.
    pub(super) fn stmt(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let kind = self.nested(Parser::stmt_kind)?;
        Ok(Stmt { kind, span: self.since(start) })
    }

    fn stmt_kind(&mut self) -> Parsed<StmtKind> {
        self.correct_statement();
        match self.kind() {
            Kind::Add => self.create(StmtKind::Add),
            Kind::Body => self.create(StmtKind::Body),
            Kind::Loop => self.create(StmtKind::Loop),
            Kind::Split => self.weights(StmtKind::Split),
            Kind::Join => self.weights(StmtKind::Join),
            Kind::Enqueue => self.enqueue(),
            Kind::OpenBrace => Ok(StmtKind::Block(self.block()?)),
            Kind::Break => self.keyword(StmtKind::Break, "`break`"),
            Kind::Continue => self.keyword(StmtKind::Continue, "`continue`"),
            Kind::Return => self.return_stmt(),
            Kind::If => self.if_stmt(),
            Kind::While => self.while_stmt(),
            Kind::Do => self.do_stmt(),
            Kind::For => self.for_stmt(),
            Kind::Semicolon => {
                self.bump();
                Ok(StmtKind::Empty)
            }
            Kind::Else => self.else_without_if(),
            Kind::Switch | Kind::Case | Kind::Default | Kind::Template => self.unexpected("a statement"),
            Kind::Init | Kind::Work | Kind::Prework | Kind::Handler => self.misplaced_filter_part(),
            _ => self.simple_stmt(),
        }
    }

    fn simple_stmt(&mut self) -> Parsed<StmtKind> {
        let kind = self.simple()?;
        if let StmtKind::Expr(value) = &kind
            && let Some(read) = self.misspelt_condition(value)
        {
            return read;
        }
        let what = match kind {
            StmtKind::Declare(_) => "a declaration",
            StmtKind::Assign(..) => "an assignment",
            StmtKind::Push(_) => "`push`",
            _ => "a statement",
        };
        self.semicolon(what);
        Ok(kind)
    }

    fn keyword(&mut self, kind: StmtKind, what: &str) -> Parsed<StmtKind> {
        self.bump();
        self.semicolon(what);
        Ok(kind)
    }

    fn enqueue(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let value = self.expr()?;
        self.semicolon("the enqueued value");
        Ok(StmtKind::Enqueue(value))
    }

    fn return_stmt(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let value =
            if matches!(self.kind(), Kind::Semicolon | Kind::CloseBrace) { None } else { Some(self.expr()?) };
        self.semicolon("`return`");
        Ok(StmtKind::Return(value))
    }

    fn if_stmt(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let condition = self.condition("if")?;
        self.branches(condition)
    }

    /// The branches of an `if` after its condition, with those of each `else if` that follows.
    pub(super) fn branches(&mut self, mut condition: Expr) -> Parsed<StmtKind> {
        let mut branches = Vec::new();
        loop {
            branches.push((condition, self.stmt()?));
            if self.lookahead(1) == Kind::OpenBrace {
                self.correct_keyword(&[Kind::Else]);
            }
            if !self.eat(Kind::Else) {
                return Ok(StmtKind::If(branches, None));
            }
            if !self.eat(Kind::If) {
                let otherwise = Box::new(self.stmt()?);
                return Ok(StmtKind::If(branches, Some(otherwise)));
            }
            condition = self.condition("if")?;
        }
    }

    /// `'(' expr ')'`
    fn condition(&mut self, word: &str) -> Parsed<Expr> {
        let open = self.eat(Kind::Open);
        if !open {
            let error =
                Diagnostic::new(self.span(), format!("expected `(` after `{word}`, found {}", self.found()))
                    .hint("put the condition in parentheses");
            self.report_here(error);
        }
        let condition = self.expr()?;
        if open || self.at(Kind::Close) {
            self.expect(Kind::Close, "after the condition")?;
        }
        Ok(condition)
    }

    /// An `else` without `if`; the usual cause is an extra `;` or brace.
    fn else_without_if(&mut self) -> Parsed<StmtKind> {
        let error = Diagnostic::new(self.span(), "`else` without `if`")
            .hint("only one statement or one block may stand between `if` and `else`");
        self.report_here(error);
        self.bump();
        self.stmt().map(|stmt| stmt.kind)
    }

    fn while_stmt(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let condition = self.condition("while")?;
        Ok(StmtKind::While(condition, Box::new(self.stmt()?)))
    }

    fn do_stmt(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let body = Box::new(self.stmt()?);
        self.expect(Kind::While, "after the body of `do`")?;
        let condition = self.condition("while")?;
        self.semicolon("`do` and `while`");
        Ok(StmtKind::DoWhile(body, condition))
    }

    /// `'for' '(' [vardecl|exprstmt] ';' [expr] ';' [exprstmt] ')' stmt`
    fn for_stmt(&mut self) -> Parsed<StmtKind> {
        self.bump();
        self.expect(Kind::Open, "after `for`")?;
        let init = if self.at(Kind::Semicolon) { None } else { Some(self.part_of_for()?) };
        self.semicolon_in_for("the first part")?;
        let condition = if self.at(Kind::Semicolon) { None } else { Some(self.expr()?) };
        self.semicolon_in_for("the condition")?;
        let step = if self.at(Kind::Close) { None } else { Some(self.part_of_for()?) };
        self.expect(Kind::Close, "after the last part of `for`")?;
        let body = Box::new(self.stmt()?);
        Ok(StmtKind::For { init, condition, step, body })
    }

    fn semicolon_in_for(&mut self, after: &str) -> Parsed<()> {
        if self.eat(Kind::Semicolon) {
            return Ok(());
        }
        let expected = format!("`;` after {after} of `for`");
        self.unexpected_with(&expected, Some("separate the three parts of `for` with `;`".to_string()))
    }

    fn part_of_for(&mut self) -> Parsed<Box<Stmt>> {
        let start = self.span();
        let kind = self.simple()?;
        Ok(Box::new(Stmt { kind, span: self.since(start) }))
    }

    /// Reports a part of a filter in a composite stream, and skips it.
    fn misplaced_filter_part(&mut self) -> Parsed<StmtKind> {
        let text = self.text_at(self.span());
        let error = Diagnostic::new(self.span(), format!("`{text}` is allowed only in a filter"))
            .hint("this is the body of a pipeline, splitjoin or feedbackloop");
        let failed = self.fail(error);
        if self.skip_to_block() {
            self.skip_group();
        }
        failed
    }
}
