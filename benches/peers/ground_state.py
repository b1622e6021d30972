"""Ground states of -w''/THETA + LAMBDA/4 n^2 w = mu w by SciPy.

Reads lines "LAMBDA THETA LOWER UPPER MU SHARE", and replies with nanoseconds per solution. The number of cells is the least
power of two whose lowest eigenvalue has a relative error of at most SHARE from MU.
"""

import sys
import time

import numpy
from scipy.linalg import eigh_tridiagonal


def lowest(penalty, weight, lower, upper, cells):
    step = (upper - lower) / cells
    places = lower + step * numpy.arange(1, cells)
    diagonal = 2 / (weight * step**2) + penalty / 4 * places**2
    off_diagonal = numpy.full(cells - 2, -1 / (weight * step**2))
    values, _vectors = eigh_tridiagonal(diagonal, off_diagonal, select="i", select_range=(0, 0))
    return values[0]


grids = {}
print("ready", flush=True)
for line in sys.stdin:
    *problem, mu, share = map(float, line.split())
    if line not in grids:
        fits = lambda cells: abs(lowest(*problem, cells) / mu - 1) <= share
        grids[line] = next(cells for cells in 2 ** numpy.arange(4, 21) if fits(cells))
    start = time.perf_counter_ns()
    lowest(*problem, grids[line])
    print(time.perf_counter_ns() - start, flush=True)
