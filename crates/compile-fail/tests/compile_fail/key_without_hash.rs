//! Groups are found by the hash of their key, which floating-point numbers do not have.

fn main() {
    let groups = thalweg::from_iter([1.5f64, 2.5]).fold_by_key(|x| *x, || 0, |count, _| count + 1);
    groups.run().unwrap();
}
