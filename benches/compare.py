#!/usr/bin/env python3
"""Comparison of the performance pages of two commits, by ratios of times in one run.

    python3 benches/compare.py BASE [HEAD] [--only WORDS] [--rounds N]

Builds both performance pages, each from its own checkout under target/compare. The two take turns, round by round, so that
other load of the machine affects both. Prints each row whose time differs by more than 5 %, as the median ratio over the
rounds. Python peers do not run. Exits with 1 if a row became slower.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def build(commit):
    """Builds the performance page of a commit, in a checkout that later runs use again."""
    sha = output("git", "rev-parse", f"{commit}^{{commit}}", cwd=ROOT).strip()
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "compare" / sha[:12]
    if not folder.exists():
        output("git", "clone", "--quiet", "--no-checkout", str(ROOT), str(folder))
        output("git", "checkout", "--quiet", sha, cwd=folder)
    target = folder / "target"
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "-p", "scumble-benches"],
        check=True,
        cwd=folder,
        env={**os.environ, "CARGO_TARGET_DIR": str(target)},
    )
    return target / "release" / "performance"


def times(page):
    """Time of each row of a page, in nanoseconds, by section and name."""
    found, section, unit = {}, "", None
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            section, unit = line[3:], None
        elif line.startswith("| |") and len(cells) == 5:
            unit = UNITS.get(cells[1])
        elif line.startswith("| ") and unit and len(cells) == 5 and not cells[0].startswith("*limit"):
            if re.fullmatch(r"[\d.]+", cells[1]):
                found[section, cells[0]] = float(cells[1]) * unit
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("head", nargs="?", default="HEAD")
    parser.add_argument("--only", default="", help="only sections whose title has this in it")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    binaries = [build(arguments.base), build(arguments.head)]
    small = ["--small" in output(str(binary), "--help") for binary in binaries]
    ratios = {}
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
        # The two commits alternate in starting a round.
        order = (0, 1) if number % 2 == 0 else (1, 0)
        pages = {}
        for at in order:
            command = [str(binaries[at]), "--python", "/nonexistent", "--rounds", "1", "--only", arguments.only]
            # Commits without this option time only small sizes.
            command += ["--small"] if small[at] else []
            pages[at] = times(output(*command, cwd=ROOT))
        for row in pages[0].keys() & pages[1].keys():
            ratios.setdefault(row, []).append(pages[1][row] / pages[0][row])
    medians = sorted(((statistics.median(of), row) for row, of in ratios.items()), reverse=True)
    differing = [(ratio, row) for ratio, row in medians if not 0.95 <= ratio <= 1.05]
    for ratio, (section, name) in differing:
        print(f"{ratio:6.2f}  {section}: {name}")
    print(f"{len(differing)} of {len(medians)} rows differ by more than 5 %; above 1 is slower")
    sys.exit(any(ratio > 1.05 for ratio, _row in medians))


if __name__ == "__main__":
    main()
