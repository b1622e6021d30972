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


def test_a_design_with_a_horizon_is_released_by_period() -> None:
    with pytest.raises(scumble.InvalidInput, match="horizon"):
        designed("tables", counts=[["ward"]], horizon=12).release(visits())
