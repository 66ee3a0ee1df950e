//! The next generation of rows, 64 cells at a time: bit `i` of a word is a cell, and counts of neighbours are added as
//! bits of several words.
//!
//! A row has one more word on each side, whose cells are the neighbours of the row's ends.

use super::Rule;

/// The number of living cells among three cells of a row (itself, west, east) for 64 cells, as a two-bit number.
#[derive(Clone, Copy)]
struct Three {
    ones: u64,
    twos: u64,
}

impl Three {
    #[inline(always)]
    fn new(west: u64, here: u64, east: u64) -> Self {
        let (west, east) = (here << 1 | west >> 63, here >> 1 | east << 63);
        let either = west ^ east;
        Three { ones: either ^ here, twos: west & east | either & here }
    }
}

/// The number of living cells among nine cells (itself and its neighbours) for 64 cells, as a four-bit number.
#[derive(Clone, Copy)]
struct Nine {
    ones: u64,
    twos: u64,
    fours: u64,
    eights: u64,
}

impl Nine {
    #[inline(always)]
    fn new(above: Three, here: Three, below: Three) -> Self {
        let either = above.ones ^ here.ones;
        let ones = either ^ below.ones;
        let carry = above.ones & here.ones | either & below.ones;
        // Four words of weight two, in two halves. A half with an odd sum has no carry, so the carry of the sum of both meets
        // no other.
        let (left, left_carry) = (above.twos ^ here.twos, above.twos & here.twos);
        let (right, right_carry) = (below.twos ^ carry, below.twos & carry);
        Nine {
            ones,
            twos: left ^ right,
            fours: left_carry ^ right_carry | left & right,
            eights: left_carry & right_carry,
        }
    }
}

/// Computes rows of the next generation. `old` has the rows of this generation from the row above the first one to the row
/// below the last one, of `stride` words each, and `new` has the rows between them. Bit `i` of word `w` of a row is cell
/// `64 (w - 1) + i`: the first and the last word are neighbours, of which `finish` writes those of each new row.
///
/// The sums of three cells of each row are used for three new rows, so more rows at once are faster; 16 suffice.
///
/// # Panics
/// If `new` has no whole rows, `old` has not two rows more, or a row has fewer than three words.
pub fn next_rows(rule: Rule, stride: usize, old: &[u64], new: &mut [u64], finish: impl FnMut(&mut [u64])) {
    assert!(stride > 2 && new.len().is_multiple_of(stride) && old.len() == new.len() + 2 * stride);
    if rule == Rule::CONWAY {
        // Three of nine, or four of nine with the cell itself.
        let lives =
            |nine: Nine, cell: u64| !(nine.ones ^ nine.twos) & (nine.fours ^ nine.ones) & (cell | nine.ones);
        fill(stride, old, new, lives, finish);
    } else {
        let table = Table::new(rule);
        fill(stride, old, new, |nine, cell| table.lives(nine, cell), finish);
    }
}

#[inline(always)]
fn fill(
    stride: usize,
    old: &[u64],
    new: &mut [u64],
    lives: impl Fn(Nine, u64) -> u64,
    mut finish: impl FnMut(&mut [u64]),
) {
    let words = stride - 2;
    // The sums of three rows: all ones of a row, and all twos.
    let mut memory = vec![0; 6 * words];
    let (above, rest) = memory.split_at_mut(2 * words);
    let (here, below) = rest.split_at_mut(2 * words);
    add_row(&old[..stride], above);
    add_row(&old[stride..2 * stride], here);
    let mut sums = [above, here, below];
    for (row, two) in new.chunks_exact_mut(stride).zip(old[stride..].windows(2 * stride).step_by(stride)) {
        let [above, here, below] = &mut sums;
        next_row(above, here, below, two, &mut row[1..=words], &lives);
        finish(row);
        sums.rotate_left(1);
    }
}

/// Adds three cells for each cell of a row. `sums` gets all ones, and behind them all twos.
fn add_row(row: &[u64], sums: &mut [u64]) {
    let count = sums.len() / 2;
    let (ones, twos) = sums.split_at_mut(count);
    let (row, twos) = (neighbours(row, count), &mut twos[..count]);
    for i in 0..count {
        let three = Three::new(row[0][i], row[1][i], row[2][i]);
        (ones[i], twos[i]) = (three.ones, three.twos);
    }
}

/// Computes a row from the sums of the rows above, here and below, of which it computes the last, and from the old rows here
/// and below.
// Not inlined: as arguments the slices are known not to overlap, without which the compiler does not vectorise the loop.
#[inline(never)]
fn next_row(
    above: &[u64],
    here: &[u64],
    below: &mut [u64],
    two: &[u64],
    new: &mut [u64],
    lives: impl Fn(Nine, u64) -> u64,
) {
    let count = new.len();
    // Slices of equal length let the compiler drop the bounds checks.
    let (above, here) = (halves(above, count), halves(here, count));
    let (ones, twos) = below.split_at_mut(count);
    let (ones, twos) = (&mut ones[..count], &mut twos[..count]);
    let (old, row) = two.split_at(count + 2);
    let (old, row) = (&old[1..=count], neighbours(row, count));
    for i in 0..count {
        let below = Three::new(row[0][i], row[1][i], row[2][i]);
        (ones[i], twos[i]) = (below.ones, below.twos);
        let above = Three { ones: above[0][i], twos: above[1][i] };
        let here = Three { ones: here[0][i], twos: here[1][i] };
        new[i] = lives(Nine::new(above, here, below), old[i]);
    }
}

fn halves(sums: &[u64], count: usize) -> [&[u64]; 2] {
    [&sums[..count], &sums[count..2 * count]]
}

/// The words to the west of the cells of a row, the cells, and the words to the east.
fn neighbours(row: &[u64], count: usize) -> [&[u64]; 3] {
    [&row[..count], &row[1..=count], &row[2..count + 2]]
}

/// A rule as words: for each sum of nine cells, all ones if the cell lives.
struct Table {
    dead: [u64; 10],
    alive: [u64; 10],
}

impl Table {
    fn new(rule: Rule) -> Self {
        let word = |lives: bool| if lives { u64::MAX } else { 0 };
        let mut table = Table { dead: [0; 10], alive: [0; 10] };
        for neighbours in 0..9 {
            table.dead[neighbours] = word(rule.lives(false, neighbours as u32));
            table.alive[neighbours + 1] = word(rule.lives(true, neighbours as u32));
        }
        table
    }

    #[inline(always)]
    fn lives(&self, nine: Nine, cell: u64) -> u64 {
        let bits = [nine.ones, nine.twos, nine.fours, nine.eights];
        let mut lives = 0;
        for sum in 0..10 {
            let mut equal = u64::MAX;
            for (at, bit) in bits.into_iter().enumerate() {
                equal &= if sum >> at & 1 == 1 { bit } else { !bit };
            }
            lives |= equal & (cell & self.alive[sum] | !cell & self.dead[sum]);
        }
        lives
    }
}
