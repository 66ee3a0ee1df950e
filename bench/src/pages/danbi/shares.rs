//! The pictures of Figure 4.

use super::super::data::Data;
use super::super::plot::shares::{Row, Shares};
use super::super::{Plot, paper};
use super::tables::{mean, one};
use super::{POLICIES, PROGRAMS};
use crate::figures::DANBI_PARTS;

/// The parts that make up the time, and the one that they contain.
const PARTS: &[&str] = DANBI_PARTS.split_at(6).0;
const KERNEL: &str = DANBI_PARTS[6];

/// The families of figures: each has a picture.
const PICTURES: [(&str, &str, &str); 2] = [
    ("parts", "danbi-parts", "Where the time of 40 dilated workers goes"),
    ("costs", "danbi-costs", "Where the time of 2 workers that compute goes"),
];

/// The pictures.
pub fn plots(data: &Data) -> Vec<Plot> {
    let plot = |(family, file, shows)| Plot { file, shows, svg: picture(data, family) };
    PICTURES.into_iter().map(plot).collect()
}

fn picture(data: &Data, family: &str) -> Option<String> {
    let programs =
        PROGRAMS.into_iter().map(|(program, name, ..)| (name, rows(data, family, name, &[program])));
    let all = PROGRAMS.map(|(program, ..)| program);
    let groups = programs.chain([("mean", rows(data, family, "mean", &all))]);
    let groups = groups.filter(|(_, rows)| !rows.is_empty()).map(|(name, rows)| (name.to_owned(), rows));
    Shares { names: (PARTS, KERNEL), x: "share of the workers' time (%)", groups: groups.collect() }.svg()
}

/// The rows of the policies, each with the mean over these programs, and below each the paper's, if it states some of it.
fn rows(data: &Data, family: &str, name: &str, programs: &[&str]) -> Vec<Row> {
    let rows = POLICIES.iter().flat_map(|(policy, _)| {
        let share = |part: &str| {
            let of = |program: &&str| one(data, family, &format!("{program}.{policy}"))?.of(part);
            mean(programs.iter().map(of))
        };
        let ours = row((*policy).into(), share);
        let papers = ours.as_ref().and_then(|_| papers(name, policy));
        [ours, papers]
    });
    rows.flatten().collect()
}

/// A row of these shares; `None` without any.
fn row(name: String, share: impl Fn(&str) -> Option<f64>) -> Option<Row> {
    let parts: Vec<Option<f64>> = PARTS.iter().map(|part| share(part)).collect();
    let is_known = parts.iter().any(Option::is_some);
    let parts = parts.into_iter().map(Option::unwrap_or_default).collect();
    is_known.then(|| Row { name, parts, overlap: share(KERNEL) })
}

/// The paper's shares of 40 cores.
fn papers(program: &str, policy: &str) -> Option<Row> {
    let of = format!("{program} {policy}");
    let statement = paper::on("danbi.4.bars").into_iter().find(|statement| statement.what == of)?;
    let share = |part: &str| {
        let mut shares = statement.value.split(", ").filter_map(|share| share.rsplit_once(' '));
        shares.find(|(name, _)| *name == part)?.1.parse().ok()
    };
    row(format!("the paper's {policy}"), share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_shares_have_the_names_of_ours() {
        for statement in paper::on("danbi.4.bars") {
            let (program, policy) = statement.what.split_once(' ').unwrap();
            assert!(PROGRAMS.iter().any(|(_, name, ..)| *name == program) || program == "mean", "{program}");
            assert!(POLICIES.iter().any(|(name, _)| *name == policy), "{policy}");
            let row = papers(program, policy).unwrap();
            let known = row.parts.iter().filter(|part| **part > 0.0).count() + row.overlap.iter().count();
            assert_eq!(known, statement.value.split(", ").count(), "{}", statement.value);
        }
        assert!(papers("RG", "prs").is_none());
    }
}
