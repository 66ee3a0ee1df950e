//! Functions of single precision: those of double precision, rounded once. So are those of the StreamIt programs, which a port
//! must equal bit by bit.

pub(crate) fn sin(x: f32) -> f32 {
    f64::from(x).sin() as f32
}

pub(crate) fn cos(x: f32) -> f32 {
    f64::from(x).cos() as f32
}

pub(crate) fn atan2(y: f32, x: f32) -> f32 {
    f64::from(y).atan2(f64::from(x)) as f32
}
