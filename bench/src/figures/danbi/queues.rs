//! Figure 7: queues of other sizes, in rounds with those of the paper's.

use super::rounds::{Entrant, Rounds};
use super::size::{Size, problem};
use super::{MAX_WORKERS, Measured, options};
use crate::line::{Line, Measure};
use crate::race::Role;
use crate::session::Session;

/// The factor of the paper's queues, and the others.
const ONE: &str = "1";
const FACTORS: [(&str, f64); 5] =
    [(ONE, 1.0), ("1/3", 1.0 / 3.0), ("2/3", 2.0 / 3.0), ("2", 2.0), ("3", 3.0)];

fn name(measured: &Measured) -> String {
    format!("danbi.queues.{}", measured.program.name())
}

/// Whether the figure is selected.
pub fn is_selected(session: &Session, measured: &Measured) -> bool {
    session.selects(&name(measured))
}

/// By factor, the percentage by which the time differs from that with factor 1.
pub fn run(session: &mut Session, measured: &Measured, size: &Size) {
    if !is_selected(session, measured) {
        return;
    }
    let name = name(measured);
    let entrants = FACTORS.map(|(factor, value)| Entrant {
        name: factor,
        role: if factor == ONE { Role::Yardstick } else { Role::Aside },
        yardstick: ONE,
        options: options("prs", MAX_WORKERS).dilate(measured.dilation).firings_per_thread(value),
    });
    let problem = problem(measured, size.share(MAX_WORKERS));
    let Rounds { entries, records, .. } =
        Rounds::run(session, &name, &problem, MAX_WORKERS, entrants.into_iter().collect());
    let pairs: Vec<_> =
        FACTORS.iter().filter(|(factor, _)| *factor != ONE).map(|(factor, _)| (*factor, ONE)).collect();
    let line = Line::new(&name, Measure::Overhead, &entries, &records).paired(&records, &pairs);
    session.show(&line, &records);
}
