//! Losses compared with hand-computed numbers, and at the ends of their range.

use ndarray::{Array2, array};
use scumble_neural::{Error, Loss};

/// Computes the loss of one example, and its gradient.
fn loss_and_gradient(loss: Loss<'_, f64>, output: &Array2<f64>) -> (f64, Vec<f64>) {
    let (mut gradient, mut losses) = (Array2::zeros(output.dim()), [f64::NAN]);
    loss.each(output.view(), gradient.view_mut(), &mut losses).unwrap();
    (losses[0], gradient.into_raw_vec_and_offset().0)
}

#[test]
fn losses_are_those_by_hand() {
    let targets = array![[1.0, 0.25, 0.0]];
    let output = array![[0.3, -1.2, 2.5]];
    let (loss, gradient) = loss_and_gradient(Loss::SquaredError(targets.view()), &output);
    assert!((loss - (0.49 + 2.1025 + 6.25)).abs() < 1e-12);
    assert!((gradient[1] + 2.9).abs() < 1e-12);
    // PyTorch 2.15: binary_cross_entropy_with_logits, summed.
    assert!(
        (loss_and_gradient(Loss::BinaryCrossEntropy(targets.view()), &output).0 - 3.696527446099108).abs()
            < 1e-14
    );
    let (loss, gradient) = loss_and_gradient(Loss::CrossEntropy(array![1].view()), &array![[0.0, 3f64.ln()]]);
    assert!((loss - (4.0 / 3.0_f64).ln()).abs() < 1e-15);
    assert!((gradient[0] - 0.25).abs() < 1e-15 && (gradient[1] + 0.25).abs() < 1e-15);
}

#[test]
fn one_logit_is_the_difference_of_two() {
    let (one, gradient) = loss_and_gradient(Loss::BinaryCrossEntropy(array![[1.0]].view()), &array![[1.7]]);
    let (two, gradients) = loss_and_gradient(Loss::CrossEntropy(array![1].view()), &array![[0.4, 2.1]]);
    assert!((one - two).abs() < 1e-15);
    assert!((gradient[0] - gradients[1]).abs() < 1e-15);
}

/// Softmax (¼, ¾), observed as class 0 with probability 0.9 and 0.2: ¼·0.9 + ¾·0.2 = 0.375, and class 0
/// accounts for 0.6 of it.
#[test]
fn flipped_labels_have_the_likelihood_of_what_was_seen() {
    let (logits, flip) = (array![[0.0, 3f64.ln()]], array![[0.9, 0.1], [0.2, 0.8]]);
    let (loss, gradient) =
        loss_and_gradient(Loss::FlippedCrossEntropy { seen: array![0].view(), flip: flip.view() }, &logits);
    assert!((loss + 0.375_f64.ln()).abs() < 1e-15, "{loss}");
    assert!((gradient[0] - (0.25 - 0.6)).abs() < 1e-15 && (gradient[1] - (0.75 - 0.4)).abs() < 1e-15);
    // Without flips the loss is the cross-entropy; with uniform flips it carries no information.
    let logits = array![[0.3, -1.2, 2.5]];
    for seen in 0..3 {
        let seen = array![seen];
        let clean = loss_and_gradient(Loss::CrossEntropy(seen.view()), &logits);
        let never = Array2::eye(3);
        let (loss, gradient) =
            loss_and_gradient(Loss::FlippedCrossEntropy { seen: seen.view(), flip: never.view() }, &logits);
        assert!((loss - clean.0).abs() < 1e-15);
        assert!(gradient.iter().zip(&clean.1).all(|(one, other)| (one - other).abs() < 1e-15));
        let always = Array2::from_elem((3, 3), 1.0 / 3.0);
        let (loss, gradient) =
            loss_and_gradient(Loss::FlippedCrossEntropy { seen: seen.view(), flip: always.view() }, &logits);
        assert!((loss - 3f64.ln()).abs() < 1e-15);
        assert!(gradient.iter().all(|slope| slope.abs() < 1e-15));
    }
}

#[test]
fn no_logit_is_too_large() {
    let wide = array![[1e4, -1e4]];
    assert_eq!(loss_and_gradient(Loss::CrossEntropy(array![0].view()), &wide), (0.0, vec![0.0, 0.0]));
    assert_eq!(loss_and_gradient(Loss::CrossEntropy(array![1].view()), &wide), (2e4, vec![1.0, -1.0]));
    let flipped = |seen: usize, flip: Array2<f64>| {
        loss_and_gradient(Loss::FlippedCrossEntropy { seen: array![seen].view(), flip: flip.view() }, &wide)
    };
    let symmetric = array![[0.75, 0.25], [0.25, 0.75]];
    assert_eq!(flipped(0, symmetric.clone()), (-(0.75_f64.ln()), vec![0.0, 0.0]));
    assert_eq!(flipped(1, symmetric), (-(0.25_f64.ln()), vec![0.0, 0.0]));
    assert_eq!(flipped(1, Array2::eye(2)), (2e4, vec![1.0, -1.0]));
    assert_eq!(
        loss_and_gradient(Loss::BinaryCrossEntropy(array![[1.0, 0.0]].view()), &wide),
        (0.0, vec![0.0, 0.0])
    );
    assert_eq!(
        loss_and_gradient(Loss::BinaryCrossEntropy(array![[0.0, 1.0]].view()), &wide),
        (2e4, vec![1.0, -1.0])
    );
}

#[test]
fn a_mean_is_that_of_the_rows_that_are_named() {
    let targets = array![[0.0], [1.0], [5.0]];
    let loss = Loss::SquaredError(targets.view());
    let mut gradient = Array2::zeros((2, 1));
    let mean = loss.mean_of(&[2, 1], array![[2.0], [4.0]].view(), gradient.view_mut()).unwrap();
    assert_eq!((mean, gradient), (9.0, array![[-3.0], [3.0]]));
}

#[test]
fn targets_are_checked() {
    let classes = array![0, 3];
    let loss = Loss::<f64>::CrossEntropy(classes.view());
    assert_eq!(loss.check(4), Ok(()));
    assert_eq!(
        loss.check(3).unwrap_err().to_string(),
        "the class of row 1 is 3, both counted from 0, and there are 3 classes"
    );
    let output = Array2::zeros((2, 3));
    let mut gradient = output.clone();
    assert!(matches!(loss.mean(output.view(), gradient.view_mut()), Err(Error::Class { row: 1, .. })));

    let flip = array![[0.5, 0.5, 0.0], [0.0, -0.1, 1.1], [0.0, 0.0, 1.0]];
    let loss = Loss::FlippedCrossEntropy { seen: classes.view(), flip: flip.view() };
    assert_eq!(
        loss.check(3).unwrap_err().to_string(),
        "the probability of a flip in row 1 and column 1, counted from 0, must be in [0, 1], and is -0.1"
    );
    assert_eq!(
        loss.check(4).unwrap_err().to_string(),
        "the rows of the flips must be 4 in number, and are 3"
    );
    assert!(matches!(loss.mean(output.view(), gradient.view_mut()), Err(Error::Class { row: 1, .. })));
    let never = Array2::<f64>::eye(3);
    let loss = Loss::FlippedCrossEntropy { seen: classes.view(), flip: never.view() };
    assert!(matches!(loss.check(3), Err(Error::Class { row: 1, class: 3, classes: 3 })));
    let narrow = Array2::<f64>::eye(2);
    let loss = Loss::FlippedCrossEntropy { seen: classes.view(), flip: narrow.view() };
    assert!(loss.mean(output.view(), gradient.view_mut()).is_err());

    let shares = array![[0.0, 1.0, 0.5], [0.2, 1.1, 0.0]];
    let loss = Loss::BinaryCrossEntropy(shares.view());
    assert_eq!(
        loss.check(3).unwrap_err().to_string(),
        "the target in row 1 and column 1, counted from 0, must be in [0, 1], and is 1.1"
    );
    assert!(matches!(loss.mean(output.view(), gradient.view_mut()), Err(Error::Value { column: 1, .. })));
    assert_eq!(Loss::SquaredError(shares.view()).check(3), Ok(()));
    assert!(Loss::SquaredError(shares.view()).check(2).is_err());
    assert!(Loss::SquaredError(array![[f64::INFINITY]].view()).check(1).is_err());

    let loss = Loss::SquaredError(shares.view());
    assert!(matches!(
        loss.mean_of(&[0, 2], output.view(), gradient.view_mut()),
        Err(Error::Row { row: 2, rows: 2 })
    ));
    assert!(loss.mean_of(&[0], output.view(), gradient.view_mut()).is_err());
    assert!(loss.each(output.view(), gradient.view_mut(), &mut [0.0]).is_err());
    let none = Array2::<f64>::zeros((0, 3));
    let nothing = Loss::SquaredError(none.view()).mean(none.view(), Array2::zeros((0, 3)).view_mut());
    assert_eq!(nothing, Err(Error::NoRecords));
}
