"""Cost of reports as their number grows: bytes, time and memory, and a model of both for 10⁹ reports.

A part of `limits.py`, which runs the commands. The values at the two smaller sizes give the model of a quantity, and the
largest size checks it.
"""

import itertools

SIZES = [100_000, 1_000_000, 10_000_000]
SCALE = 1_000_000_000
VOLUNTEERS, DRAWN = 2_000, 100_000

DESIGNS = {
    "pair-response": "{s} design pair-response --schema schema.toml --target y --epsilon 2 --output reports.json",
    "direction-report": "{s} design direction-report --schema schema.toml --target y --epsilon 2 --volunteers volunteers.csv "
    "--volunteers-are consented --output reports.json",
}
RELEASE = "{s} release --design reports.json --input people.csv --output reports.csv"
COLLECT = f"{{s}} collect --design reports.json --reports reports.csv --records {DRAWN} --output collected.csv"

# Name, unit, factor to that unit, digits after the point, and whether the model is a line.
QUANTITIES = [
    ("file of reports", "GB", 1e-9, 4, True),
    ("making the reports", "CPU s", 1, 2, True),
    ("`collect`", "CPU s", 1, 2, True),
    ("`collect`, by the clock", "s", 1, 2, True),
    ("`collect`, memory", "MB", 1, 1, False),
]
CLOCK = 3


def write_people(folder, count):
    """Repeats the rows of `records.csv` until there are `count`."""
    with open(folder / "people.csv", "wb") as people, open(folder / "volunteers.csv", "wb") as volunteers:
        written = 0
        while written < count:
            with open(folder / "records.csv", "rb") as records:
                header = next(records)
                if written == 0:
                    people.write(header)
                    volunteers.write(header)
                for row in itertools.islice(records, count - written):
                    people.write(row)
                    if written < VOLUNTEERS:
                        volunteers.write(row)
                    written += 1


def measured(run, folder):
    """The quantities of QUANTITIES, with the people and the design that are in the folder."""
    made = run(RELEASE, folder)
    collected = run(COLLECT, folder)
    return [(folder / "reports.csv").stat().st_size, made[0], *collected]


def modelled(values, is_line):
    """Model of a quantity, as a function of the number of reports: a line through two values, or the second value."""
    slope = (values[1] - values[0]) / (SIZES[1] - SIZES[0]) if is_line else 0
    return lambda size: values[1] + slope * (size - SIZES[1])


def section(run, folder):
    """Lines of the page. `run` runs a command and returns CPU seconds, wall seconds and MB."""
    found = {name: [] for name in DESIGNS}
    for size in SIZES:
        write_people(folder, size)
        for name, design in DESIGNS.items():
            run(design, folder)
            found[name].append(measured(run, folder))
    text = [
        "",
        "## Reports as their number grows",
        "",
        f"Records of the same columns, each reported by one person at ε = 2; {DRAWN:,} records are drawn from the reports. The model is a "
        f"straight line through the values at {SIZES[0]:,} and {SIZES[1]:,} reports, and {SIZES[2]:,} reports check it. Memory does not "
        "grow with the number of reports; its model is the second value.",
    ]
    header = [*(f"{size:,}" for size in SIZES), f"model at {SIZES[2]:,}", f"model at {SCALE:,}"]
    for name, rows in found.items():
        text += ["", f"| `{name}` | {' | '.join(header)} |", "|---" + "|--:" * len(header) + "|"]
        for (title, unit, factor, digits, is_line), values in zip(QUANTITIES, zip(*rows)):
            model = modelled(values, is_line)
            shown = [*values, model(SIZES[2]), model(SCALE)]
            cells = [f"{value * factor:,.{digits}f}" for value in shown]
            text.append(f"| {title}, {unit} | {' | '.join(cells)} |")
    hours = {name: modelled([row[CLOCK] for row in rows], True)(SCALE) / 3600 for name, rows in found.items()}
    text += [
        "",
        f"The next limit is the time of `collect`, which reads on all cores and adds reports on one: at {SCALE:,} reports "
        + " and ".join(f"{time:.2g} hours with `{name}`" for name, time in hours.items())
        + ". Each person makes only one report.",
    ]
    return text
