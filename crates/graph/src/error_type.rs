//! What all types of errors share.

/// Implements `Error` for a type, and `Debug` by its `Display`: a `main` that returns an error prints its `Debug`.
///
/// ```
/// struct Odd(u64);
///
/// impl std::fmt::Display for Odd {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "{} is odd", self.0)
///     }
/// }
///
/// thalweg_graph::error_type!(Odd);
/// assert_eq!(format!("{:?}", Odd(3)), "3 is odd");
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! error_type {
    ($Name:ty) => {
        /// As it is displayed: `main` shows this of an error that it returns.
        impl ::std::fmt::Debug for $Name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }

        impl ::std::error::Error for $Name {}
    };
}
