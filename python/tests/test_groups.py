"""Tests of releases in parts: batches of disjoint people, each with one ticket, and one ledger."""

import json
import os
import subprocess

import pandas as pd
import pyarrow as pa
import pytest
from conftest import SCHEMA, made_up

import scumble
from scumble.engines import admit, check_part


def spent(ledger) -> float:
    return ledger.accounts[0]["spent"]["epsilon"]


def test_batches_of_disjoint_people_cost_as_much_as_one(design, tmp_path):
    """The stream of a job: one ticket for each batch, also if the job runs again."""
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("survey", epsilon=2.0)
    people = made_up(3000)

    def job() -> list[pd.DataFrame]:
        released = []
        for number, start in enumerate(range(0, 3000, 1000)):
            batch = people.iloc[start : start + 1000]
            chunks = [batch.iloc[:400], batch.iloc[400:400], batch.iloc[400:]]
            parts = [check_part(design, chunk, id="person") for chunk in chunks]
            ticket = tmp_path / f"ticket-{number}"
            admission = admit(design, parts, ticket, id="person", ledger=ledger.group("batch", number), dataset="survey")
            released.append(pd.concat([pa.table(admission.release(chunk)).to_pandas() for chunk in chunks]))
        return released

    first, again = job(), job()
    assert spent(ledger) == 2.0 and [len(of) for of in first] == [1000, 1000, 1000]
    assert all(one.equals(other) for one, other in zip(first, again))
    assert [charge["group"] for charge in ledger.accounts[0]["charges"]] == [{"by": "batch", "name": str(at)} for at in range(3)]
    # The same people in a group of another division, or without a group, are charged again.
    with pytest.raises(scumble.Overdrawn):
        design.release(people.iloc[:10], ledger=ledger.group("town", "Oslo"), dataset="survey")
    with pytest.raises(scumble.Overdrawn):
        design.release(people.iloc[:10], ledger=ledger, dataset="survey")
    with pytest.raises(scumble.Overdrawn):
        design.release(people.iloc[:10], ledger=ledger.group("batch", 1), dataset="survey")
    with pytest.raises(scumble.InvalidInput, match="a group needs the name"):
        design.release(people.iloc[:10], ledger=ledger.group("batch", ""), dataset="survey")


@pytest.mark.skipif(os.environ.get("SCUMBLE_COMMAND") is None, reason="SCUMBLE_COMMAND names no command")
def test_the_command_and_python_share_groups(tmp_path):
    def command(*words: object) -> str:
        return subprocess.check_output([os.environ["SCUMBLE_COMMAND"], *map(str, words)], text=True, stderr=subprocess.PIPE)

    ledger, design = scumble.Ledger(tmp_path / "ledger.json"), scumble.design("direct", schema=SCHEMA, epsilon=1.0)
    ledger.open("survey", epsilon=1.0)
    design.save(tmp_path / "design.json")
    made_up(50).to_csv(tmp_path / "people.csv", index=False)
    files = ["--design", tmp_path / "design.json", "--input", tmp_path / "people.csv", "--output", tmp_path / "released.csv"]
    paid = ["--ledger", tmp_path / "ledger.json", "--dataset", "survey"]
    command("release", *files, *paid, "--group", "batch=1")
    design.release(made_up(50), ledger=ledger.group("batch", 2), dataset="survey")
    command("ledger", "charge", *paid, "--epsilon", "0.5", "--group", "batch=3", "--what", "counts")
    shown = json.loads(command("ledger", "show", "--ledger", tmp_path / "ledger.json", "--json"))
    assert shown["accounts"][0]["spent"]["epsilon"] == spent(ledger) == 1.0
    assert "counts (batch = 3)" in command("ledger", "show", "--ledger", tmp_path / "ledger.json")
