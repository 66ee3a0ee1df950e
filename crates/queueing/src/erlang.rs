//! Erlang's formulas, for a real number of threads.

use crate::Error;
use crate::error::{MAX_ITEMS, positive, within};

/// Erlang B: the share of requests that find all `n` threads of M/M/n/n busy, at `load` erlangs.
///
/// Continued to real `n >= 0` by its integral, `1 / B(n, a) = a ∫ exp(-a t) (1 + t)^n dt` (D. L. Jagerman, 1974). The
/// recurrence `1 / B(n) = 1 + n / a / B(n - 1)` leads to the integral's value between 0 and 1, where it is smooth. A
/// share below 1e-300 is 0 or that small.
///
/// # Errors
/// A number out of range.
pub fn erlang_b(n: f64, load: f64) -> Result<f64, Error> {
    within("number of threads", n, 0.0, MAX_ITEMS as f64)?;
    positive("load", load)?;
    Ok(1.0 / inverse_b(n, load))
}

/// Erlang C: the share of requests that wait in M/M/n with `load` erlangs.
///
/// # Errors
/// A number out of range; a load of `n` or more.
pub fn erlang_c(n: f64, load: f64) -> Result<f64, Error> {
    within("number of threads", n, 1.0, MAX_ITEMS as f64)?;
    positive("load", load)?;
    let utilisation = load / n;
    if utilisation >= 1.0 {
        return Err(Error::Overloaded { utilisation });
    }
    let b = 1.0 / inverse_b(n, load);
    Ok(b / (1.0 - utilisation * (1.0 - b)))
}

/// The recurrence unrolled: `1 + n/a + n(n-1)/a² + ...`, down to the part of `n` below 1. The terms rise to one maximum
/// and fall, so the sum ends where they are negligible or have grown past all use.
fn inverse_b(n: f64, load: f64) -> f64 {
    let fraction = n.fract();
    let (mut left, mut term, mut sum) = (n, 1.0, 0.0);
    while left >= 1.0 {
        sum += term;
        term *= left / load;
        left -= 1.0;
        if sum > 1e300 || (left < load && term * load < 1e-17 * sum) {
            return sum;
        }
    }
    sum + term * fractional(fraction, load)
}

/// `1 / B(x, load)` for `0 <= x < 1`: the integral of `exp(-u) (1 + u / load)^x`, by the double exponential rule, which
/// a kink at the lower end does not disturb (H. Takahasi and M. Mori, 1974).
fn fractional(x: f64, load: f64) -> f64 {
    const STEP: f64 = 1.0 / 16.0;
    if x == 0.0 {
        return 1.0;
    }
    let node = |i: i32| {
        let t = f64::from(i) * STEP;
        let u = (t - (-t).exp()).exp();
        (x * (u / load).ln_1p() - u).exp() * u * (1.0 + (-t).exp())
    };
    STEP * (-72..=72).map(node).sum::<f64>()
}
