//! A block belongs to its call: it cannot be kept, and lends one row at a time.

use std::sync::Mutex;
use thalweg::Loop;
use thalweg::loops::BlockMut;

fn main() {
    let mut items = vec![0; 12];
    let kept: Mutex<Option<BlockMut<i32>>> = Mutex::new(None);
    Loop::new().for_blocks_mut(&mut items, 4, (2, 2), |block| *kept.lock().unwrap() = Some(block));
    Loop::new().for_blocks_mut(&mut items, 4, (2, 2), |mut block| {
        let first = block.rows().start;
        let (row, again) = (block.row_mut(first), block.row_mut(first));
        row.swap_with_slice(again);
    });
}
