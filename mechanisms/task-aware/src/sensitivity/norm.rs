//! Norms and range of a vector.

/// Computes ‖a‖∞ of the `values` a.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// Computes ‖a‖₂ of the `values` a, without overflow or underflow of the squares.
pub(crate) fn euclidean(values: &[f64]) -> f64 {
    let unit = largest(values);
    if unit == 0.0 { 0.0 } else { unit * values.iter().map(|x| (x / unit).powi(2)).sum::<f64>().sqrt() }
}

/// Computes the largest minus the least of `values`; zero for no values.
pub(crate) fn range(values: &[f64]) -> f64 {
    // Eight at a time, so that the compiler generates vector instructions.
    let (chunks, rest) = values.as_chunks::<8>();
    let Some(&first) = values.first() else { return 0.0 };
    let (mut least, mut most) = ([first; 8], [first; 8]);
    for chunk in chunks {
        for at in 0..8 {
            least[at] = if chunk[at] < least[at] { chunk[at] } else { least[at] };
            most[at] = if chunk[at] > most[at] { chunk[at] } else { most[at] };
        }
    }
    let most = most.iter().chain(rest).copied().fold(first, f64::max);
    most - least.iter().chain(rest).copied().fold(first, f64::min)
}
