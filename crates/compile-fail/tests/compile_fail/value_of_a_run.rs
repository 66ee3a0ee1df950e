//! A run is its value and its report: `into_value` gives the value alone.

fn main() {
    let numbers: Vec<u64> = thalweg::from_iter(0..10u64).collect().run().unwrap();
    assert_eq!(numbers.len(), 10);
}
