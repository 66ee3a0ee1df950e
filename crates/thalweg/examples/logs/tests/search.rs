//! The search does what its header says, on a small log.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn matching_lines_come_in_order() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("access.log");
    let line = |i: usize| {
        let status = if i.is_multiple_of(40) { 500 } else { 200 };
        format!("10.0.0.1 - - [21/Nov/2026:10:00:00 +0000] \"GET /{i} HTTP/1.1\" {status} 17\n")
    };
    fs::write(&file, (0..2000).map(line).collect::<String>()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_logs")).arg(" 500 ").arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let paths: Vec<&str> = lines.iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!(paths, (0..50).map(|i| format!("/{}", 40 * i)).collect::<Vec<_>>());
    assert!(lines.iter().all(|line| line["status"] == 500 && line["bytes"] == 17), "{found}");
}
