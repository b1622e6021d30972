"""Trains scikit-learn on a released file, and scores it on viewed records.

A comparison names a mechanism, the accuracy of a model of its releases, and the command that designs it. This script runs
the command, releases, and trains on the released file. It then applies the model to records in the clear, viewed and, for
comparison, unchanged.
"""

import argparse
import csv
import json
import random
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

MECHANISM, TARGET, EPSILON = "task-aware-clipped", "quality", "4"
VOLUNTEERS, TEST_SHARE = 0.3, 0.2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scumble", default="scumble", help="the command")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, help="of splits and noise; a seeded release claims nothing")
    arguments = parser.parse_args()
    program = path_of(arguments.scumble)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(Example(program, Path(folder), arguments.seed).run(arguments.trials), indent=2))


def path_of(program):
    """Path of the program that works from any folder: an absolute path, or a name to find on PATH."""
    return str(Path(program).resolve()) if "/" in program else program


class Example:
    def __init__(self, program, folder, seed):
        self.program, self.folder, self.seed = program, folder, seed

    def scumble(self, *words):
        """Runs the command in the folder, and returns its output."""
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return done.stdout

    def run(self, trials):
        rows = [self.compared(trial) for trial in range(trials)]
        design = rows[0]["design"]
        self.scumble("schema", "--data", "wine", "--output", "wine.toml", "--records", "wine.csv")
        header, *wines = csv.reader((self.folder / "wine.csv").open())
        viewed, clean = zip(*(self.trial(design, header, wines, trial) for trial in range(trials)))
        return {
            "design": design,
            "compared": summary([row["mean"] for row in rows]),
            "viewed": summary(viewed),
            "not viewed": summary(clean),
        }

    def compared(self, trial):
        """Row of `compare` for the mechanism, with this trial's volunteers and split: the accuracy of a model of its release,
        and the command that designs it."""
        words = ["--mechanism", MECHANISM, "--epsilon", EPSILON, "--volunteers", str(VOLUNTEERS)]
        words += ["--test-share", str(TEST_SHARE), "--trials", "1", "--seed", str(trial)]
        outcome = json.loads(self.scumble("compare", *words, "--json"))
        return next(row for row in outcome["rows"] if row["metric"] == "accuracy")

    def trial(self, design, header, wines, trial):
        """Accuracies on viewed test records, and on the same records unviewed."""
        rows = list(wines)
        random.Random(None if self.seed is None else self.seed + trial).shuffle(rows)
        test = round(len(rows) * TEST_SHARE)
        volunteers = round((len(rows) - test) * VOLUNTEERS)
        self.write("clean.csv", header, rows[:test])
        self.write("volunteers.csv", header, rows[test : test + volunteers])
        self.write("private.csv", header, rows[test + volunteers :])
        # The three commands: design, release, view. The model learns only from the released file.
        self.scumble(*shlex.split(design)[1:], "--force")
        seed = [] if self.seed is None else ["--seed", str(self.seed + trial)]
        release = ["--design", "design.json", "--input", "private.csv", "--output", "released.csv"]
        self.scumble("release", *release, "--force", *seed)
        view = ["--design", "design.json", "--input", "clean.csv", "--output", "view.csv"]
        self.scumble("view", *view, "--force")
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        model.fit(*self.read("released.csv"))
        return model.score(*self.read("view.csv")), model.score(*self.read("clean.csv"))

    def write(self, name, header, rows):
        with (self.folder / name).open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])

    def read(self, name):
        """Reads the features (columns of numbers) and the labels (target) of a file."""
        rows = list(csv.DictReader((self.folder / name).open()))
        labels = [row.pop(TARGET) for row in rows]
        return numpy.array([list(map(float, row.values())) for row in rows]), numpy.array(labels)


def summary(scores):
    """Mean of the scores, and its standard error."""
    return {"mean": statistics.mean(scores), "error": statistics.stdev(scores) / len(scores) ** 0.5}


if __name__ == "__main__":
    main()
