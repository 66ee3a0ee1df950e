//! DES by published examples, and beside the tables of the standard.

use crate::support::{assert_chain, assert_everywhere};
use thalweg::embed::graph::Kind;
use thalweg_pipelines::Error;
use thalweg_pipelines::des::{Parameters, from_bytes, graph, input, padded, sequential, to_bytes, unpadded};

/// Keys, texts, and what they are encrypted: a textbook's example (J. O. Grabbe, *The DES Algorithm Illustrated*), then tests of
/// NIST's Special Publication 800-17: variable text and key, permutation, substitution tables.
const PUBLISHED: [[u64; 3]; 16] = [
    [0x1334_5779_9BBC_DFF1, 0x0123_4567_89AB_CDEF, 0x85E8_1354_0F0A_B405],
    [0x0E32_9232_EA6D_0D73, 0x8787_8787_8787_8787, 0x0000_0000_0000_0000],
    [0x0101_0101_0101_0101, 0x8000_0000_0000_0000, 0x95F8_A5E5_DD31_D900],
    [0x0101_0101_0101_0101, 0x4000_0000_0000_0000, 0xDD7F_121C_A501_5619],
    [0x0101_0101_0101_0101, 0x2000_0000_0000_0000, 0x2E86_5310_4F38_34EA],
    [0x0101_0101_0101_0101, 0x0000_0000_0000_0001, 0x166B_40B4_4ABA_4BD6],
    [0x8001_0101_0101_0101, 0x0000_0000_0000_0000, 0x95A8_D728_13DA_A94D],
    [0x4001_0101_0101_0101, 0x0000_0000_0000_0000, 0x0EEC_1487_DD8C_26D5],
    [0x1046_9134_8998_0131, 0x0000_0000_0000_0000, 0x88D5_5E54_F54C_97B4],
    [0x1007_1034_8998_8020, 0x0000_0000_0000_0000, 0x0C0C_C00C_83EA_48FD],
    [0x7CA1_1045_4A1A_6E57, 0x01A1_D6D0_3977_6742, 0x690F_5B0D_9A26_939B],
    [0x0131_D961_9DC1_376E, 0x5CD5_4CA8_3DEF_57DA, 0x7A38_9D10_354B_D271],
    [0x07A1_133E_4A0B_2686, 0x0248_D438_06F6_7172, 0x868E_BB51_CAB4_599A],
    [0x3849_674C_2602_319E, 0x5145_4B58_2DDF_440A, 0x7178_876E_01F1_9B2A],
    [0x04B9_15BA_43FE_B5B6, 0x42FD_4430_5957_7FA2, 0xAF37_FB42_1F8C_4095],
    [0x1C58_7F1C_1392_4FEF, 0x3055_3228_6D6F_295A, 0x63FA_C0D0_34D9_F793],
];

#[test]
fn blocks_are_those_that_were_published() {
    for [key, plain, encrypted] in PUBLISHED {
        for (decrypt, from, to) in [(false, plain, encrypted), (true, encrypted, plain)] {
            let parameters = Parameters { key, decrypt };
            assert_eq!(sequential(&[from], &parameters), [to], "{key:016X}, {from:016X}");
            let result = graph(&[from], &parameters).run().expect("a run").into_value();
            assert_eq!(result, [to], "{key:016X}, {from:016X}");
        }
    }
}

#[test]
fn each_kernel_takes_and_gives_a_block() {
    let blocks = input(1, 1);
    let rates = assert_chain(&graph(&blocks, &Parameters::default()).graph().data(), 20, Kind::Parallel);
    assert!(rates[1..19].iter().all(|rates| *rates == (1, 1)), "{rates:?}");
}

#[test]
fn results_are_those_of_the_tables_everywhere() {
    let blocks = input(500, 3);
    for decrypt in [false, true] {
        let parameters = Parameters { decrypt, ..Parameters::default() };
        let expected = sequential(&blocks, &parameters);
        assert_everywhere(&expected, || graph(&blocks, &parameters));
        let back = Parameters { decrypt: !decrypt, ..parameters };
        assert_eq!(graph(&expected, &back).run().expect("a run").into_value(), blocks);
    }
    assert!(graph(&[], &Parameters::default()).run().expect("a run").into_value().is_empty());
}

#[test]
fn texts_of_any_length_come_back() {
    let text: Vec<u8> = (0..40).collect();
    for length in 0..text.len() {
        let blocks = padded(&text[..length]);
        assert_eq!(blocks.len(), length / 8 + 1);
        assert_eq!(unpadded(&blocks).expect("a text"), text[..length]);
        assert_eq!(from_bytes(&to_bytes(&blocks)).expect("whole blocks"), blocks);
    }
}

#[test]
fn wrong_texts_are_refused_with_their_place() {
    assert!(matches!(from_bytes(&[0; 19]), Err(Error::Blocks { offset: 16 })));
    for last in [0, 9, 0x0202_0202_0202_0203, 0x0808_0808_0808_0708] {
        assert!(matches!(unpadded(&[1, last]), Err(Error::Padding { offset: 8 })), "{last:x}");
    }
    assert!(matches!(unpadded(&[]), Err(Error::Padding { offset: 0 })));
}
