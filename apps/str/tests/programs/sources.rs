//! Properties of the source files of all programs.

use thalweg_str::PROGRAMS;

#[test]
fn every_file_has_a_header_that_names_its_source() {
    for (file, text) in PROGRAMS.iter().flat_map(|program| program.files) {
        let comment: String = text.lines().take_while(|line| line.starts_with("//")).collect();
        assert!(comment.len() > 80, "{file}");
        let is_main_of_shared = text.contains("void->void pipeline Main") && comment.contains("Needs");
        assert!(comment.contains("ource") || is_main_of_shared, "{file} names no source");
    }
}

#[test]
fn every_file_is_part_of_a_program() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let used = PROGRAMS.iter().flat_map(|program| program.files).any(|file| file.0 == name);
        assert!(used, "{name}");
    }
}
