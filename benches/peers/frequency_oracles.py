"""Frequency oracles by multi-freq-ldpy. Waits for "KIND PART LEVELS EPSILON", where PART is `answers` or `estimates`, and answers with nanoseconds an answer.

multi-freq-ldpy has an environment of its own (`pip install multi-freq-ldpy`), and is never part of the build. Its answers are compiled by numba, before the time is taken.
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
