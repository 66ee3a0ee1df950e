//! Names of nodes that differ in a number.

/// The name without the number at its end, and without what separates or encloses the number: `worker` of `worker`,
/// `worker-12`, `worker_12`, `worker12` and `worker[12]`. A name that is a number is its own base.
pub(super) fn base(name: &str) -> &str {
    let open = name.strip_suffix([']', ')']).unwrap_or(name);
    let digits = open.trim_end_matches(|c: char| c.is_ascii_digit());
    if digits.len() == open.len() {
        return name;
    }
    let base = digits.trim_end_matches(['-', '_', '.', ' ', '#', ':', '[', '(']);
    if base.is_empty() { name } else { base }
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn numbers_are_no_part_of_the_base() {
        for name in ["worker", "worker-12", "worker_12", "worker12", "worker[12]", "worker #0", "worker-0"] {
            assert_eq!(base(name), "worker");
        }
        for name in ["12", "-3", "", "a]", "x)"] {
            assert_eq!(base(name), name);
        }
        assert_eq!(base("a-1-2"), "a-1");
    }
}
