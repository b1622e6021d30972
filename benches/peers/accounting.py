"""The ε of DP-SGD by Google's dp-accounting.

Reads lines "ACCOUNTANT RATE MULTIPLIER STEPS DELTA", and replies with nanoseconds per answer.
"""

import sys
import time

from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

ACCOUNTANTS = {"pld": PLDAccountant, "rdp": RdpAccountant}

print("ready", flush=True)
for line in sys.stdin:
    name, rate, multiplier, steps, delta = line.split()
    event = PoissonSampledDpEvent(float(rate), GaussianDpEvent(float(multiplier)))
    event = SelfComposedDpEvent(event, int(steps))
    start = time.perf_counter_ns()
    epsilon = ACCOUNTANTS[name]().compose(event).get_epsilon(float(delta))
    taken = time.perf_counter_ns() - start
    assert 0 < epsilon < float("inf")
    print(taken, flush=True)
