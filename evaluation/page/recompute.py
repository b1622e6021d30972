"""Recomputes the tests, bounds and worths of published results, and the mechanisms that their table names.

The script shares no code with the suite. It needs NumPy, SciPy and scikit-learn:

    python recompute.py BENCHMARK.md results/*.json.gz
"""

import gzip
import hashlib
import json
import math
import re
import sys
from collections import defaultdict

import numpy as np
from scipy.stats import t as student
from sklearn.isotonic import IsotonicRegression

LEVEL, MISSED = 0.01, 0.05
TRUST = {
    "nobody": "trusting nobody",
    "shuffler": "trusting a shuffler",
    "two-servers": "trusting one of two servers",
    "curator": "trusting a curator",
    "model": "trusting a curator: model",
}
WORDS = {
    "record": "The whole record, ",
    "features": "The features (not the label), ",
    "label": "The label (features in the clear), ",
}
DP = {"local-dp", "central-dp", "shuffled-dp"}


def load(path):
    """Results of a file, whose digest must match."""
    text = (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8").read()
    results = json.loads(text)
    tasks = json.loads(text, parse_float=Digits, parse_int=Digits)["tasks"]
    for task in tasks:
        for row in task["rows"] + task["without_dp"]:
            row.pop("seconds")
    return results, hashlib.sha256(compact(tasks).encode()).hexdigest() == results["sha256"]


class Digits(str):
    """A number, with the digits of the file."""


def compact(value):
    """JSON without spaces, with sorted keys."""
    if isinstance(value, Digits):
        return value
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{compact(name)}:{compact(value[name])}" for name in sorted(value)) + "}"
    return json.dumps(value, ensure_ascii=False)


def unit(row):
    """Part of a record that the row's claims of differential privacy protect; None without such a claim."""
    units = [claim["protects"] for claim in row["guarantee"]["claims"] if claim["notion"] in DP]
    order = ["record", "features", "label"]
    units = [unit for unit in units if unit in order]
    return min(units, key=order.index, default=None)


def worth(task, row, less):
    """Number of clean records with the row's mean score, from the learning curve of the clean records."""
    sign = -1 if less else 1
    same = [r for r in task["references"] if r["metric"] == row["metric"] and r["model"] == row["model"]]
    guess = next(r for r in same if r["knows"] == "guess")
    clean = sorted((r for r in same if r["knows"] == "clean"), key=lambda r: r["records"])
    sizes = np.array([0] + [r["records"] for r in clean], float)
    means = sign * np.array([np.mean(r["scores"]) for r in [guess] + clean])
    curve = IsotonicRegression().fit_transform(np.arange(len(means)), means)
    score = sign * np.mean(row["scores"])
    if score >= means[-1]:
        return sizes[-1]
    below = np.nonzero(curve <= score + 1e-12)[0]
    if len(below) == 0:
        return 0.0
    at = below[-1]
    if at == len(sizes) - 1:
        return sizes[-1]
    share = (score - curve[at]) / (curve[at + 1] - curve[at])
    return share * sizes[1] if at == 0 else sizes[at] * (sizes[at + 1] / sizes[at]) ** share


def main():
    table = open(sys.argv[1], encoding="utf-8").read()
    wrong, counts, unseen, kept = [], defaultdict(int), [], defaultdict(list)
    for path in sys.argv[2:]:
        results, digest = load(path)
        if not digest:
            wrong.append(f"{path}: the digest differs")
        for task in results["tasks"]:
            first = task["rows"][0]
            metric, model = first["metric"], first["model"]
            less = metric in ("rmse", "mae")
            rows = [r for r in task["rows"] if r["metric"] == metric and r["model"] == model]
            goals = defaultdict(list)
            for row in rows:
                if row["mean"] is None or row["epsilon"] == "inf":
                    continue
                counts["rows"] += 1
                against = row["against"]
                reference = min(
                    (r for r in task["references"] if r["knows"] != "clean" and r["metric"] == metric),
                    key=lambda r: r["mean"] if less else -r["mean"],
                )
                gain = (np.mean(row["scores"]) - reference["mean"]) * (-1 if less else 1)
                error, degrees = against["standard_error"], against["degrees"]
                if gain > 0 and error > 0:
                    p_value = student.sf(gain / error, degrees)
                    if not math.isclose(p_value, against["p_value"], rel_tol=1e-6, abs_tol=1e-12):
                        wrong.append(f"{task['task']}: {row['mechanism']}: p-value {against['p_value']}, not {p_value}")
                if not math.isclose(gain, against["gain"], rel_tol=1e-6, abs_tol=1e-9):
                    wrong.append(f"{task['task']}: {row['mechanism']}: gain {against['gain']}, not {gain}")
                if "worth" in row and abs(worth(task, row, less) - row["worth"]["records"]) > 1e-6 * task["train_records"]:
                    wrong.append(f"{task['task']}: {row['mechanism']}: worth {row['worth']}, not {worth(task, row, less)}")
                goals[(row["trust"], row["epsilon"], unit(row))].append(row)
            for (trust, epsilon, protects), own in goals.items():
                counts["cells"] += 1
                significant, best = 0.0, None
                for at, p_value in enumerate(sorted(row["against"]["p_value"] for row in own)):
                    if p_value > LEVEL / (len(own) - at):
                        break
                    significant = p_value
                own.sort(key=lambda row: row["mean"] if less else -row["mean"])
                best = next((row for row in own if row["against"]["p_value"] <= significant), None)
                cell = find(table, f"{WORDS[protects]}{TRUST[trust]}", task["task"], epsilon)
                known = [r for r in task["references"] if r["metric"] == metric and r["model"] in (model, None)]
                guess = next(r["mean"] for r in known if r["knows"] == "guess")
                clean = max((r for r in known if r["knows"] == "clean"), key=lambda r: r["records"])["mean"]
                settings = task["settings"]
                if task["volunteers"] == 0 or settings["splitting"].get("unlabelled") or settings["release_alone"]:
                    share = 0 if best is None else (best["mean"] - guess) / (clean - guess)
                    kept[(protects, trust, epsilon)].append(100 * share)
                if best is not None:
                    counts["named"] += 1
                    if not cell.startswith(best["mechanism"] + " "):
                        wrong.append(f"{task['task']}, {trust}, {protects}, ε = {epsilon}: {best['mechanism']}, not {cell!r}")
                    continue
                bounds = [
                    row["against"]["gain"]
                    + student.isf(MISSED / len(own), row["against"]["degrees"] or 1) * row["against"]["standard_error"]
                    for row in own
                ]
                bound = max(bounds)
                unseen.append(100 * bound / (guess if less else 1))
                expected = "no gain (" if bound <= 0 else "no evidence, at most "
                if not cell.startswith(expected):
                    wrong.append(f"{task['task']}, {trust}, {protects}, ε = {epsilon}: bound {bound}, not {cell!r}")
    for (protects, trust, epsilon), shares in kept.items():
        cell = find(table, "What privacy and trust cost", f"{WORDS[protects]}{TRUST[trust]}", epsilon)
        share, count = cell.split(" % of ")
        if int(count) != len(shares) or abs(float(share) - np.median(shares)) > 0.5001:
            wrong.append(f"{trust}, {protects}, ε = {epsilon}: {np.median(shares)} % of {len(shares)}, not {cell!r}")
    print(f"{counts['rows']} rows, {counts['cells']} cells, {counts['named']} name a mechanism")
    if unseen:
        small = sum(bound < 3 for bound in unseen) / len(unseen)
        none = sum(bound <= 0 for bound in unseen) / len(unseen)
        print(
            f"{len(unseen)} cells name none: the bound on gains is below 3 points (3 % of a baseline's error) in "
            f"{100 * small:.0f} %, and not above zero in {100 * none:.0f} %"
        )
    print("\n".join(wrong[:20]) or "all tests, bounds, worths and names agree")
    sys.exit(bool(wrong))


def find(table, title, name, epsilon):
    """Cell of the first table with this title, in the row with this name, at a budget."""
    for section in re.split(r"^## ", table, flags=re.M)[1:]:
        heading, body = section.split("\n", 1)
        if heading == title:
            lines = [line for line in body.split("\n") if line.startswith("|")]
            header = [cell.strip() for cell in lines[0].strip("|").split("|")]
            for line in lines[2:]:
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                if cells[0] == name:
                    return cells[header.index(f"ε = {epsilon:g}")]
    return ""


if __name__ == "__main__":
    main()
