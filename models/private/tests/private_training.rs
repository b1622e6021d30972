//! Private training.

use ndarray::{Array2, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_neural::{Activation, Architecture, Initialisation, Loss, Network, Pass};
use scumble_private::{Neighbours, NoiseKind, PrivateTraining, Target};

fn autoencoder(
    records: ArrayView2<f32>,
) -> impl FnMut(&[Network<f32>; 1], &[usize], &mut [Pass<f32>; 1]) -> scumble_neural::Result<f64> {
    move |[network], rows, [pass]| {
        let output = network.forward_rows(records, rows, pass)?;
        let (mut gradient, mut losses) = (Array2::zeros(output.dim()), vec![0.0; rows.len()]);
        Loss::SquaredError(records).each_of(rows, output, gradient.view_mut(), &mut losses)?;
        network.backward(gradient.view(), pass)?;
        Ok(losses.into_iter().map(f64::from).sum())
    }
}

#[test]
fn a_network_learns_privately() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let records =
        Array2::from_shape_fn((2000, 6), |(_, column)| rng.r#gen::<f32>() * 0.1 + column as f32 * 0.1);
    let network = Network::new(
        Architecture::new(6).layer(4, Activation::Tanh).layer(6, Activation::Identity),
        Initialisation::Uniform,
        1,
    )
    .unwrap();
    let training = PrivateTraining::default();
    let target = Target { epsilon: 2.0, delta: 1e-5, neighbours: Neighbours::AddOrRemoveOne };
    let steps = training.steps_within::<f32>(2000, network.parameters().len(), target).unwrap();
    let mut losses = vec![];
    let learned = training
        .fit([&network], 2000, steps, autoencoder(records.view()), &mut rng, |step| {
            losses.extend(step.mean_loss)
        })
        .unwrap();
    let spent = training
        .spent::<f32>(2000, network.parameters().len(), steps, 1e-5, Neighbours::AddOrRemoveOne)
        .unwrap();
    println!(
        "{steps} {spent:?} {} {} {}",
        losses[0],
        losses[losses.len() - 1],
        training.effective_noise_multiplier::<f32>(60000, 765_000).unwrap()
    );
    assert!(learned[0] != network && losses[losses.len() - 1] < losses[0] / 2.0);
    assert_eq!(training.noise, NoiseKind::Exact);
}
