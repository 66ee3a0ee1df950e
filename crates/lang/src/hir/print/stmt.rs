//! Printing of statements.

use super::Printer;
use crate::hir::{Creator, Expr, Latency, Made, Root, Send, Stmt, StmtKind, Weights};

impl<'a> Printer<'a> {
    pub fn stmts(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Declare { local, ty, init } => {
                let init = init.as_ref().map_or(String::new(), |init| format!(" = {}", self.init(init)));
                self.line(format!("let {}: {}{init}", self.root(Root::Local(*local)), self.shaped(ty)));
            }
            StmtKind::Assign(place, value) => {
                self.line(format!("{} = {}", self.place(place), self.expr(value)));
            }
            StmtKind::Update { place, op, value, via } => {
                let (place, value, via) = (self.place(place), self.expr(value), self.ty(via));
                self.line(format!("{place} {}= {value} as {via}", op.symbol()));
            }
            StmtKind::Expr(value) => self.line(self.expr(value)),
            StmtKind::Push(value) => self.line(format!("push({})", self.expr(value))),
            StmtKind::Print(value, line) => self.print(value.as_ref(), *line),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(value) => {
                let value = value.as_ref().map_or(String::new(), |value| format!(" {}", self.expr(value)));
                self.line(format!("return{value}"));
            }
            StmtKind::Send(send) => self.send(send),
            StmtKind::Add(creator) => self.creator("add", creator),
            StmtKind::Body(creator) => self.creator("body", creator),
            StmtKind::Loop(creator) => self.creator("loop", creator),
            StmtKind::Split(weights) => self.line(format!("split {}", self.weights(weights))),
            StmtKind::Join(weights) => self.line(format!("join {}", self.weights(weights))),
            StmtKind::Enqueue(value) => self.line(format!("enqueue {}", self.expr(value))),
            _ => self.control(&stmt.kind),
        }
    }

    fn control(&mut self, kind: &'a StmtKind) {
        match kind {
            StmtKind::Block(stmts) => self.part("block".into(), stmts),
            StmtKind::If(branches, otherwise) => {
                for (at, (condition, body)) in branches.iter().enumerate() {
                    let word = if at == 0 { "if" } else { "else if" };
                    self.part(format!("{word} {}", self.expr(condition)), body);
                }
                if !otherwise.is_empty() {
                    self.part("else".into(), otherwise);
                }
            }
            StmtKind::While(condition, body) => self.part(format!("while {}", self.expr(condition)), body),
            StmtKind::DoWhile(body, condition) => {
                self.part("do".into(), body);
                self.line(format!("while {}", self.expr(condition)));
            }
            StmtKind::For { init, condition, step, body } => {
                let condition = condition.as_ref().map_or("true".into(), |condition| self.expr(condition));
                self.part("for".into(), init);
                self.part(format!("while {condition}"), body);
                self.part("step".into(), step);
            }
            _ => {}
        }
    }

    fn part(&mut self, head: String, stmts: &'a [Stmt]) {
        self.line(head);
        self.nested(|this| this.stmts(stmts));
    }

    fn print(&mut self, value: Option<&Expr>, line: bool) {
        let word = if line { "println" } else { "print" };
        let value = value.map_or(String::new(), |value| self.expr(value));
        self.line(format!("{word}({value})"));
    }

    fn send(&mut self, send: &Send) {
        let bound = |bound: &Option<Expr>| bound.as_ref().map_or(String::new(), |bound| self.expr(bound));
        let latency = match &send.latency {
            Latency::Any => "*".into(),
            Latency::Between(min, max) => format!("{}:{}", bound(min), bound(max)),
        };
        let (portal, to, args) =
            (self.place(&send.portal), self.stream_name(send.to.0), self.exprs(&send.args));
        self.line(format!("send {portal} {to}.{}({args}) [{latency}]", send.handler));
    }

    fn creator(&mut self, word: &str, creator: &Creator) {
        let made = match &creator.made {
            Made::Stream(id) => self.stream_name(id.0),
            Made::Identity(ty) => format!("Identity<{}>", self.shaped(ty)),
            Made::FileReader(ty) => format!("FileReader<{}>", self.shaped(ty)),
            Made::FileWriter(ty) => format!("FileWriter<{}>", self.shaped(ty)),
        };
        let portals: Vec<_> =
            creator.portals.iter().map(|portal| format!(" to {}", self.place(portal))).collect();
        self.line(format!("{word} {made}({}){}", self.exprs(&creator.args), portals.concat()));
    }

    fn weights(&self, weights: &Weights) -> String {
        match weights {
            Weights::Duplicate => "duplicate".into(),
            Weights::RoundRobin(weights) => format!("roundrobin({})", self.exprs(weights)),
        }
    }
}
