"""Frequency oracles by multi-freq-ldpy.

Reads lines "KIND PART LEVELS EPSILON", and replies with nanoseconds per answer. PART is `answers` or `estimates`.

multi-freq-ldpy needs its own environment (`pip install multi-freq-ldpy`), and is never part of the build. Numba compiles its
answers before the measurement.
"""

import sys
import time

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

ANSWERS = 20_000

KINDS = {
    "grr": (GRR_Client, GRR_Aggregator_MI),
    "ss": (SS_Client, SS_Aggregator_MI),
    "oue": (UE_Client, lambda answers, levels, epsilon: UE_Aggregator_MI(answers, epsilon)),
}


def answers(client, levels, epsilon):
    return [client(person % levels, levels, epsilon) for person in range(ANSWERS)]


given = {}
print("ready", flush=True)
for line in sys.stdin:
    kind, part, levels, epsilon = line.split()
    client, aggregator = KINDS[kind]
    levels, epsilon = int(levels), float(epsilon)
    if line not in given:
        given[line] = answers(client, levels, epsilon)
    start = time.perf_counter_ns()
    if part == "answers":
        answers(client, levels, epsilon)
    else:
        aggregator(given[line], levels, epsilon)
    print((time.perf_counter_ns() - start) / ANSWERS, flush=True)
