"""Events for privacy accounting: releases that compose into the ε of all together.

>>> from scumble.accounting import Gaussian, Laplace, PoissonSampled
>>> training = PoissonSampled(Gaussian(noise_multiplier=1.0), sampling_rate=0.01) * 1000
>>> (training + Laplace(epsilon=0.1) * 3).epsilon_at(delta=1e-5)  # doctest: +SKIP

A release may depend on the outputs of the releases before it. The accountant is that of ``scumble account compose``.
"""

from __future__ import annotations

import json
import operator
from dataclasses import dataclass
from typing import Any

from . import _native
from ._errors import InvalidInput

__all__ = [
    "Approximate",
    "Composed",
    "Event",
    "Gaussian",
    "Laplace",
    "PoissonSampled",
    "RandomizedResponse",
    "SampledWithoutReplacement",
]

_RELATIONS = {"add-or-remove-one": "add-remove", "replace-one": "replace"}


class Event:
    """Release, or several releases: ``event * 10`` is ten of them, and ``event + other`` is both."""

    def _parts(self) -> list[tuple[Event, int]]:
        return [(self, 1)]

    def _form(self) -> tuple[str, dict[str, Any]]:
        """Name of the mechanism in ``scumble account compose``, and its numbers."""
        raise NotImplementedError

    def __add__(self, other: Event) -> Event:
        return Composed([*self._parts(), *other._parts()]) if isinstance(other, Event) else NotImplemented

    def __mul__(self, count: int) -> Event:
        times = operator.index(count)
        if times < 1:
            raise InvalidInput(f"{count!r} is not a number of releases from 1")
        return Composed([(event, own * times) for event, own in self._parts()])

    __rmul__ = __mul__

    def _account(self, neighbours: str, option: str, number: float) -> dict[str, Any]:
        if neighbours not in _RELATIONS:
            raise InvalidInput(f"neighbours: {neighbours!r} is not one of {', '.join(map(repr, _RELATIONS))}")
        words = ["compose", "--neighbours", _RELATIONS[neighbours], option, repr(float(number))]
        for event, count in self._parts():
            name, numbers = event._form()
            words.append(name + ":" + ",".join(f"{key}={value}" for key, value in {**numbers, "count": count}.items()))
        return json.loads(_native.account(words))

    def epsilon_at(self, delta: float = 0.0, *, neighbours: str = "add-or-remove-one") -> float:
        """Upper bound on the ε of all releases together.

        Parameters
        ----------
        delta : float
            δ; it may be 0 if every release has an ε at δ = 0.
        neighbours : {"add-or-remove-one", "replace-one"}
            Neighbouring relation of the numbers of all releases.
        """
        return float(self._account(neighbours, "--delta", delta)["epsilon"])

    def delta_at(self, epsilon: float, *, neighbours: str = "add-or-remove-one") -> float:
        """Upper bound on the δ of all releases together, at `epsilon`."""
        return float(self._account(neighbours, "--epsilon", epsilon)["delta"])


class Composed(Event):
    """Several releases, each event with its count."""

    def __init__(self, parts: list[tuple[Event, int]]) -> None:
        counts: dict[Event, int] = {}
        for event, count in parts:
            counts[event] = counts.get(event, 0) + count
        self.counts = counts

    def _parts(self) -> list[tuple[Event, int]]:
        return list(self.counts.items())

    def __repr__(self) -> str:
        return " + ".join(f"{event!r} * {count}" for event, count in self.counts.items())


@dataclass(frozen=True)
class Gaussian(Event):
    """Gaussian noise, whose standard deviation is `noise_multiplier` times the ℓ₂ sensitivity."""

    noise_multiplier: float

    def _form(self) -> tuple[str, dict[str, Any]]:
        return "gaussian", {"noise_multiplier": self.noise_multiplier}


@dataclass(frozen=True)
class Laplace(Event):
    """Laplace noise on a number, of scale sensitivity/`epsilon`."""

    epsilon: float

    def _form(self) -> tuple[str, dict[str, Any]]:
        return "laplace", {"epsilon": self.epsilon}


@dataclass(frozen=True)
class RandomizedResponse(Event):
    """Randomised response among `levels` levels: the truth is e^`epsilon` times as likely as each other level."""

    epsilon: float
    levels: int = 2

    def _form(self) -> tuple[str, dict[str, Any]]:
        return "randomised-response", {"epsilon": self.epsilon, "levels": self.levels}


@dataclass(frozen=True)
class Approximate(Event):
    """Any (`epsilon`, `delta`)-differentially private mechanism."""

    epsilon: float
    delta: float = 0.0

    def _form(self) -> tuple[str, dict[str, Any]]:
        return "dp", {"epsilon": self.epsilon, "delta": self.delta}


@dataclass(frozen=True)
class PoissonSampled(Event):
    """Gaussian noise on the sum of a Poisson sample: each record takes part with the probability `sampling_rate`."""

    event: Gaussian
    sampling_rate: float

    def _form(self) -> tuple[str, dict[str, Any]]:
        return _sampled(self.event, self.sampling_rate, "poisson")


@dataclass(frozen=True)
class SampledWithoutReplacement(Event):
    """Gaussian noise on the sum of a sample of fixed size, `sampling_rate` times the number of records."""

    event: Gaussian
    sampling_rate: float

    def _form(self) -> tuple[str, dict[str, Any]]:
        return _sampled(self.event, self.sampling_rate, "fixed-size")


def _sampled(event: Event, sampling_rate: float, sampling: str) -> tuple[str, dict[str, Any]]:
    if not isinstance(event, Gaussian):
        raise InvalidInput(f"{event!r}: only samples with Gaussian noise have an account")
    numbers = {"noise_multiplier": event.noise_multiplier, "sampling_rate": sampling_rate, "sampling": sampling}
    return "dp-sgd", numbers
