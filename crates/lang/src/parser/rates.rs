//! Rates.

use super::{Parsed, Parser};
use crate::ast::{Bound, Range, Rate, Rates};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;

impl Parser<'_> {
    /// `rates := ( 'push' rate | 'pop' rate | 'peek' rate )*`. If a rate cannot be read, skips to the following
    /// block.
    pub(super) fn rates(&mut self) -> Parsed<Rates> {
        let mut rates = Rates::default();
        let read = self.all_rates(&mut rates);
        read.or_else(|failed| if self.skip_to_block() { Ok(()) } else { Err(failed) })?;
        Ok(rates)
    }

    fn all_rates(&mut self, rates: &mut Rates) -> Parsed<()> {
        loop {
            self.correct_keyword(&[Kind::Push, Kind::Pop, Kind::Peek]);
            if !matches!(self.kind(), Kind::Push | Kind::Pop | Kind::Peek) {
                return Ok(());
            }
            let word = self.kind();
            let start = self.bump();
            if self.lacks_rate() {
                let error = Diagnostic::new(start, format!("missing rate after `{}`", self.text_at(start)))
                    .hint("write `pop 1` for one item per firing, or `pop *` for a dynamic rate");
                self.report_here(error);
                continue;
            }
            let rate = self.rate()?;
            let place = match word {
                Kind::Push => &mut rates.push,
                Kind::Pop => &mut rates.pop,
                _ => &mut rates.peek,
            };
            if place.replace(rate).is_some() {
                let text = self.text_at(start).to_string();
                let error = Diagnostic::new(self.since(start), format!("duplicate `{text}` rate"));
                self.report(error.hint("remove one of them"));
            }
            self.comma_between_rates();
        }
    }

    /// Whether the next rate or the body follows directly.
    fn lacks_rate(&self) -> bool {
        let next =
            matches!(self.kind(), Kind::Push | Kind::Pop | Kind::Peek) && self.lookahead(1) != Kind::Open;
        next || self.at(Kind::OpenBrace)
    }

    fn comma_between_rates(&mut self) {
        if self.at(Kind::Comma) {
            let error = Diagnostic::new(self.span(), "unexpected `,` between rates").hint("remove the `,`");
            self.report_here(error);
            self.bump();
        }
    }

    /// `rate := '*' | '[' dyn ',' dyn [',' dyn] ']' | expr`
    fn rate(&mut self) -> Parsed<Rate> {
        match self.kind() {
            Kind::Star => Ok(Rate::Any(self.bump())),
            Kind::OpenBracket => self.range(),
            _ => Ok(Rate::Static(self.expr()?)),
        }
    }

    fn range(&mut self) -> Parsed<Rate> {
        let start = self.bump();
        let min = self.bound()?;
        let hint = "write `[min, max]` or `[min, average, max]`";
        self.expect_with(Kind::Comma, "between the minimum and the maximum rate", Some(hint))?;
        let second = self.bound()?;
        let (average, max) =
            if self.eat(Kind::Comma) { (Some(second), self.bound()?) } else { (None, second) };
        self.expect_with(Kind::CloseBracket, "after the rate", Some(hint))?;
        Ok(Rate::Range(Box::new(Range { min, average, max, span: self.since(start) })))
    }

    /// `dyn := '*' | expr`
    fn bound(&mut self) -> Parsed<Bound> {
        if self.at(Kind::Star) { Ok(Bound::Any(self.bump())) } else { Ok(Bound::Number(self.expr()?)) }
    }
}
