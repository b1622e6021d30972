//! Mean and standard deviation.

/// Mean, and sample standard deviation, which is NaN for a single value.
pub fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    match values {
        [only] => (*only, f64::NAN),
        // Equal values: a sum would be rounded.
        [first, rest @ ..] if rest.iter().all(|value| value == first) => (*first, 0.0),
        _ => {
            let mean = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (mean, (squares / (n - 1.0)).sqrt())
        }
    }
}
