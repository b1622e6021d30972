//! Macro that defines the hyper-parameters of a model.

/// Defines the hyper-parameters of a model: the struct, its setters and defaults, and its checked
/// counterpart.
///
/// A field `name: Type = default` has a setter of the same name, which takes a `Type`. A field `name?: Type`
/// is an `Option<Type>`, `None` by default, and its setter takes a `Type`. A field `name => Type = default`
/// has no setter. The comments and attributes of a field also apply to its setter. Further methods belong in
/// a separate `impl`.
///
/// `check` returns an error for values out of range. It is called by linfa's `ParamGuard`; the calling crate
/// must depend on linfa.
///
/// ```
/// use linfa::ParamGuard;
/// use scumble_linear::{Error, check_positive};
///
/// scumble_linear::params! {
///     /// Checked parameters of a tree.
///     pub struct ValidTreeParams;
///
///     /// Parameters of a tree.
///     pub struct TreeParams {
///         /// The largest depth, 8 by default.
///         depth: usize = 8,
///         /// The least gain of a split, if there is one.
///         gain?: f64,
///         shuffled => bool = false,
///     }
///
///     fn check(params) -> Error {
///         check_positive("depth", params.depth as f64)
///     }
/// }
///
/// assert_eq!(TreeParams::default().gain(0.5).check()?.gain, Some(0.5));
/// assert!(TreeParams::default().depth(0).check().is_err());
/// # Ok::<(), Error>(())
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! params {
    (
        $(#[$about_valid:meta])*
        pub struct $valid:ident;

        $(#[$about:meta])*
        pub struct $params:ident {
            $(
                $(#[$about_field:meta])*
                $field:ident $(?: $inner:ty)? $(: $type:ty)? $(=> $kept:ty)? $(= $default:expr)?,
            )*
        }

        fn check($checked:ident) -> $error:ty $check:block
    ) => {
        $(#[$about_valid])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $valid {
            $(pub(crate) $field: $(Option<$inner>)? $($type)? $($kept)?,)*
        }

        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $params($valid);

        impl Default for $params {
            fn default() -> Self {
                Self($valid { $($field: $(None::<$inner>)? $($default)?,)* })
            }
        }

        impl $params {
            $(
                $(#[$about_field])*
                $(pub fn $field(mut self, $field: $inner) -> Self {
                    self.0.$field = Some($field);
                    self
                })?
                $(pub fn $field(mut self, $field: $type) -> Self {
                    self.0.$field = $field;
                    self
                })?
            )*
        }

        impl ::linfa::ParamGuard for $params {
            type Checked = $valid;
            type Error = $error;

            fn check_ref(&self) -> ::std::result::Result<&$valid, $error> {
                fn check($checked: &$valid) -> ::std::result::Result<(), $error> $check
                check(&self.0)?;
                Ok(&self.0)
            }

            fn check(self) -> ::std::result::Result<$valid, $error> {
                ::linfa::ParamGuard::check_ref(&self)?;
                Ok(self.0)
            }
        }
    };
}
