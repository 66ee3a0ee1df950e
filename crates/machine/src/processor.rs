//! The model of the processors, and what they can do.

use crate::system::System;
use std::path::Path;
use thalweg_graph::data;

data! {
    /// The machine's processors, as the system describes the first of them. Empty where it does not.
    ///
    /// ```
    /// let processor = thalweg_machine::Processor::here();
    /// println!("{}: {}", processor.model(), processor.features().join(" "));
    /// ```
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Processor {
        /// The name of the model.
        view model: String => &str;
        /// The names of its features (`avx2`, for example), in the system's order.
        view features: Vec<String> => &[String];
    }
}

impl Processor {
    /// The processors of this machine. On Linux it reads `/proc/cpuinfo`, which takes about 0.1 ms for each unit.
    pub fn here() -> Processor {
        read(&System::live())
    }

    /// The processors of the machine whose `/proc` has a copy below `root`; see [`Machine::below`](crate::Machine::below).
    pub fn below(root: impl AsRef<Path>) -> Processor {
        read(&System::copy(root.as_ref()))
    }
}

fn read(system: &System) -> Processor {
    let text = system.text("proc/cpuinfo").unwrap_or_default();
    let first = |names: &[&str]| {
        let values = text.lines().filter_map(|line| line.split_once(':'));
        let found = values.into_iter().find(|(name, _)| names.contains(&name.trim()));
        found.map_or("", |(_, value)| value.trim()).to_owned()
    };
    // The names of x86, and those of ARM.
    let features = first(&["flags", "Features"]);
    Processor {
        model: first(&["model name"]),
        features: features.split_whitespace().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Processor {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        std::fs::write(folder.path().join("proc/cpuinfo"), text).unwrap();
        Processor::below(folder.path())
    }

    #[test]
    fn the_first_processor_is_described() {
        let x86 =
            of("processor\t: 0\nmodel\t: 1\nmodel name\t: Xeon 9\nvmx flags\t: ept\nflags\t\t: fpu avx2\n\
            \nprocessor\t: 1\nmodel name\t: other\nflags\t\t: fpu\n");
        assert_eq!((x86.model.as_str(), x86.features), ("Xeon 9", vec!["fpu".to_owned(), "avx2".to_owned()]));
        let arm = of("processor\t: 0\nFeatures\t: fp asimd\n");
        assert_eq!((arm.model.as_str(), arm.features.len()), ("", 2));
    }

    #[test]
    fn without_the_file_nothing_is_known() {
        assert_eq!(Processor::below("/nowhere"), Processor::default());
    }
}
