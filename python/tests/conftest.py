"""Synthetic people, and a schema with public knowledge about them."""

import numpy as np
import pandas as pd
import pytest

import scumble

SCHEMA = {"age": (0.0, 100.0), "children": range(0, 11), "smokes": ["no", "yes"]}


def made_up(count: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.uniform(0, 100, count)
    return pd.DataFrame(
        {
            "person": [f"p{at}" for at in range(count)],
            "age": age,
            "children": rng.integers(0, 11, count),
            "smokes": np.where(rng.uniform(0, 100, count) < age, "yes", "no"),
        }
    )


@pytest.fixture
def people() -> pd.DataFrame:
    return made_up(3000)


@pytest.fixture
def design() -> scumble.Design:
    return scumble.design("direct", schema=SCHEMA, epsilon=2.0)
