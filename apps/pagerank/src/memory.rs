//! The memory that a graph needs, and its limit.

use crate::{Error, Result};

/// The bytes of a link while the graph is built: two 32-bit numbers as read, and one in the finished graph.
const LINK: u64 = 12;
/// The additional bytes of a link with a weight: as read, and in the finished graph.
const WEIGHT: u64 = 16;
/// The bytes of a page whose id is its number: the begin of its links, and four numbers of the iteration.
const NUMBERED_PAGE: u64 = 48;
/// The bytes of a page with any id, at most: the table that finds its number, while that grows, and its id.
const NAMED_PAGE: u64 = 88;

/// What a graph costs, and what it may cost.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    name: String,
    limit: u64,
    link: u64,
    page: u64,
}

impl Budget {
    /// The costs of a graph with `weighted` links and pages of any id (`named`), or with pages numbered in sequence.
    pub fn new(name: &str, limit: u64, weighted: bool, named: bool) -> Budget {
        Budget {
            name: name.into(),
            limit,
            link: if weighted { LINK + WEIGHT } else { LINK },
            page: if named { NAMED_PAGE } else { NUMBERED_PAGE },
        }
    }

    /// The bytes for these numbers of links and pages.
    fn bytes(&self, links: u64, pages: u64) -> u64 {
        links.saturating_mul(self.link).saturating_add(pages.saturating_mul(self.page))
    }

    /// Refuses links and pages, as far as these are known, that need more than the limit. Called before they are allocated.
    pub fn check(&self, links: u64, pages: Option<u64>) -> Result<()> {
        let (needed, limit) = (self.bytes(links, pages.unwrap_or(0)), self.limit);
        if needed <= limit {
            return Ok(());
        }
        Err(Error::Memory { name: self.name.clone(), needed, limit, links, pages })
    }

    /// The estimate for a graph.
    pub fn estimate(&self, links: Option<u64>, pages: Option<u64>, exact: bool) -> Estimate {
        Estimate {
            links,
            pages,
            exact,
            bytes_per_link: self.link,
            bytes_per_page: self.page,
            bytes: links.map(|links| self.bytes(links, pages.unwrap_or(0))),
            limit: self.limit,
        }
    }
}

/// What is known of a graph's size before its links are read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// The number of links to be stored: declared by the file, or estimated from its length and its first MiB. `None`
    /// if the length is not known.
    pub links: Option<u64>,
    /// The number of pages. `None` for an edge list, which shows them only as it is read.
    pub pages: Option<u64>,
    /// Whether the numbers are upper limits rather than estimates.
    pub exact: bool,
    /// The bytes of memory that a link needs at most.
    pub bytes_per_link: u64,
    /// The bytes of memory that a page needs at most.
    pub bytes_per_page: u64,
    /// The bytes of memory for the known links and pages together. `None` if the number of links is not known.
    pub bytes: Option<u64>,
    /// The limit for it.
    pub limit: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_checked_without_overflow() {
        let budget = Budget::new("test", 1000, false, false);
        assert!(budget.check(43, Some(10)).is_ok());
        let refused = budget.check(44, Some(10)).unwrap_err().to_string();
        assert!(
            refused.starts_with(
                "test needs 1008 B of memory for 44 links and 10 pages, the limit is 1000 B\nhelp: "
            ),
            "{refused}"
        );
        let refused = budget.check(2 << 30, None).unwrap_err().to_string();
        assert!(refused.starts_with("test needs 24 GiB of memory for 2147483648 links without their pages"));
        assert!(budget.check(u64::MAX, Some(u64::MAX)).is_err());
        assert_eq!(budget.estimate(Some(10), None, false).bytes, Some(120));
    }
}
