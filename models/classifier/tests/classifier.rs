//! Tests of the classifier on true labels and on flipped labels.

use linfa::prelude::*;
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2, Ix1, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_classifier::{Classifier, ClassifierParams, Error};

type Classes = Dataset<f64, usize, Ix1>;

/// Draws n points of the plane. Their class says if they lie in the ring of radii 1 and 2, which no line
/// separates.
fn ring(n: usize, seed: u64) -> Classes {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let records = Array2::from_shape_simple_fn((n, 2), || rng.gen_range(-2.5..2.5));
    let classes =
        records.outer_iter().map(|x| usize::from((1.0..4.0).contains(&(x[0] * x[0] + x[1] * x[1]))));
    let classes = classes.collect();
    Dataset::new(records, classes)
}

/// Flips the labels of `dataset` by the probabilities `flip`.
fn flipped(dataset: &Classes, flip: &Array2<f64>, seed: u64) -> Classes {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let seen = dataset.targets.mapv(|class| {
        let mut left: f64 = rng.gen_range(0.0..1.0);
        let is_it = |chance: &f64| {
            left -= chance;
            left < 0.0
        };
        flip.row(class).iter().position(is_it).unwrap_or(class)
    });
    Dataset::new(dataset.records.clone(), seen)
}

fn accuracy(model: &Classifier, test: &Classes) -> f64 {
    let hits =
        model.predict(&test.records).iter().zip(&test.targets).filter(|(one, other)| one == other).count();
    hits as f64 / test.targets.len() as f64
}

#[test]
fn a_ring_is_learned_which_no_line_divides() {
    let model = ClassifierParams::default().fit(&ring(4_000, 1)).unwrap();
    let share = accuracy(&model, &ring(2_000, 2));
    assert!(share > 0.95, "{share}");
}

/// Most labels in the ring are flipped to the outside. A classifier without `label_flip` is hardly better
/// than the majority-class baseline, which has an accuracy of 62 %.
#[test]
fn what_is_hidden_by_flips_is_found_by_who_knows_them() {
    let flip = array![[0.95, 0.05], [0.6, 0.4]];
    let seen = flipped(&ring(8_000, 3), &flip, 4);
    let test = ring(2_000, 5);
    let plain = accuracy(&ClassifierParams::default().fit(&seen).unwrap(), &test);
    let aware = accuracy(&ClassifierParams::default().label_flip(flip).fit(&seen).unwrap(), &test);
    assert!(plain < 0.68 && aware > 0.85, "{plain} and {aware}");
}

#[test]
fn labels_that_were_not_flipped_give_the_plain_fit() {
    let dataset = ring(500, 6);
    let params = ClassifierParams::default().epochs(5);
    let plain = params.clone().fit(&dataset).unwrap().predict(&dataset.records);
    let aware = params.label_flip(Array2::eye(2)).fit(&dataset).unwrap().predict(&dataset.records);
    let differ = plain.iter().zip(&aware).filter(|(one, other)| one != other).count();
    assert!(differ <= 5, "{differ} of 500");
}

#[test]
fn the_scale_of_a_column_changes_nothing() {
    let dataset = ring(1_000, 7);
    let mut stretched = dataset.clone();
    stretched.records.column_mut(0).mapv_inplace(|x| 1024.0 * x + 512.0);
    let predicted = |dataset: &Classes| {
        ClassifierParams::default().epochs(20).fit(dataset).unwrap().predict(&dataset.records)
    };
    let differ =
        predicted(&dataset).iter().zip(&predicted(&stretched)).filter(|(one, other)| one != other).count();
    assert!(differ <= 10, "{differ} of 1000");
}

#[test]
fn the_same_seed_gives_the_same_classifier_and_another_another() {
    let dataset = ring(300, 8);
    let predicted = |seed| {
        ClassifierParams::default().epochs(3).seed(seed).fit(&dataset).unwrap().predict(&dataset.records)
    };
    assert_eq!(predicted(1), predicted(1));
    assert_ne!(predicted(1), predicted(2));
}

#[test]
fn class_numbers_need_not_be_dense() {
    let x = array![[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]];
    let dataset = Dataset::new(x.clone(), array![1, 1, 5, 5, 9, 9]);
    let params = ClassifierParams::default().validation_share(0.0).learning_rate(0.01).epochs(300);
    assert_eq!(params.fit(&dataset).unwrap().predict(&x), array![1, 1, 5, 5, 9, 9]);
}

#[test]
fn few_records_leave_one_to_learn_from() {
    let flip = array![[0.9, 0.1], [0.1, 0.9]];
    let alone = Dataset::new(array![[1.0, 2.0]], array![1]);
    for share in [0.0, 0.9] {
        let params = ClassifierParams::default().validation_share(share).label_flip(flip.clone());
        assert_eq!(params.fit(&alone).unwrap().predict(&alone.records), array![1]);
    }
}

#[test]
fn what_cannot_be_learned_is_an_error() {
    let refused = |params: ClassifierParams, dataset: &Classes| params.fit(dataset).unwrap_err().to_string();
    let dataset = ring(20, 9);
    let one_class = Dataset::new(dataset.records.clone(), Array1::ones(20));
    let says = refused(ClassifierParams::default(), &one_class);
    assert_eq!(says, "all 20 records are of one class, and a classifier needs two");
    let says = refused(ClassifierParams::default().label_flip(array![[0.5, 0.4], [0.5, 0.5]]), &dataset);
    assert!(says.contains("class 0 that is not a distribution"), "{says}");
    let three = Dataset::new(array![[0.0], [1.0]], array![0, 2]);
    let says = refused(ClassifierParams::default().label_flip(Array2::eye(2)), &three);
    assert_eq!(says, "a label is 2, and the matrix of flipped labels has 2 classes");
    let mut infinite = dataset.clone();
    infinite.records[[3, 1]] = f64::INFINITY;
    assert!(refused(ClassifierParams::default(), &infinite).starts_with("record 3"));
    let nobody = Dataset::new(Array2::zeros((0, 2)), Array1::zeros(0));
    assert!(!refused(ClassifierParams::default().label_flip(Array2::eye(2)), &nobody).is_empty());
    let far = refused(ClassifierParams::default().learning_rate(1e30), &dataset);
    assert!(far.contains("a smaller learning rate may help"), "{far}");
}

#[test]
fn hyper_parameters_out_of_their_range_are_refused() {
    for (params, name) in [
        (ClassifierParams::default().hidden(vec![50, 0]), "layer 1"),
        (ClassifierParams::default().epochs(0), "epochs"),
        (ClassifierParams::default().batch_size(0), "batch_size"),
        (ClassifierParams::default().patience(0), "patience"),
        (ClassifierParams::default().learning_rate(f64::NAN), "learning_rate"),
        (ClassifierParams::default().validation_share(1.0), "validation_share"),
    ] {
        let refused: Error = params.check().unwrap_err();
        assert!(refused.to_string().contains(name), "{refused}");
    }
}
