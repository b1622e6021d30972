#!/usr/bin/env python3
"""Times from a clean clone to the first results: builds, first comparison, wheel and CI.

    python3 benches/first_minute.py [build] [compare] [wheel] [ci]

Clones the committed state of this repository to a temporary folder, and runs each step there, without the caches of
earlier builds. Downloads are done first and not timed. Prints wall seconds, CPU seconds (user and system) and notes.
`compare` needs `build`, and runs the comparison of the README twice: alone on all cores, and on one thread.
"""

import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def timed(name, command, folder, environment=None):
    """Runs a command and prints its times. Stops at the first failure."""
    environment = {**os.environ, **(environment or {})}
    before, start = os.times(), time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wall, after = time.monotonic() - start, os.times()
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout.decode()[-2000:]}")
    cpu = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    print(f"| {name} | {wall:.0f} | {cpu:.0f} |", flush=True)


def processor():
    """Name of the processor, as Linux knows it."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].split(":")[1].strip() if names else platform.processor()


def main():
    steps = sys.argv[1:] or ["build", "compare", "wheel", "ci"]
    if unknown := set(steps) - {"build", "compare", "wheel", "ci"}:
        sys.exit(f"unknown steps: {', '.join(sorted(unknown))}; {__doc__}")
    with tempfile.TemporaryDirectory() as temporary:
        clone, target = Path(temporary) / "clone", Path(temporary) / "target"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
        for folder in (clone, clone / "python"):
            subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=folder, check=True)
        load = os.getloadavg()[0]
        print(f"{os.cpu_count()} cores of {processor()}, load {load:.2f} at the start\n")
        print("| step | wall s | CPU s |\n|---|--:|--:|")
        cargo = {"CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"}
        command = target / "release" / "scumble"
        if "build" in steps:
            build = ["cargo", "build", "--release", "--locked", "--quiet"]
            timed("release build of the command", build, clone, cargo)
            print(f"| size of the command: {command.stat().st_size / 1e6:.1f} MB | | |")
        if "compare" in steps:
            compare = [command, "compare", "--quiet", "--cells"]
            timed("first comparison", [*compare, "first.jsonl"], temporary)
            timed("first comparison, one thread", [*compare, "second.jsonl"], temporary, {"RAYON_NUM_THREADS": "1"})
        if "wheel" in steps:
            environment = Path(temporary) / "environment"
            subprocess.run([sys.executable, "-m", "venv", environment], check=True)
            subprocess.run([environment / "bin" / "pip", "install", "--quiet", "maturin"], check=True)
            wheel = [environment / "bin" / "maturin", "build", "--release", "--locked", "--quiet"]
            own = {**cargo, "CARGO_TARGET_DIR": str(Path(temporary) / "wheel")}
            timed("wheel of the Python package, sharing nothing", wheel, clone / "python", own)
            if "build" in steps:
                timed("wheel of the Python package, after the command", wheel, clone / "python", cargo)
        if "ci" in steps:
            data = os.environ.get("SCUMBLE_DATA", str((ROOT / "../shared/data").resolve()))
            timed("`.ci/run`", [".ci/run"], clone, {"SCUMBLE_DATA": data})


if __name__ == "__main__":
    main()
