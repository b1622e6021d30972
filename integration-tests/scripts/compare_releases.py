"""Compares the releases of two builds of the command, byte by byte.

    python3 compare_releases.py OLD NEW [--slow] [--files]

Each build designs every mechanism that both list on several synthetic files, releases with several seeds, and views
with the key if there is one. Files, messages and exit codes must be equal. Exits with 1 if any differs. `--slow` adds
mechanisms that train networks, for a few epochs. With `--files` messages may differ.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

SEEDS = (1, 7)
EPSILONS = ("0.7", "4", "inf")
PASSPHRASE = "correct horse battery staple"

#: Columns as TOML, target, and a function from a generator to a row, by name.
DATA = {
    "mixed": (
        """
        [[column]]
        name = "height"
        kind = "real"
        lower = 140.0
        upper = 210.0
        unit = "cm"
        [[column]]
        name = "children"
        kind = "integer"
        lower = 0
        upper = 9
        [[column]]
        name = "joined"
        kind = "date"
        lower = "2015-01-01"
        upper = "2025-12-31"
        [[column]]
        name = "colour"
        kind = "category"
        levels = ["red", "green", "blue"]
        [[column]]
        name = "answer"
        kind = "category"
        levels = ["no", "yes"]
        """,
        "answer",
        lambda draw: (
            round(draw.gauss(172, 12), 1),
            min(9, int(draw.expovariate(0.5))),
            f"20{draw.randint(16, 24)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            draw.choice(["red", "red", "green", "blue"]),
            draw.choice(["no", "no", "yes"]),
        ),
    ),
    "numbers": (
        """
        [[column]]
        name = "a"
        kind = "real"
        lower = -1.0
        upper = 3.0
        [[column]]
        name = "b"
        kind = "real"
        lower = 0.0
        upper = 10.0
        [[column]]
        name = "c"
        kind = "real"
        lower = 0.0
        upper = 1.0
        [[column]]
        name = "y"
        kind = "real"
        lower = 0.0
        upper = 100.0
        """,
        "y",
        lambda draw: (
            round(draw.gauss(1, 1), 3),
            round(draw.uniform(0, 10), 3),
            round(draw.betavariate(2, 5), 4),
            round(draw.uniform(0, 100), 2),
        ),
    ),
    "levels": (
        """
        [[column]]
        name = "size"
        kind = "ordered"
        levels = ["small", "middle", "large"]
        [[column]]
        name = "smokes"
        kind = "boolean"
        [[column]]
        name = "town"
        kind = "category"
        levels = ["Bern", "Oslo", "Rome", "Wien"]
        """,
        "smokes",
        lambda draw: (
            draw.choice(["small", "middle", "large"]),
            draw.choice(["true", "false", "false"]),
            draw.choice(["Bern", "Bern", "Oslo", "Rome", "Wien"]),
        ),
    ),
}

#: Parameters that make designs fast or deterministic.
SETTINGS = {
    "vlm": {"epochs": 2, "seed": 1},
    "multiplicative-dp": {"records": 250},
    "task-aware-gradient": {"training": {"epochs": 2, "task_epochs": 2, "seed": 1}},
    "task-aware-bounded": {"training": {"epochs": 2, "task_epochs": 2, "seed": 1}},
    "privacy-agnostic": {"training": {"epochs": 2, "seed": 1}},
    "task-agnostic": {"training": {"epochs": 2, "seed": 1}},
    "learned-codes": {"seed": 1},
}


def write(folder, schema, target, row):
    """Writes files of 300 records and 200 volunteers, with fixed seeds."""
    columns = [line.split('"')[1] for line in schema.splitlines() if line.strip().startswith("name")]
    with open(os.path.join(folder, "schema.toml"), "w", encoding="utf-8") as file:
        file.write("\n".join(line.strip() for line in schema.splitlines()) + "\n")
    for name, seed, rows in (("people.csv", 11, 300), ("volunteers.csv", 12, 200)):
        draw = random.Random(seed)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(",".join(columns) + "\n")
            file.writelines(",".join(map(str, row(draw))) + "\n" for _ in range(rows))


def run(command, folder, *words):
    """Runs the command in the folder; returns the exit code, and the message of a failure."""
    done = subprocess.run(
        [command, *words],
        cwd=folder,
        env={**os.environ, "SCUMBLE_PASSPHRASE": PASSPHRASE, "RAYON_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr if done.returncode else ""


def read(path, digest):
    """Bytes of a file without the design's digest, which differs between builds; None without a file."""
    try:
        with open(path, "rb") as file:
            return file.read().replace(digest.encode(), b"DIGEST")
    except FileNotFoundError:
        return None


def outcome(command, folder, side, mechanism, target, epsilon):
    """Results of one build for a mechanism: messages, and the bytes of each release and view."""
    own = tempfile.mkdtemp(prefix=side, dir=folder)
    os.mkdir(os.path.join(own, "keys"))
    settings = [word for name, value in SETTINGS.get(mechanism, {}).items() for word in ("--set", f"{name}={json.dumps(value)}")]
    design = ["design", mechanism, "--schema", "../schema.toml", "--target", target, "--epsilon", epsilon, "--delta", "1e-6"]
    shaped = ["--volunteers", "../volunteers.csv", "--volunteers-are", "consented", "--people", "300"]
    made = run(command, own, *design, *shaped, *settings, "--output", "design.json", "--quiet")
    found = [made]
    if made[0] != 0:
        return found
    with open(os.path.join(own, "design.json"), encoding="utf-8") as file:
        digest = json.load(file)["digest"]
    for seed in SEEDS:
        release = ["release", "--design", "design.json", "--input", "../people.csv", "--seed", str(seed), "--quiet"]
        released = run(command, own, *release, "--output", f"released-{seed}.csv")
        key = []
        if released[0] != 0 and "--key" in released[1]:
            key = ["--key", f"keys/{seed}.json"]
            released = run(command, own, *release, "--output", f"released-{seed}.csv", *key)
        view = ["view", "--design", "design.json", "--input", "../volunteers.csv", "--output", f"view-{seed}.csv", "--quiet"]
        viewed = run(command, own, *view, *key)
        found += [released, viewed, *(read(os.path.join(own, f"{what}-{seed}.csv"), digest) for what in ("released", "view"))]
    return found


def main():
    """Compares all mechanisms, and prints the differences."""
    (old, new), slow = [os.path.abspath(word) for word in sys.argv[1:3]], "--slow" in sys.argv
    listed = [json.loads(subprocess.check_output([command, "list", "--json"])) for command in (old, new)]
    both = {one["name"] for one in listed[0]} & {other["name"] for other in listed[1]}
    names = sorted(one["name"] for one in listed[1] if one["name"] in both and (slow or one["pace"] == "quick"))
    compared = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for data, (schema, target, row) in DATA.items():
            place = os.path.join(folder, data)
            os.mkdir(place)
            write(place, schema, target, row)
            for name in names:
                for epsilon in EPSILONS:
                    one, other = (outcome(command, place, side, name, target, epsilon) for command, side in ((old, "old"), (new, "new")))
                    compared += sum(isinstance(part, bytes) for part in one)
                    if "--files" in sys.argv:
                        one, other = ([part[0] if isinstance(part, tuple) else part for part in side] for side in (one, other))
                    if one != other:
                        differing += 1
                        print(f"{name} on {data} at ε = {epsilon}:")
                        for before, after in zip(one, other):
                            if before != after:
                                print("   ", str(before)[:300], "\n   ", str(after)[:300])
    print(f"{len(names)} mechanisms, {compared} files: {differing} cases differ")
    sys.exit(differing > 0 or compared == 0)


if __name__ == "__main__":
    main()
