//! Tests of saving and reading networks.

use scumble_neural::{Activation, Architecture, Initialisation, Network, Optimiser, Real, Training};

fn network<T: Real>() -> Network<T> {
    let architecture = Architecture::new(5).layer(7, Activation::Relu).layer(3, Activation::Sigmoid);
    Network::new(architecture, Initialisation::Uniform, 1).unwrap()
}

#[test]
fn a_network_is_read_back_to_the_last_bit() {
    fn check<T: Real>() {
        let saved = serde_json::to_string(&network::<T>()).unwrap();
        assert!(serde_json::from_str::<Network<T>>(&saved).unwrap() == network());
        // Parameters that fit into single precision take half the space.
        let ones =
            Network::<T>::from_parameters(network::<T>().architecture().clone(), vec![T::one(); 66]).unwrap();
        let ones = serde_json::to_string(&ones).unwrap();
        assert!(ones.contains("float32") && ones.len() < 66 * 16 / 3 + 150, "{ones}");
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_saved_network_is_checked() {
    let read = |text: &str| serde_json::from_str::<Network<f32>>(text).map_err(|error| error.to_string());
    // 1 and 2: in single precision 00 00 80 3F and 00 00 00 40.
    let good = concat!(
        r#"{"inputs":1,"layers":[{"outputs":1,"activation":"tanh"}],"#,
        r#""parameters":{"float32":"AACAPwAAAEA="}}"#
    );
    assert_eq!(read(good).unwrap().parameters(), [1.0, 2.0]);
    for (right, wrong, problem) in [
        ("AACAPwAAAEA=", "AACAPwAAAEAAAEBA", "the parameters of the network must be 2 in number, and are 3"),
        ("AACAPwAAAEA=", "AACAPwAAAIB/", "9 bytes are not a whole number of values of 4 bytes each"),
        ("AACAPwAAAEA=", "AACAPwAAgH8=", "inf"),
        ("AACAPwAAAEA=", "AACAPw*AAEA=", "the parameters cannot be read"),
        ("float32", "float16", "unknown variant `float16`"),
        (r#"{"float32":"AACAPwAAAEA="}"#, "[1,2]", "expected value"),
        (r#"inputs":1"#, r#"inputs":0"#, "the input needs at least one number, and has none"),
        (r#"[{"outputs":1,"activation":"tanh"}]"#, "[]", "a network needs a layer, and this one has none"),
        (r#"inputs":1"#, r#"inputs":18446744073709551615"#, "more parameters than can be counted"),
        ("tanh", "tan", "unknown variant `tan`"),
    ] {
        let error = read(&good.replace(right, wrong)).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_training_is_written_as_people_write_it() {
    let text = r#"{"epochs":5,"optimiser":{"adam":{"amsgrad":true}}}"#;
    let training: Training = serde_json::from_str(text).unwrap();
    let Optimiser::Adam(adam) = training.optimiser else { panic!("{training:?}") };
    assert!(adam.amsgrad && adam.learning_rate == 1e-3 && training.batch_size == 64);
    assert!(serde_json::from_str::<Training>(r#"{"epoch":5}"#).is_err());
}
