"""Tests of noise-aware estimators: scikit-learn's own checks, and the correction for noise."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.utils.estimator_checks import estimator_checks_generator

import scumble
from scumble.sklearn import NoiseAwareLogisticRegression, NoiseAwareRidge, label_flip, noise_covariance


@pytest.mark.parametrize("estimator", [NoiseAwareLogisticRegression(), NoiseAwareRidge()], ids=lambda of: type(of).__name__)
def test_scikit_learns_checks_hold(estimator):
    failed = []
    for own, check in estimator_checks_generator(estimator):
        try:
            check(own)
        except Exception as error:  # noqa: BLE001
            if type(error).__name__ != "SkipTest":
                failed.append(f"{check.func.__name__}: {error}")
    assert not failed, "\n".join(failed)


def test_without_noise_it_is_scikit_learns_model():
    """With the same penalty on standardised features, probabilities agree within 0.002."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    y = rng.random(500) < 1 / (1 + np.exp(-X @ [2, -1, 0]))
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    own = NoiseAwareLogisticRegression(l2_penalty=1.0).fit(X, y).predict_proba(X)
    theirs = LogisticRegression(C=2.0).fit(standard, y).predict_proba(standard)  # the two weight vectors, w/2 and −w/2, share the penalty
    assert np.abs(own - theirs).max() < 2e-3


@pytest.mark.parametrize("levels", [["no", "yes"], ["high", "low", "middle"]])
def test_coefficients_have_the_shape_and_the_signs_of_scikit_learns(levels):
    """Without label noise and with a small penalty, coefficients agree within 2 % of the largest."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 2))
    scores = X @ rng.normal(size=(2, len(levels))) * 2 + rng.gumbel(size=(3000, len(levels)))
    y = np.asarray(levels)[scores.argmax(axis=1)]
    own = NoiseAwareLogisticRegression(l2_penalty=1e-6).fit(X, y)
    theirs = LogisticRegression(C=1e6).fit(X, y)
    assert own.coef_.shape == theirs.coef_.shape and own.intercept_.shape == theirs.intercept_.shape
    assert np.abs(own.coef_ - theirs.coef_).max() < 0.02 * np.abs(theirs.coef_).max()
    assert np.abs(own.predict_proba(X) - theirs.predict_proba(X)).max() < 2e-3
    assert (own.predict(X) == own.classes_[own.predict_proba(X).argmax(axis=1)]).all()


def test_flipped_labels_are_seen_through():
    """Two of seven labels of 20,000 records are flipped (ε = 1). Without T the slope is attenuated by a third or more; with T its
    error is below a tenth."""
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 10, 20_000)
    people = pd.DataFrame({"x": x, "y": np.where(rng.random(20_000) < 1 / (1 + np.exp(-1.5 * (x - 5))), "b", "a")})
    design = scumble.design("randomized-response", schema={"x": (0, 10), "y": ["a", "b"]}, target="y", epsilon=1.0, protect="label")
    released, card = design.release_with_card(people, seed=3)
    slope = lambda model: float(model.coef_[0, 0])  # noqa: E731
    aware = NoiseAwareLogisticRegression(label_flip(card)).fit(released[["x"]], released["y"])
    unaware = NoiseAwareLogisticRegression().fit(released[["x"]], released["y"])
    assert abs(slope(aware) - 1.5) < 0.15 and slope(unaware) < 1.0


def test_noise_on_numbers_is_seen_through():
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 10, 50_000)
    people = pd.DataFrame({"x": x, "y": np.clip(5 + 2 * x + rng.normal(size=50_000), 0, 30)})
    bounds = {"x": (0, 10), "y": (0, 30)}
    design = scumble.design("laplace", schema=bounds, target="y", epsilon=10.0)
    released, card = design.release_with_card(people, seed=4, values="drawn")
    covariance = noise_covariance(card, bounds, "y")
    aware = NoiseAwareRidge(covariance).fit(released[["x"]], released["y"])
    unaware = LinearRegression().fit(released[["x"]], released["y"])
    assert abs(aware.coef_[0] - 2) < 0.1 and unaware.coef_[0] < 1.8


def test_noise_of_another_kind_is_refused():
    people = pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    design = scumble.design("laplace", schema={"x": (0, 10), "y": ["a", "b"]}, epsilon=1.0, target="y", protect="features")
    _, card = design.release_with_card(people, seed=1)
    with pytest.raises(ValueError, match="not flipped"):
        label_flip(card)
    with pytest.raises(ValueError, match="shape"):
        NoiseAwareLogisticRegression(np.eye(3)).fit([[0.0], [1.0]], ["a", "b"])


def test_one_release_in_encoded_units_keeps_several_linear_models():
    rng = np.random.default_rng(5)
    people = pd.DataFrame({"age": rng.integers(0, 101, 400), "size": rng.uniform(0, 2, 400), "kind": rng.choice(["a", "b", "c"], 400)})
    paid = people["age"] / 100 + (people["kind"] == "b") + rng.normal(size=400) > 0.9
    people["paid"] = np.where(paid, "yes", "no")
    schema = {"age": range(0, 101), "size": (0, 2), "kind": ["a", "b", "c"], "paid": ["no", "yes"]}
    keeps = [{"model": "ridge", "l2_penalty": 2.0}, {"model": "logistic", "l2_penalty": 0.5}]
    design = scumble.design("fisher-correlated", schema=schema, target="paid", epsilon=1.0, protect="features", keeps=keeps)
    released = design.release(people, values="encoded")
    assert list(released.columns) == ["age", "size", "kind=a", "kind=b", "kind=c", "paid"]
    clean = pd.get_dummies(people[["age", "size", "kind"]], columns=["kind"], prefix_sep="=", dtype=float)
    clean["age"], clean["size"] = clean["age"] / 100, clean["size"] / 2
    noisy = released.drop(columns="paid")
    assert (noisy - clean).abs().to_numpy().mean() > 0.2
    signs = np.where(people["paid"] == "yes", 1.0, -1.0)
    for model, targets in [(Ridge(alpha=2.0, tol=1e-12), signs), (LogisticRegression(C=2.0, tol=1e-12, max_iter=10_000), people["paid"])]:
        before, after = (np.ravel(model.fit(records, targets).coef_) for records in (clean.to_numpy(), noisy.to_numpy()))
        assert np.abs(before - after).max() < 1e-6
