//! Rules of life: with how many living neighbours a cell is born, and with how many it survives.

use std::fmt;
use std::str::FromStr;

/// A rule such as Conway's `B3/S23`: a dead cell with 3 living neighbours is born, a living one with 2 or 3 survives.
///
/// ```
/// use thalweg_stencils::life::Rule;
/// let rule: Rule = "b36/s23".parse()?;
/// assert_eq!(rule.to_string(), "B36/S23");
/// assert_eq!("23/3".parse::<Rule>()?, Rule::CONWAY);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Bit `n`: a dead cell with `n` living neighbours is born.
    born: u16,
    /// Bit `n`: a living cell with `n` living neighbours survives.
    survives: u16,
}

impl Rule {
    /// Conway's rule, `B3/S23`.
    pub const CONWAY: Rule = Rule { born: 1 << 3, survives: 1 << 2 | 1 << 3 };

    /// Whether a cell with `neighbours` living neighbours lives in the next generation.
    pub fn lives(self, alive: bool, neighbours: u32) -> bool {
        let counts = if alive { self.survives } else { self.born };
        counts >> neighbours & 1 == 1
    }

    /// Whether dead cells without living neighbours are born. Then an unbounded plane has no finite pattern.
    pub fn fills_the_plane(self) -> bool {
        self.lives(false, 0)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |counts: u16| -> String {
            (0..9u8).filter(|n| counts >> n & 1 == 1).map(|n| char::from(b'0' + n)).collect()
        };
        write!(f, "B{}/S{}", digits(self.born), digits(self.survives))
    }
}

impl FromStr for Rule {
    type Err = String;

    /// Reads `B3/S23`, `b3s23` and the older form `23/3`, in which the counts of survival come first.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "rule `{text}` is not of the form B3/S23\nhelp: write the counts of neighbours of birth and survival"
            )
        };
        let lower = text.to_ascii_lowercase();
        let parts = match lower.strip_prefix('b') {
            Some(rest) => rest.split_once("/s").or_else(|| rest.split_once('s')),
            None => lower.split_once('/').map(|(survives, born)| (born, survives)),
        };
        let (born, survives) = parts.ok_or_else(bad)?;
        let counts = |digits: &str| {
            digits.bytes().try_fold(0u16, |counts, digit| match digit {
                b'0'..=b'8' => Some(counts | 1 << (digit - b'0')),
                _ => None,
            })
        };
        let (born, survives) = counts(born).zip(counts(survives)).ok_or_else(bad)?;
        Ok(Rule { born, survives })
    }
}
