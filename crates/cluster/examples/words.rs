//! The ten most frequent words of files, counted by any number of processes:
//!
//! ```text
//! cargo run --release -p thalweg-cluster --example words -- README.md
//! thalweg launch -n 4 -- cargo run --release -p thalweg-cluster --example words -- README.md
//! ```

use std::error::Error;

use thalweg_cluster::Cluster;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let cluster = Cluster::from_env()?.job(files.join("\n")).batch(1);

    let counts = cluster
        .from_parts(files.len(), |part| [files[part].clone()])
        .try_par_map(|file| std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}")))
        .par_flat_map(|text| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>())
        .key_by(String::clone)
        .combine(|| 0u64, |count, _| *count += 1, |count, more| *count += more)
        .collect()
        .run()?;

    // Process 0 alone has the result.
    if let Some(mut counts) = counts {
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (word, count) in counts.iter().take(10) {
            println!("{count:8} {word}");
        }
    }
    Ok(())
}
