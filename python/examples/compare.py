"""Compares mechanisms on a pandas frame, and writes a page with charts: people.html."""

import numpy as np
import pandas as pd

import scumble

# Synthetic people with an illness that depends on age and smoking. Replace them by your own frame.
rng = np.random.default_rng(1)
count = 4000
age, cigarettes = rng.uniform(18, 90, count), rng.poisson(4, count).clip(0, 40)
ill = rng.random(count) < 1 / (1 + np.exp(-(0.09 * (age - 60) + 0.35 * (cigarettes - 4))))
people = pd.DataFrame({"age": age, "cigarettes": cigarettes, "ill": np.where(ill, "yes", "no")})

# Public knowledge about the columns, never taken from the data.
schema = {"age": (18, 90), "cigarettes": range(0, 41), "ill": ["no", "yes"]}

comparison = scumble.compare(people, schema=schema, target="ill", epsilon=[0.5, 2, 8], trials=5, name="people")
comparison.save("people.html")
print(comparison)
