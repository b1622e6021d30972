//! Links all built-in mechanisms. The linker drops a crate that nothing names, together with its plugins.

use scumble_classic as _;
use scumble_dauntless as _;
use scumble_fisher_svm as _;
use scumble_marginals as _;
use scumble_pac as _;
use scumble_private_models as _;
use scumble_reports as _;
use scumble_task_aware as _;
use scumble_vlm as _;

/// Sorted names of the plugins that this crate links. No other list of these names exists; tests compare the
/// registry with this one. A new mechanism needs faulty variants in `integration-tests/tests/variants`.
pub const NAMES: [&str; 40] = [
    "adaptive-marginals",
    "column-space",
    "dauntless-inference",
    "dauntless-mix",
    "direct",
    "direction-report",
    "duchi",
    "fisher-bounded",
    "fisher-correlated",
    "fisher-gaussian",
    "gaussian",
    "gradient-report",
    "hybrid",
    "identity",
    "laplace",
    "learned-codes",
    "mst",
    "multiplicative-dp",
    "noisy-marginals",
    "noisy-moments",
    "pac-statistics",
    "pair-response",
    "perfect-secrecy",
    "piecewise",
    "privacy-agnostic",
    "private-additive",
    "private-logistic",
    "private-ridge",
    "randomized-response",
    "singular-value-obfuscation",
    "tables",
    "task-agnostic",
    "task-aware-bounded",
    "task-aware-clipped",
    "task-aware-gaussian",
    "task-aware-gradient",
    "task-aware-linear",
    "task-aware-priv-unit",
    "two-server-marginals",
    "vlm",
];
