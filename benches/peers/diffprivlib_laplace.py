"""Laplace noise by diffprivlib, which draws one value per call.

Reads lines, and replies with nanoseconds per value.
"""

import sys
import time

from diffprivlib.mechanisms import Laplace

VALUES = 2_000

mechanism = Laplace(epsilon=1.0, sensitivity=1.0)
print("ready", flush=True)
for line in sys.stdin:
    start = time.perf_counter_ns()
    for _ in range(VALUES):
        mechanism.randomise(0.0)
    print((time.perf_counter_ns() - start) / VALUES, flush=True)
