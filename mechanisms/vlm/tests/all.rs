//! Tests that the plugin's claims hold, and that its errors name the problem.

use ndarray::Array2;
use scumble_core::{
    Brief, Budget, Domain, Error, LocalMechanism, Neighbours, Notion, Randomness, RecordDomain, ShapedBy,
    Table, Target, TargetDomain, Unit, Volunteers,
};
use scumble_task_aware::{LatentMechanism, Level};
use scumble_vlm::{VLM, check_shareable, design};
use serde_json::{Value, json};

fn columns(d: usize) -> Vec<String> {
    (0..d).map(|at| format!("x{at}")).collect()
}

/// Records on a line through the unit box.
fn line(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, 3), |(row, column)| {
        let t = (0.5 + row as f64 * 0.618_033_99).fract();
        if column == 1 { 1.0 - t } else { t }
    })
}

fn brief(epsilon: f64) -> Brief {
    let domain = RecordDomain::new(columns(3), Domain::unit_box(3), TargetDomain::None).unwrap();
    let mut brief = Brief::new(domain, Budget::new(epsilon, 0.0).unwrap());
    brief.volunteers = Volunteers::Consented(Table::new(columns(3), line(200), Target::None).unwrap());
    brief
}

/// Parameters of a design that takes about a second.
fn short(more: Value) -> Value {
    let mut all = json!({"latent_dim": 2, "hidden": [16], "epochs": 60, "learning_rate": 0.01});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn designed(parameters: &Value, brief: &Brief) -> LatentMechanism {
    design(&serde_json::from_value(parameters.clone()).unwrap(), brief).unwrap()
}

#[track_caller]
fn refused(parameters: &Value, brief: &Brief) -> String {
    let message = match VLM.design(parameters, brief) {
        Ok(_) => panic!("a design was made with {parameters}"),
        Err(error) => error.to_string(),
    };
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn latents_lie_within_the_ball_and_have_noise_of_scale_2l_over_epsilon() {
    let mechanism = designed(&short(json!({"l1_bound": 3.0})), &brief(4.0));
    assert_eq!(mechanism.l1_sensitivity(), 6.0);
    // 2b², b = 6/4; the lattice rounds b up by a part in 2³⁰.
    assert!(
        (mechanism.noise_variance() / (2.0 * 1.5 * 1.5) - 1.0).abs() < 1e-8,
        "{}",
        mechanism.noise_variance()
    );
    let far = Array2::from_shape_fn((50, 3), |(row, column)| if (row + column) % 2 == 0 { 0.0 } else { 1.0 });
    let latents = mechanism.latents(far.view()).unwrap();
    assert!(latents.rows().into_iter().all(|row| row.mapv(f64::abs).sum() <= 3.0 + 1e-12));
    assert_eq!(mechanism.layout().columns, ["latent 1", "latent 2"]);
    let guarantee = mechanism.guarantee();
    assert_eq!(guarantee.local_dp(Unit::Record).unwrap().epsilon, 4.0);
    assert_eq!(guarantee.shaped_by, ShapedBy::ConsentingVolunteers);
    assert!(!guarantee.protects_volunteers());
}

#[test]
fn the_number_of_latents_never_enters_epsilon() {
    let scale = |latents: usize| {
        designed(&short(json!({"latent_dim": latents, "epochs": 5})), &brief(2.0)).noise_variance()
    };
    assert!((scale(1) / scale(6) - 1.0).abs() < 1e-6, "{} {}", scale(1), scale(6));
}

#[test]
fn features_are_estimated_and_without_noise_nearly_recovered() {
    let mechanism = designed(&short(json!({"level": "features", "epochs": 300})), &brief(f64::INFINITY));
    let records = line(200);
    let table = Table::new(columns(3), records.clone(), Target::None).unwrap();
    let release = mechanism.release(&table, &mut Randomness::seeded(1)).unwrap();
    assert_eq!(release.table.columns(), columns(3));
    let error = (release.table.records() - &records).mapv(|x| x * x).mean().unwrap();
    // The mean baseline has a mean squared error of 1/12.
    assert!(error < 0.02, "{error}");
    assert_eq!(mechanism.parts().level, Level::Features);
}

#[test]
fn more_noise_makes_worse_estimates_and_all_lie_within_the_bounds() {
    let errors = [16.0, 0.5].map(|epsilon| {
        let mechanism = designed(&short(json!({"level": "features", "epochs": 200})), &brief(epsilon));
        let table = Table::new(columns(3), line(200), Target::None).unwrap();
        let released = mechanism.release(&table, &mut Randomness::seeded(1)).unwrap().table;
        assert!(released.records().iter().all(|x| (0.0..=1.0).contains(x)));
        (released.records() - &line(200)).mapv(|x| x * x).mean().unwrap()
    });
    assert!(errors[0] < 0.6 * errors[1], "{errors:?}");
}

#[test]
fn the_scale_of_the_posterior_may_be_learned_and_every_likelihood_trains() {
    for more in [
        json!({"learn_scale": true}),
        json!({"likelihood": "logit"}),
        json!({"likelihood": "gaussian", "pretraining_epsilon": 20.0}),
    ] {
        designed(&short(more), &brief(1.0));
    }
}

#[test]
fn black_and_white_is_learned_as_such() {
    let mut flags = brief(2.0);
    // Three flags that nearly always agree.
    let records = Array2::from_shape_fn((200, 3), |(row, column)| {
        f64::from(u8::from((row % 2 == 0) != (row % 40 == column)))
    });
    flags.volunteers = Volunteers::Public(Table::new(columns(3), records.clone(), Target::None).unwrap());
    let parameters = short(
        json!({"likelihood": "bernoulli", "pretraining_epsilon": 60.0, "epochs": 200, "level": "features"}),
    );
    let mechanism = designed(&parameters, &flags);
    let estimates = mechanism.estimates(mechanism.latents(records.view()).unwrap().view()).unwrap();
    let right = estimates
        .iter()
        .zip(&records)
        .filter(|(estimate, flag)| (**estimate > 0.5) == (**flag > 0.5))
        .count();
    assert!(right >= 570, "{right} of 600");
}

fn guaranteed(more: Value) -> Value {
    let mut volunteers = json!({"epsilon": 3.0, "noise_multiplier": 2.0, "expected_batch": 50});
    volunteers.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"latent_dim": 2, "hidden": [16], "volunteers": volunteers})
}

/// Returns the central claim for volunteers, if there is one.
fn central(mechanism: &LatentMechanism) -> Option<(f64, f64, Neighbours)> {
    mechanism.guarantee().claims.iter().find_map(|claim| match &claim.notion {
        Notion::CentralDp(dp) if claim.protects == Unit::Volunteer => {
            Some((dp.epsilon, dp.delta, dp.neighbours))
        }
        _ => None,
    })
}

#[test]
fn private_volunteers_are_guaranteed_what_was_asked_for_and_no_more() {
    let mut brief = brief(4.0);
    let Volunteers::Consented(table) = brief.volunteers else { unreachable!() };
    brief.volunteers = Volunteers::Private(table);
    for (more, neighbours) in [
        (json!({"neighbours": "add-or-remove-one", "records": 250}), Neighbours::AddOrRemoveOne),
        (json!({"neighbours": "replace-one"}), Neighbours::ReplaceOne),
        // The design discloses the number of volunteers.
        (json!({}), Neighbours::ReplaceOne),
    ] {
        let mut parameters = guaranteed(more);
        parameters["volunteers"]["delta"] = json!(1e-4);
        let mechanism = designed(&parameters, &brief);
        let (epsilon, delta, kind) = central(&mechanism).unwrap();
        assert!(
            (2.5..=3.0).contains(&epsilon) && delta == 1e-4 && kind == neighbours,
            "{epsilon} {delta} {kind}"
        );
        let guarantee = mechanism.guarantee();
        assert_eq!(guarantee.local_dp(Unit::Record).unwrap().epsilon, 4.0);
        assert!(guarantee.protects_volunteers() && guarantee.shaped_by == ShapedBy::PrivateVolunteers);
    }
    // Without a noise multiplier, the design adds the least noise that ε allows for the requested epochs.
    let mechanism = designed(&guaranteed(json!({"noise_multiplier": null, "epochs": 10.0})), &brief);
    assert!((2.9..=3.0).contains(&central(&mechanism).unwrap().0));
}

/// A design hides who volunteered only if it states the same for any number of volunteers.
#[test]
fn a_design_that_hides_whether_somebody_volunteered_says_no_more_of_their_number_than_was_declared() {
    let among = |volunteers: usize, more: Value| {
        let mut brief = brief(4.0);
        brief.volunteers =
            Volunteers::Private(Table::new(columns(3), line(volunteers), Target::None).unwrap());
        VLM.design(&guaranteed(more), &brief).map(|design| design.mechanism().guarantee())
    };
    let declared = || json!({"neighbours": "add-or-remove-one", "records": 210});
    let (one, other) = (among(200, declared()).unwrap(), among(199, declared()).unwrap());
    assert_eq!(one, other);
    let card = one.to_string();
    assert!(
        card.contains("at most 210 volunteers") && card.contains("/210") && !card.contains("/200"),
        "{card}"
    );
    let undeclared = among(200, json!({"neighbours": "add-or-remove-one"})).unwrap_err().to_string();
    assert!(undeclared.contains("add-or-remove-one needs volunteers.records"), "{undeclared}");
    let too_few = among(200, json!({"records": 199})).unwrap_err().to_string();
    assert!(too_few.contains("is 199, and there are 200"), "{too_few}");
    let replaced = among(200, json!({})).unwrap().to_string();
    assert!(replaced.contains("the number of volunteers is public"), "{replaced}");
}

#[test]
fn without_noise_on_records_a_guarantee_for_volunteers_is_none_for_others() {
    let guarantee = designed(&guaranteed(json!({})), &brief(f64::INFINITY)).guarantee();
    assert!(guarantee.protects_volunteers() && !guarantee.has_dp());
    assert_eq!(guarantee.summary(), "no claim");
    let card = guarantee.to_string();
    assert!(card.contains("nothing for the people whose records are released"), "{card}");
    assert!(
        card.contains("each person contributes one record") && card.contains("adds the ε of that release"),
        "{card}"
    );
}

#[test]
fn latents_do_not_depend_on_how_a_table_lies_in_memory() {
    let mechanism = designed(&short(json!({"epochs": 5})), &brief(1.0));
    let columns_first = line(20).reversed_axes().as_standard_layout().into_owned().reversed_axes();
    assert!(!columns_first.is_standard_layout());
    assert_eq!(mechanism.latents(columns_first.view()).unwrap(), mechanism.latents(line(20).view()).unwrap());
}

#[test]
fn nobody_who_was_guaranteed_privacy_shapes_a_design_that_breaks_it() {
    let mut brief = brief(4.0);
    let Volunteers::Consented(table) = brief.volunteers else { unreachable!() };
    brief.volunteers = Volunteers::Private(table);
    let is_refused =
        |parameters: &Value| matches!(VLM.design(parameters, &brief), Err(Error::PrivateVolunteers { .. }));
    assert!(is_refused(&short(json!({}))), "trained plainly");
    assert!(is_refused(&guaranteed(json!({"seed": 1}))), "with noise that everybody can draw again");
    assert!(check_shareable(ShapedBy::PublicVolunteers, false).is_ok());
}

#[test]
fn a_seed_repeats_a_private_training_and_voids_its_guarantee() {
    let train = || designed(&guaranteed(json!({"seed": 7})), &brief(1.0));
    let (one, other) = (train(), train());
    assert_eq!(central(&one), None);
    assert_eq!(serde_json::to_string(one.parts()).unwrap(), serde_json::to_string(other.parts()).unwrap());
    let parameters = guaranteed(json!({"optimiser": "sgd", "learning_rate": 0.1}));
    let fresh = || serde_json::to_string(designed(&parameters, &brief(1.0)).parts()).unwrap();
    assert_ne!(fresh(), fresh());
}

#[test]
fn what_is_wrong_is_said_in_a_sentence() {
    let ordinary = brief(2.0);
    for (parameters, says) in [
        (json!({"epochs": 3, "volunteers": {"epsilon": 1.0}}), "with a guarantee, use volunteers.epochs"),
        (json!({"l1_bound": 0.0}), "l1_bound must be finite and above zero, and 0 is not"),
        (json!({"l1_bound": -1.0}), "l1_bound must be finite and above zero, and -1 is not"),
        (json!({"latent_dim": 0}), "latent_dim must be one or more"),
        (json!({"hidden": [8, 0]}), "hidden must be one or more"),
        (json!({"hidden": [100_000]}), "hidden must be at most 16384"),
        (json!({"hidden": vec![16384; 3]}), "hidden asks for"),
        (json!({"epochs": 1u64 << 62}), "epochs asks for"),
        (json!({"epochs": 0}), "epochs must be one or more"),
        (json!({"batch_size": 0}), "batch_size must be one or more"),
        (json!({"pretraining_epsilon": -3.0}), "pretraining_epsilon must be finite and above zero"),
        (json!({"learning_rate": 1e30}), "diverged to non-finite numbers in epoch"),
    ] {
        let message = refused(&short(parameters.clone()), &ordinary);
        assert!(message.contains(says), "{parameters}: {message}");
    }
    for (volunteers, says) in [
        (json!({"epsilon": 0.0}), "epsilon must be finite and above zero"),
        (json!({"epsilon": 1e-6, "noise_multiplier": 0.5}), "one step"),
        (json!({"epsilon": 1e-7}), "noise"),
        (json!({"epsilon": 1.0, "expected_batch": 1000}), "1000"),
        (
            json!({"epsilon": 1.0, "delta": 0.01}),
            "must be below one over their number, 1/200, and 1e-2 is not",
        ),
    ] {
        let message = refused(&json!({"hidden": [16], "volunteers": volunteers}), &ordinary);
        assert!(message.contains(says), "{volunteers}: {message}");
    }
    let message = refused(&json!({"learn_scale": true, "volunteers": {"epsilon": 1.0}}), &ordinary);
    assert!(message.contains("learn_scale conflicts with"), "{message}");
    let nobody = Brief { volunteers: Volunteers::None, ..ordinary.clone() };
    assert!(refused(&short(json!({})), &nobody).contains("no volunteers are given"));
    let mut outside = ordinary.clone();
    let beyond = Array2::from_elem((4, 3), 2.0);
    outside.volunteers = Volunteers::Public(Table::new(columns(3), beyond, Target::None).unwrap());
    assert!(refused(&short(json!({})), &outside).contains("row 1, column \"x0\": 2 lies outside the domain"));
}

#[test]
fn a_posterior_that_says_nothing_is_no_design() {
    let mut constant = brief(2.0);
    let same = Array2::from_elem((50, 3), 0.5);
    constant.volunteers = Volunteers::Public(Table::new(columns(3), same, Target::None).unwrap());
    assert!(refused(&short(json!({})), &constant).contains("the latents collapsed"));
}
