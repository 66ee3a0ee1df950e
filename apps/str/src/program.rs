//! The texts of the programs, with changeable constants.

use thalweg_lang::Sources;

/// A program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Program {
    /// The name. The program reads `NAME.in` and writes `NAME.out`.
    pub name: &'static str,
    /// The names and texts of its source files. The first belongs to this program alone, the others are shared.
    pub files: &'static [(&'static str, &'static str)],
}

macro_rules! programs {
    ($($name:literal $(+ $shared:literal)?),* $(,)?) => {
        &[$(Program {
            name: $name,
            files: &[
                (concat!($name, ".str"), include_str!(concat!("../programs/", $name, ".str"))),
                $((concat!($shared, ".str"), include_str!(concat!("../programs/", $shared, ".str"))),)?
            ],
        }),*]
    };
}

/// All programs.
pub const PROGRAMS: &[Program] = programs![
    "fm_radio" + "low_pass",
    "filter_bank" + "low_pass",
    "time_delay_equaliser" + "fourier",
    "fft" + "fourier",
    "beamformer",
    "des",
    "serpent",
    "bitonic_sort",
    "radix_sort",
    "dct",
    "matrix_multiply",
    "matrix_multiply_blocks",
    "channel_vocoder" + "low_pass",
    "lz77_encode" + "lz77",
    "lz77_decode" + "lz77",
    "run_length_encode" + "run_length",
    "run_length_decode" + "run_length",
    "huffman_encode" + "huffman",
    "huffman_decode" + "huffman",
    "huffman_channel" + "huffman",
    "bargain_finder",
    "bargain_finder_no_op",
    "predicate_filter",
    "predicate_filter_no_op",
    "video_decoder",
    "gain_control",
    "danbi_filter_bank" + "low_pass",
    "danbi_fm_radio" + "low_pass",
    "danbi_fft2",
    "danbi_tde" + "fourier",
];

impl Program {
    /// The program of this name.
    pub fn named(name: &str) -> Option<Program> {
        PROGRAMS.iter().find(|program| program.name == name).copied()
    }

    /// The source files, with some constants of their `static` blocks changed. `changes` has names and new values.
    ///
    /// # Errors
    /// Returns the name of a constant that the program does not have.
    pub fn sources(&self, changes: &[(&str, &str)]) -> Result<Sources, String> {
        let mut texts: Vec<String> = self.files.iter().map(|file| file.1.to_owned()).collect();
        for (constant, value) in changes {
            let changed = texts.iter_mut().filter_map(|text| {
                let range = value_of(text, constant)?;
                text.replace_range(range, value);
                Some(())
            });
            if changed.count() != 1 {
                return Err((*constant).to_owned());
            }
        }
        let mut sources = Sources::new();
        for ((name, _), text) in self.files.iter().zip(texts) {
            sources.add(*name, text);
        }
        Ok(sources)
    }
}

/// The range of a constant's value in a program: between ` NAME = ` and `;`, on a line of its own in a `static` block.
fn value_of(text: &str, constant: &str) -> Option<std::ops::Range<usize>> {
    let words = format!(" {constant} = ");
    let is_declared = |at: &usize| {
        let before = &text[..*at];
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        let top = before.lines().rev().find(|line| !line.is_empty() && !line.starts_with([' ', '}']));
        let is_field = line.strip_prefix("    ").is_some_and(|ty| !ty.contains(' '));
        is_field && top == Some("static {")
    };
    let at = text.match_indices(&words).map(|(at, _)| at).find(is_declared)?;
    let start = at + words.len();
    Some(start..start + text[start..].find(';')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_declarations_of_constants_are_changed() {
        let des = Program::named("des").unwrap();
        let sources = des.sources(&[("KEY_LOW", "7"), ("TURNS", "{1}")]).unwrap();
        let text = &sources.files()[0].text;
        assert!(text.contains("    int KEY_LOW = 7;\n"));
        assert!(text.contains("    int[16] TURNS = {1};\n"));
        assert_eq!(text.matches("KEY_LOW").count(), des.files[0].1.matches("KEY_LOW").count());
    }

    #[test]
    fn an_unknown_constant_is_an_error() {
        assert_eq!(Program::named("des").unwrap().sources(&[("SIZE", "1")]).unwrap_err(), "SIZE");
        // Variables and fields are not constants.
        assert_eq!(Program::named("des").unwrap().sources(&[("turned", "1")]).unwrap_err(), "turned");
        assert_eq!(Program::named("lz77_encode").unwrap().sources(&[("seen", "1")]).unwrap_err(), "seen");
    }

    #[test]
    fn constants_of_shared_files_can_be_changed() {
        let sources = Program::named("lz77_encode").unwrap().sources(&[("WINDOW", "99")]).unwrap();
        assert!(sources.files()[1].text.contains("int WINDOW = 99;"));
    }

    #[test]
    fn every_program_has_a_unique_name_and_uses_it_for_its_files() {
        for program in PROGRAMS {
            assert_eq!(Program::named(program.name), Some(*program));
            let text = program.files[0].1;
            if text.contains("FileReader") {
                assert!(text.contains(&format!("(\"{}.in\")", program.name)), "{}", program.name);
                assert!(text.contains(&format!("(\"{}.out\")", program.name)), "{}", program.name);
            }
        }
    }
}
