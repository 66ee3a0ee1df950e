//! The formats.

use proptest::prelude::*;
use thalweg_align::{Aligner, Compare, Format, Gap, Quiet, Scoring, Sequence, Writer, compare, read_fasta};

fn written(queries: &str, targets: &str, format: Format, scoring: &Scoring) -> Result<String, String> {
    let read = |text: &str| read_fasta(text.as_bytes(), "text", None, u64::MAX).unwrap();
    write(&read(queries), &read(targets), format, scoring)
}

fn write(
    queries: &[Sequence],
    targets: &[Sequence],
    format: Format,
    scoring: &Scoring,
) -> Result<String, String> {
    let aligner = Aligner::new(scoring.clone());
    let how = Compare { best: false, least: 4, align: format.needs_alignments() };
    let mut writer = Writer::new(Vec::new(), format, (queries, targets), scoring, "the command")
        .map_err(|e| e.to_string())?;
    compare(&aligner, queries, targets, &how, &Quiet, |found| writer.write(&found)).unwrap();
    Ok(String::from_utf8(writer.finish().unwrap()).unwrap())
}

fn dna() -> Scoring {
    Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 }).unwrap()
}

const QUERIES: &str = ">q1 the first\nTTTACGTACGTACAAAACGTTGCA\n>q2\nCCCCCCCC\n>q3\n";
const TARGETS: &str = ">t1 a target\nGGACGTACGTACACGTTGCAGG\n>t2\nACGTTGCA\n>empty\n";

#[test]
fn text_shows_positions_and_marks() {
    let text =
        written(">q some words\nTTACGNACGTC\n>none\nG\n", ">t\nACGTACTC\n", Format::Text, &dna()).unwrap();
    let expected = "\
query  q some words (11 letters)
target t (8 letters)
score  10, identity 5/6 (83.3 %), gaps 0

query  3 ACGNAC 8
         |||.||
target 1 ACGTAC 6

query  none (1 letter)
no alignment

";
    assert_eq!(text, expected);
}

#[test]
fn text_is_divided_into_lines() {
    let (left, right) = ("ACGTTGCA".repeat(7), "GGATCCTTAG".repeat(4));
    let (query, target) = (format!(">q\n{left}{right}\n"), format!(">t\n{left}AC{right}\n"));
    let text = written(&query, &target, Format::Text, &dna()).unwrap();
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains("query  ") && !line.contains("letters")).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("query   1 ACGTTGCAAC") && lines[0].ends_with("CA--GG 58"), "{text}");
    assert!(lines[1].starts_with("query  59 ATCC") && lines[1].ends_with(" 96"), "{text}");
    assert!(text.contains("identity 96/98 (98.0 %), gaps 2\n"), "{text}");
}

#[test]
fn tsv_has_a_line_for_each_pair() {
    let text = written(QUERIES, TARGETS, Format::Tsv, &dna()).unwrap();
    assert_eq!(text, "query\ttarget\tscore\nq1\tt1\t27\nq1\tt2\t16\n");
}

#[test]
fn sam_has_one_primary_line_for_each_query() {
    let text = written(QUERIES, TARGETS, Format::Sam, &dna()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["@HD\tVN:1.6\tSO:unsorted\tGO:query", "@SQ\tSN:t1\tLN:22", "@SQ\tSN:t2\tLN:8"]);
    assert!(
        lines[3].starts_with("@PG\tID:thalweg\tPN:thalweg\tVN:") && lines[3].ends_with("\tCL:the command")
    );
    let flags: Vec<&str> = lines[4..].iter().map(|line| line.split('\t').nth(1).unwrap()).collect();
    assert_eq!(flags, ["0", "256", "4", "4"]);
    assert!(lines[6].ends_with("\t*\t0\t0\t*\t*\t0\t0\tCCCCCCCC\t*"));
    assert!(lines[7].starts_with("q3\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*"));
}

#[test]
fn names_that_sam_does_not_allow_are_refused() {
    for (queries, targets, what) in [
        (">a\nA\n", ">t\nA\n>t\nC\n", "two targets are called \"t\""),
        (">a\nA\n", ">*t\nA\n", "\"*t\""),
        (">a\nA\n", ">t,1\nA\n", "\"t,1\""),
        (">a@b\nA\n", ">t\nA\n", "\"a@b\""),
        (">é\nA\n", ">t\nA\n", "é"),
    ] {
        let message = written(queries, targets, Format::Sam, &dna()).unwrap_err();
        assert!(message.contains(what) && message.contains("\nhelp: "), "{message}");
        assert!(written(queries, targets, Format::Text, &dna()).is_ok());
    }
}

/// The runs of a CIGAR.
fn runs(cigar: &str) -> Vec<(usize, char)> {
    let parts = cigar.split_inclusive(|c: char| c.is_ascii_alphabetic());
    parts
        .map(|part| part.split_at(part.len() - 1))
        .map(|(count, kind)| (count.parse().unwrap(), kind.chars().next().unwrap()))
        .collect()
}

proptest! {
    #[test]
    fn sam_lines_agree_with_the_sequences(
        letters in prop::collection::vec("[ACGT]{0,40}", 1..4),
        targets in prop::collection::vec("[ACGT]{0,40}", 1..4),
    ) {
        let sequences = |prefix: &str, letters: &[String]| -> Vec<Sequence> {
            let make = |(at, letters): (usize, &String)| Sequence {
                name: format!("{prefix}{at}"),
                description: String::new(),
                letters: letters.clone().into_bytes(),
            };
            letters.iter().enumerate().map(make).collect()
        };
        let (queries, targets) = (sequences("q", &letters), sequences("t", &targets));
        let text = write(&queries, &targets, Format::Sam, &dna()).unwrap();
        let mut primary = vec![0; queries.len()];
        for line in text.lines().filter(|line| !line.starts_with('@')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let query = &queries[fields[0][1..].parse::<usize>().unwrap()].letters;
            primary[fields[0][1..].parse::<usize>().unwrap()] += usize::from(fields[1] != "256");
            if fields[1] == "4" {
                continue;
            }
            let target = &targets[fields[2][1..].parse::<usize>().unwrap()].letters;
            let (mut i, mut j) = (0, fields[3].parse::<usize>().unwrap() - 1);
            let (mut score, mut edits) = (0i32, 0);
            for (count, kind) in runs(fields[5]) {
                prop_assert!(count > 0);
                for _ in 0..if kind == 'M' { count } else { 0 } {
                    let equal = query[i] == target[j];
                    score += if equal { 2 } else { -3 };
                    edits += usize::from(!equal);
                    (i, j) = (i + 1, j + 1);
                }
                match kind {
                    'M' => {}
                    'S' => i += count,
                    'I' | 'D' => {
                        score -= 5 + 2 * (count as i32 - 1);
                        edits += count;
                        *(if kind == 'I' { &mut i } else { &mut j }) += count;
                    }
                    other => prop_assert!(false, "{other}"),
                }
            }
            prop_assert_eq!(i, query.len());
            prop_assert!(j <= target.len());
            prop_assert!(line.contains(&format!("\tAS:i:{score}\tNM:i:{edits}")), "{line}");
            let own = String::from_utf8(query.clone()).unwrap();
            prop_assert_eq!(fields[9], if fields[1] == "0" { own.as_str() } else { "*" });
        }
        prop_assert!(primary.iter().all(|count| *count == 1));
    }
}
