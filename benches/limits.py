#!/usr/bin/env python3
"""Time of each command by part of the code, from a sampling profiler.

    python3 benches/limits.py [--output LIMITS.md] [--only WORDS]

Builds the command with symbols (profile `profiling`), writes a file of a million records to a temporary folder, and runs
each command below under Linux `perf`. A sample counts for the innermost function outside the standard library: for its
folder of this workspace, or for its library. Then measures how the cost of reports grows with their number
(`growing_reports.py`, which takes minutes). Needs perf, llvm-symbolizer and readelf.
"""

import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import growing_reports

ROOT = Path(__file__).resolve().parent.parent
BINARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "profiling" / "scumble"

# Titles in the table, and command lines. {s} is the command; files are in its working folder.
COMMANDS = [
    ("`release`, a CSV file by `laplace`", "{s} release --design laplace.json --input records.csv --output released.csv"),
    ("`release`, a Parquet file by `laplace`", "{s} release --design laplace.json --input records.parquet --output released.parquet"),
    ("`release`, a CSV file of reports by `pair-response`", "{s} release --design pairs.json --input records.csv --output reports.csv"),
    ("`collect` from these reports", "{s} collect --design pairs.json --reports reports.csv --output collected.csv"),
    ("`estimate` from the release by `laplace`", "{s} estimate --design laplace.json --input released.csv"),
    ("`compare` on a million records: `laplace` and `direct`, one trial", "{s} compare --input records.csv --schema schema.toml --target y --mechanism laplace --mechanism direct --epsilon 2 --trials 1"),
    ("`compare`, as it is called without an option", "{s} compare"),
    ("`audit --all --quick`", "{s} audit --all --quick"),
    ("`account dp-sgd`, the noise of a training", "{s} account dp-sgd --sampling-rate 0.01 --steps 10000 --delta 1e-5 --epsilon 1"),
]

PREPARATIONS = [
    "{s} design laplace --schema schema.toml --target y --epsilon 2 --protect features --output laplace.json",
    "{s} design identity --schema schema.toml --target y --epsilon inf --output identity.json",
    "{s} design pair-response --schema schema.toml --target y --epsilon 2 --output pairs.json",
    "{s} release --design identity.json --input records.csv --output records.parquet",
    "{s} release --design laplace.json --input records.csv --output released.csv",
    "{s} release --design pairs.json --input records.csv --output reports.csv",
]

RECORDS, COLUMNS = 1_000_000, 9


def memory_peak(process):
    """Peak memory in MB of a process that has not ended; 0 if it just ended."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0


def run(command, folder, prefix=()):
    """Runs a command; returns CPU seconds, wall seconds and peak memory in MB."""
    words = command.format(s=BINARY).split() + (["--force"] if "--output" in command else []) + ["--quiet"]
    start, memory = time.monotonic(), 0
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([*prefix, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        # The peak that `wait4` returns counts the memory of this program too, because the process began as its copy.
        while (done := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            memory = max(memory, memory_peak(process))
            time.sleep(0.002)
        errors.seek(0)
        if done[1]:
            sys.exit(f"{' '.join(words)}: {errors.read().decode()}")
    return done[2].ru_utime + done[2].ru_stime, time.monotonic() - start, memory


def write_records(folder):
    generator = random.Random(3)
    names = [f"x{at}" for at in range(COLUMNS)]
    with open(folder / "records.csv", "w") as file:
        file.write(",".join([*names, "y"]) + "\n")
        for _ in range(RECORDS):
            values = [generator.random() for _ in names]
            label = "yes" if values[0] + values[1] * values[2] > 0.8 + 0.3 * generator.gauss(0, 1) else "no"
            file.write(",".join(f"{value:.6f}" for value in values) + f",{label}\n")
    with open(folder / "schema.toml", "w") as file:
        for name in names:
            file.write(f'[[column]]\nname = "{name}"\nkind = "real"\nlower = 0.0\nupper = 1.0\n')
        file.write('[[column]]\nname = "y"\nkind = "category"\nlevels = ["no", "yes"]\n')


def text_segments():
    """Loaded segments of the binary, as (offset in the file, address, size)."""
    output = subprocess.run(["readelf", "-lW", str(BINARY)], check=True, capture_output=True, text=True).stdout
    loads = [line.split() for line in output.splitlines() if line.strip().startswith("LOAD")]
    return [(int(load[1], 16), int(load[2], 16), int(load[4], 16)) for load in loads]


def samples(data):
    """Numbers of samples in a profile, by address of the binary and by other object."""
    output = subprocess.run(
        ["perf", "script", "-i", str(data), "-F", "ip,dso", "--show-mmap-events"], check=True, capture_output=True, text=True
    ).stdout
    addresses, objects, maps = collections.Counter(), collections.Counter(), []
    segments = text_segments()
    for line in output.splitlines():
        mapped = re.search(r"\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*? ([^ ]+)$", line)
        if "PERF_RECORD_MMAP" in line:
            if mapped and mapped[4] == str(BINARY):
                maps.append((int(mapped[1], 16), int(mapped[2], 16), int(mapped[3], 16)))
            continue
        sample = re.match(r"\s*([0-9a-f]+) \((.*)\)$", line)
        if not sample:
            continue
        if sample[2] != str(BINARY):
            objects[sample[2]] += 1
            continue
        address = int(sample[1], 16)
        for start, size, offset in maps:
            if start <= address < start + size:
                in_file = address - start + offset
                for at, virtual, length in segments:
                    if at <= in_file < at + length:
                        addresses[in_file - at + virtual] += 1
    return addresses, objects


def part(path):
    """Workspace folder or library of a source file; None for the standard library."""
    library = re.search(r"/registry/src/[^/]+/(.+?)-\d[^/]*/", path)
    if library:
        return library[1]
    if path.startswith(str(ROOT)):
        path = str(Path(path).relative_to(ROOT))
    own = re.match(r"((?:registry|solvers|models|mechanisms|evaluation|papers)/[^/]+|scumble)/src/", path)
    return own[1] if own else None


def parts(data):
    """Numbers of samples by part, and by function within a part."""
    addresses, objects = samples(data)
    found, functions = collections.Counter(), collections.defaultdict(collections.Counter)
    for name, count in objects.items():
        found["the system" if name.startswith("[") else Path(name).name.split(".")[0]] += count
    asked = sorted(addresses)
    output = subprocess.run(
        ["llvm-symbolizer", f"--obj={BINARY}", "--inlines", "--demangle"],
        input="".join(f"{address:#x}\n" for address in asked),
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for address, frames in zip(asked, output.strip().split("\n\n")):
        lines = frames.splitlines()
        of = next(((part(path), name) for name, path in zip(lines[::2], lines[1::2]) if part(path)), ("the standard library", lines[0]))
        found[of[0]] += addresses[address]
        functions[of[0]][of[1]] += addresses[address]
    return found, functions


def shorter(function):
    """Name of a function, with its type or module."""
    bare = re.sub(r" \(\.llvm\.\d+\)|::h[0-9a-f]{16}|\{\{?[^{}]*\}?\}", "", function)
    for written, meant in [("_$LT$", "<"), ("$LT$", "<"), ("$GT$", ">"), ("$u20$", " "), ("$C$", ","), ("..", "::")]:
        bare = bare.replace(written, meant)
    # "<Type as Trait>::name" becomes "Type::name"; generic parameters are removed.
    bare = re.sub(r"^<(?:\w+::)*(\w+)[^>]*(?:<[^<>]*>)? as .*>::", r"\1::", bare)
    while re.search(r"<[^<>]*>", bare):
        bare = re.sub(r"<[^<>]*>", "", bare)
    names = re.findall(r"\w+", bare)
    return "::".join(names[-2:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "benches" / "LIMITS.md")
    parser.add_argument("--only", default="", help="only commands that have this in their name")
    arguments = parser.parse_args()
    subprocess.run(["cargo", "build", "--quiet", "--profile", "profiling", "--locked", "-p", "scumble"], check=True, cwd=ROOT)
    text = [
        "# What limits each command",
        "",
        "Written by `python3 benches/limits.py`, which runs each command under Linux `perf`: seconds of all cores, seconds by the clock on "
        f"{os.cpu_count()} cores, the most memory, and where the time goes. A share belongs to the folder of this workspace, or to the library, that the innermost function "
        f"is of which no standard library has; in brackets the function that took most of it. Files are of {RECORDS:,} records of {COLUMNS} numbers and a label.",
        "",
        "| command | CPU s | s | MB | where the time goes |",
        "|---|--:|--:|--:|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_records(folder)
        for command in PREPARATIONS:
            run(command, folder)
        for title, command in COMMANDS:
            if arguments.only not in title:
                continue
            print(title, file=sys.stderr)
            cpu, wall, memory = run(command, folder)
            data = folder / "profile"
            run(command, folder, ["perf", "record", "--quiet", "-F", "499", "-o", str(data), "--"])
            found, functions = parts(data)
            all_samples = sum(found.values())
            shown = []
            for of, count in found.most_common(6):
                share = 100 * count / all_samples
                if share >= 3:
                    most = functions[of].most_common(1)
                    name = shorter(most[0][0]) if most else ""
                    where = f" (`{name}`)" if name else ""
                    shown.append(f"{of}{where} {share:.0f} %")
            text.append(f"| {title} | {cpu:.3g} | {wall:.3g} | {memory:.0f} | {', '.join(shown)} |")
        if not arguments.only:
            text += growing_reports.section(run, folder)
    arguments.output.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
