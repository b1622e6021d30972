"""Tests of comparisons: the numbers of the command, and a page for a notebook."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import SCHEMA, made_up
from test_release import COMMAND

import scumble


def two_groups(count: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    ill = rng.random(count) < 0.4
    return pd.DataFrame(
        {
            "dose": np.clip(rng.normal(np.where(ill, 70, 30), 12), 0, 100),
            "weight": rng.uniform(40, 120, count),
            "ill": np.where(ill, "yes", "no"),
        }
    )


GROUPS = {"dose": (0, 100), "weight": (40, 120), "ill": ["no", "yes"]}


@pytest.fixture(scope="module")
def comparison() -> scumble.Comparison:
    return scumble.compare(
        two_groups(1500), schema=GROUPS, target="ill", mechanisms=["direct", "laplace"], epsilon=[2, float("inf")], trials=3
    )


def test_designs_know_the_task_of_a_comparison():
    dose = pd.DataFrame({"dose": [1.0], "weight": [0.0]})
    options = dict(schema=GROUPS, target="ill", mechanisms="task-aware-linear", epsilon=4, protect="features")
    records = two_groups(600)
    found = scumble.compare(records, **options, volunteers=0.5, unlabelled=True, task_matrix=dose, trials=10, seed=3)
    assert found.to_json()["settings"]["task_matrix"] == [[1.0, 0.0]]
    assert "task_matrix=task_matrix, volunteers=volunteers" in found.rows[0]["design"]
    given = {"volunteers": records, "task_matrix": dose}
    own = scumble.design("task-aware-linear", schema=GROUPS, target="ill", epsilon=4, delta=1e-6, protect="features",
                         volunteers_are="consented", **given)
    for design in [found.design(0, **given), found.best(epsilon=4, protect="features", **given)]:
        assert pickle.dumps(design) == pickle.dumps(own)
    with pytest.raises(scumble.InvalidInput, match="task_matrix: task-aware-linear was designed for a task; pass its matrix"):
        found.design(0, volunteers=records)


def test_rows_are_of_mechanisms_and_budgets(comparison):
    rows = [row for row in comparison.rows if row["metric"] == "accuracy"]
    assert {(row["mechanism"], row["epsilon"]) for row in rows} >= {("direct", 2.0), ("laplace", 2.0)}
    without = [row for row in comparison.without_dp if row["metric"] == "accuracy"]
    assert {(row["mechanism"], row["epsilon"]) for row in without} == {("direct", "inf"), ("laplace", "inf")}
    assert without[0]["mean"] > 0.9
    # Only rows with differential privacy are candidates for the best row.
    assert all(row["dp"] is True for row in comparison.rows) and not any(row["dp"] for row in comparison.without_dp)
    assert comparison.to_json()["data"]["sha256"] is None and "NOT private" in comparison.to_json()["warning"]
    assert "NOT private" in str(comparison)
    frame = comparison.to_pandas()
    assert {"mechanism", "epsilon", "mean"} <= set(frame.columns)
    assert frame.dp.sum() == len(comparison.rows) and len(frame) == len(comparison.rows) + len(comparison.without_dp)


def test_a_notebook_shows_the_page(comparison, tmp_path):
    shown = comparison._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "&lt;svg" in shown
    assert "What to choose" in str(comparison)
    for name in ["page.html", "chart.svg", "rows.csv", "all.json"]:
        comparison.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    with pytest.raises(ValueError, match="page.txt"):
        comparison.save(tmp_path / "page.txt")


@pytest.mark.skipif(COMMAND is None, reason="SCUMBLE_COMMAND names no command")
def test_numbers_are_the_commands(tmp_path):
    import json

    groups = two_groups(600)
    groups.to_csv(tmp_path / "groups.csv", index=False)
    schema = "".join(
        f'[[column]]\nname = "{name}"\n' + (f'kind = "category"\nlevels = {json.dumps(of)}\n' if isinstance(of, list) else f'kind = "real"\nlower = {of[0]}\nupper = {of[1]}\n')
        for name, of in GROUPS.items()
    )
    (tmp_path / "groups.toml").write_text(schema)
    arguments = [COMMAND, "compare", "--input", "groups.csv", "--schema", "groups.toml", "--target", "ill"]
    arguments += ["--mechanism", "direct", "--epsilon", "2", "--trials", "2", "--json", "--quiet"]
    said = json.loads(subprocess.run(arguments, cwd=tmp_path, check=True, capture_output=True).stdout)
    own = scumble.compare(
        pd.read_csv(tmp_path / "groups.csv"), schema=tmp_path / "groups.toml", target="ill", mechanisms="direct", epsilon=2, trials=2
    )
    assert [row["scores"] for row in own.rows] == [row["scores"] for row in said["rows"]]


def test_what_is_wrong_is_said():
    groups = two_groups(50)
    with pytest.raises(KeyError, match="laplace"):
        scumble.compare(groups, schema=GROUPS, target="ill", mechanisms="laplase")
    with pytest.raises(KeyError, match="well"):
        scumble.compare(groups, schema=GROUPS, target="well")
    with pytest.raises(ValueError, match="metric|accurracy"):
        scumble.compare(groups, schema=GROUPS, target="ill", metrics="accurracy")


def test_a_metric_of_an_adversary_comes_behind_the_default_of_models():
    said = scumble.compare(two_groups(200), schema=GROUPS, target="ill", mechanisms="direct", epsilon=2, trials=2, metrics="advantage")
    assert {row["metric"] for row in said.rows} == {"accuracy", "advantage"}


def test_the_screen_speaks_of_what_python_has():
    screen = str(scumble.compare(two_groups(200), schema=GROUPS, target="ill", epsilon=2, trials=2))
    assert "--" not in screen.split("Left out")[1]
    assert "volunteers=0.2 includes them" in screen and '.to_json()["skipped"]' in screen


def test_a_draft_is_a_schema_for_review():
    draft = scumble.draft_schema(made_up(200))
    assert "draft = true" in draft and all(name in draft for name in SCHEMA)


def test_the_import_is_quick_and_needs_nothing():
    """A new process imports no pandas, numpy or Arrow."""
    text = "import sys, time; t = time.perf_counter(); import scumble; t = time.perf_counter() - t\n"
    text += "print(t, *[name for name in ('numpy', 'pandas', 'polars', 'pyarrow', 'sklearn') if name in sys.modules])"
    took, *loaded = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout.split()
    assert not loaded and float(took) < 0.5


def test_a_comparison_makes_the_designs_of_its_rows():
    comparison = scumble.compare(
        two_groups(800), schema=GROUPS, target="ill", mechanisms=["direct", "laplace"], epsilon=16, trials=10
    )
    schema = comparison._schema
    row = comparison.rows[0]
    called = eval(row["design"], {"scumble": scumble, "schema": schema})
    assert comparison.design(row) == comparison.design(0) == called
    assert len(comparison) == len(comparison.rows) and "scumble.design(" in str(comparison)
    best = comparison.best(epsilon=16, protect="record", trust="nobody")
    scores = [row for row in comparison.rows if row["metric"] == "accuracy" and row["epsilon"] == 16]
    top = max(scores, key=lambda row: row["mean"])
    assert best == comparison.design(top)
    again = pickle.loads(pickle.dumps(comparison))
    assert again.best(epsilon=16) == best and str(again) == str(comparison) and again.html == comparison.html
    assert comparison.to_frame().equals(again.to_frame()) and comparison.plot()._repr_svg_().startswith("<svg")
    for of in (comparison, again):
        with pytest.raises(scumble.InvalidInput, match="no row protects 'label'"):
            of.best(epsilon=16, protect="label")
        with pytest.raises(scumble.InvalidInput, match="no such row"):
            of.design(10_000)


def test_without_evidence_there_is_no_best_mechanism():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.random(200), "y": rng.choice(["a", "b"], 200)})
    comparison = scumble.compare(frame, schema={"x": (0, 1), "y": ["a", "b"]}, target="y", epsilon=1, trials=3, mechanisms="direct")
    with pytest.raises(scumble.InvalidInput, match="no evidence at epsilon 1: direct with"):
        comparison.best(epsilon=1)


def test_a_stopped_comparison_resumes(tmp_path):
    asked = {"schema": GROUPS, "target": "ill", "mechanisms": "direct", "epsilon": 4, "trials": 4, "jobs": 1}
    one = scumble.compare(two_groups(300), cells=tmp_path / "cells.jsonl", **asked)
    kept = (tmp_path / "cells.jsonl").read_text(encoding="utf-8")
    again = scumble.compare(two_groups(300), cells=tmp_path / "cells.jsonl", **asked)
    assert len(kept.splitlines()) >= 4 and (tmp_path / "cells.jsonl").read_text(encoding="utf-8") == kept
    scores = [[row["scores"] for row in of.rows] for of in (one, again)]
    assert scores[0] == scores[1]


def test_the_suite_has_a_row_of_a_mechanism_in_python(tmp_path):
    class HonestNoise(scumble.LocalMechanism):
        """Features without noise, which claims nothing."""

        def claims(self):
            return []

        def perturb(self, points, random):
            return points

        def noise(self):
            return [scumble.plugins.exact(self.domain.width)]

    results = scumble.suite("iris", mechanisms=[HonestNoise, "direct"], trials=2, output=tmp_path / "results")
    assert "honest-noise" in json.dumps(results.to_json()) and "direct" in str(results)
    assert json.loads((tmp_path / "results" / "suite.json").read_text(encoding="utf-8")) == results.to_json()
    file = tmp_path / "results" / "suite.json"
    both = scumble.suite("iris", mechanisms="laplace", trials=2, published=[file]).to_json()["tasks"][0]["rows"]
    assert {row["mechanism"] for row in both} == {"direct", "laplace"}
    with pytest.raises(scumble.InvalidInput, match="digest"):
        file.write_text(file.read_text(encoding="utf-8").replace("0.3", "0.4"), encoding="utf-8")
        scumble.suite("iris", mechanisms="laplace", trials=2, published=[file])
    assert "iris" in scumble.suite_tasks() and "<html" in results.html
    with pytest.raises(scumble.InvalidInput, match='there is no task "irs"'):
        scumble.suite("irs")
