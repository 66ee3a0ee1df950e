//! The order of boxes in their layers, with few crossings, and their places in this order.

/// Sweeps over all layers.
const SWEEPS: usize = 12;

/// A graph whose edges lead from one layer to the next.
pub(super) struct Layers {
    /// The places of each layer, in order.
    pub(super) layers: Vec<Vec<usize>>,
    /// The neighbours of each place in the layer before and in the layer behind.
    pub(super) before: Vec<Vec<usize>>,
    pub(super) behind: Vec<Vec<usize>>,
}

impl Layers {
    /// Orders the places of each layer so that few edges cross.
    pub(super) fn order(&mut self) {
        let (mut best, mut least) = (self.layers.clone(), self.crossings());
        for sweep in 0..SWEEPS {
            if least == 0 {
                break;
            }
            self.sweep(sweep % 2 == 0);
            let crossings = self.crossings();
            if crossings < least {
                (best, least) = (self.layers.clone(), crossings);
            }
        }
        self.layers = best;
    }

    /// Sorts each layer by the mean position of the neighbours in the layer before it, or behind it.
    fn sweep(&mut self, forward: bool) {
        let mut at = self.positions();
        let count = self.layers.len();
        for step in 0..count {
            let layer = if forward { step } else { count - 1 - step };
            let neighbours = if forward { &self.before } else { &self.behind };
            let mean = |place: usize| {
                let near = &neighbours[place];
                match near.len() {
                    0 => at[place] as f64,
                    n => near.iter().map(|other| at[*other] as f64).sum::<f64>() / n as f64,
                }
            };
            let mut keyed: Vec<(f64, usize)> = self.layers[layer].iter().map(|p| (mean(*p), *p)).collect();
            // Stable, so places without a preference keep their order.
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.layers[layer] = keyed.into_iter().map(|(_, place)| place).collect();
            for (position, place) in self.layers[layer].iter().enumerate() {
                at[*place] = position;
            }
        }
    }

    fn positions(&self) -> Vec<usize> {
        let mut at = vec![0; self.before.len()];
        for layer in &self.layers {
            for (position, place) in layer.iter().enumerate() {
                at[*place] = position;
            }
        }
        at
    }

    fn crossings(&self) -> usize {
        let at = self.positions();
        let crossings = |layer: &Vec<usize>| {
            let ends: Vec<(usize, usize)> =
                layer.iter().flat_map(|p| self.behind[*p].iter().map(|to| (at[*p], at[*to]))).collect();
            let crosses = |(i, a): (usize, &(usize, usize))| {
                ends[i + 1..].iter().filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1)).count()
            };
            ends.iter().enumerate().map(crosses).sum::<usize>()
        };
        self.layers.iter().map(crossings).sum()
    }

    /// The centre of each place across the layers: near its neighbours, and apart from the next of its layer.
    /// `room` is the size of a place with the space around it.
    pub(super) fn centres(&self, room: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut centre = vec![0.0; self.before.len()];
        for layer in &self.layers {
            let mut at = 0.0;
            for place in layer {
                centre[*place] = at + room(*place) / 2.0;
                at += room(*place);
            }
        }
        for sweep in 0..2 * SWEEPS {
            for step in 0..self.layers.len() {
                let forward = sweep % 2 == 0;
                let layer = &self.layers[if forward { step } else { self.layers.len() - 1 - step }];
                let neighbours = if forward { &self.before } else { &self.behind };
                let wanted = |place: &usize| {
                    let near = &neighbours[*place];
                    match near.len() {
                        0 => centre[*place],
                        n => near.iter().map(|other| centre[*other]).sum::<f64>() / n as f64,
                    }
                };
                let wanted: Vec<f64> = layer.iter().map(wanted).collect();
                let rooms: Vec<f64> = layer.iter().map(|place| room(*place)).collect();
                for (place, at) in layer.iter().zip(apart(&wanted, &rooms)) {
                    centre[*place] = at;
                }
            }
        }
        centre
    }
}

/// The places nearest to the wanted ones, by least squares, that keep their order and their room: neighbours that are
/// too close move together (the pool-adjacent-violators algorithm).
fn apart(wanted: &[f64], rooms: &[f64]) -> Vec<f64> {
    let (mut offsets, mut offset) = (Vec::with_capacity(rooms.len()), 0.0);
    for (i, room) in rooms.iter().enumerate() {
        offset += if i == 0 { 0.0 } else { (rooms[i - 1] + room) / 2.0 };
        offsets.push(offset);
    }
    // Runs of places that moved together: their mean and their number.
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for (wanted, offset) in wanted.iter().zip(&offsets) {
        let mut run = (wanted - offset, 1);
        while let Some(last) = runs.last().filter(|last| last.0 >= run.0) {
            let count = last.1 + run.1;
            run = ((last.0 * last.1 as f64 + run.0 * run.1 as f64) / count as f64, count);
            runs.pop();
        }
        runs.push(run);
    }
    let means = runs.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count));
    means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_room() {
        assert_eq!(apart(&[0.0, 100.0], &[10.0, 10.0]), [0.0, 100.0]);
        assert_eq!(apart(&[50.0, 50.0, 50.0], &[10.0, 10.0, 10.0]), [40.0, 50.0, 60.0]);
        assert_eq!(apart(&[9.0, 1.0], &[4.0, 8.0]), [2.0, 8.0]);
    }

    #[test]
    fn crossings_disappear() {
        let mut layers = Layers {
            layers: vec![vec![0, 1], vec![2, 3]],
            before: vec![vec![], vec![], vec![1], vec![0]],
            behind: vec![vec![3], vec![2], vec![], vec![]],
        };
        assert_eq!(layers.crossings(), 1);
        layers.order();
        assert_eq!(layers.crossings(), 0);
    }
}
