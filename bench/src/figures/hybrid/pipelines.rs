//! Pipelines of Figures 5 to 7, whose results are computed here too.

use std::time::Instant;

use thalweg_lang::Sources;

use super::super::dynamic::{Kind, LAST, row, text};
use crate::native::{Cells, Compiler, Ours, Schedule};
use crate::race::{Contestant, Outcome, Role};
use crate::row::on_one_processor;
use crate::suite::checksum;

/// The numbers that the source repeats.
const NUMBERS: u64 = 1024;

/// The most items of a run: 64 MB of output, and a count that a StreamIt program can count to.
const MOST: u64 = 1 << 30;

/// A pipeline as native code. [`LAST`] items are combined into one output.
pub struct Pipeline {
    ours: Ours,
    /// Items of a steady state of the source.
    items: u64,
    /// The outputs for the numbers of the source.
    outputs: Vec<u32>,
    /// Whether it runs on one processor.
    confined: bool,
}

impl Pipeline {
    /// A pipeline over this many queues whose operators share `work` computations for each item.
    pub fn even(
        compiler: &Compiler,
        (queues, work): (u64, u64),
        rates: Kind,
        schedule: Schedule,
    ) -> Result<Self, String> {
        let works = vec![work / (queues + 1); queues as usize + 1];
        Self::new(compiler, &text(queues, work, rates), &works, rates, schedule)
    }

    /// Three operators: the second passes items on, the others do this many computations for each. If `rates` are
    /// dynamic, those of the second operator are.
    pub fn three(
        compiler: &Compiler,
        works: [u64; 2],
        rates: Kind,
        schedule: Schedule,
    ) -> Result<Self, String> {
        let [first, last] = works;
        Self::new(compiler, &text_of_three(works, rates), &[first, 0, last], rates, schedule)
    }

    fn new(
        compiler: &Compiler,
        text: &str,
        works: &[u64],
        rates: Kind,
        schedule: Schedule,
    ) -> Result<Self, String> {
        let ours = compiler.program(&Sources::of("pipeline.str", text), &Cells::new(&[]), schedule)?;
        let items = if rates == Kind::Static { LAST } else { 1 };
        Ok(Self { ours, items, outputs: outputs(works), confined: false })
    }

    /// The same on one processor.
    pub fn confined(self) -> Self {
        Self { confined: true, ..self }
    }

    /// Runs the pipeline for this many items, a multiple of [`LAST`].
    fn run(&mut self, items: u64) -> Outcome {
        let states = Some(items / self.items);
        if self.confined {
            on_one_processor(|| row(&mut self.ours, states, 1))
        } else {
            row(&mut self.ours, states, 1)
        }
    }

    /// The number of items, at least `least`, for which a run takes about `seconds`.
    pub fn items_for(&mut self, seconds: f64, least: u64) -> Result<u64, String> {
        let mut items = 16 * LAST;
        let taken = loop {
            let start = Instant::now();
            self.run(items)?;
            let taken = start.elapsed().as_secs_f64();
            if taken > seconds / 8.0 || items >= MOST / 8 {
                break taken;
            }
            items *= 4;
        };
        let items = (items as f64 * seconds / taken) as u64;
        Ok(items.clamp(least, MOST.max(least)).next_multiple_of(LAST))
    }

    /// A contestant that runs the pipeline for this many items and must have the computed result.
    pub fn contestant(mut self, name: &'static str, role: Role, items: u64) -> Contestant<'static> {
        let cells: Vec<u32> = self.outputs.iter().copied().cycle().take((items / LAST) as usize).collect();
        Contestant::new(name, role, items, move || self.run(items)).expecting(checksum(&cells))
    }
}

/// The text of three operators, and one that combines their results for the file.
fn text_of_three([first, last]: [u64; 2], rates: Kind) -> String {
    let rate = if rates == Kind::Static { "1" } else { "*" };
    let busy = |work: u64| format!("for (int i = 0; i < {work}; i++) x += i * 3.0 - 1.0;");
    let (first, last) = (busy(first), busy(last));
    format!(
        "void->void pipeline Main {{
            add void->float filter {{ work push 1 {{ float x = iter() & 1023; {first} push(x); }} }};
            add float->float filter {{ work pop {rate} push {rate} {{ push(pop()); }} }};
            add float->float filter {{ work pop 1 push 1 {{ float x = pop(); {last} push(x); }} }};
            add float->float filter {{
                work pop {LAST} push 1 {{
                    float sum = 0;
                    for (int k = 0; k < {LAST}; k++) sum += pop();
                    push(sum);
                }}
            }};
            add FileWriter<float>(\"out\");
        }}"
    )
}

/// The outputs of a pipeline for the numbers of the source.
fn outputs(works: &[u64]) -> Vec<u32> {
    let mut items: Vec<f32> = (0..NUMBERS).map(|x| x as f32).collect();
    works.iter().for_each(|work| busy(&mut items, *work));
    let sums = items.chunks(LAST as usize).map(|items| items.iter().fold(0.0, |sum, x| sum + x));
    sums.map(f32::to_bits).collect()
}

/// The paper's computations, this many for each item.
pub fn busy(items: &mut [f32], work: u64) {
    // In chunks whose additions do not wait for each other.
    for chunk in items.chunks_mut(64) {
        for i in 0..work {
            let more = i as f32 * 3.0 - 1.0;
            chunk.iter_mut().for_each(|x| *x += more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::Scheduler;

    #[test]
    fn computed_outputs_equal_the_programs() {
        let compiler = Compiler::new().unwrap();
        for scheduler in [Scheduler::Hybrid, Scheduler::Demand] {
            for rates in [Kind::Static, Kind::Fixed] {
                let schedule = Schedule { batch: Some(10), ..Schedule::of(scheduler) };
                let even = Pipeline::even(&compiler, (3, 40), rates, schedule).unwrap();
                let three = Pipeline::three(&compiler, [5, 7], rates, schedule).unwrap();
                for mut pipeline in [even, three.confined()] {
                    let row = pipeline.run(NUMBERS + 2 * LAST).unwrap().unwrap();
                    let expected = [&pipeline.outputs[..], &pipeline.outputs[..2]].concat();
                    assert_eq!(row.checksum, checksum(&expected));
                }
            }
        }
    }
}
