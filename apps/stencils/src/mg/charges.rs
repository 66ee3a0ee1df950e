//! The right side of the equation: zero but for ten charges of 1 and ten of -1, at the places of the ten largest and the ten
//! smallest of as many random numbers as there are points.

use crate::nas::Random;

/// The charges of each sign.
const COUNT: usize = 10;

/// The right side for a cube.
pub(super) fn charges(side: usize) -> Vec<f64> {
    let mut random = Random::new();
    let (mut largest, mut smallest) = (Extremes::default(), Extremes::default());
    for place in 0..side.pow(3) {
        let number = random.next();
        largest.offer(number, place);
        smallest.offer(-number, place);
    }
    let mut charges = vec![0.0; side.pow(3)];
    smallest.places().for_each(|place| charges[place] = -1.0);
    largest.places().for_each(|place| charges[place] = 1.0);
    charges
}

/// The places of the largest numbers so far, the smallest of them first.
#[derive(Default)]
struct Extremes {
    kept: Vec<(f64, usize)>,
}

impl Extremes {
    fn offer(&mut self, number: f64, place: usize) {
        if self.kept.len() == COUNT {
            if number <= self.kept[0].0 {
                return;
            }
            self.kept.remove(0);
        }
        let at = self.kept.partition_point(|(kept, _)| *kept < number);
        self.kept.insert(at, (number, place));
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.kept.iter().map(|(_, place)| *place)
    }
}
