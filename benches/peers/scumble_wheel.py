"""Releases by the Python package, on one thread.

Reads lines "TASK RECORDS.parquet SCHEMA.toml", and replies with nanoseconds per value.
"""

import os
import sys
import tempfile
import time

os.environ["RAYON_NUM_THREADS"] = "1"

import pyarrow.parquet as parquet

import scumble


def read(records):
    return parquet.read_table(records, use_threads=False)


def by_ticket(design, table):
    with tempfile.TemporaryDirectory() as folder:
        design.release(table, ticket=os.path.join(folder, "ticket.json"))


def through_files(design, records):
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(design.release(read(records)), os.path.join(folder, "released.parquet"))


made = {}
print("ready", flush=True)
for line in sys.stdin:
    if line not in made:
        task, records, schema = line.split()
        design, table = scumble.design("laplace", schema=schema, epsilon=1.0), read(records)
        tasks = {
            "table": lambda: design.release(table),
            "ticket": lambda: by_ticket(design, table),
            "files": lambda: through_files(design, records),
        }
        made[line] = tasks[task], table.num_rows * table.num_columns
    run, values = made[line]
    start = time.perf_counter_ns()
    run()
    print((time.perf_counter_ns() - start) / values, flush=True)
