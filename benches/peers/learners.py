"""Models in scikit-learn and PyTorch.

Reads lines "THREADS KIND RECORDS TARGETS WIDTH …", and replies with nanoseconds per record.
"""

import sys
import time
import warnings
from functools import cache

import numpy
import torch
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

warnings.simplefilter("ignore")
BATCH = 64
ITERATIONS = [60, 80, 90, 100, 110, 120, 140, 160, 200, 300, 400]


@cache
def read(records, targets, width):
    return numpy.fromfile(records).reshape(-1, int(width)), numpy.fromfile(targets)


@cache
def logistic(records, targets, width, loss):
    """Returns a fit with the smallest number of iterations that reaches `loss`."""
    x, y = read(records, targets, width)

    def fit(iterations):
        model = LogisticRegression(C=1.0, max_iter=iterations, tol=1e-12)
        return make_pipeline(StandardScaler(), model).fit(x, y)

    for iterations in ITERATIONS:
        probabilities = fit(iterations).predict_log_proba(x)
        if -probabilities[numpy.arange(len(y)), y.astype(int)].sum() <= float(loss):
            return lambda: fit(iterations)
    raise SystemExit("no number of iterations is enough")


@cache
def ridge(records, targets, width):
    x, y = read(records, targets, width)
    return lambda: make_pipeline(StandardScaler(), Ridge(alpha=1e-3 * len(y))).fit(x, y)


@cache
def network(records, targets, width, hidden):
    x, y = read(records, targets, width)

    def fit():
        standardized = torch.from_numpy(StandardScaler().fit_transform(x)).float()
        labels = torch.from_numpy(y).long()
        layers = torch.nn.Linear(int(width), int(hidden)), torch.nn.ReLU(), torch.nn.Linear(int(hidden), 10)
        model = torch.nn.Sequential(*layers)
        optimiser = torch.optim.Adam(model.parameters(), fused=True)
        for rows in torch.randperm(len(labels)).split(BATCH):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(standardized[rows]), labels[rows]).backward()
            optimiser.step()

    return fit


KINDS = {"logistic": logistic, "ridge": ridge, "network": network}
print("ready", flush=True)
for line in sys.stdin:
    threads, kind, *arguments = line.split()
    run = KINDS[kind](*arguments)
    torch.set_num_threads(int(threads))
    with threadpool_limits(int(threads)):
        start = time.perf_counter_ns()
        run()
        took = time.perf_counter_ns() - start
    print(took / len(read(*told[:3])[1]), flush=True)
