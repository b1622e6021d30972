"""Mechanism in Python: discrete Laplace noise on every number, and an audit of it and of a faulty variant."""

from fractions import Fraction

import numpy as np

import scumble


class StepNoise(scumble.LocalMechanism):
    """Discrete Laplace noise on every number, rounded to a step between its bounds."""

    source = "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis (2006)"
    theorem = "the Laplace mechanism on integers (Dwork et al. 2006, Proposition 1), every number at an equal share of ε"
    protects = "features"
    example = "numbers"

    def design(self, steps: int = 4096) -> None:
        if self.domain.groups and self.domain.groups[0].start < self.domain.features:
            raise scumble.NotApplicable("it takes records of numbers")
        self.d = self.domain.features
        self.step = (self.domain.upper - self.domain.lower)[: self.d] / steps
        if self.epsilon < float("inf"):
            # d integers from 0 to `steps` differ by at most d·steps in ℓ₁. The scale is rounded up, to less ε.
            self.scale = Fraction(self.d * steps * 2**20 // Fraction(self.epsilon) + 1, 2**20)

    def encode(self, records):
        points = records.copy()
        points[:, : self.d] = np.round((records[:, : self.d] - self.domain.lower[: self.d]) / self.step)
        return points

    def range(self):
        lower, upper = np.zeros(self.domain.width), np.ones(self.domain.width)
        upper[: self.d] = np.round((self.domain.upper - self.domain.lower)[: self.d] / self.step)
        return lower, upper

    def perturb(self, points, random):
        noisy = np.round(points)  # the claim holds for every point of the range
        noisy[:, : self.d] += random.discrete_laplace(self.scale, self.d)
        return noisy

    def decode(self, points):
        released = points.copy()
        released[:, : self.d] = self.domain.lower[: self.d] + points[:, : self.d] * self.step
        return released

    def noise(self):
        variance = scumble.plugins.discrete_laplace_variance(self.scale)
        return [scumble.plugins.additive(variance * self.step**2)]


class HalfTheNoise(StepNoise):
    """Faulty variant, with noise for twice the ε."""

    def design(self, steps: int = 4096) -> None:
        super().design(steps)
        self.scale = getattr(self, "scale", 1) / 2


if __name__ == "__main__":
    scumble.plugins.check(StepNoise)
    for mechanism in (StepNoise, HalfTheNoise):
        for finding in scumble.audit(mechanism):
            print(mechanism.__name__, finding["verdict"])
