"""Steps of a plain autoencoder in PyTorch.

Reads lines "OPTIMISER THREADS", and replies with nanoseconds per step.
"""

import sys
import time

import torch

WIDTHS = [784, 400, 150, 50, 8, 50, 150, 400, 784]
LINEAR = (3, 7)
BATCH = 64
STEPS = 50


def layers():
    for index, (inputs, outputs) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        yield torch.nn.Linear(inputs, outputs)
        if index not in LINEAR:
            yield torch.nn.ReLU()


def stepper(fused):
    network = torch.nn.Sequential(*layers())
    optimiser = torch.optim.Adam(network.parameters(), fused=fused)
    records = torch.rand(BATCH, WIDTHS[0])

    def step():
        optimiser.zero_grad()
        ((network(records) - records) ** 2).sum(1).mean().backward()
        optimiser.step()

    return step


torch.manual_seed(1)
steppers = {"adam": stepper(False), "fused": stepper(True)}
print("ready", flush=True)
for line in sys.stdin:
    name, threads = line.split()
    torch.set_num_threads(int(threads))
    step = steppers[name]
    # The first step after a change of the number of threads is slow, and is not measured.
    step()
    start = time.perf_counter_ns()
    for _ in range(STEPS):
        step()
    print((time.perf_counter_ns() - start) / STEPS, flush=True)
