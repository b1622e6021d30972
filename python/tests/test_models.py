"""Tests of released models: the interface of scikit-learn's models, and the same bits as the command."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scumble

COMMAND = os.environ.get("SCUMBLE_COMMAND")
SCHEMA = {"size": (0, 10), "colour": ["red", "green", "blue"], "kind": ["moss", "fern", "palm"], "edible": ["no", "yes"], "height": (50, 250)}


def plants() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    size = rng.uniform(0, 10, 600)
    return pd.DataFrame(
        {
            "name": [f"n{row}" for row in range(600)],
            "size": size,
            "colour": rng.choice(["red", "green", "blue"], 600),
            "kind": np.select([size < 3, size < 7], ["moss", "fern"], "palm"),
            "edible": np.where(size > 5, "yes", "no"),
            "height": 60 + 15 * size,
        }
    )


def designed(mechanism: str, target: str, **parameters) -> scumble.Design:
    schema = {name: SCHEMA[name] for name in ("size", "colour", target)}
    return scumble.design(mechanism, schema=schema, target=target, epsilon=8.0, delta=1e-6, people=600, **parameters)


def encoded(people: pd.DataFrame) -> np.ndarray:
    return np.column_stack([people["size"] / 10, *[(people.colour == level) * 1.0 for level in SCHEMA["colour"]]])


@pytest.mark.parametrize("target", ["edible", "kind"])
@pytest.mark.parametrize("mechanism", ["private-logistic", "pac-statistics"])
def test_a_class_is_predicted_by_the_released_coefficients(mechanism, target):
    people = plants()
    parameters = {"statistic": "linear-machine"} if mechanism == "pac-statistics" else {}
    design = designed(mechanism, target, **parameters)
    released, card = design.release_with_card(people, seed=1)
    model = scumble.Model(released, design)
    levels = SCHEMA[target]
    rows = 1 if len(levels) == 2 else len(levels)
    assert list(model.classes_) == levels and model.coef_.shape == (rows, 4) and model.intercept_.shape == (rows,)
    assert list(model.feature_names_in_) == ["size", "colour=red", "colour=green", "colour=blue"]
    logits = encoded(people) @ model.coef_.T + model.intercept_
    logits = np.hstack([0 * logits, logits]) if rows == 1 else logits
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert np.abs(model.predict_proba(people) - odds / odds.sum(axis=1, keepdims=True)).max() < 1e-12
    assert (model.predict(people) == np.asarray(levels)[logits.argmax(axis=1)]).all()
    assert (model.predict(people) == people[target]).mean() > 0.7 or mechanism != "private-logistic"
    assert "records" in card and card["records"] is None
    assert card["model"]["classes"] == levels
    assert card["model"]["rows"] == ([levels[1]] if rows == 1 else levels)


def test_a_number_is_predicted_in_its_own_unit():
    people = plants()
    design = designed("private-ridge", "height")
    model = scumble.Model(design.release(people, seed=2), design)
    scores = np.clip(encoded(people) @ model.coef_ + model.intercept_, 0, 1)
    assert np.abs(model.predict(people) - (50 + 200 * scores)).max() < 1e-9
    assert np.abs(model.predict(people) - people.height).mean() < 30  # the mean baseline has an error of 37.5
    assert not hasattr(model, "classes_") and isinstance(model.intercept_, float)
    with pytest.raises(ValueError, match="is a number, and only classes have probabilities"):
        model.predict_proba(people)


def test_any_table_predicts_the_same_and_needs_the_features_alone():
    people = plants()
    design = designed("private-logistic", "kind")
    of_polars = scumble.Model(design.release(pl.from_pandas(people), seed=3), design)
    of_arrow = scumble.Model(design.release(pa.Table.from_pandas(people), seed=3), design)
    expected = scumble.Model(design.release(people, seed=3), design).predict_proba(people)
    assert np.array_equal(of_polars.predict_proba(pl.from_pandas(people)), expected)
    assert np.array_equal(of_arrow.predict_proba(people[["colour", "size"]]), expected)
    with pytest.raises(KeyError, match="size"):
        of_arrow.predict(people[["colour"]])
    with pytest.warns(scumble.ClippedWarning, match="1 of 'size'"):
        of_arrow.predict(pd.DataFrame({"size": [12.0], "colour": ["red"]}))


def test_a_model_of_another_design_is_refused():
    people = plants()
    design = designed("private-logistic", "kind")
    released = design.release(people, seed=4)
    with pytest.raises(ValueError, match="row 1 belongs to the design"):
        scumble.Model(released, designed("private-logistic", "kind", steps=20))
    with pytest.raises(ValueError, match="releases no model"):
        scumble.Model(released, scumble.design("direct", schema=SCHEMA, target="kind", epsilon=1.0))


@pytest.mark.skipif(COMMAND is None, reason="SCUMBLE_COMMAND names no command")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_of_the_commands_predicts_what_the_command_does(tmp_path, suffix):
    people = plants()
    design = designed("private-logistic", "kind")
    design.save(tmp_path / "design.json")
    pq.write_table(pa.Table.from_pandas(people), tmp_path / "people.parquet")
    run = lambda *words: subprocess.run([COMMAND, *words, "--quiet"], cwd=tmp_path, check=True)  # noqa: E731
    run("release", "--design", "design.json", "--input", "people.parquet", "--output", f"model.{suffix}", "--seed", "5", "--card", "card.json")
    _, card = design.release_with_card(people, seed=5)
    of_command = json.loads((tmp_path / "card.json").read_text())
    assert {**of_command, "file": None} == card  # a table in memory has no file
    run("predict", "--design", "design.json", "--model", f"model.{suffix}", "--input", "people.parquet", "--output", "predicted.parquet", "--probabilities")
    predicted = pd.read_parquet(tmp_path / "predicted.parquet")
    model = scumble.Model.read(tmp_path / f"model.{suffix}", design)
    assert (predicted["kind"] == model.predict(people)).all()
    assert np.array_equal(predicted.drop(columns="kind").to_numpy(), model.predict_proba(people))


def test_a_design_names_the_columns_that_a_release_rounds():
    schema = {"age": range(0, 100), "size": (0.0, 2.0), "smokes": ["no", "yes"]}
    assert scumble.design("direct", schema=schema, epsilon=2.0).estimable_only["drawn"] == ["age"]
    assert scumble.design("mst", schema=schema, epsilon=2.0, delta=1e-6, people=100).estimable_only == {}
