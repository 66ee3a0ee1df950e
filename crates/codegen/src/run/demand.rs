//! Demand-driven scheduling of regions.

use super::Run;
use super::parts::Sources;
use thalweg_lang::interpret::{Stop, Surroundings};

impl Run<'_> {
    /// Lets each sink region run. A region that lacks input first lets its producers run, and so on up to the
    /// sources. Repeats until the input has ended or the run is interrupted.
    pub(super) fn pull_all(
        &mut self,
        sources: &mut Sources,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        let region_of = self.native.compiled.schedule.region_of();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.regions.len()];
        let mut ends = vec![true; self.regions.len()];
        for channel in self.native.compiled.flat.channels() {
            let (from, to) = (region_of[channel.from.0.index()], region_of[channel.to.0.index()]);
            if from != to {
                before[to].push(from);
                ends[from] = false;
            }
        }
        while !sources.over && !(around.interrupted)() {
            for region in (0..ends.len()).filter(|region| ends[*region]) {
                self.pull(region, &before, sources)?;
            }
            (around.progress)(sources.done);
        }
        Ok(())
    }

    fn pull(&mut self, region: usize, before: &[Vec<usize>], sources: &mut Sources) -> Result<bool, Stop> {
        if self.regions[region].source {
            return self.feed(sources);
        }
        while !self.advance(region, None)? {
            let mut any = false;
            for other in &before[region] {
                any |= self.pull(*other, before, sources)?;
            }
            if !any {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs a batch of all sources; returns whether there was one.
    fn feed(&mut self, sources: &mut Sources) -> Result<bool, Stop> {
        if sources.over {
            return Ok(false);
        }
        let n = self.next_batch(sources)?;
        for region in 0..self.regions.len() {
            if self.regions[region].source {
                self.advance(region, Some(n))?;
            }
        }
        Ok(n > 0)
    }
}
