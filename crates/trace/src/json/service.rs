//! The service times of a node: two distributions.

use super::value::{Read, Value};
use super::write::Fields;
use crate::{Distribution, Service};

/// Writes both distributions as fields of the node.
pub(super) fn write(service: &Service, to: &mut Fields<'_>) {
    to.object("activation", |to| write_distribution(&service.activation, to));
    to.object("firing", |to| write_distribution(&service.firing, to));
}

fn write_distribution(times: &Distribution, to: &mut Fields<'_>) {
    to.count("samples", times.samples);
    to.count("count", times.count);
    to.measure("sum_ns", times.sum);
    to.measure("squares_ns2", times.squares);
    to.numbers("buckets", &times.buckets);
}

/// Reads the service times of a node, which may lack them.
pub(super) fn read(value: &Value<'_>) -> Read<Option<Box<Service>>> {
    let Some(activation) = value.optional("activation")? else { return Ok(None) };
    let firing = read_distribution(value.field("firing")?)?;
    Ok(Some(Box::new(Service { activation: read_distribution(activation)?, firing })))
}

fn read_distribution(value: &Value<'_>) -> Read<Distribution> {
    let buckets = value.field("buckets")?.array()?;
    Ok(Distribution {
        samples: value.count("samples")?,
        count: value.count("count")?,
        sum: value.measure("sum_ns")?,
        squares: value.measure("squares_ns2")?,
        buckets: buckets.iter().map(Value::integer).collect::<Read<_>>()?,
    })
}
