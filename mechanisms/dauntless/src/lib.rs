//! Dauntless: data are mixed and transformed at random before they leave, after *Dauntless: Data Augmentation and Uniform Transformation for
//! Learning with Scalability and Security* (Xiao and Devadas), and each release says exactly what that promises.
//!
//! None of it is differential privacy but `multiplicative-dp`, and no card of the others shows an ε of it.
