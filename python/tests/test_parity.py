"""Tests that Python does what the command does: the same numbers, designs and files."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import SCHEMA, made_up

import scumble
from scumble import accounting

COMMAND = os.environ.get("SCUMBLE_COMMAND")
needs_command = pytest.mark.skipif(COMMAND is None, reason="SCUMBLE_COMMAND names no command")

SCHEMA_FILE = """
column = [
  { name = "age", kind = "real", lower = 0.0, upper = 100.0 },
  { name = "children", kind = "integer", lower = 0, upper = 10 },
  { name = "smokes", kind = "category", levels = ["no", "yes"] },
]
"""


def command(*words: object, by: list[str] | None = None) -> str:
    return subprocess.check_output([*(by or [str(COMMAND)]), *map(str, words)], text=True, stderr=subprocess.PIPE)


def test_the_wheel_has_the_command():
    python = [sys.executable, "-m", "scumble"]
    assert command("--version", by=python) == f"scumble {scumble.describe('direct')['version']}\n"
    listed = [of["name"] for of in json.loads(command("list", "--json", by=python))]
    assert listed == [name for name in scumble.mechanisms() if name not in scumble.plugins._registered]
    refused = subprocess.run([*python, "release"], capture_output=True, text=True)
    assert refused.returncode == 2 and refused.stderr.startswith("error: ") and refused.stdout == ""


@needs_command
@pytest.mark.parametrize("mechanism", ["direct", "piecewise", "laplace"])
def test_estimates_are_those_of_the_command(mechanism, tmp_path):
    design = scumble.design(mechanism, schema=SCHEMA, epsilon=4.0)
    people = made_up(3000)
    values = next(iter(design.estimable_only), "settled")
    released = design.release(people, values=values)
    estimates = design.estimate(released, values=values, confidence=0.9)
    design.save(tmp_path / "design.json")
    released.to_csv(tmp_path / "released.csv", index=False)
    words = ["estimate", "--design", tmp_path / "design.json", "--input", tmp_path / "released.csv", "--values", values]
    theirs = json.loads(command(*words, "--confidence", "0.9", "--json"))
    assert list(estimates) == theirs["estimates"] and estimates.records == theirs["records"] == 3000
    assert estimates.to_frame().shape[0] == len(estimates) and "<th" in estimates._repr_html_()
    assert str(estimates).startswith("column") and estimates.confidence == 0.9
    shown = {(of["column"], of["of"]): of for of in estimates}
    if mechanism == "direct":
        assert abs(shown["age", "mean"]["value"] - people.age.mean()) < 6 * shown["age", "mean"]["standard_error"]
    with pytest.raises(scumble.InvalidInput):
        design.estimate(pd.DataFrame({"smokes": ["maybe"]}))


def test_intervals_cover_the_means_of_the_population():
    """95 % intervals of 200 releases; fewer than 178 covers have a probability below 1e-4."""
    design = scumble.design("direct", schema={"x": (0, 1), "y": ["a", "b"]}, epsilon=2.0)
    rng, covers = np.random.default_rng(2), 0
    for _ in range(200):
        people = pd.DataFrame({"x": rng.beta(2, 5, 500), "y": np.where(rng.random(500) < 0.3, "a", "b")})
        for of in design.estimate(design.release(people)):
            truth = {"mean": 2 / 7, "a": 30.0, "b": 70.0}[of["of"]]
            covers += (of["lower"] <= truth <= of["upper"]) / 3
    assert covers > 178, covers


@needs_command
def test_a_composition_is_that_of_the_command(tmp_path):
    (tmp_path / "schema.toml").write_text(SCHEMA_FILE, encoding="utf-8")
    words = ["design", "--schema", tmp_path / "schema.toml", "--epsilon", "2", "--output", tmp_path / "design.json"]
    words += ["--mechanism", "piecewise", "--columns", "age", "--mechanism", "direct", "--columns", "children,smokes"]
    command(*words)
    parts = [scumble.Part("piecewise", "age"), scumble.Part("direct", ["children", "smokes"])]
    design = scumble.design(parts, schema=tmp_path / "schema.toml", epsilon=2.0)
    assert design == scumble.Design.read(tmp_path / "design.json")
    assert design.guarantee["epsilon"] == 2.0
    labelled = scumble.design([scumble.Part("piecewise", "age")], schema=SCHEMA, epsilon=2.0, target="smokes", label_share=0.5)
    with pytest.warns(UserWarning, match="no part takes them: children"):
        scumble.design([scumble.Part("piecewise", ["age"])], schema=SCHEMA, epsilon=2.0, target="smokes", label_share=0.5)
    assert labelled.release(made_up(10)).columns.tolist() == ["age", "smokes"]
    with pytest.raises(scumble.InvalidInput, match="chunks: give the parameters"):
        scumble.design(parts, schema=SCHEMA, epsilon=2.0, chunks=3)
    with pytest.raises(scumble.InvalidInput, match="at least one column"):
        scumble.Part("direct", [])


def test_charges_by_hand(tmp_path):
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("survey", epsilon=1.0, delta=1e-6)
    ledger.open_in_nats("halves", nats=0.5)
    ledger.charge("survey", epsilon=0.75, delta=5e-7, what="counts by OpenDP")
    ledger.charge("halves", nats=0.25)
    assert ledger.left("survey") == {"epsilon": 0.25, "delta": 5e-7} and ledger.left("halves") == {"nats": 0.25}
    with pytest.raises(scumble.Overdrawn):
        ledger.charge("survey", epsilon=0.5)
    with pytest.raises(scumble.InvalidInput, match="give epsilon or nats"):
        ledger.charge("survey")
    with pytest.raises(scumble.UnknownName, match="'surveys'"):
        ledger.left("surveys")
    frame = ledger.to_frame()
    assert frame.what.tolist() == ["counts by OpenDP", "by hand"] and frame.epsilon.tolist()[0] == 0.75
    assert "counts by OpenDP" in ledger._repr_html_()


def test_events_compose():
    gaussian, laplace = accounting.Gaussian(noise_multiplier=4.0), accounting.Laplace(epsilon=0.1)
    assert (laplace * 3).epsilon_at() == pytest.approx(0.3) and (3 * laplace).epsilon_at() >= 0.3
    # Ten Gaussian releases are one with a tenth of the variance (Balle and Wang 2018).
    ten = (gaussian * 10).epsilon_at(1e-6)
    sigma = 4 / math.sqrt(10)
    one = scumble.account("gaussian", sigma=sigma, delta=1e-6, sensitivity=1)["epsilon"]
    assert one <= ten < 1.001 * one
    epsilon, mu = 1.0, 1 / 4.0
    cdf = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))  # noqa: E731
    closed = cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * cdf(-mu / 2 - epsilon / mu)
    assert closed <= gaussian.delta_at(epsilon) < 1.01 * closed
    training = accounting.PoissonSampled(accounting.Gaussian(1.0), sampling_rate=0.01) * 1000
    given = scumble.account("dp-sgd", sampling_rate=0.01, noise_multiplier=1, steps=1000, delta=1e-5)
    assert training.epsilon_at(1e-5) == pytest.approx(given["epsilon_pld"], rel=1e-3)
    both = training + laplace + laplace
    assert both.epsilon_at(1e-5) > training.epsilon_at(1e-5)
    assert repr(laplace + laplace) == "Laplace(epsilon=0.1) * 2"
    response = accounting.RandomizedResponse(1.0, levels=3) + accounting.Approximate(0.5, 1e-7)
    assert response.epsilon_at(1e-6) <= 1.5
    fixed = accounting.SampledWithoutReplacement(accounting.Gaussian(2.0), 0.01) * 100
    assert fixed.epsilon_at(1e-5, neighbours="replace-one") > 0
    with pytest.raises(scumble.InvalidInput, match="only samples with Gaussian noise"):
        accounting.PoissonSampled(laplace, 0.1).epsilon_at(1e-5)
    with pytest.raises(scumble.InvalidInput, match="neighbours: 'swap'"):
        gaussian.epsilon_at(1e-5, neighbours="swap")
    with pytest.raises(scumble.InvalidInput, match="0 is not a number of releases"):
        gaussian * 0


def test_a_release_with_a_secret_key_is_viewed_by_it(tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    people = pd.DataFrame({f"x{at}": rng.random(400) for at in range(4)})
    design = scumble.design("singular-value-obfuscation", schema={name: (0.0, 1.0) for name in people}, epsilon=1.0)
    key = tmp_path / "key.json"
    with pytest.raises(scumble.InvalidInput, match="this release has a secret key"):
        design.release(people)
    with pytest.raises(scumble.InvalidInput, match="give a passphrase, or set"):
        design.release(people, key=key)
    with pytest.raises(scumble.InvalidInput, match="8 characters"):
        design.release(people, key=key, passphrase="short")
    assert not key.exists()
    released = design.release(people, key=key, passphrase="a long passphrase")
    assert key.stat().st_mode & 0o077 == 0 and len(released)
    with pytest.raises(scumble.InvalidInput, match="already exists"):
        design.release(people, key=key, passphrase="a long passphrase")
    monkeypatch.setenv("SCUMBLE_PASSPHRASE", "a long passphrase")
    viewed = design.view(people.iloc[:20], key=key)
    assert len(viewed) == 20 and viewed.columns.tolist() == released.columns.tolist()
    with pytest.raises(scumble.InvalidInput):
        design.view(people.iloc[:20], key=key, passphrase="another passphrase")
    with pytest.raises(scumble.InvalidInput, match="a local mechanism has no secret key"):
        scumble.design("direct", schema=SCHEMA, epsilon=1.0).release(made_up(10), key=tmp_path / "other", passphrase="a long passphrase")
