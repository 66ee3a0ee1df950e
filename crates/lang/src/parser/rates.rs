//! Rates.

use super::{Parsed, Parser};
use crate::ast::{Bound, Range, Rate, Rates};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;

impl Parser<'_> {
    /// `rates := ( 'push' rate | 'pop' rate | 'peek' rate )*`; what cannot be read is left out, if a block
    /// follows.
    pub(super) fn rates(&mut self) -> Parsed<Rates> {
        let mut rates = Rates::default();
        let read = self.all_rates(&mut rates);
        read.or_else(|failed| if self.skip_to_block() { Ok(()) } else { Err(failed) })?;
        Ok(rates)
    }

    fn all_rates(&mut self, rates: &mut Rates) -> Parsed<()> {
        loop {
            self.mend(&[Kind::Push, Kind::Pop, Kind::Peek]);
            if !matches!(self.kind(), Kind::Push | Kind::Pop | Kind::Peek) {
                return Ok(());
            }
            let word = self.kind();
            let start = self.bump();
            if self.lacks_rate() {
                let error = Diagnostic::new(start, "a number is missing behind this")
                    .hint("`pop 1` is one item a firing, `pop *` any number");
                self.complain(error);
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
                let error = Diagnostic::new(self.since(start), format!("a second rate for `{text}`"));
                self.report(error.hint("leave one of them out"));
            }
            self.comma_between_rates();
        }
    }

    /// Whether the next rate or the body comes instead of a number.
    fn lacks_rate(&self) -> bool {
        let next = matches!(self.kind(), Kind::Push | Kind::Pop | Kind::Peek) && self.ahead(1) != Kind::Open;
        next || self.at(Kind::OpenBrace)
    }

    fn comma_between_rates(&mut self) {
        if self.at(Kind::Comma) {
            let error = Diagnostic::new(self.span(), "rates stand side by side without commas")
                .hint("leave the `,` out");
            self.complain(error);
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
        let hint = "write `[least, greatest]` or `[least, average, greatest]`";
        self.expect_with(Kind::Comma, "between the least and the greatest rate", Some(hint))?;
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
