"""Steps of a plain autoencoder under DP-Adam in Opacus.

Reads lines "MODE THREADS NOISE", and replies with nanoseconds per step.

Opacus needs its own environment (`pip install opacus`, which installs PyTorch), and is never part of the build. It gets a
fixed minibatch of 64 instead of a random one, and floating-point noise from PyTorch's generator. Both make it faster.
"""

import sys
import time
import warnings

import torch
from opacus import PrivacyEngine

warnings.simplefilter("ignore")

WIDTHS = [784, 400, 150, 50, 8, 50, 150, 400, 784]
LINEAR = (3, 7)
BATCH = 64
STEPS = 10


def layers():
    for index, (inputs, outputs) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        yield torch.nn.Linear(inputs, outputs)
        if index not in LINEAR:
            yield torch.nn.ReLU()


class SquaredError(torch.nn.Module):
    """Sum of squares over the outputs; Opacus sets the reduction to "none" for per-example losses."""

    reduction = "mean"

    def forward(self, outputs, targets):
        each = ((outputs - targets) ** 2).sum(1)
        return each.mean() if self.reduction == "mean" else each


def stepper(mode, noise):
    records = torch.rand(BATCH, WIDTHS[0])
    network = torch.nn.Sequential(*layers())
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(records), batch_size=BATCH)
    arguments = dict(
        module=network,
        optimizer=torch.optim.Adam(network.parameters()),
        criterion=SquaredError(),
        data_loader=loader,
        noise_multiplier=noise,
        max_grad_norm=1.0,
        poisson_sampling=False,
        grad_sample_mode=mode,
    )
    made = PrivacyEngine().make_private(**arguments)
    network, optimiser = made[0], made[1]
    criterion = made[2] if mode == "ghost" else SquaredError()

    def step():
        optimiser.zero_grad()
        criterion(network(records), records).backward()
        optimiser.step()

    return step


torch.manual_seed(1)
steppers = {}
print("ready", flush=True)
for line in sys.stdin:
    mode, threads, noise = line.split()
    if (mode, noise) not in steppers:
        steppers[mode, noise] = stepper(mode, float(noise))
    torch.set_num_threads(int(threads))
    step = steppers[mode, noise]
    # The first step after a change of the number of threads is slow, and is not measured.
    step()
    start = time.perf_counter_ns()
    for _ in range(STEPS):
        step()
    print((time.perf_counter_ns() - start) / STEPS, flush=True)
