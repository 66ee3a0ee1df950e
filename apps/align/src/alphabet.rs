//! Letters of sequences and their codes.

use std::array::from_fn;
use std::sync::LazyLock;

/// The letters that sequences consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// Nucleotides: `A`, `C`, `G`, `T`, `U` (as `T`), and the other IUPAC letters, all as `N`.
    Dna,
    /// Amino acids: the 20 letters, `B`, `Z`, `X` and `*`. `U` counts as `C`, `O` as `K`, and `J` as `X`.
    Protein,
}

/// The letters of nucleotides, by code.
pub(crate) const DNA: &[u8] = b"ACGTN";
/// The letters of amino acids, by code: the order of the published BLOSUM tables.
pub(crate) const PROTEIN: &[u8] = b"ARNDCQEGHILKMFPSTWYVBZX*";

impl Alphabet {
    /// The letters with codes of their own, by code.
    pub fn letters(self) -> &'static [u8] {
        match self {
            Alphabet::Dna => DNA,
            Alphabet::Protein => PROTEIN,
        }
    }

    /// Whether a letter, in either case, belongs to the alphabet.
    pub fn contains(self, letter: u8) -> bool {
        let letter = letter.to_ascii_uppercase();
        match self {
            Alphabet::Dna => b"ACGTUNRYKMSWBDHV".contains(&letter),
            Alphabet::Protein => letter.is_ascii_uppercase() || letter == b'*',
        }
    }

    /// The code of a letter. A letter outside of the alphabet has the code of `N` or `X`.
    pub(crate) fn code(self, letter: u8) -> u8 {
        let letter = match (self, letter.to_ascii_uppercase()) {
            (Alphabet::Dna, b'U') => b'T',
            (Alphabet::Protein, b'U') => b'C',
            (Alphabet::Protein, b'O') => b'K',
            (_, letter) => letter,
        };
        let unknown = match self {
            Alphabet::Dna => 4,
            Alphabet::Protein => 22,
        };
        self.letters().iter().position(|l| *l == letter).unwrap_or(unknown) as u8
    }

    /// The codes of letters.
    pub(crate) fn codes(self, letters: &[u8]) -> Vec<u8> {
        static TABLES: LazyLock<[[u8; 256]; 2]> = LazyLock::new(|| {
            [Alphabet::Dna, Alphabet::Protein].map(|alphabet| from_fn(|letter| alphabet.code(letter as u8)))
        });
        let table = &TABLES[self as usize];
        letters.iter().map(|letter| table[usize::from(*letter)]).collect()
    }
}
