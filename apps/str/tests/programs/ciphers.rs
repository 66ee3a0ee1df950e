//! Ciphers, compared with published vectors and with the crates `des` and `serpent`.

use crate::run::run;
use des::cipher::{BlockCipherEncrypt, KeyInit};
use thalweg_str::generate;

fn des(key: u64, decrypt: bool, blocks: &[u64]) -> Vec<u64> {
    let words: Vec<i32> = blocks.iter().flat_map(|block| [(block >> 32) as i32, *block as i32]).collect();
    let changes = [
        ("DECRYPT", u8::from(decrypt).to_string()),
        ("KEY_HIGH", format!("0x{:08X}", key >> 32)),
        ("KEY_LOW", format!("0x{:08X}", key as u32)),
    ];
    let result: Vec<i32> = run("des", &changes, &words);
    result.chunks_exact(2).map(|pair| u64::from(pair[0] as u32) << 32 | u64::from(pair[1] as u32)).collect()
}

#[test]
fn des_passes_the_published_test() {
    // R. L. Rivest, Testing Implementations of DES, 1985: each result is the next key and the next text.
    let mut x = 0x9474_B8E8_C73B_CA7D;
    for i in 0..16 {
        x = des(x, i % 2 == 1, &[x])[0];
    }
    assert_eq!(x, 0x1B1A_2DDB_4C64_2438);
}

#[test]
fn des_agrees_with_the_crate_and_has_an_inverse() {
    let numbers = generate::integers(1, 12);
    let key = 0x1334_5779_9BBC_DFF1;
    let blocks: Vec<u64> = numbers
        .chunks_exact(2)
        .map(|pair| u64::from(pair[0] as u32) << 32 | u64::from(pair[1] as u32))
        .collect();
    let cipher = des::Des::new(&u64::to_be_bytes(key).into());
    let expected: Vec<u64> = blocks
        .iter()
        .map(|block| {
            let mut bytes = block.to_be_bytes().into();
            cipher.encrypt_block(&mut bytes);
            u64::from_be_bytes(bytes.into())
        })
        .collect();
    assert_eq!(des(key, false, &blocks), expected);
    assert_eq!(des(key, true, &expected), blocks);
}

fn words(words: &[i32]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("0x{word:08X}")).collect();
    format!("{{{}}}", words.join(", "))
}

/// Blocks encrypted by the crate's cipher in CBC mode.
fn chained(key: &[i32], vector: &[i32], blocks: &[i32]) -> Vec<i32> {
    let key: Vec<u8> = key.iter().flat_map(|word| word.to_le_bytes()).collect();
    let cipher = serpent::Serpent::new_from_slice(&key).unwrap();
    let mut before = vector.to_vec();
    let mut result = Vec::new();
    for block in blocks.chunks_exact(4) {
        let mixed: Vec<u8> = block.iter().zip(&before).flat_map(|(a, b)| (a ^ b).to_le_bytes()).collect();
        let mut bytes = <[u8; 16]>::try_from(mixed).unwrap().into();
        cipher.encrypt_block(&mut bytes);
        before = bytes.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect();
        result.extend(&before);
    }
    result
}

#[test]
fn serpent_agrees_with_the_crate() {
    let key = generate::integers(2, 8);
    let vector = generate::integers(3, 4);
    let blocks = generate::integers(4, 12);
    let changes = [("KEY", words(&key)), ("VECTOR", words(&vector))];
    let result: Vec<i32> = run("serpent", &changes, &blocks);
    assert_eq!(result, chained(&key, &vector, &blocks));
}

#[test]
fn serpent_passes_the_published_test() {
    // The NESSIE test vectors for 256-bit keys, set 1, vector 0: key 80 00 ..., plain text of zeros.
    let key = [0x80, 0, 0, 0, 0, 0, 0, 0];
    let result: Vec<i32> = run("serpent", &[("KEY", words(&key))], &[0; 4]);
    let bytes: Vec<u8> = result.iter().flat_map(|word| word.to_le_bytes()).collect();
    let text: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(text, "A223AA1288463C0E2BE38EBD825616C0");
}
