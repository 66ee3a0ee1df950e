//! Data types: fields that only their own crate sees, and accessors for everybody else.

/// Declares a struct whose fields are visible in its crate alone, and a method for each field.
///
/// A field's documentation becomes that of its accessor. The word before the field says what the accessor returns: `copy` the
/// value, `view` a reference, of the type behind `=>`, `option` an `Option` of a reference. A name after the type is that of the
/// method for changing it, for code that makes or edits such data.
///
/// ```
/// thalweg_graph::data! {
///     /// A run.
///     #[derive(Default)]
///     pub struct Run {
///         /// Its length, in seconds.
///         copy seconds: u64, seconds_mut;
///         /// Its name.
///         view name: String => &str;
///         /// What went wrong.
///         option error: Option<String> => Option<&str>;
///     }
/// }
/// let mut run = Run::default();
/// *run.seconds_mut() += 2;
/// assert_eq!((run.seconds(), run.name(), run.error()), (2, "", None));
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! data {
    (
        $(#[$about:meta])*
        pub struct $Name:ident $(<$Generic:ident>)? {
            $($(#[$doc:meta])* $kind:ident $field:ident: $Type:ty $(=> $View:ty)? $(, $change:ident)?;)*
        }
    ) => {
        $(#[$about])*
        pub struct $Name $(<$Generic>)? {
            $(pub(crate) $field: $Type,)*
        }

        impl $(<$Generic>)? $Name $(<$Generic>)? {
            $(
                $crate::data!(@$kind [$(#[$doc])*] $field $Type $(=> $View)?);
                $crate::data!(@change $field $Type $(, $change)?);
            )*
        }
    };
    (@copy [$($doc:tt)*] $field:ident $Type:ty) => {
        $($doc)*
        #[inline]
        pub fn $field(&self) -> $Type {
            self.$field
        }
    };
    (@view [$($doc:tt)*] $field:ident $Type:ty => $View:ty) => {
        $($doc)*
        #[inline]
        pub fn $field(&self) -> $View {
            &self.$field
        }
    };
    (@option [$($doc:tt)*] $field:ident $Type:ty => $View:ty) => {
        $($doc)*
        #[inline]
        pub fn $field(&self) -> $View {
            self.$field.as_deref()
        }
    };
    (@change $field:ident $Type:ty) => {};
    (@change $field:ident $Type:ty, $change:ident) => {
        #[doc = concat!("[`", stringify!($field), "`](Self::", stringify!($field), "), to be changed.")]
        #[inline]
        pub fn $change(&mut self) -> &mut $Type {
            &mut self.$field
        }
    };
}
