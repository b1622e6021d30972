"""Tests of mechanisms that are defined in Python."""

import json
import math
import multiprocessing
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import scumble
from scumble import plugins

EXAMPLE = Path(__file__).parent.parent / "examples" / "steps.py"
StepNoise, HalfTheNoise = (runpy.run_path(str(EXAMPLE), run_name="steps")[name] for name in ("StepNoise", "HalfTheNoise"))
NUMBERS = {"a": (0.0, 1.0), "b": (0.0, 10.0)}


class Answers(scumble.LocalMechanism):
    """Randomised response to every category, and nothing about numbers."""

    theorem = "randomised response (Warner 1965) on every category, at an equal share of ε"

    def perturb(self, points, random):
        answers = np.zeros_like(points)
        answers[:, self.domain.numbers] = 0.5
        for group in self.domain.groups:
            levels = group.stop - group.start
            epsilon = Fraction(self.epsilon) / len(self.domain.groups)
            level = random.randomized_response(points[:, group].argmax(axis=1), levels, epsilon.limit_denominator(2**20))
            answers[np.arange(len(points)), group.start + level] = 1
        return answers

    def encode(self, records):
        records = records.copy()
        records[:, self.domain.numbers] = 0.5
        return records

    def noise(self):
        blocks = {number: plugins.exact(1) for number in self.domain.numbers}
        for group in self.domain.groups:
            levels = group.stop - group.start
            others = (levels - 1) * math.exp(-self.epsilon / len(self.domain.groups))
            blocks[group.start] = plugins.flip(levels, 1 / (1 + others))
        return [blocks[start] for start in sorted(blocks)]


class NoisyMean(scumble.CuratorMechanism):
    """Mean of every number, with Laplace noise of the sum."""

    theorem = "the Laplace mechanism on sums of integers"
    example = "numbers without target"
    STEPS = 2**16

    def release(self, records, random):
        whole = np.round(records * self.STEPS).astype(np.int64)
        sums = whole.sum(axis=0)
        if math.isfinite(self.epsilon):
            sums = sums + random.discrete_laplace(self.scale(), len(sums))[0]
        return [sums / self.STEPS / len(records)]

    def scale(self):
        return Fraction(self.domain.width * self.STEPS * 2**20 // Fraction(self.epsilon) + 1, 2**20)


class BareMean(NoisyMean):
    """Faulty variant, whose noise is for one of several numbers."""

    def scale(self):
        return super().scale() / self.domain.width


def verdicts(mechanism) -> set[str]:
    return {finding["verdict"] for finding in scumble.audit(mechanism)}


def numbers(count: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.random(count), "b": 10 * rng.random(count)})


@pytest.mark.parametrize("mechanism", [StepNoise, Answers, NoisyMean])
def test_a_mechanism_conforms_and_its_claim_holds(mechanism):
    plugins.check(mechanism)
    assert verdicts(mechanism) == {"holds"}


@pytest.mark.parametrize("mechanism", [HalfTheNoise, BareMean])
def test_an_audit_refutes_a_faulty_variant(mechanism):
    assert "broken" in verdicts(mechanism)
    assert mechanism.known_as() not in scumble.mechanisms(), "an audit registers nothing"


def test_one_seed_in_every_response_is_refuted():
    class OneAnswer(Answers):
        """Faulty variant that gives each person the same random numbers."""

        def perturb(self, points, random):
            answers = super().perturb(points, random)
            return np.repeat(answers[:1], len(points), axis=0) if len(points) == 1 else points

    assert "broken" in verdicts(OneAnswer)


def test_a_release_is_unbiased_with_the_stated_variance():
    design = scumble.design(StepNoise, schema=NUMBERS, epsilon=2.0)
    people = numbers(20_000)
    released, card = design.release_with_card(people)
    noise = (released - people) / [1.0, 10.0]
    # Scale d/ε = 1: the variance is 2, and that of its estimate from n draws is 20/n (kurtosis 6).
    assert np.all(np.abs(noise.mean()) < 5 * math.sqrt(2 / 20_000))
    assert np.all(np.abs(noise.var() - 2) < 5 * math.sqrt(20 / 20_000))
    stated = card["noise"]["features"][0]["variance"]
    assert np.allclose(stated, 2, rtol=1e-3) or np.allclose(np.divide(stated, [1, 100]), 2, rtol=1e-3)


def test_a_card_names_the_class():
    card = scumble.design(StepNoise, schema=NUMBERS, epsilon=1.0).card
    assert "defined in Python by steps.StepNoise" in " ".join(card.split())
    assert "ε = 1 local differential privacy for the whole record" in card


def test_a_seed_and_a_ticket_repeat_a_release(tmp_path):
    design = scumble.design(StepNoise, schema=NUMBERS, epsilon=1.0)
    people = numbers(3000)
    with pytest.warns(scumble.PrivacyWarning):
        one, two = (design.release(people, seed=7) for _ in range(2))
    assert one.equals(two)
    keyed = [design.release(people, ticket=tmp_path / "ticket") for _ in range(2)]
    assert keyed[0].equals(keyed[1]) and not keyed[0].equals(one)


def test_without_a_budget_numbers_leave_as_they_are():
    people = numbers(100)
    released = scumble.design(StepNoise, schema=NUMBERS, epsilon=float("inf")).release(people)
    assert np.allclose(released, people, atol=10 / 4096)


def test_a_comparison_has_it_beside_the_built_in_mechanisms():
    people = numbers(800)
    people["y"] = np.where(people.a + people.b / 10 > 1, "p", "q")
    comparison = scumble.compare(
        people, schema={**NUMBERS, "y": ["p", "q"]}, target="y", epsilon=16, mechanisms=[StepNoise, "laplace"], trials=5
    )
    scores = {row["mechanism"]: row["mean"] for row in comparison.rows if row["metric"] == "accuracy"}
    assert scores["step-noise"] > 0.7 and abs(scores["step-noise"] - scores["laplace"]) < 0.08
    assert scumble.describe("step-noise")["parameters"]["steps"] == {"type": "integer", "default": 4096}


def test_comparisons_of_all_mechanisms_include_registered_classes_alone():
    frame = numbers(60).assign(y=["p", "q"] * 30)
    asked = {"schema": {**NUMBERS, "y": ["p", "q"]}, "target": "y", "epsilon": 1, "trials": 1}
    scumble.design(Answers, schema=NUMBERS, epsilon=1.0)
    compared = {row["mechanism"] for row in scumble.compare(frame, **asked).rows}
    assert "direct" in compared and not compared & set(plugins._registered)

    @scumble.register
    class Wanted(Answers):
        """Mechanism that is registered."""

    compared = {row["mechanism"] for row in scumble.compare(frame, **asked).rows}
    assert "wanted" in compared and "answers" not in compared
    plugins._by_default.discard("wanted")  # later tests compare without it


def test_a_saved_design_is_read_where_its_class_is_registered(tmp_path):
    design = scumble.design(StepNoise, schema=NUMBERS, epsilon=1.0, steps=64)
    design.save(tmp_path / "design.json")
    assert scumble.Design.read(tmp_path / "design.json") == design
    saved = json.loads((tmp_path / "design.json").read_text(encoding="utf-8"))
    assert saved["plugin"] == "step-noise" and saved["state"]["parameters"] == {"steps": 64}



def test_a_design_passes_into_another_process():
    design = scumble.design(Answers, schema={"smokes": ["no", "yes"], "age": (0, 1)}, epsilon=1.0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_answers, (design,)) == (2, 2)


def _answers(design):
    return design.release(pd.DataFrame({"smokes": ["no", "yes"], "age": [0.5, 0.25]})).shape


def test_mistakes_are_named():
    with pytest.raises(scumble.NotApplicable, match="step-noise does not apply: it takes records of numbers"):
        scumble.design(StepNoise, schema={"smokes": ["no", "yes"]}, epsilon=1.0)
    with pytest.raises(scumble.UnknownName, match='no parameter "stepz"; did you mean "steps"'):
        scumble.design(StepNoise, schema=NUMBERS, epsilon=1.0, stepz=3)
    with pytest.raises(scumble.InvalidInput, match='"laplace"'):
        plugins.register(plugins.local_mechanism("laplace", perturb=lambda self, points, random: points))
    failing = plugins.local_mechanism("failing", perturb=lambda self, points, random: 1 / 0, noise=lambda self: [plugins.exact(2)])
    design = scumble.design(failing, schema=NUMBERS, epsilon=1.0)
    with pytest.raises(scumble.InvalidInput, match=r"failing.perturb: ZeroDivisionError: .*test_plugins.py, line \d+"):
        design.release(numbers(10))
    narrow = plugins.local_mechanism("narrow", perturb=lambda self, points, random: points[:, :1], noise=lambda self: [plugins.exact(2)])
    with pytest.raises(scumble.InvalidInput, match="perturb returned 10 values for 10 records, and 2 for each"):
        scumble.design(narrow, schema=NUMBERS, epsilon=1.0).release(numbers(10))
    with pytest.raises(scumble.InvalidInput, match="'perturbe'"):
        plugins.local_mechanism("odd", perturb=lambda *_: None, perturbe=1)


@pytest.mark.parametrize("method", ["encode", "perturb", "decode"])
def test_a_local_mechanism_cannot_look_at_other_records(method):
    """A method that subtracts the mean of its block would release what a person's record cannot know."""
    members = {
        "perturb": lambda self, points, random: points + random.discrete_laplace(1, points.shape[1]),
        "noise": lambda self: [plugins.additive([plugins.discrete_laplace_variance(1)] * 2)],
    }
    plain = plugins.local_mechanism("plain", **members)
    scumble.design(plain, schema=NUMBERS, epsilon=1.0).release(numbers(50))
    peeking = plugins.local_mechanism("peeking", **{**members, method: lambda self, rows, *random: rows - rows.mean(axis=0)})
    with pytest.raises(scumble.InvalidInput, match=f"{method} gives a record alone another result"):
        scumble.design(peeking, schema=NUMBERS, epsilon=1.0).release(numbers(50))


def test_points_outside_the_range_are_projected():
    """An encoder that leaves the range cannot void the claim."""
    seen = []

    class Wild(scumble.LocalMechanism):
        """Encoder that leaves its range."""

        def encode(self, records):
            return records * 1e6

        def perturb(self, points, random):
            seen.append(points.max())
            return points

    scumble.design(Wild, schema=NUMBERS, epsilon=1.0).release(numbers(100))
    assert max(seen) <= 1.0


def test_draws_have_their_distributions():
    """Tests each sampler against its closed form, with a false-alarm rate below 1e-6."""
    drawn = {}

    class Draws(scumble.CuratorMechanism):
        """Draws of all samplers."""

        def release(self, records, random):
            size = 40_000
            drawn["laplace"] = random.discrete_laplace(Fraction(3, 2), size)[0]
            drawn["gaussian"] = random.discrete_gaussian(2, size)[0]
            drawn["coin"] = random.bernoulli(Fraction(1, 3), size)[0]
            drawn["exp"] = random.bernoulli_exp(0.5, size)[0]
            drawn["integers"] = random.integers(6, size)[0]
            drawn["columns"] = random.discrete_laplace([0.25] * 200 + [50] * 200, size=400)[0]
            drawn["permutation"] = random.permutation(1000)[0]
            drawn["answer"] = [random.randomized_response([2], 4, 1)[0] for _ in range(2_000)]
            return records[:1]

    scumble.design(Draws, schema=NUMBERS, epsilon=1.0).release(numbers(5))

    def fits(values, weights) -> None:
        values = np.asarray(values)
        weights = np.asarray(weights) / np.sum(weights)
        expected = weights * len(values)
        counts = np.array([np.sum(values == at) for at in range(len(weights))])
        kept = expected >= 5
        statistic = np.sum((counts - expected)[kept] ** 2 / expected[kept])
        assert statistic < kept.sum() + 7 * math.sqrt(2 * kept.sum()) + 14, statistic

    span = np.arange(-40, 41)
    fits(drawn["laplace"] + 40, np.exp(-np.abs(span) / 1.5))
    fits(drawn["gaussian"] + 40, np.exp(-(span**2) / 8))
    fits(drawn["coin"], [2 / 3, 1 / 3])
    fits(drawn["exp"], [1 - math.exp(-0.5), math.exp(-0.5)])
    fits(drawn["integers"], np.ones(6))
    fits(drawn["answer"], [1, 1, math.e, 1])
    assert drawn["columns"][:200].std() < 0.5 and 35 < drawn["columns"][200:].std() < 140
    assert sorted(drawn["permutation"]) == list(range(1000)) and list(drawn["permutation"]) != list(range(1000))
    with pytest.raises(scumble.InvalidInput, match="scale: -1"):
        plugins._fractions("scale", -1)
