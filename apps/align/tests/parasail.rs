//! Scores equal those of parasail, which `fixture.py` has written to `parasail.tsv`.

use thalweg_align::{Aligner, Gap, Scoring};

const PAIRS: &str = include_str!("parasail.tsv");

#[test]
fn scores_equal_those_of_parasail() {
    let mut count = 0;
    for line in PAIRS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields[at].parse::<i32>().unwrap();
        let gap = Gap::Affine { open: number(3), extend: number(4) };
        let scoring = match fields[0] {
            "dna" => Scoring::dna(number(1), number(2), gap).unwrap(),
            _ => Scoring::protein(gap).unwrap(),
        };
        let (query, target, score) = (fields[5].as_bytes(), fields[6].as_bytes(), number(7));
        for block in [1024, 50, 3] {
            let aligner = Aligner::new(scoring.clone()).block(block);
            assert_eq!(aligner.score(query, target).unwrap(), score, "{line}");
            let found = aligner.align(query, target).unwrap();
            let rescored = found.map_or(0, |found| found.rescore(query, target, &scoring));
            assert_eq!(rescored, i64::from(score), "{line}");
        }
        count += 1;
    }
    assert_eq!(count, 100);
}
