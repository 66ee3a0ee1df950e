//! A window shows items that other firings see too: it has no `pop`.

use thalweg::from_iter;

fn main() {
    let _ = from_iter(0..9u64).windows(3, 1, |window| window.pop());
}
