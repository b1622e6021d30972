"""People with several records, and noisy tables with estimates."""

import json

import pandas as pd
import pytest

import scumble

SCHEMA = {
    "patient": {"kind": "id", "records_per_person": 5},
    "ward": ["north", "south"],
    "pain": range(0, 10),
    "smokes": bool,
}


def visits() -> pd.DataFrame:
    """Patient p has 1 + p mod 8 visits."""
    rows = [
        {"patient": f"p{p}", "ward": ["north", "south"][p % 2], "pain": (p + v) % 10, "smokes": p % 4 == 0}
        for p in range(160)
        for v in range(p % 8 + 1)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=1)


def designed(mechanism: str, epsilon: float = 2.0, **parameters: object) -> scumble.Design:
    target = None if mechanism == "tables" else "smokes"
    return scumble.design(
        mechanism, schema=SCHEMA, target=target, epsilon=epsilon, delta=1e-5, people=160, **parameters
    )


@pytest.mark.parametrize(("mechanism", "used"), [("noisy-marginals", 5), ("direct", 1)])
def test_each_person_is_released_once(mechanism: str, used: int) -> None:
    design = designed(mechanism)
    assert "for all records of a person" in design.card
    released, card = design.release_with_card(visits())
    assert list(released.columns) == ["ward", "pain", "smokes"]
    assert len(released) == 160
    assert card["guarantee"]["records_per_person"] == used


def test_a_model_learns_from_all_records_of_a_person() -> None:
    design = designed("private-logistic", epsilon=8.0)
    model = scumble.Model(design.release(visits()), design)
    assert len(model.predict(visits())) == len(visits())


def test_a_missing_id_is_refused() -> None:
    broken = visits()
    broken.loc[broken.index[3], "patient"] = None
    with pytest.raises(scumble.InvalidRecords, match='column "patient"'):
        designed("noisy-marginals").release(broken)


def test_two_columns_of_ids_are_refused() -> None:
    schema = {**SCHEMA, "doctor": {"kind": "id"}}
    with pytest.raises(scumble.InvalidInput, match="'patient' and 'doctor' are ids of people"):
        scumble.design("direct", schema=schema, epsilon=1.0)


def test_tables_are_released_without_rows_and_estimated(tmp_path) -> None:
    design = designed("tables", epsilon=float("inf"), counts=[["ward"]], means=[["pain", "ward"]])
    tables, card = design.release_with_card(visits())
    assert isinstance(tables, scumble.Tables)
    assert card["records"] is None and card.tables is tables
    [north, south] = tables.estimate("ward", counts=True)
    assert (north["value"], south["value"]) == (80, 80)
    means = {line["group"]: line["value"] for line in tables.estimate("pain", by="ward")}
    # Each patient counts once: up to five of their visits have equal weights, up to 1/1024.
    frame = visits()
    few = frame[frame.groupby("patient")["pain"].transform("size") <= 5]
    assert len(few) < len(frame)
    assert set(means) == {"north", "south"}
    path = tmp_path / "tables.json"
    tables.save(path)
    assert scumble.Tables.read(path).estimate("ward") == tables.estimate("ward")
    with pytest.raises(scumble.InvalidInput, match="word"):
        tables.estimate("word")
    with pytest.raises(scumble.InvalidInput):
        scumble.Tables(json.dumps({"format": "another"}))


def test_the_card_of_synthetic_rows_has_their_tables() -> None:
    _, card = designed("noisy-marginals").release_with_card(visits())
    [share, _] = card.tables.estimate("smokes")
    assert share["lower"] < share["value"] < share["upper"]
    assert designed("direct").release_with_card(visits())[1].tables is None


def counts(tables: scumble.Tables) -> list[float]:
    return [line["value"] for line in tables.estimate("ward", counts=True)]


def test_periods_add_up_and_are_released_once(tmp_path, monkeypatch) -> None:
    design = designed("tables", epsilon=float("inf"), counts=[["ward"]], horizon=3, periods_per_person=2)
    with pytest.raises(scumble.InvalidInput, match="horizon"):
        design.release(visits())
    state = tmp_path / "state.json"
    with pytest.raises(scumble.InvalidInput, match="the state of period 1 is missing"):
        design.release_period(visits(), 2, state, passphrase="correct horse")
    assert not state.exists()
    monkeypatch.delenv("SCUMBLE_PASSPHRASE", raising=False)
    with pytest.raises(scumble.InvalidInput, match="SCUMBLE_PASSPHRASE"):
        design.release_period(visits(), 1, state)
    monkeypatch.setenv("SCUMBLE_PASSPHRASE", "correct horse")
    made = [design.release_period(visits(), period, state) for period in (1, 2, 3)]
    # People count in at most two periods.
    assert [counts(period.totals) for period in made] == [[80, 80], [160, 160], [160, 160]]
    assert [counts(period.alone) for period in made] == [[80, 80], [80, 80], [0, 0]]
    assert made[0].card.tables is made[0].totals
    with pytest.warns(scumble.PrivacyWarning, match="seed") as told:
        design.release_period(visits(), 1, tmp_path / "other.json", seed=1)
    assert [warning.filename for warning in told] == [__file__]
    assert "pain" not in state.read_text() and "mechanism" not in state.read_text()
    with pytest.raises(scumble.InvalidInput, match="period 3 is already released"):
        design.release_period(visits(), 3, state)
    with pytest.raises(scumble.InvalidInput):
        design.release_period(visits(), 4, state, passphrase="another horse")


def test_the_ledger_pays_once_for_all_periods_and_refuses_an_older_state(tmp_path) -> None:
    design = designed("tables", counts=[["ward"]], horizon=12)
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("visits", epsilon=8.0, delta=1e-3)
    paid = {"passphrase": "correct horse", "ledger": ledger, "dataset": "visits"}
    state = tmp_path / "state.json"
    first = design.release_period(visits(), 1, state, **paid)
    older, spent = state.read_text(), ledger.accounts[0]["spent"]
    assert "12 periods together" in json.dumps(first.card)
    design.release_period(visits(), 2, state, **paid)
    assert ledger.accounts[0]["spent"] == spent
    state.write_text(older)
    with pytest.raises(scumble.InvalidInput, match="older state"):
        design.release_period(visits(), 2, state, **paid)
    assert state.read_text() == older


def test_only_a_design_with_a_horizon_has_periods(tmp_path) -> None:
    for mechanism in ("tables", "direct"):
        with pytest.raises(scumble.InvalidInput, match="no horizon"):
            designed(mechanism).release_period(visits(), 1, tmp_path / "state.json", passphrase="correct horse")
