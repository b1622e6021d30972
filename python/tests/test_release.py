"""Tests of releases in one process: any type of table, and the same bits as the command."""

import datetime as dt
import json
import math
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import SCHEMA, made_up

import scumble

COMMAND = os.environ.get("SCUMBLE_COMMAND")


def test_a_release_is_of_the_kind_of_its_table(design, people):
    expected = design.release(people, seed=7)
    assert isinstance(expected, pd.DataFrame) and list(expected.columns) == list(SCHEMA)
    assert isinstance(expected.index, pd.RangeIndex)
    of_polars = design.release(pl.from_pandas(people), seed=7)
    of_arrow = design.release(pa.Table.from_pandas(people), seed=7)
    assert isinstance(of_polars, pl.DataFrame) and isinstance(of_arrow, pa.Table)
    pd.testing.assert_frame_equal(of_polars.to_pandas(), expected, check_dtype=False)
    pd.testing.assert_frame_equal(of_arrow.to_pandas(), expected, check_dtype=False)
    shuffled = people[["smokes", "person", "children", "age"]].set_index("person")
    pd.testing.assert_frame_equal(design.release(shuffled, seed=7), expected, check_dtype=False)
    as_category = people.assign(smokes=people.smokes.astype("category"), children=people.children.astype("int16"))
    coded = design.release(as_category, seed=7)
    assert [str(coded[name].dtype) for name in ("children", "smokes")] == [str(as_category[name].dtype) for name in ("children", "smokes")]
    pd.testing.assert_frame_equal(coded.assign(smokes=coded.smokes.astype("str")), expected, check_dtype=False)


def assert_same_bits(one: pa.Table, other: pa.Table) -> None:
    assert one.column_names == other.column_names and one.cast(other.schema).equals(other), "not the same bits"


VOLUNTEERS = dict(volunteers=made_up(200, seed=9), volunteers_are="public")


@pytest.mark.skipif(COMMAND is None, reason="SCUMBLE_COMMAND names no command")
@pytest.mark.parametrize(
    "given",
    [
        dict(mechanism="direct", epsilon=2.0),
        dict(mechanism="pac-statistics", epsilon=float("inf"), nats=10.0, statistic="moments"),
        dict(mechanism="noisy-marginals", epsilon=2.0, delta=1e-6, people=3000, target="smokes"),
        dict(mechanism="mst", epsilon=2.0, delta=1e-6, people=3000),
        dict(mechanism="private-logistic", epsilon=2.0, delta=1e-6, people=3000, target="smokes"),
        dict(mechanism="pair-response", epsilon=4.0, people=3000, target="smokes"),
        dict(mechanism="direction-report", epsilon=4.0, people=3000, target="smokes", **VOLUNTEERS),
    ],
    ids=lambda given: given["mechanism"],
)
def test_a_seed_gives_the_commands_bits(given, people, tmp_path):
    design = scumble.design(schema=SCHEMA, **given)
    pq.write_table(pa.Table.from_pandas(people), tmp_path / "people.parquet")
    design.save(tmp_path / "design.json")

    def command(line: str) -> pa.Table:
        subprocess.run([COMMAND, *line.split(), "--design", "design.json", "--quiet"], cwd=tmp_path, check=True)
        return pq.read_table(tmp_path / line.split()[-1])

    of_command = command("release --input people.parquet --seed 7 --card card.json --output released.parquet")
    released, card = design.release_with_card(pa.Table.from_pandas(people), seed=7)
    assert_same_bits(released, of_command)
    assert {**json.loads((tmp_path / "card.json").read_text()), "file": None} == card  # a table in memory has no file
    if given["mechanism"].endswith("-report") or given["mechanism"] == "pair-response":
        of_command = command("collect --reports released.parquet --seed 8 --output collected.parquet")
        released = design.collect(released, seed=8)
        assert_same_bits(released, of_command)
    if given["mechanism"] != "private-logistic":
        assert released.column_names == list(SCHEMA) and len(released) == 3000
        mean = np.mean(released["children"].to_pylist())
        assert abs(mean - people.children.mean()) < 0.5, "a decoder that mistakes how values were drawn moves it by half a step of 11"


@pytest.mark.skipif(COMMAND is None, reason="SCUMBLE_COMMAND names no command")
def test_a_ticket_is_the_commands_too(design, people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    design.save(tmp_path / "design.json")
    arguments = [COMMAND, "release", "--design", "design.json", "--input", "people.csv", "--output", "released.csv"]
    subprocess.run([*arguments, "--ticket", "ticket.json", "--id", "person", "--quiet"], cwd=tmp_path, check=True)
    released = design.release(people, ticket=tmp_path / "ticket.json", id="person")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "released.csv"), released, check_exact=False, rtol=1e-15, check_dtype=False)


def test_memory_that_is_not_aligned_is_read_all_the_same(design, people):
    def moved_by_one(array: pa.Array) -> pa.Array:
        shifted = [None if of is None else pa.py_buffer(b"x" + of.to_pybytes())[1:] for of in array.buffers()]
        return pa.Array.from_buffers(array.type, len(array), shifted)

    arrays = {name: pa.array(people[name]) for name in people.columns}
    shifted = pa.table({name: moved_by_one(array) for name, array in arrays.items()})
    assert any(of.address % 8 for of in shifted["age"].chunk(0).buffers() if of is not None)
    expected = design.release(pa.table(arrays), seed=1)
    assert design.release(shifted, seed=1).equals(expected)
    coded = pa.table({**arrays, "smokes": pa.array(people.smokes).dictionary_encode()})
    assert design.release(coded, seed=1).to_pylist() == expected.to_pylist()


def test_without_a_seed_or_a_ticket_each_release_is_another(design, people):
    (one, card), other = design.release_with_card(people), design.release(people)
    assert (one.age != other.age).mean() > 0.99
    assert design.guarantee["claims"][0]["epsilon"] == 2.0
    assert card["guarantee"]["claims"] != []
    _, seeded = design.release_with_card(people, seed=1)
    assert seeded["guarantee"]["claims"] == [] or "seed" in json.dumps(seeded)


def test_each_thread_has_the_card_of_its_release(design):
    def release(count: int) -> None:
        frame = made_up(count)
        found.extend((count, design.release_with_card(frame)) for _ in range(20))

    found = []
    threads = [threading.Thread(target=release, args=(count,)) for count in (10, 2000)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert [(len(table), card["records"]) for _, (table, card) in found] == [(count, count) for count, _ in found]
    assert len(found) == 40


def test_a_ticket_gives_each_record_one_noise(design, people, tmp_path):
    ticket = tmp_path / "ticket.json"
    whole = design.release(people, ticket=ticket, id="person")
    order = np.random.default_rng(2).permutation(len(people))
    again, card = design.release_with_card(people.iloc[order], ticket=ticket, id="person")
    pd.testing.assert_frame_equal(again, whole.iloc[order].reset_index(drop=True), check_exact=True)
    assert card["ticket"] == scumble.Ticket(ticket).name
    other = design.release(people, ticket=tmp_path / "other.json", id="person")
    assert (other.age != whole.age).mean() > 0.99
    assert oct(ticket.stat().st_mode & 0o777) == "0o600"


def test_equal_records_have_independent_noise_by_their_ids(design, tmp_path):
    """The correlation of 40,000 noises is within five standard errors of zero (false alarm 6e-7), between ids under one ticket,
    and between two tickets for the same ids."""
    count = 40_000
    equal = pd.DataFrame({"person": range(count), "age": 50.0, "children": 5, "smokes": "no"})
    one = design.release(equal, ticket=tmp_path / "one.json", id="person").age.to_numpy()
    other = design.release(equal, ticket=tmp_path / "other.json", id="person").age.to_numpy()
    clipped = lambda noise: np.clip(noise, -500, 600)  # noqa: E731  (otherwise the tails of Laplace noise dominate)
    for left, right in [(one[:-1], one[1:]), (one, other), (one[: count // 2], one[count // 2 :])]:
        correlation = np.corrcoef(clipped(left), clipped(right))[0, 1]
        assert abs(correlation) < 5 / np.sqrt(len(left))
    by_blocks = design.release(equal).age.to_numpy()
    sorted_one, sorted_blocks = np.sort(one), np.sort(by_blocks)
    grid = np.linspace(-200, 300, 200)
    distance = np.abs(np.searchsorted(sorted_one, grid) - np.searchsorted(sorted_blocks, grid)).max() / count
    assert distance < 2.6 * np.sqrt(2 / count)  # Kolmogorov-Smirnov test: false alarm 3e-6


def test_a_release_is_charged_once_for_a_ticket(design, people, tmp_path):
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("survey", epsilon=5.0)
    spent = lambda: ledger.accounts[0]["spent"]["epsilon"]  # noqa: E731
    how = dict(ticket=tmp_path / "ticket.json", id="person", ledger=ledger, dataset="survey")
    with pytest.raises(scumble.InvalidRecords):
        design.release(people.assign(smokes="often"), **how)
    with pytest.raises(KeyError):
        design.release(people.drop(columns="age"), **how)
    assert spent() == 0 and not (tmp_path / "ticket.json").exists()
    drivers = [threading.Thread(target=lambda: design.release(people, **how)) for _ in range(4)]
    [driver.start() for driver in drivers]
    [driver.join() for driver in drivers]
    design.release(people, **how)
    assert spent() == 2.0
    design.release(people, ledger=ledger, dataset="survey")
    assert spent() == 4.0
    with pytest.raises(scumble.Overdrawn, match="budget for the whole record exceeded"):
        design.release(people, ledger=ledger, dataset="survey")
    assert spent() == 4.0


def test_a_job_that_runs_again_opens_its_account_again(tmp_path):
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    for _ in range(2):
        ledger.open("survey", epsilon=0.1 + 0.2, delta=1e-6)
        ledger.open_in_nats("halves", nats=0.3)
    for other in [dict(epsilon=0.3, delta=1e-6), dict(epsilon=0.1 + 0.2), dict(epsilon=4.0, delta=1e-6)]:
        with pytest.raises(scumble.InvalidInput, match="ε = 0.30000000000000004 and δ = 1e-6, not ε = "):
            ledger.open("survey", **other)
    with pytest.raises(scumble.InvalidInput, match="it is 0.3, not 0.4"):
        ledger.open_in_nats("halves", nats=0.4)
    with pytest.raises(scumble.InvalidInput, match="exist_ok"):
        ledger.open("survey", epsilon=0.1 + 0.2, delta=1e-6, exist_ok=False)
    with pytest.raises(scumble.InvalidInput, match='looks like "survey"'):
        ledger.open("surve\u0263", epsilon=1.0)
    with pytest.raises(scumble.InvalidInput, match="several scripts"):
        ledger.open("\u0441urvey", epsilon=1.0)
    assert len(ledger.accounts) == 1 and 0.3 <= ledger.accounts[0]["left"]["epsilon"] <= 0.1 + 0.2


@pytest.mark.parametrize("total, each, times", [(1.0, 0.1, 10), (0.3, 0.1, 3), (3, 0.1, 30), (0.7, 0.07, 10)])
def test_releases_are_charged_in_decimals(people, tmp_path, total, each, times):
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("survey", epsilon=total)
    design = scumble.design("direct", schema=SCHEMA, epsilon=each)
    for _ in range(times):
        design.release(people[:20], ledger=ledger, dataset="survey")
    assert ledger.accounts[0]["spent"]["epsilon"] == total and ledger.accounts[0]["left"]["epsilon"] == 0
    with pytest.raises(scumble.Overdrawn):
        design.release(people[:20], ledger=ledger, dataset="survey")


@pytest.mark.parametrize(
    "options, match",
    [
        (dict(mechanism="direct", epsilon=12.0), "ε = 12 is above 10"),
        (dict(mechanism="noisy-marginals", epsilon=1.0, delta=0.1, people=100), "δ = 0.1 is not well below 1/people, 0.01 for 100"),
        (dict(mechanism="direct", epsilon=1.0, schema={"f": ["=1+1", "-5"]}), 'column "f", level "=1\\+1"$'),
    ],
)
def test_a_design_that_protects_little_is_warned_of(options, match):
    options = {"schema": {"a": (0, 1), "b": ["x", "y"]}, **options}
    with pytest.warns(scumble.PrivacyWarning, match=match):
        scumble.design(**options)


@pytest.mark.parametrize("of", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, lambda frame: pa.table(frame).to_reader()])
@pytest.mark.parametrize("mechanism", [dict(mechanism="laplace"), dict(mechanism="noisy-marginals", delta=1e-9)])
def test_a_person_in_several_rows_is_warned_of(of, mechanism, people, recwarn, tmp_path):
    design = scumble.design(schema=SCHEMA, epsilon=1.0, **mechanism)
    visits = pd.concat([people[:50], people[7:9]], ignore_index=True)
    with pytest.warns(scumble.PrivacyWarning, match=f"'?person.* repeats .*{people.person[7]}.* in row 51"):
        design.release(of(visits))
    if mechanism["mechanism"] == "laplace":  # a mechanism that supports tickets
        with pytest.warns(scumble.PrivacyWarning, match="in row 51"):
            design.release(of(visits), ticket=tmp_path / "rows.json")
        with pytest.raises(scumble.InvalidRecords, match="person"):
            design.release(of(visits), ticket=tmp_path / "ticket.json", id="person")
    recwarn.clear()
    design.release(of(people))
    design.release(of(visits.rename(columns={"person": "seat"})))
    assert not recwarn.list, [str(warning.message) for warning in recwarn.list]


def test_nats_are_counted_by_accounts_of_their_own(people, tmp_path):
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open_in_nats("halves", nats=0.25)
    design = scumble.design("pac-statistics", schema=SCHEMA, epsilon=np.inf, statistic="moments", nats=0.125)
    for left in [0.125, 0.0]:
        design.release(people, ledger=ledger, dataset="halves")
        assert ledger.information[0]["left"] == left
    with pytest.raises(scumble.Overdrawn, match="0.25 of 0.25 nats spent"):
        design.release(people, ledger=ledger, dataset="halves")
    assert ledger.accounts == []


BAD = {
    "a column that is missing": (lambda people: people.drop(columns="age"), KeyError, "age"),
    "a column twice": (lambda people: pd.concat([people, people[["age"]]], axis=1), ValueError, "age"),
    "text for numbers": (lambda people: people.assign(age="sixty-one"), ValueError, "age"),
    "numbers and text": (lambda people: people.assign(age=[1, "x"] * (len(people) // 2)), ValueError, "age"),
    "no number": (lambda people: people.assign(age=np.nan), ValueError, "age"),
    "an infinite number": (lambda people: people.assign(age=np.inf), ValueError, "age"),
    "an unknown level": (lambda people: people.assign(smokes="often"), ValueError, "smokes"),
    "no id": (lambda people: people.assign(person=None), ValueError, "person"),
    "an id twice": (lambda people: people.assign(person="p1"), ValueError, "person"),
    "no records": (lambda people: people.iloc[:0], ValueError, "records"),
}


def test_an_option_that_is_wrong_costs_nothing(design, people, tmp_path):
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("survey", epsilon=5.0)
    for how in [dict(values="rounded"), dict(values="rounded", ticket=tmp_path / "ticket.json")]:
        with pytest.raises(ValueError, match="values"):
            design.release(people, ledger=ledger, dataset="survey", **how)
    assert ledger.accounts[0]["spent"]["epsilon"] == 0 and not (tmp_path / "ticket.json").exists()


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_is_said_before_the_charge(what, design, people, tmp_path):
    spoil, kind, named = BAD[what]
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("survey", epsilon=5.0)
    ticket = tmp_path / "ticket.json"
    with pytest.raises(kind, match=named):
        design.release(spoil(people), ticket=ticket, id="person", ledger=ledger, dataset="survey")
    assert not ticket.exists() and ledger.accounts[0]["spent"]["epsilon"] == 0


def test_a_ticket_is_for_one_design_and_its_records(design, people, tmp_path):
    ticket = tmp_path / "ticket.json"
    design.release(people, ticket=ticket, id="person")
    with pytest.raises(scumble.WrongTicket, match="other records"):
        design.release(people.assign(age=people.age / 2), ticket=ticket, id="person")
    other = scumble.design("direct", schema=SCHEMA, epsilon=1.0)
    with pytest.raises(scumble.WrongTicket, match="another design"):
        other.release(people, ticket=ticket, id="person")
    with pytest.raises(scumble.WrongTicket, match="another design"):
        other._native.release_part(pa.Table.from_pandas(people), scumble.Ticket(ticket), None, "person", HOW, True)


HOW = scumble._design._how(False, "settled", None, None)


class ChangesWhenReadAgain:
    """Table that is computed at each reading, like a relation of a lazy engine."""

    def __init__(self, *readings):
        self.readings = list(readings)

    def __arrow_c_stream__(self, requested_schema=None):
        table = self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]
        return table.__arrow_c_stream__(requested_schema)


def test_a_table_that_changes_when_it_is_read_again_is_read_once(tmp_path):
    """One person, with values that differ in their last bits or more."""
    design = scumble.design("direct", schema={"age": (0, 100)}, epsilon=1.0)
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("survey", epsilon=5.0)
    how = dict(ticket=tmp_path / "ticket.json", id="id", ledger=ledger, dataset="survey")
    one = pa.table({"id": ["a"], "age": [10.0]})
    released = set()
    for second in [one, *(pa.table({"id": ids, "age": ages}) for ids, ages in [(["a"], [10 + 1e-14]), (["a"], [50.0]), (["b"], [10.0]), (["a", "b"], [10.0, 1.0])])]:
        table = pa.table(design.release(ChangesWhenReadAgain(one, second), **how))
        assert table.num_rows == 1
        released.add(table["age"][0].as_py())
    assert len(released) == 1 and ledger.accounts[0]["spent"]["epsilon"] == 1.0


@pytest.mark.parametrize("rows", [1, 2, 5000])
def test_a_reader_of_batches_is_released_whole(rows, design, tmp_path):
    people = pa.Table.from_pandas(made_up(rows))
    released = pa.table(design.release(people.to_reader(max_chunksize=700), ticket=tmp_path / "ticket.json", id="person"))
    assert released.equals(design.release(people, ticket=tmp_path / "ticket.json", id="person"))
    assert released.num_rows == rows == pa.table(design.release(people.to_reader())).num_rows


def test_memory_that_is_written_to_meanwhile_gives_the_admitted_release_or_none(tmp_path):
    """A thread changes a cell of an array, which the table shares, during releases with one ticket."""
    design = scumble.design("direct", schema={"age": (0, 100)}, epsilon=1.0)
    ages, stop, found = np.full(20_000, 10.0), threading.Event(), set()
    table = pa.table({"age": pa.Array.from_buffers(pa.float64(), len(ages), [None, pa.py_buffer(ages)])})
    first = design.release(table, ticket=tmp_path / "ticket.json")["age"][0].as_py()

    def write() -> None:
        while not stop.is_set():
            ages[0] = 10.0 if ages[0] != 10.0 else 10.0 + 1e-14

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(60):
            try:
                found.add(design.release(table, ticket=tmp_path / "ticket.json")["age"][0].as_py())
            except (scumble.WrongTicket, scumble.InvalidRecords) as error:
                assert "other records" in str(error) or "the records changed between" in str(error)
                found.add(None)
    finally:
        stop.set()
        writer.join()
    assert found <= {first, None} and None in found


def test_a_ticket_that_was_forgotten_is_not_used_again(design, people, tmp_path):
    ticket = scumble.Ticket(tmp_path / "ticket.json")
    first = design.release(people, ticket=ticket, id="person")
    old = ticket.name
    ticket.forget()
    with pytest.raises(FileNotFoundError):
        ticket.name
    second, card = design.release_with_card(people, ticket=ticket, id="person")
    assert card["ticket"] == ticket.name != old
    assert (second.age != first.age).mean() > 0.99


def test_the_secret_is_in_no_repr_pickle_or_error(design, people, tmp_path):
    ticket_file = tmp_path / "ticket.json"
    _, card = design.release_with_card(people, ticket=ticket_file, id="person")
    secret = json.loads(ticket_file.read_text())["secret"]
    ticket = scumble.Ticket(ticket_file)
    assert ticket.name  # the file is read here
    texts = [repr(ticket), str(ticket), ticket.binding(), str(pickle.dumps(ticket)), str(pickle.dumps(design)), json.dumps(card)]
    assert not any(secret in text or secret[:12] in text for text in texts)
    assert pickle.loads(pickle.dumps(ticket)).name == ticket.name
    assert pickle.loads(pickle.dumps(design)) == design
    ticket.forget()
    assert not ticket_file.exists()


def test_views_and_reports(people):
    identity = scumble.design("identity", schema=SCHEMA, epsilon=float("inf"))
    pd.testing.assert_frame_equal(identity.view(people), people[list(SCHEMA)].assign(children=people.children.astype(float)), check_dtype=False)
    reports = scumble.design("pair-response", schema=SCHEMA, target="smokes", epsilon=4.0, people=len(people))
    made = reports.release(people, seed=3)
    collected = reports.collect(made, records=500, seed=1)
    assert len(collected) == 500 and list(collected.columns) == list(SCHEMA)
    pd.testing.assert_frame_equal(reports.collect(made, records=500, seed=1), collected)
    with pytest.raises(ValueError, match="not reports"):
        identity.collect(made)


def test_a_curators_release(people):
    marginals = scumble.design("mst", schema=SCHEMA, epsilon=4.0, delta=1e-6, people=len(people))
    released, card = marginals.release_with_card(people, seed=1)
    assert len(card["counted_tables"]) == len(marginals.columns) - 1  # the pairs of a tree
    assert abs((released.smokes == "yes").mean() - (people.smokes == "yes").mean()) < 0.05
    with pytest.raises(ValueError, match="curator|local"):
        marginals.release(people, ticket="nowhere.json", id="person")
    assert not Path("nowhere.json").exists()


def test_names_have_their_nearest():
    with pytest.raises(KeyError, match='did you mean "laplace"'):
        scumble.design("laplas", schema=SCHEMA, epsilon=1.0)
    with pytest.raises(KeyError, match="protect"):
        scumble.design("laplace", schema=SCHEMA, epsilon=1.0, protct="features")
    with pytest.raises(KeyError, match="gaussian"):
        scumble.account("gausian", epsilon=1)
    for schema in [{"age": None}, {"age": (0, "x")}, {"age": (100, 0)}, None, {"age": range(0, 10, 2)}]:
        with pytest.raises(ValueError, match="schema"):
            scumble.design("laplace", schema=schema, epsilon=1.0)
    for epsilon in [0, -1, float("nan")]:
        with pytest.raises(ValueError, match="epsilon"):
            scumble.design("laplace", schema=SCHEMA, epsilon=epsilon)


def test_one_design_serves_several_tasks():
    def saved(**tasks):
        options = dict(schema=SCHEMA, target="smokes", epsilon=8.0, protect="features", **VOLUNTEERS)
        return pickle.dumps(scumble.design("task-aware-priv-unit", **options, **tasks))

    age, children = pd.DataFrame({"age": [1.0], "children": [0.0]}), pl.DataFrame({"children": [0.5], "age": [0.0]})
    both = pd.DataFrame({"age": [2.0, 0.0], "children": [0.0, 0.5]})
    weighted = saved(task_matrix=[age, children], task_weight=[4, 1])
    assert weighted == saved(task_matrix=both)
    assert weighted != saved(task_matrix=[age, children])
    with pytest.raises(scumble.InvalidInput, match="task_weight has 1 weights for 2 tasks"):
        saved(task_matrix=[age, children], task_weight=[1])
    with pytest.raises(scumble.UnknownName, match='no column "children"'):
        saved(task_matrix=age[["age"]])


def test_all_mechanisms_are_there():
    built_in = [name for name in scumble.mechanisms() if name not in scumble.plugins._registered]
    assert len(built_in) == 40 and "vlm" in built_in
    assert scumble.describe("laplace")["parameters"]


def test_accounts_are_the_commands():
    """Sigma of Balle and Wang for ε = 1, δ = 1e-5."""
    assert abs(scumble.account("gaussian", epsilon=1, delta=1e-5, sensitivity=1)["sigma"] - 3.730631634838411) < 1e-9
    with pytest.raises(ValueError, match="solves for the fourth"):
        scumble.account("gaussian", epsilon=1)


def test_audits_refute_nothing_of_ours(design):
    findings = design.audit(quick=True)
    assert findings and all(finding["verdict"] != "broken" for finding in findings)


def test_seeds_files_and_levels_are_checked(design, people):
    for seed in [-1, 2**64, 1.5, True, False, "1"]:
        with pytest.raises(ValueError, match="seed"):
            design.release(people, seed=seed)
    with pytest.warns(scumble.PrivacyWarning, match="no guarantee"):
        of_numpy = design.release(people, seed=np.int64(7))
    with pytest.warns(scumble.PrivacyWarning):
        pd.testing.assert_frame_equal(of_numpy, design.release(people, seed=7))
    with pytest.raises(FileNotFoundError, match="nowhere.toml"):
        scumble.design("laplace", schema="nowhere.toml", epsilon=1.0)
    flags = scumble.design("randomized-response", schema={"flag": [False, True]}, epsilon=1.0)
    assert set(flags.release(pd.DataFrame({"flag": [True, False] * 50}), seed=1).flag) == {False, True}


def test_clipping_is_told(design):
    with pytest.warns(scumble.ClippedWarning, match="1 of \"age\"|1 of 'age'"):
        design.release(made_up(5).assign(age=[1.0, 2.0, 3.0, 4.0, 500.0]), seed=1)
    with pytest.raises(ValueError, match="age"):
        design.release(made_up(5).assign(age=500.0), strict=True)


@pytest.mark.parametrize("what, after", [("release", 0.7), ("mst", 1.5), ("mst", 4), ("design", 0.7), ("audit", 0.7), ("compare", 0.7)])
def test_an_interrupt_is_heard_at_once(what, after):
    """Runs in a separate process. The work takes minutes (mst: a hundred releases of eight million pairs); an interrupt stops it
    within two seconds, which allows for a busy machine."""
    script = f"""
import os, signal, threading, time
import numpy as np, pandas as pd
import scumble

rng = np.random.default_rng(1)
people = pd.DataFrame({{f"x{{at}}": rng.random(4000) for at in range(12)}})
people["y"] = rng.choice(["no", "yes"], 4000)
schema = {{f"x{{at}}": (0.0, 1.0) for at in range(12)}} | {{"y": ["no", "yes"]}}
given = dict(schema=schema, target="y", epsilon=1.0, delta=1e-6, people=4000)
logistic = scumble.design("private-logistic", **given, steps=100_000)
of_volunteers = dict(schema=schema, target="y", epsilon=1.0, volunteers=people, volunteers_are="consented")
wide = pd.DataFrame({{f"q{{at}}": rng.integers(0, 2, 500) == 1 for at in range(4000 if "{what}" == "mst" else 2)}})
mst = scumble.design("mst", schema={{name: bool for name in wide}}, epsilon=1.0, delta=1e-6, people=500)
work = {{
    "release": lambda: logistic.release(people),
    "mst": lambda: [mst.release(wide) for again in range(100)],
    "design": lambda: scumble.design("task-agnostic", **of_volunteers, training={{"epochs": 100_000}}),
    "audit": lambda: scumble.audit("private-logistic", quick=False),
    "compare": lambda: scumble.compare(
        people, schema=schema, target="y", mechanisms="mst", epsilon=1.0, delta=1e-6, trials=100_000, progress=False
    ),
}}
asked = []
def ask():
    asked.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer({after}, ask).start()
try:
    work["{what}"]()
    print("it was over before the signal")
except KeyboardInterrupt:
    late = time.monotonic() - asked[0]
    print("heard" if late < 2 else f"heard after {{late}} seconds")
# The next release is not interrupted.
print(len(scumble.design("laplace", schema=schema, target="y", epsilon=1.0).release(people)))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ran.stdout == "heard\n4000\n", ran.stdout + ran.stderr


CHILD = r"""
import multiprocessing, os, select, sys, threading
import numpy as np, pandas as pd, scumble

frame = pd.DataFrame({"age": [33.0] * 50, "ill": ["no", "yes"] * 25})
design = scumble.design("direct", schema={"age": (0, 120)}, epsilon=2.0)
calls = {
    "release": lambda: design.release(frame),
    "ticket": lambda: design.release(frame, ticket=sys.argv[1]),
    "view": lambda: design.view(frame),
    "design": lambda: scumble.design("mst", schema={"age": (0, 120), "ill": ["no", "yes"]}, epsilon=2.0, delta=1e-6, people=50),
    "draft": lambda: scumble.draft_schema(frame),
    "compare": lambda: scumble.compare(frame, schema={"age": (0, 120), "ill": ["no", "yes"]}, target="ill", mechanisms="direct", epsilon=2, trials=2),
    "audit": lambda: scumble.account("gaussian", epsilon=1, delta=1e-5, sensitivity=1),
}
busy = threading.Thread(target=lambda: [call() for call in calls.values()])  # in another thread, which a forked child lacks
busy.start()
busy.join()
read, write = os.pipe()
child = os.fork()
if child == 0:
    for name, call in calls.items():
        call()
        os.write(write, (name + "\n").encode())
    grandchild = os.fork()
    if grandchild == 0:
        design.release(frame)
        os.write(write, b"grandchild\n")
        os._exit(0)
    os.waitpid(grandchild, 0)
    os._exit(0)
answered = b""
while answered.count(b"\n") <= len(calls) and select.select([read], [], [], 60)[0]:
    answered += os.read(read, 1000)
if answered.count(b"\n") <= len(calls):
    os.kill(child, 9)
os.waitpid(child, 0)
assert answered.decode().split() == [*calls, "grandchild"], answered
design.release(frame)  # the parent still works
with multiprocessing.get_context("fork").Pool(2) as pool:
    released = pool.map(design.release, [frame] * 4)
assert len({tuple(table.age) for table in released}) == 4
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
def test_a_forked_child_computes_too(tmp_path):
    subprocess.run([sys.executable, "-W", "ignore", "-c", CHILD, str(tmp_path / "ticket.json")], check=True, timeout=240)


def test_the_expected_noise_is_that_of_a_release():
    """Compares the noise of 40,000 released records, with a false-alarm rate below 1e-6."""
    schema = {"age": (0, 100), "day": (dt.date(2020, 1, 1), dt.date(2021, 1, 1)), "town": ["a", "b", "c"], "y": ["p", "q"]}
    count = 40_000
    people = pd.DataFrame({"age": [50.0] * count, "day": [dt.date(2020, 7, 2)] * count, "town": "a", "y": "q"})
    for mechanism in ("direct", "piecewise"):
        design = scumble.design(mechanism, schema=schema, target="y", epsilon=2.0)
        expected, released = design.expect(), design.release(people, values="drawn")
        assert list(expected) == ["age", "day", "town", "y"]
        for number in ("age", "day"):
            # A standard deviation from n draws has a relative error of √((κ − 1)/4n), and κ ≤ 6.
            assert abs(released[number].std() / expected[number]["standard_deviation"] - 1) < 5 * math.sqrt(5 / (4 * count))
        assert abs((released.y == "q").mean() - expected["y"]["keep"]) < 5 * 0.5 / math.sqrt(count)
    assert expected["town"] == {"keep": None}, "piecewise describes levels by numbers"
    log = scumble.design("direct", schema={"pay": {"kind": "real", "lower": 1, "upper": 1e6, "scale": "log"}}, epsilon=1.0)
    assert log.expect() == {"pay": {"standard_deviation": None}}


def test_notebooks_show_designs_cards_and_findings(design, people):
    _, card = design.release_with_card(people)
    findings = design.audit()
    assert "<dt><b>guarantee</b></dt><dd>ε = 2 local differential privacy" in design._repr_html_()
    assert "<dt><b>records</b></dt><dd>3000</dd>" in card._repr_html_()
    assert "<td style='text-align: left'>holds</td>" in findings._repr_html_() and not findings.is_broken
    assert str(findings).startswith("composed: holds") or "holds" in str(findings)
