"""DP-EBM of interpret-core, and two models in the clear.

DP-EBM claims (ε, δ) for records that are added or removed. It gives 0.1 ε and δ/2 to the bins and 0.9 ε and
δ/2 to boosting, and adds both up. Each part is a Gaussian mechanism over all features or all rounds, with
μ_bin and μ_boost such that δ(ε, μ) = Φ(-ε/μ + μ/2) - exp(ε) Φ(-ε/μ - μ/2) equals the part's δ.

The library has no claim for a record that is replaced. Its noise has one:

  bins      A replaced record changes two counts of a histogram by 1 each, an added record only one count.
            The sensitivity is √2 times as large: 2 μ_bin².
  boosting  A residual is in [-1, 1]. An added record changes the sum of one leaf by at most 1. A replaced
            record changes one sum by at most 2, or two sums by at most 1 each. The sensitivity is 2 times
            as large: 4 μ_boost².

Gaussian mechanisms compose to μ² = 2 μ_bin² + 4 μ_boost², and the whole release keeps (ε, δ) if μ equals that
of (ε, δ). `library_epsilon` finds the library's ε for which this holds, at the same δ.

Neither claim covers the levels and the classes, which the library reads from the data in the clear. The same
holds for the number of records, which an added record changes.
"""

import math

from interpret.glassbox import ExplainableBoostingClassifier
from interpret.privacy import DPExplainableBoostingClassifier
from sklearn.linear_model import LogisticRegression

from common import serve

BIN_SHARE = 0.1


def bisect(holds, lower, upper):
    """Largest value for which `holds`, if smaller ones do."""
    for _ in range(100):
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if holds(middle) else (lower, middle)
    return lower


def normal(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def mu_of(epsilon, delta):
    """Largest μ of a Gaussian mechanism that keeps (ε, δ)."""

    def keeps(mu):
        return normal(-epsilon / mu + mu / 2) - math.exp(epsilon) * normal(-epsilon / mu - mu / 2) <= delta

    return bisect(keeps, 1e-6, 100)


def library_epsilon(epsilon, delta):
    """The library's ε for which a replaced record keeps (ε, δ)."""
    most = mu_of(epsilon, delta) ** 2

    def keeps(own):
        bins, boosting = mu_of(BIN_SHARE * own, delta / 2), mu_of((1 - BIN_SHARE) * own, delta / 2)
        return 2 * bins**2 + 4 * boosting**2 <= most

    return bisect(keeps, 1e-3, 50)


def kinds(columns):
    return ["continuous" if name in columns.numbers else "nominal" for name in columns.features]


def private(job, columns, train, test):
    epsilon, note = job["epsilon"], None
    if job["settings"]["claim"] == "replace one":
        epsilon = library_epsilon(epsilon, job["delta"])
        note = f"{epsilon:.3f}"
    numbers = columns.numbers
    bounds = {at: numbers[name] for at, name in enumerate(columns.features) if name in numbers}
    model = DPExplainableBoostingClassifier(
        feature_types=kinds(columns),
        epsilon=epsilon,
        delta=job["delta"],
        bin_budget_frac=BIN_SHARE,
        privacy_bounds=bounds,
        random_state=job["seed"],
        n_jobs=1,
    )
    model.fit(train[columns.features], columns.classify(train))
    return model.predict_proba(test[columns.features])[:, 1], note


def additive(job, columns, train, test):
    settings = {"interactions": 0, "random_state": job["seed"], "n_jobs": 1}
    model = ExplainableBoostingClassifier(feature_types=kinds(columns), **settings)
    model.fit(train[columns.features], columns.classify(train))
    return model.predict_proba(test[columns.features])[:, 1], None


def logistic(_job, columns, train, test):
    model = LogisticRegression(max_iter=2000).fit(columns.encode(train), columns.classify(train))
    return model.predict_proba(columns.encode(test))[:, 1], None


if __name__ == "__main__":
    learners = {"private": private, "additive": additive, "logistic": logistic}
    serve(learners, ["interpret-core", "scikit-learn", "numpy"])
