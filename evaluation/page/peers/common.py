"""Shared by the peers: one process per peer reads jobs as lines of JSON, and replies with a line for each.

A job names the files with the training and test records, the schema's columns and the target. It also has ε, δ,
the seed, the settings of the contestant and a limit of CPU seconds. The peer writes the probability of the last
class of each test record to the file `scores`. Its reply has the CPU seconds of reading, learning and scoring.
They exclude the start of the interpreter and imports.
"""

import json
import resource
import signal
import sys
import warnings
from importlib.metadata import version

import numpy
import pandas


class Columns:
    """The columns of a schema, with public bounds and levels."""

    def __init__(self, columns, target):
        self.numbers = {c["name"]: (c["lower"], c["upper"]) for c in columns if c["kind"] != "category"}
        self.features = [c["name"] for c in columns if c["name"] != target]
        levels = {c["name"]: c["levels"] for c in columns if c["kind"] == "category"}
        self.levels = {name: levels[name] for name in self.features if name in levels}
        self.target = target
        self.classes = levels[target]

    def read(self, file):
        """Reads records. Numbers are clipped to their bounds, levels are text."""
        texts = {name: str for name in [*self.levels, self.target]}
        table = pandas.read_csv(file, dtype=texts, keep_default_na=False)
        for name, (lower, upper) in self.numbers.items():
            table[name] = table[name].astype(float).clip(lower, upper)
        return table

    def encode(self, table):
        """Encodes features: numbers in [-1, 1] by the bounds, a column of 0 or 1 for each level."""
        parts = [
            2 * (table[name].to_numpy(float)[:, None] - lower) / (upper - lower) - 1
            for name, (lower, upper) in self.numbers.items()
        ]
        for name, levels in self.levels.items():
            parts.append(table[name].to_numpy(str)[:, None] == numpy.array(levels))
        return numpy.hstack(parts).astype(float)

    def classify(self, table):
        """Returns 1 for the last class, else 0."""
        return (table[self.target] == self.classes[-1]).to_numpy(int)


class OverLimit(Exception):
    pass


def stop(*_):
    raise OverLimit


def cpu():
    usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def serve(learners, libraries):
    """Replies to jobs. `learners[kind](job, columns, train, test)` returns probabilities and a note."""
    warnings.simplefilter("ignore")
    reply, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps({name: version(name) for name in libraries}), file=reply, flush=True)
    signal.signal(signal.SIGPROF, stop)
    for line in sys.stdin:
        job = json.loads(line)
        columns = Columns(job["columns"], job["target"])
        start = cpu()
        try:
            signal.setitimer(signal.ITIMER_PROF, job["limit"])
            train, test = columns.read(job["train"]), columns.read(job["test"])
            probabilities, note = learners[job["settings"]["kind"]](job, columns, train, test)
            signal.setitimer(signal.ITIMER_PROF, 0)
        except OverLimit:
            print(json.dumps({"over": job["limit"]}), file=reply, flush=True)
            continue
        numpy.savetxt(job["scores"], probabilities)
        print(json.dumps({"cpu": cpu() - start, "note": note}), file=reply, flush=True)
