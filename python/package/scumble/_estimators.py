"""Estimators of scikit-learn that a curator's private mechanisms fit."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Sequence

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ._design import Card, Design, design
from ._errors import InvalidInput
from ._model import Model

__all__ = ["PrivateAdditiveClassifier", "PrivateAdditiveRegressor", "PrivateLogisticRegression", "PrivateRidge"]

_PARAMETERS = """
    Every ``fit`` is a new release with a charge of its own. A cross-validation or a search pays for each fold, and again for
    the final fit. Its scores come from records in the clear, and no charge covers them. Transformers before the estimator
    must not learn from the records, because their fitted state is not private. Weights of records (``sample_weight``) are
    not supported.

    Parameters
    ----------
    schema : dict or path
        Public bounds and levels of all columns and of the target, as for :func:`scumble.design`. Text columns are
        categories here, so records need no encoder. Bounds never come from the data.
    target : str, optional
        Name of the target in `schema`, by default ``y.name``.
    epsilon, delta : float
        Budget of one fit.
    ledger : scumble.Ledger or path, optional
        Ledger that is charged before each fit.
    dataset : str, optional
        Name of the data set in `ledger`.{own}
    seed : int, optional
        Repeats a fit, and voids the guarantee.

    Attributes
    ----------
    design_ : scumble.Design
        Design of the mechanism, with the guarantee.
    card_ : scumble.Card
        Card of this release.
    model_ : scumble.Model
        Released model.
    feature_names_in_ : array of str
        Columns of the frame. The columns after encoding are ``model_.feature_names_in_``.
    n_features_in_ : int
        Number of these columns.{attributes}

    Warns
    -----
    PrivacyWarning
        If `seed` is given, or if the budget protects little.
    """

_DESCENT = """
    neighbours : {"replace-one", "add-or-remove-one"}, optional
        Neighbouring relation, by default the first, with a public number of records. The second needs `records`.
    records : int, optional
        Public estimate of the number of records.
    steps : int, optional
        Number of steps over all records.
    learning_rate : float, optional
        Factor of the mean gradient in a step.
    momentum : float, optional
        Share of the previous step that is added to the next.
    clipping_norm : float, optional
        Upper limit for the norm of a record's gradient.
    calibration_steps : int, optional
        Number of steps of the calibration after the descent, for classes alone."""

_ADDITIVE = """
    knots : int, optional
        Number of knots of each number that has no knots in the schema.
    pairs : list of pairs of str, optional
        Pairs of columns with a function of both."""

_CLASSES = """
    classes_ : array
        Classes of the schema, sorted as in scikit-learn. A class may be missing in `y`."""

_LINEAR = """
    coef_ : array ({shape})
        Coefficients of encoded records: numbers in [0, 1] by their bounds, and 0 or 1 for each level.
    intercept_ : {intercept}
        {constant}."""


class _Private(BaseEstimator):
    """Estimator whose fit is the release of a model."""

    _mechanism: str
    _common = ("schema", "target", "epsilon", "delta", "ledger", "dataset", "seed")

    def _design(self, X: Any, y: Any) -> Design:
        """Design for public knowledge, after checks that need no charge."""
        if self.schema is None:
            raise InvalidInput("schema: give the public bounds and levels of all columns; bounds never come from the data")
        if not hasattr(X, "columns") or not len(X.columns):
            raise InvalidInput(
                "X must be a pandas or Polars frame with the columns of the schema; "
                'a transformer returns a frame after set_output(transform="pandas")'
            )
        if y is None:
            raise InvalidInput(f"{type(self).__name__} requires y to be passed, but the target y is None")
        check_consistent_length(X, y)
        own = self.get_params(deep=False)
        target = own["target"] if own["target"] is not None else getattr(y, "name", None)
        if not target:
            raise InvalidInput("target: y has no name; give the target's name in the schema")
        if target in X.columns:
            raise InvalidInput(f"X has the target {target!r} as a column; drop it from X")
        parameters = {name: value for name, value in own.items() if name not in self._common and value is not None}
        is_public = parameters.get("neighbours") != "add-or-remove-one"  # then the number of people is public
        designed = partial(
            design,
            self._mechanism,
            schema=own["schema"],
            target=str(target),
            task="classify" if isinstance(self, ClassifierMixin) else "regress",
            epsilon=own["epsilon"],
            delta=own["delta"],
            **parameters,
        )
        made = designed(people=len(X) if is_public else parameters.get("records"))
        schema = json.loads(made._native.to_json())["schema"]
        person = (schema.get("person") or {}).get("name")
        if is_public and person in X.columns:  # the number of records of several for a person is not public
            made = designed(people=len(set(X[person])))
        known = {column["name"] for column in schema["column"]} | {person}
        unknown = [name for name in X.columns if name not in known]
        if unknown:
            raise InvalidInput(f"the schema lacks the column {str(unknown[0])!r} of X; add its public bounds, or drop it")
        return made

    def _coded(self, made: Design, y: Any) -> tuple[Any, Any]:
        """Values of the target for the schema, and the classes of `y` in the order of its levels."""
        columns = json.loads(made._native.to_json())["schema"]["column"]
        column = next(column for column in columns if column["name"] == made.target)
        values = np.asarray(np.asarray(y).tolist())
        kind = values.dtype.kind
        if column["kind"] == "integer":
            return values, np.arange(column["lower"], column["upper"] + 1, dtype=values.dtype if kind in "iuf" else int)
        levels = column.get("levels") or ["false", "true"]
        flags = {"false": False, "true": True}
        try:
            classes = [flags[level] if kind == "b" else values.dtype.type(level) if kind in "iuf" else level for level in levels]
        except (KeyError, ValueError):
            held = "flags" if kind == "b" else "numbers"
            raise InvalidInput(f"y holds {held}, but the levels of {made.target!r} in the schema are {levels}") from None
        level_of = dict(zip(classes, levels))
        return [level_of.get(value, str(value)) for value in values.tolist()], np.asarray(classes)

    def fit(self, X: Any, y: Any) -> Any:
        """Releases a model of the records, after the charge to the ledger."""
        made = self._design(X, y)
        target = str(made.target)
        values, classes = self._coded(made, y) if isinstance(self, ClassifierMixin) else (np.asarray(y), None)
        if hasattr(X, "with_columns"):
            import polars

            records = X.with_columns(polars.Series(target, values))
        else:
            records = X.assign(**{target: values})
        own = self.get_params(deep=False)
        released, self.card_ = made.release_with_card(records, seed=own["seed"], ledger=own["ledger"], dataset=own["dataset"])
        self.design_, self.model_ = made, Model(released, made)
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = len(X.columns)
        weights, constants = self.model_.coef_, self.model_.intercept_
        if classes is not None:  # sorted, as scikit-learn's scorers expect
            self._order = np.argsort(classes)
            self.classes_ = classes[self._order]
            if len(classes) == 2:
                sign = 1 - 2 * int(self._order[0])
                weights, constants = sign * weights, sign * constants
            else:
                weights, constants = weights[self._order], constants[self._order]
        if self._mechanism != "private-additive":
            self.coef_, self.intercept_ = weights, constants
        return self

    @available_if(lambda self: isinstance(self, ClassifierMixin))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Predicts the probability of each class, in the order of ``classes_``."""
        check_is_fitted(self)
        return self.model_.predict_proba(X)[:, self._order]

    def predict(self, X: Any) -> Any:
        """Predicts the target of each record. A prediction about a record in the clear is not private."""
        check_is_fitted(self)
        if isinstance(self, ClassifierMixin):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        return self.model_.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


class PrivateLogisticRegression(ClassifierMixin, _Private):
    __doc__ = "Differentially private logistic regression by descent on noisy gradients (``private-logistic``).\n" + (
        _PARAMETERS.replace("{own}", _DESCENT).replace(
            "{attributes}",
            _CLASSES
            + _LINEAR.format(
                shape="1 × d for two classes, K × d for more",
                intercept="array (1 or K)",
                constant="Intercepts; for two classes that of ``classes_[1]``, as in scikit-learn",
            ),
        )
    )
    _mechanism = "private-logistic"

    def __init__(
        self,
        schema: Any = None,
        target: str | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        ledger: Any = None,
        dataset: str | None = None,
        neighbours: str | None = None,
        records: int | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        momentum: float | None = None,
        clipping_norm: float | None = None,
        calibration_steps: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.schema = schema
        self.target = target
        self.epsilon = epsilon
        self.delta = delta
        self.ledger = ledger
        self.dataset = dataset
        self.neighbours = neighbours
        self.records = records
        self.steps = steps
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.clipping_norm = clipping_norm
        self.calibration_steps = calibration_steps
        self.seed = seed


class PrivateRidge(RegressorMixin, _Private):
    __doc__ = "Differentially private ridge regression from noisy moments, AdaSSP (``private-ridge``).\n" + (
        _PARAMETERS.replace("{own}", "").replace(
            "{attributes}",
            _LINEAR.format(
                shape="d",
                intercept="float",
                constant="Intercept, also for the target in [0, 1] by its bounds",
            ),
        )
    )
    _mechanism = "private-ridge"

    def __init__(
        self,
        schema: Any = None,
        target: str | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        ledger: Any = None,
        dataset: str | None = None,
        seed: int | None = None,
    ) -> None:
        self.schema = schema
        self.target = target
        self.epsilon = epsilon
        self.delta = delta
        self.ledger = ledger
        self.dataset = dataset
        self.seed = seed


class PrivateAdditiveClassifier(ClassifierMixin, _Private):
    __doc__ = "Differentially private additive model of classes (``private-additive``).\n" + (
        _PARAMETERS.replace("{own}", _ADDITIVE + _DESCENT).replace("{attributes}", _CLASSES)
    )
    _mechanism = "private-additive"

    def __init__(
        self,
        schema: Any = None,
        target: str | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        ledger: Any = None,
        dataset: str | None = None,
        knots: int | None = None,
        pairs: Sequence[Sequence[str]] | None = None,
        neighbours: str | None = None,
        records: int | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        momentum: float | None = None,
        clipping_norm: float | None = None,
        calibration_steps: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.schema = schema
        self.target = target
        self.epsilon = epsilon
        self.delta = delta
        self.ledger = ledger
        self.dataset = dataset
        self.knots = knots
        self.pairs = pairs
        self.neighbours = neighbours
        self.records = records
        self.steps = steps
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.clipping_norm = clipping_norm
        self.calibration_steps = calibration_steps
        self.seed = seed


class PrivateAdditiveRegressor(RegressorMixin, _Private):
    __doc__ = "Differentially private additive model of a number (``private-additive``).\n" + (
        _PARAMETERS.replace("{own}", _ADDITIVE + _DESCENT).replace("{attributes}", "")
    )
    _mechanism = "private-additive"

    __init__ = PrivateAdditiveClassifier.__init__
