//! Noise that is best by Fisher information, after Farokhi, *Privacy-preserving public release of datasets for support vector
//! machine classification*.
