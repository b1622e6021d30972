"""LogisticRegression of diffprivlib: noise in the objective (Chaudhuri and others 2011, Theorem 9).

The claim is ε with δ = 0, if one record is replaced. Features are encoded by the public schema: numbers in
[-1, 1], a column of 0 or 1 for each level. For m features before encoding, no row is longer
than √m.

Two settings of one model, with C = 1 for the encoded features:

  bound  `data_norm` is √m. The library adds the intercept, so its norm is R = √(m + 1).
  one    Rows with a constant 1 for the intercept are divided by R, so `data_norm` is 1. C is R². The objective
         is the same, in other units of the weights.

They differ in the part of ε that is reserved for the change of curvature. A record's Hessian has a norm of at
most c‖x‖², c = 1/4. The proof, written for ‖x‖ ≤ 1, thus needs 2 log(1 + cR²/α) with α = 1/C. The library
reserves 2 log(1 + cR/α), which is less for R > 1. At R = 1 both agree.
"""

import math

import numpy
from diffprivlib.models import LogisticRegression

from common import serve


def private(job, columns, train, test):
    groups = len(columns.features)
    own = {"epsilon": job["epsilon"], "random_state": numpy.random.RandomState(job["seed"]), "max_iter": 2000}
    x, tested = columns.encode(train), columns.encode(test)
    if job["settings"]["norm"] == "one":
        longest = math.sqrt(groups + 1)
        x, tested = (numpy.hstack([part, numpy.ones((len(part), 1))]) / longest for part in (x, tested))
        model = LogisticRegression(data_norm=1.0, C=longest**2, fit_intercept=False, **own)
    else:
        model = LogisticRegression(data_norm=math.sqrt(groups), **own)
    model.fit(x, columns.classify(train))
    return model.predict_proba(tested)[:, 1], None


if __name__ == "__main__":
    serve({"private": private}, ["diffprivlib", "scikit-learn", "numpy"])
