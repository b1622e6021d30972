#!/usr/bin/env python3
"""Utility of other libraries' private models beside ours, on the same records, scored by the same code.

    python3 evaluation/page/peers/run.py --scumble PATH --ebm PYTHON --diffprivlib PYTHON --aim PYTHON \\
        --output evaluation/page/peers/PEERS.md

Each peer runs in its own interpreter, because their dependencies conflict:

    --ebm           pip install interpret-core==0.7.8
    --diffprivlib   pip install diffprivlib==0.6.6 scikit-learn==1.5.0
    --aim           pip install dpmm==0.1.9

The records are those of `scumble schema --data NAME --records FILE`, where $SCUMBLE_DATA holds the public
files. All splits are seeded and written once as CSV. Ours learns and scores through the files that a user
has: `scumble design`, `release` and `predict`. Results are appended to a file in --results, and a later call
continues from there. Peers without an interpreter are not run, and the page shows their saved results. One
process works at a time, on one thread.

Seeds make the table repeatable, except AIM's. A release with a known seed has no guarantee.
"""

import argparse
import csv
import hashlib
import itertools
import json
import math
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
EPSILONS = [0.5, 1, 2, 8]
DELTA = 1e-6
LIMIT = 900
THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"]
MEASURES = {"accuracy": "accuracy", "balanced": "balanced accuracy", "auc": "AUC"}


@dataclass
class Data:
    name: str
    title: str
    target: str
    test: int
    repeats: int
    fixed: bool = False
    measures: list = field(default_factory=lambda: list(MEASURES))

    def splits(self):
        return 1 if self.fixed else self.repeats

    def split(self, at, records):
        """Indices of the training and the test records."""
        order = list(range(records))
        if self.fixed:
            return order[: records - self.test], order[records - self.test :]
        random.Random(f"{self.name} {at}").shuffle(order)
        return order[self.test :], order[: self.test]


DATA = [
    Data("adult", "Adult", "income", 16281, 5, fixed=True),
    Data("wine", "Wine", "quality", 320, 20),
    Data("wdbc", "WDBC", "Cancer", 114, 20),
    Data("lending-club-default", "LendingClub defaults", "loan_status", 8507, 3, measures=["auc"]),
]


@dataclass
class Contestant:
    name: str
    claim: str  # None: a model in the clear
    program: str
    settings: dict
    repeats: dict = field(default_factory=dict)  # fewer repeats than the data set has

    def title(self):
        return f"{self.name}, {self.claim}" if self.claim else self.name

    def budgets(self):
        return EPSILONS if self.claim else [None]

    def count(self, data):
        """Number of repeats. A model in the clear has one for a split."""
        return min(self.repeats.get(data.name, data.repeats), data.repeats if self.claim else data.splits())


def ours(mechanism, claim, people=True, parameters=()):
    settings = {"mechanism": mechanism, "people": people, "set": list(parameters)}
    return Contestant(f"scumble `{mechanism}`", claim, "scumble", settings)


HIDDEN = "neighbours=add-or-remove-one"  # needs a public number of records
AIM = {"kind": "rows", "bins": 16, "iterations": 300, "megabytes": 4}
FEW = {"adult": 2, "wine": 3, "wdbc": 1, "lending-club-default": 1}

CONTESTANTS = [
    ours("private-additive", "replace one"),
    ours("private-logistic", "replace one"),
    ours("private-additive", "add/remove one", parameters=[HIDDEN]),
    ours("private-logistic", "add/remove one", parameters=[HIDDEN]),
    Contestant("DP-EBM", "add/remove one", "ebm", {"kind": "private", "claim": "add/remove one"}),
    Contestant("DP-EBM, converted", "replace one", "ebm", {"kind": "private", "claim": "replace one"}),
    Contestant("diffprivlib", "replace one, δ = 0", "diffprivlib", {"kind": "private", "norm": "bound"}),
    Contestant("diffprivlib, norm 1", "replace one, δ = 0", "diffprivlib", {"kind": "private", "norm": "one"}),
    Contestant("AIM rows", "add/remove one", "aim", AIM, FEW),
    Contestant("logistic regression", None, "ebm", {"kind": "logistic"}),
    Contestant("EBM without interactions", None, "ebm", {"kind": "additive"}),
]


def scores(truth, probabilities):
    """Accuracy, balanced accuracy and AUC in percent. The second class is predicted above one half."""
    ones = sum(truth)
    zeros = len(truth) - ones
    true_ones = sum(p > 0.5 for y, p in zip(truth, probabilities) if y)
    true_zeros = sum(p <= 0.5 for y, p in zip(truth, probabilities) if not y)
    order = sorted(range(len(truth)), key=probabilities.__getitem__)
    ranks, at = 0.0, 0
    while at < len(order):
        end = at
        while end < len(order) and probabilities[order[end]] == probabilities[order[at]]:
            end += 1
        ranks += (at + 1 + end) / 2 * sum(truth[i] for i in order[at:end])
        at = end
    return {
        "accuracy": 100 * (true_ones + true_zeros) / len(truth),
        "balanced": 50 * (true_ones / ones + true_zeros / zeros),
        "auc": 100 * (ranks - ones * (ones + 1) / 2) / (ones * zeros),
    }


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Scumble:
    """Our release, by the commands that a user runs."""

    def __init__(self, program, folder, _name):
        self.program, self.folder = program, folder
        version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
        self.versions = {"scumble": version}
        self.build = hashlib.sha256(Path(program).read_bytes()).hexdigest()[:12]

    def command(self, *words):
        command = [self.program, *map(str, words), "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def run(self, job):
        design, model, predicted = (self.folder / name for name in ("design.json", "model.csv", "predicted.csv"))
        settings = job["settings"]
        more = ["--people", job["records"]] if settings["people"] else []
        parameters = settings["set"] + ([f"records={job['records']}"] if HIDDEN in settings["set"] else [])
        more += [word for parameter in parameters for word in ("--set", parameter)]
        design.unlink(missing_ok=True)
        start = children_cpu()
        about = ["--schema", job["schema"], "--target", job["target"]]
        budget = ["--epsilon", job["epsilon"], "--delta", job["delta"]]
        self.command("design", settings["mechanism"], *about, *budget, *more, "--output", design)
        files = ["--input", job["train"], "--output", model, "--force"]
        self.command("release", "--design", design, *files, "--seed", job["seed"])
        files = ["--input", job["test"], "--output", predicted, "--force"]
        self.command("predict", "--design", design, "--model", model, *files, "--probabilities")
        reply = {"cpu": children_cpu() - start, "note": None, "build": self.build}
        with open(predicted, newline="", encoding="utf-8") as file:
            column = f"probability of {job['classes'][-1]}"
            return reply, [float(row[column]) for row in csv.DictReader(file)]


class Peer:
    """A peer's process, which serves jobs until its input ends."""

    def __init__(self, python, folder, name):
        environment = os.environ | dict.fromkeys(THREADS, "1")
        self.scores = folder / "scores.txt"
        command = [python, str(HERE / f"peer_{name}.py")]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.versions = self.reply()

    def reply(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(self.process.args)} ended without a reply")
        return json.loads(line)

    def run(self, job):
        print(json.dumps(job | {"scores": str(self.scores)}), file=self.process.stdin, flush=True)
        reply = self.reply()
        if "over" in reply:
            return reply, None
        return reply, [float(line) for line in self.scores.read_text(encoding="utf-8").split()]


def key(result):
    return json.dumps([result[part] for part in ("data", "repeat", "epsilon", "name", "settings")], sort_keys=True)


class Splits:
    """Records, schemas and splits of all data sets as files, each made when first needed."""

    def __init__(self, program, folder):
        self.program, self.folder, self.made = program, folder, {}

    def files(self, data):
        if data.name in self.made:
            return self.made[data.name]
        schema, records = self.folder / f"{data.name}.toml", self.folder / f"{data.name}.csv"
        command = [self.program, "schema", "--data", data.name, "--output", schema, "--records", records, "--quiet"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        columns = tomllib.loads(schema.read_text(encoding="utf-8"))["column"]
        classes = next(column["levels"] for column in columns if column["name"] == data.target)
        with open(records, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        made = []
        for at in range(data.splits()):
            names = [self.folder / f"{data.name}-{at}-{part}.csv" for part in ("train", "test")]
            parts = data.split(at, len(rows))
            for name, part in zip(names, parts):
                with open(name, "w", newline="", encoding="utf-8") as file:
                    csv.writer(file, lineterminator="\n").writerows([header, *(rows[i] for i in part)])
            truth = [int(rows[i][header.index(data.target)] == classes[-1]) for i in parts[1]]
            job = {"train": str(names[0]), "test": str(names[1]), "records": len(parts[0])}
            made.append((job | {"schema": str(schema), "columns": columns, "classes": classes}, truth))
        self.made[data.name] = made
        return made


def jobs(arguments):
    """All selected results to measure, as (contestant, data, epsilon, repeat)."""
    for contestant in CONTESTANTS:
        if getattr(arguments, contestant.program) and arguments.only in contestant.title():
            for data in DATA:
                if not arguments.data or data.name in arguments.data:
                    for epsilon in contestant.budgets():
                        for repeat in range(contestant.count(data)):
                            yield contestant, data, epsilon, repeat


def measure(arguments, file, done):
    """Runs all jobs without a result, and appends each result to the file."""
    over = {(result["data"], result["name"]) for result in done.values() if "over" in result and not arguments.again}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        splits, programs = Splits(arguments.scumble, folder), {}
        for contestant, data, epsilon, repeat in jobs(arguments):
            about = {"data": data.name, "repeat": repeat, "epsilon": epsilon, "name": contestant.name}
            about["settings"] = contestant.settings
            if (key(about) in done and not arguments.again) or (data.name, contestant.name) in over:
                continue
            if contestant.program not in programs:
                path = getattr(arguments, contestant.program)
                start = Scumble if contestant.program == "scumble" else Peer
                programs[contestant.program] = start(path, folder, contestant.program)
            program = programs[contestant.program]
            files, truth = splits.files(data)[repeat % data.splits()]
            job = about | files | {"target": data.target, "delta": DELTA, "limit": LIMIT, "seed": 1000 + repeat}
            reply, probabilities = program.run(job)
            result = about | reply | {"versions": program.versions}
            if probabilities is None:
                over.add((data.name, contestant.name))
            else:
                result |= scores(truth, probabilities)
            done[key(result)] = result
            print(json.dumps(result), file=file, flush=True)
            said = f"AUC {result['auc']:.1f}" if probabilities else f"more than {LIMIT} CPU s"
            print(f"{data.name}: {contestant.title()}: ε {epsilon}: repeat {repeat}: {said}", file=sys.stderr)


# The page.


def number(value, places=1):
    return f"{value:.{places}f}"


class Results:
    def __init__(self, done):
        self.done = done

    def all(self, data, contestant, epsilon):
        """Results of all repeats, in their order."""
        about = {"data": data.name, "epsilon": epsilon, "name": contestant.name, "settings": contestant.settings}
        found = (self.done.get(key(about | {"repeat": at})) for at in range(contestant.count(data)))
        return [result for result in found if result]

    def scored(self, data, contestant, epsilon):
        return [result for result in self.all(data, contestant, epsilon) if "auc" in result]

    def values(self, data, contestant, epsilon, measure):
        return [result[measure] for result in self.scored(data, contestant, epsilon)]

    def cell(self, data, contestant, epsilon):
        if not self.scored(data, contestant, epsilon):
            return f"> {LIMIT} CPU s" if self.all(data, contestant, epsilon) else "not run"
        parts = []
        for at, measure in enumerate(data.measures):
            values = self.values(data, contestant, epsilon, measure)
            spread = f" ± {number(statistics.stdev(values))}" if at == 0 and len(values) > 1 else ""
            parts.append(number(statistics.mean(values)) + spread)
        return " / ".join(parts)

    def seconds(self, data, contestant):
        means = []
        for epsilon in contestant.budgets():
            found = self.scored(data, contestant, epsilon)
            if found:
                means.append(statistics.mean(result["cpu"] for result in found))
        if not means:
            return "–"
        shown = [number(value, 2 if value < 1 else 1 if value < 10 else 0) for value in (min(means), max(means))]
        return shown[0] if shown[0] == shown[1] else "–".join(shown)

    def ahead(self, data, peer, our, epsilon, measure):
        """Cell with the difference of means, if it exceeds two standard errors or the peer has one repeat.

        Differences are paired on random splits. Repeats on a fixed split are independent.
        """
        theirs, own = (self.values(data, one, epsilon, measure) for one in (peer, our))
        if not theirs or len(own) < 2:
            return None
        pairs = [a - b for a, b in zip(theirs, [statistics.mean(own)] * len(theirs) if data.fixed else own)]
        difference = statistics.mean(pairs)
        if len(pairs) == 1:
            return f"+{number(difference)}, one repeat" if difference > 0 else "–"
        error = statistics.stdev(pairs) / math.sqrt(len(pairs))
        if data.fixed:
            error = math.hypot(error, statistics.stdev(own) / math.sqrt(len(own)))
        return f"+{number(difference)} ± {number(2 * error)}" if difference > 2 * error else "–"


def table(head, rows, left=1):
    """A Markdown table; all columns but the first `left` are numbers."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows]) + "\n"


def better(results):
    """Head and rows of the table of peers that exceed one of ours, and the number of comparisons."""
    mine = [one for one in CONTESTANTS if one.program == "scumble"]
    peers = [one for one in CONTESTANTS if one.claim and one.program != "scumble"]
    rows, comparisons = [], 0
    for data, epsilon, measure, peer in itertools.product(DATA, EPSILONS, MEASURES, peers):
        if measure in data.measures:
            cells = [results.ahead(data, peer, our, epsilon, measure) for our in mine]
            comparisons += sum(cell is not None for cell in cells)
            if any(cell and cell != "–" for cell in cells):
                about = [data.title, f"{epsilon:g}", peer.title(), MEASURES[measure]]
                rows.append([*about, *(cell or "–" for cell in cells)])
    head = ["data", "ε", "peer", "score", *(one.title().replace("scumble ", "than ") for one in mine)]
    return head, rows, comparisons


def processor():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown"


LEAD = """\
# Other libraries' private models beside ours

Test scores of models that were learned under differential privacy, by scumble and by three other libraries.
All learn from the same records, and one function scores them. One command measures and writes this page:

```console
$ python3 evaluation/page/peers/run.py --scumble PATH --ebm PYTHON --diffprivlib PYTHON --aim PYTHON \\
    --output evaluation/page/peers/PEERS.md
```

## Claims

At equal ε, the claim for a replaced record is stronger than the claim for an added or removed record. For
sums of gradients it takes about twice the noise, and for counts √2 times. δ is 10⁻⁶. Rows with δ = 0 have a
stronger claim still.

- **scumble** claims (ε, δ), for the neighbours that the row names.
- **DP-EBM** of interpret-core claims (ε, δ) for an added or removed record. The row "converted" keeps our
  claim with a smaller ε for the library: {converted}. Its noise then satisfies 2 μ_bin² + 4 μ_boost² = μ²,
  for the μ of (ε, δ). Boosting starts from equal classes, so its accuracy on unequal classes is below what its
  AUC allows.
- **diffprivlib** `LogisticRegression` claims (ε, 0) for a replaced record. Its reserve for the change of
  curvature fits its proof for rows of norm 1 only. The row "norm 1" scales rows to norm 1 and has the same
  objective.
- **AIM** of dpmm claims (ε, δ) for an added or removed record. It releases synthetic rows, and a logistic
  regression in the clear learns from them.

The arithmetic is in the docstrings of `peer_ebm.py` and `peer_diffprivlib.py`.

## Scores

{cells}. "±" is the standard deviation over repeats. CPU seconds are those of one release and its test
scores: the smallest and the largest mean over ε. They include reading of files, and exclude the start of
Python.
"""

BETTER = """\
## Better than ours at the same ε

Peers whose mean exceeds one of ours by more than two standard errors, of {comparisons} comparisons. A cell shows
the difference and two standard errors. A dash is a smaller difference, or a better score of ours. Random
splits overlap, so their standard errors are too small. A peer with one repeat has no standard error, and any
difference is listed.
"""

SETTINGS = """\
## Settings

All contestants have the same public schemas and their default settings, except for those below. The rules
behind our defaults were chosen with these four data sets among others.

- **Test records**: {data}. A random split has one repeat. A fixed split has new noise in each repeat.
- **Encoding** for logistic regressions of peers and in the clear: numbers in [-1, 1] by the public bounds,
  one-hot levels.
- **scumble**: `--people` is the number of training records, also as the public `records` of add/remove rows. `scumble design`, `release` and `predict` run
  as a user runs them.
- **DP-EBM**: `privacy_bounds` from the schema, `feature_types` continuous or nominal.
- **diffprivlib**: `data_norm` from the schema, `max_iter` 2000, C = 1. At norm 1, C = R².
- **AIM**: {bins} equal bins of each number between its public bounds, which cost no ε; all pairs of columns;
  {iterations} iterations; a model of at most {megabytes} MB. The library's defaults are 1000 iterations and no
  limit of size, which takes several times as long.
- **In the clear**: scikit-learn `LogisticRegression` with C = 1, `ExplainableBoostingClassifier` with
  `interactions=0`.
- **Versions**: {versions}.
- **Processor**: {processor}, one thread.

A known seed voids the guarantee of a release. These releases exist for measurement only.
"""


def reflow(text):
    """Fills paragraphs and list items to 120 columns. Tables, headings, code and formulas stay unbroken."""
    blocks = []
    for block in text.strip().split("\n\n"):
        if block[0] not in "|#`":
            items = []
            for item in re.split(r"\n(?=- )", block):
                whole = re.sub(r" ([+=]) |(?<=[24]) (?=μ)", lambda found: found[0].replace(" ", "\u00a0"), item)
                wrapper = textwrap.TextWrapper(120, break_on_hyphens=False)
                wrapper.subsequent_indent = "  " if item.startswith("- ") else ""
                items.append(wrapper.fill(re.sub(r"[ \n]+", " ", whole)).replace("\u00a0", " "))
            block = "\n".join(items)
        blocks.append(block)
    return "\n\n".join(blocks) + "\n"


def heading(data):
    if data.fixed:
        return f"### {data.title}\n\nThe data set's own split, {data.repeats} repeats of the noise."
    return f"### {data.title}\n\n{data.repeats} random splits."


def score_table(results, data):
    rows = []
    for one in CONTESTANTS:
        found = [len(results.scored(data, one, epsilon)) for epsilon in EPSILONS]
        if one.claim and any(results.all(data, one, epsilon) for epsilon in EPSILONS):
            few = f"; repeats: {max(found)}" if 0 < max(found) < data.repeats else ""
            cells = [results.cell(data, one, epsilon) for epsilon in EPSILONS]
            rows.append([one.title() + few, *cells, results.seconds(data, one)])
    return table(["", *(f"ε = {epsilon:g}" for epsilon in EPSILONS), "CPU s"], rows)


def in_the_clear(results, data):
    found = [
        f"{one.name} {results.cell(data, one, None)} ({results.seconds(data, one)} CPU s)"
        for one in CONTESTANTS
        if not one.claim and results.scored(data, one, None)
    ]
    return f"In the clear: {', '.join(found)}." if found else ""


def noted(results, name):
    """First note of a contestant at each ε."""
    for one in CONTESTANTS:
        for epsilon in one.budgets():
            notes = [r["note"] for data in DATA for r in results.scored(data, one, epsilon) if r["note"]]
            if one.name == name and notes:
                yield f"{notes[0]} for {epsilon:g}"


def page(results):
    cells = "Cells are accuracy / balanced accuracy / AUC in percent"
    for data in DATA:
        if data.measures == ["auc"]:
            cells += f". For {data.title} they are AUC only: 85 % of the records are of one class"
    blocks = [LEAD.format(converted=", ".join(noted(results, "DP-EBM, converted")), cells=cells)]
    for data in DATA:
        blocks += [heading(data), score_table(results, data), in_the_clear(results, data)]
    head, rows, comparisons = better(results)
    blocks += [BETTER.format(comparisons=comparisons), table(head, rows, left=4) if rows else "None."]
    versions = set()
    for result in results.done.values():
        main, *others = (f"{name} {version}" for name, version in result["versions"].items())
        versions.add(f"{main} (with {', '.join(others)})" if others else main)
    tested = (f"{data.title}, {data.test:,} {'last' if data.fixed else 'random'} records" for data in DATA)
    blocks.append(
        SETTINGS.format(
            data="; ".join(tested),
            **AIM,
            versions=", ".join(sorted(versions)),
            processor=processor(),
        )
    )
    return reflow("\n\n".join(block.strip() for block in blocks if block))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scumble", metavar="PATH", required=True, help="the program, built with --release")
    for name in ("ebm", "diffprivlib", "aim"):
        parser.add_argument(f"--{name}", metavar="PYTHON", help=f"interpreter with the libraries of peer_{name}.py")
    parser.add_argument("--output", metavar="FILE", required=True, type=Path, help="the page")
    parser.add_argument("--results", metavar="FOLDER", type=Path, default=Path("target/peers"), help="for results.jsonl")
    parser.add_argument("--data", metavar="NAME", action="append", help="run this data set only; may be repeated")
    parser.add_argument("--only", metavar="TEXT", default="", help="run rows with this text in their name only")
    parser.add_argument("--again", action="store_true", help="run the selected rows and data sets again")
    arguments = parser.parse_args()
    arguments.results.mkdir(parents=True, exist_ok=True)
    saved, done = arguments.results / "results.jsonl", {}
    if saved.exists():
        for line in saved.read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            done[key(result)] = result
    with open(saved, "a", encoding="utf-8") as file:
        measure(arguments, file, done)
    builds = {result["build"] for result in done.values() if "build" in result}
    if len(builds) > 1:
        print(f"rows of scumble are from {len(builds)} builds: --only scumble --again renews them", file=sys.stderr)
    arguments.output.write_text(page(Results(done)), encoding="utf-8")


if __name__ == "__main__":
    main()
