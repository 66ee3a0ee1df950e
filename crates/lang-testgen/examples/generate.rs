//! Prints a random program: `generate SEED`.
fn main() {
    let seed = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    print!("{}", thalweg_lang_testgen::from_seed(seed));
}
