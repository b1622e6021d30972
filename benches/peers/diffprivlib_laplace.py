"""Laplace noise by diffprivlib, value by value, which is how it gives it. Waits for a line, and answers with nanoseconds a value."""

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
