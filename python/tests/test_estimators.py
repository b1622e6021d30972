"""Tests of private and noise-aware estimators: scikit-learn's own checks, charges, and the correction for noise."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.estimator_checks import estimator_checks_generator

import scumble
from scumble.sklearn import (
    NoiseAwareLogisticRegression,
    NoiseAwareRidge,
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateLogisticRegression,
    PrivateRidge,
    label_flip,
    noise_covariance,
)

FEATURES = {"size": (0, 10), "colour": ["red", "green", "blue"]}
TARGETS = {"edible": ["yes", "no"], "kind": ["moss", "palm", "fern"], "height": (50, 250)}
PRIVATE = [
    (PrivateLogisticRegression, "edible"),
    (PrivateLogisticRegression, "kind"),
    (PrivateAdditiveClassifier, "edible"),
    (PrivateAdditiveClassifier, "kind"),
    (PrivateRidge, "height"),
    (PrivateAdditiveRegressor, "height"),
]
seeded = pytest.mark.filterwarnings("ignore:a release with a seed")


def plants(count: int = 2000, seed: int = 6) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    """Features, and targets by their names. The index is no range."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.uniform(0, 10, count), "colour": rng.choice(FEATURES["colour"], count)}, index=np.arange(count) + 7)
    score = X["size"] + 2.0 * (X["colour"] == "red") + rng.normal(size=count)
    edible, kind = np.where(score > 5.5, "yes", "no"), np.select([score < 3.5, score < 7.5], ["moss", "fern"], "palm")
    columns = {"edible": edible, "kind": kind, "height": np.clip(60 + 12 * score, 50, 250)}
    return X, {name: pd.Series(column, index=X.index, name=name) for name, column in columns.items()}


def private(estimator, target: str, **parameters):
    return estimator({**FEATURES, target: TARGETS[target]}, **{"epsilon": 8.0, "seed": 3, **parameters})


def in_the_clear(model):
    return make_pipeline(ColumnTransformer([("levels", OneHotEncoder(), ["colour"])], remainder="passthrough"), model)


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


@seeded
@pytest.mark.parametrize("estimator, target", PRIVATE)
def test_a_private_estimator_is_the_released_model(estimator, target):
    X, ys = plants()
    fitted = private(estimator, target).fit(X, ys[target])
    released, card = fitted.design_.release_with_card(X.assign(**{target: ys[target]}), seed=3)
    model = scumble.Model(released, fitted.design_)
    assert fitted.card_["guarantee"] == card["guarantee"] and fitted.design_.target == target
    assert list(fitted.feature_names_in_) == ["size", "colour"] and fitted.n_features_in_ == 2
    assert hasattr(fitted, "coef_") == (estimator in (PrivateLogisticRegression, PrivateRidge))
    if target == "height":
        assert np.array_equal(fitted.predict(X), model.predict(X)) and not hasattr(fitted, "predict_proba")
        expected = model.coef_, model.intercept_
    else:
        order = np.argsort(TARGETS[target])
        assert list(fitted.classes_) == sorted(TARGETS[target])
        assert np.array_equal(fitted.predict(X), model.predict(X))
        assert np.array_equal(fitted.predict_proba(X), model.predict_proba(X)[:, order])
        # The schema has "yes" first, so that the signs of the two classes' weights differ.
        is_binary = target == "edible"
        expected = (-model.coef_, -model.intercept_) if is_binary else (model.coef_[order], model.intercept_[order])
    if hasattr(fitted, "coef_"):
        assert np.array_equal(fitted.coef_, expected[0]) and np.array_equal(fitted.intercept_, expected[1])


@seeded
@pytest.mark.parametrize("estimator, target", PRIVATE)
def test_at_a_large_budget_it_scores_near_the_model_in_the_clear(estimator, target):
    X, ys = plants()
    fresh, fresh_ys = plants(seed=7)
    clear = in_the_clear(LinearRegression() if target == "height" else LogisticRegression(max_iter=2000)).fit(X, ys[target])
    own = private(estimator, target).fit(X, ys[target]).score(fresh, fresh_ys[target])
    assert own > clear.score(fresh, fresh_ys[target]) - 0.03


@seeded
def test_polars_frames_and_labels_of_other_types_give_the_same_model():
    X, ys = plants()
    model = PrivateLogisticRegression({**FEATURES, "edible": ["yes", "no"]}, epsilon=8.0, seed=3)
    by_pandas = model.fit(X, ys["edible"]).predict_proba(X)
    of_polars = clone(model).fit(pl.from_pandas(X), pl.Series("edible", ys["edible"].to_list()))
    assert np.array_equal(of_polars.predict_proba(pl.from_pandas(X)), by_pandas)
    for levels, y in [([1, 0], (ys["edible"] == "yes") * 1), ([1, 0], (ys["edible"] == "yes") * 1.0), (range(0, 2), (ys["edible"] == "yes") * 1)]:
        numbers = PrivateLogisticRegression({**FEATURES, "edible": levels}, epsilon=8.0, seed=3).fit(X, y)
        assert list(numbers.classes_) == [0, 1] and numbers.classes_.dtype == y.dtype and numbers.score(X, y) > 0.8
    flags = PrivateLogisticRegression({**FEATURES, "edible": bool}, epsilon=8.0, seed=3).fit(X, ys["edible"] == "yes")
    assert flags.classes_.dtype == bool and flags.score(X, ys["edible"] == "yes") > 0.8


def test_each_fit_is_charged_before_it_and_an_overdrawn_ledger_refuses(tmp_path):
    X, ys = plants(300)
    ledger = scumble.Ledger(tmp_path / "ledger")
    ledger.open("plants", epsilon=4.0, delta=1e-4)
    model = private(PrivateLogisticRegression, "kind", epsilon=1.0, seed=None, ledger=ledger, dataset="plants")
    assert len(cross_val_score(model, X, ys["kind"], cv=3)) == 3
    assert ledger.accounts[0]["spent"] == {"epsilon": 3.0, "delta": 3e-6}
    with pytest.raises(scumble.InvalidInput, match="bounds"):  # a refusal before the release costs nothing
        clone(model).fit(X.assign(weight=1.0), ys["kind"])
    refused = clone(model).set_params(epsilon=2.0)
    with pytest.raises(scumble.Overdrawn):
        refused.fit(X, ys["kind"])
    assert not hasattr(refused, "model_") and ledger.accounts[0]["spent"]["epsilon"] == 3.0
    assert refused.set_params(epsilon=1.0).fit(X, ys["kind"]) and ledger.accounts[0]["left"]["epsilon"] == 0.0


@seeded
def test_it_works_in_a_pipeline_and_a_search_and_by_pickle(tmp_path):
    X, ys = plants()
    ledger = scumble.Ledger(tmp_path / "ledger")
    ledger.open("plants", epsilon=100.0, delta=1e-3)
    model = private(PrivateLogisticRegression, "edible", seed=None, ledger=ledger, dataset="plants")
    assert clone(model).get_params()["ledger"].path == ledger.path
    capitals = FunctionTransformer(lambda frame: frame.assign(colour=frame["colour"].str.lower()))
    pipeline = make_pipeline(capitals, model)
    people = X.assign(colour=X["colour"].str.upper())
    assert pipeline.fit(people, ys["edible"]).score(people, ys["edible"]) > 0.8
    search = GridSearchCV(model, {"steps": [20, 60]}, cv=2, n_jobs=2, scoring="neg_log_loss", error_score="raise")
    search.fit(X, ys["edible"])
    assert search.best_score_ > -0.6  # that of equal odds is −0.69, and of swapped classes lower
    assert len(ledger.accounts[0]["charges"]) == 1 + 4 + 1
    fitted = search.best_estimator_
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X)) and again.design_ == fitted.design_
    ridge = private(PrivateRidge, "height").fit(X, ys["height"])
    assert np.array_equal(pickle.loads(pickle.dumps(ridge)).predict(X), ridge.predict(X))


def test_a_private_estimator_refuses_what_is_not_public():
    X, ys = plants(100)
    model = private(PrivateLogisticRegression, "kind", seed=None)
    with pytest.raises(scumble.InvalidInput, match="bounds never come from the data"):
        PrivateLogisticRegression().fit(X, ys["kind"])
    with pytest.raises(scumble.InvalidInput, match="pandas or Polars frame"):
        model.fit(X.to_numpy(), ys["kind"])
    with pytest.raises(scumble.InvalidInput, match="y has no name"):
        model.fit(X, ys["kind"].to_numpy())
    with pytest.raises(scumble.InvalidInput, match="drop it from X"):
        model.fit(X.assign(kind=ys["kind"]), ys["kind"])
    with pytest.raises(scumble.InvalidInput, match="'kind' in the schema are"):
        clone(model).set_params(target="kind").fit(X, np.arange(100) % 3)
    with pytest.raises(scumble.InvalidInput, match="y holds flags"):  # also if all are of one class
        private(PrivateLogisticRegression, "edible", seed=None).fit(X, (ys["edible"] == "yes") & False)
    with pytest.raises(scumble.InvalidRecords, match="not a level"):
        model.fit(X, ys["kind"].replace("fern", "tree"))
    with pytest.raises(scumble.InvalidInput):
        private(PrivateAdditiveRegressor, "kind", seed=None).fit(X, ys["kind"])
    with pytest.warns(scumble.PrivacyWarning, match="no guarantee"):
        private(PrivateRidge, "height").fit(X, ys["height"])


def test_a_fold_without_a_level_has_a_column_for_it():
    rng = np.random.default_rng(8)
    levels = ["high", "low", "middle"]
    X = rng.normal(size=(3000, 2))
    scores = X @ [[2.0, -2.0, 0.0], [0.0, 1.0, 2.0]] + rng.gumbel(size=(3000, 3))
    y = np.asarray(levels)[scores.argmax(axis=1)]
    order = ["middle", "high", "low"]
    flip = np.asarray([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.05, 0.05, 0.9]])
    noisy = np.asarray([rng.choice(order, p=flip[order.index(level)]) for level in y])
    aware = NoiseAwareLogisticRegression(flip, classes=order).fit(X, noisy)
    assert list(aware.classes_) == levels
    assert log_loss(y, aware.predict_proba(X)) < log_loss(y, NoiseAwareLogisticRegression().fit(X, noisy).predict_proba(X)) - 0.05
    fold = noisy != "low"
    with pytest.raises(ValueError, match="give all levels as classes"):
        NoiseAwareLogisticRegression(flip).fit(X[fold], noisy[fold])
    for label_flip_of_fold in (flip, None):
        part = NoiseAwareLogisticRegression(label_flip_of_fold, classes=order).fit(X[fold], noisy[fold])
        assert part.predict_proba(X).shape == (3000, 3) and part.predict_proba(X)[:, 1].max() < 0.1
    with pytest.raises(ValueError, match="classes lacks 'low'"):
        NoiseAwareLogisticRegression(classes=["high", "middle"]).fit(X, y)


#: Scikit-learn's checks that fit no records. All others make up arrays, and a schema must not come from them.
WITHOUT_RECORDS = {
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}


@pytest.mark.parametrize("estimator", sorted({estimator for estimator, _ in PRIVATE}, key=lambda of: of.__name__))
def test_scikit_learns_checks_without_records_hold(estimator):
    done = set()
    for own, check in estimator_checks_generator(estimator()):
        if check.func.__name__ in WITHOUT_RECORDS:
            check(own)
            done.add(check.func.__name__)
    assert len(done) >= 9  # versions of scikit-learn differ in a few


@pytest.mark.filterwarnings("ignore::scumble.PrivacyWarning")
@pytest.mark.parametrize("estimator, target", PRIVATE)
def test_without_a_budget_two_fits_are_equal(estimator, target):
    X, ys = plants(500)
    first, second = (private(estimator, target, epsilon=np.inf, seed=None).fit(X, ys[target]) for _ in range(2))
    assert np.array_equal(first.predict(X), second.predict(X)) and first.card_["guarantee"]["claims"] == []


def test_the_design_depends_on_the_number_of_people_and_not_of_their_records():
    """The claim is for all records of a person, and discloses the number of people alone."""
    X, ys = plants(400)
    schema = {**FEATURES, "edible": ["no", "yes"], "person": {"kind": "id", "records_per_person": 4}}
    people = X.assign(person=[f"p{row % 100}" for row in range(400)])
    model = PrivateAdditiveClassifier(schema, epsilon=8.0)
    designs = [clone(model).fit(people[:count], ys["edible"][:count]).design_ for count in (150, 400)]
    assert designs[0] == designs[1]
