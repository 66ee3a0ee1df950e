//! The service times of a node: two distributions.

use super::value::{Read, Value};
use super::write::Fields;
use thalweg_trace::Distribution;
use thalweg_trace::Service;

const BUCKETS: usize = 41;

struct Times {
    samples: u64,
    count: u64,
    sum: f64,
    squares: f64,
    buckets: Vec<u64>,
}

/// Writes both distributions as fields of the node.
pub(super) fn write(service: &Service, to: &mut Fields<'_>) {
    to.object("activation", |to| write_distribution(&service.activation, to));
    to.object("firing", |to| write_distribution(&service.firing, to));
}

fn write_distribution(times: &Distribution, to: &mut Fields<'_>) {
    to.count("samples", times.samples());
    to.count("count", times.count());
    to.measure("sum_ns", times.sum());
    to.measure("squares_ns2", times.sum_of_squares());
    to.numbers("buckets", times.buckets());
}

/// Reads the service times of a node, which may lack them.
pub(super) fn read(value: &Value<'_>) -> Read<Option<Box<Service>>> {
    let Some(activation) = value.optional("activation")? else { return Ok(None) };
    let firing = read_distribution(value.field("firing")?)?;
    Ok(Some(Box::new(Service { activation: read_distribution(activation)?, firing })))
}

fn read_distribution(value: &Value<'_>) -> Read<Distribution> {
    let buckets = value.field("buckets")?;
    let times = Times {
        samples: value.count("samples")?,
        count: value.count("count")?,
        sum: value.measure("sum_ns")?,
        squares: value.measure("squares_ns2")?,
        buckets: read_buckets(buckets)?,
    };
    check(&times, value)?;
    let Times { samples, sum, squares, buckets, .. } = times;
    Distribution::of_parts(samples, sum, squares, buckets).map_err(|why| value.misfit(why))
}

fn read_buckets(value: &Value<'_>) -> Read<Vec<u64>> {
    let entries = value.array()?;
    if entries.count > BUCKETS {
        return Err(
            value.mismatch(format!("at most {BUCKETS} buckets"), format!("{} buckets", entries.count))
        );
    }
    let buckets: Vec<u64> = entries.iter().map(|bucket| bucket.integer()).collect::<Read<_>>()?;
    match buckets.last() {
        Some(0) => Err(value.misfit("a last bucket that is not empty")),
        _ => Ok(buckets),
    }
}

/// Checks what every distribution has that was made by [`Distribution::record`] and [`Distribution::merge`]. Its sums
/// are rounded, so they may contradict the buckets.
fn check(times: &Times, value: &Value<'_>) -> Read<()> {
    let in_buckets = times.buckets.iter().fold(0, |sum: u64, bucket| sum.saturating_add(*bucket));
    if times.count != in_buckets {
        return Err(value.field("count")?.misfit(format!("the sum of the buckets, which is {in_buckets}")));
    }
    let least = times.count.min(1);
    if !(least..=times.count).contains(&times.samples) {
        let range = format!("an integer from {least} to the count, which is {}", times.count);
        return Err(value.field("samples")?.misfit(range));
    }
    for (name, sum) in [("sum_ns", times.sum), ("squares_ns2", times.squares)] {
        if times.count == 0 && sum != 0.0 {
            return Err(value.field(name)?.misfit("0, since nothing was measured"));
        }
    }
    Ok(())
}
