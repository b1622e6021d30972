"""MST by dpmm.

Reads lines "EPSILON DELTA LEVELS FILE", and replies with nanoseconds per release. LEVELS lists the number of levels of each
column. FILE has the levels of all records, as n x m 32-bit numbers.

dpmm needs its own environment (`pip install dpmm`), and is never part of the build. Its neighbouring relation is add/remove
one record.
"""

import logging
import sys
import time
import warnings

import numpy
import pandas
from dpmm.pipelines.mst import MSTPipeline

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

tables = {}
print("ready", flush=True)
for line in sys.stdin:
    epsilon, delta, levels, file = line.strip().split(maxsplit=3)
    domain = {f"x{at}": int(levels) for at, levels in enumerate(levels.split(","))}
    if file not in tables:
        codes = numpy.fromfile(file, dtype="<u4").reshape(-1, len(domain)).astype(int)
        tables[file] = pandas.DataFrame(codes, columns=list(domain))
    start = time.perf_counter_ns()
    mst = MSTPipeline(epsilon=float(epsilon), delta=float(delta), n_jobs=1, disable_processing=True)
    mst.fit(tables[file], domain=domain)
    mst.generate(n_records=len(tables[file]))
    print(time.perf_counter_ns() - start, flush=True)
