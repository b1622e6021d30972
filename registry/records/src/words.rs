//! Enums whose values are single words.

/// Declares an enum whose variants are parsed from names. The first name of a variant is its displayed name.
macro_rules! words {
    (
        $(#[$doc:meta])* $type:ident, $what:literal:
        $($(#[$variant_doc:meta])* $variant:ident = $shown:literal $(| $name:literal)*),+
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
        #[serde(try_from = "String")]
        pub enum $type {
            $($(#[$variant_doc])* $variant),+
        }

        impl $type {
            /// First name of each variant.
            pub const NAMES: &[&str] = &[$($shown),+];
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(match self { $(Self::$variant => $shown),+ })
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<Self, String> {
                match text.to_ascii_lowercase().as_str() {
                    $($shown $(| $name)* => Ok(Self::$variant),)+
                    _ => Err(format!(
                        "{text:?} is not a valid {}; valid are {}", $what, Self::NAMES.join(", "))),
                }
            }
        }

        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(text: String) -> std::result::Result<Self, String> {
                text.parse()
            }
        }
    };
}

pub(crate) use words;
