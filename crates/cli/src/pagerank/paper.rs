//! Graphs of the sizes of the paper's crawls.

use clap::{Args, ValueEnum};
use thalweg_pagerank::Rmat;

/// The iterations of the paper.
pub(super) const ITERATIONS: usize = 10;

/// A random graph in place of a crawl.
#[derive(Debug, Args)]
pub(super) struct Paper {
    /// Make a random graph (R-MAT) of 1/S of the pages and links of a crawl in table 5.1 of "Locality-Aware Concurrency
    /// Platforms" (Maglalang, 2017), and do 10 iterations as there; without S, 1/16. The crawls themselves are not
    /// published with the paper. Pages become a power of two
    #[arg(long, value_name = "S", num_args = 0..=1, default_missing_value = "16", conflicts_with_all = ["graph", "rmat"],
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub scale: Option<u32>,
    /// The crawl that --scale means
    #[arg(long, value_name = "NAME", default_value = "uk-2002", requires = "scale", conflicts_with_all = ["graph", "rmat"])]
    pub crawl: Crawl,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Crawl {
    /// 18 million pages, 298 million links
    #[value(name = "uk-2002")]
    Uk2002,
    /// 41 million pages, 1468 million links
    #[value(name = "twitter-2010")]
    Twitter2010,
    /// 105 million pages, 3738 million links
    #[value(name = "uk-2007-05")]
    Uk2007,
}

impl Crawl {
    /// Millions of pages and links.
    fn size(self) -> (f64, f64) {
        match self {
            Crawl::Uk2002 => (18.0, 298.0),
            Crawl::Twitter2010 => (41.0, 1468.0),
            Crawl::Uk2007 => (105.0, 3738.0),
        }
    }
}

impl Paper {
    /// The generator for 1/`scale` of the crawl: as many pages as the nearest power of two, and the links of the crawl's
    /// share.
    pub fn rmat(&self, scale: u32) -> Rmat {
        let (pages, links) = self.crawl.size();
        let share = 1e6 / f64::from(scale);
        let exponent = (pages * share).log2().round();
        Rmat::new(exponent as u32).edge_factor((links * share / exponent.exp2()).round() as u32)
    }

    /// The name of the graph in messages.
    pub fn name(&self, scale: u32) -> String {
        let name =
            self.crawl.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        format!("R-MAT graph like {name} at scale {scale}")
    }
}
