//! The targets of `danbi.*`.

use thalweg_danbi::Program;

use super::Target;

/// `auto` is not behind the best of the papers' policies, but for the noise of both.
const NOT_BEHIND: Target = Target::PairedAtMost(1.03);

/// The targets: with 1 and 2 workers that compute, and with 1, 2, 8 and 40 in dilated time.
pub fn all() -> impl Iterator<Item = (String, Target)> {
    let figures = [("computing", &[1, 2][..]), ("speedup", &[1, 2, 8, 40])];
    Program::ALL.into_iter().flat_map(move |program| {
        figures.into_iter().flat_map(move |(what, workers)| {
            let name = move |workers: &u32| format!("danbi.{what}.{}.n{workers}", program.name());
            workers.iter().map(move |workers| (name(workers), NOT_BEHIND))
        })
    })
}
