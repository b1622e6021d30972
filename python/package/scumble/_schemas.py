"""Schemas as Python values: public knowledge about each column."""

from __future__ import annotations

import datetime
import json
import os
from typing import Any, Mapping

from ._errors import InvalidInput


def _level(level: Any) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)


def _column(name: str, of: Any) -> dict[str, Any]:
    if isinstance(of, Mapping):
        return {"name": name, **of}
    if isinstance(of, range):
        if of.step != 1 or len(of) < 2:
            raise InvalidInput(
                f"schema, column {name!r}: a range of integers must have step 1 and at least two integers"
            )
        return {"name": name, "kind": "integer", "lower": of[0], "upper": of[-1]}
    if of is bool:
        return {"name": name, "kind": "boolean"}
    if isinstance(of, tuple) and len(of) == 2 and all(isinstance(bound, datetime.date) for bound in of):
        return {"name": name, "kind": "date", "lower": str(of[0])[:10], "upper": str(of[1])[:10]}
    if isinstance(of, tuple) and len(of) == 2:
        return {"name": name, "kind": "real", "lower": of[0], "upper": of[1]}
    if isinstance(of, (list, set, frozenset)):
        levels = sorted(of) if isinstance(of, (set, frozenset)) else of
        return {"name": name, "kind": "category", "levels": [_level(level) for level in levels]}
    raise InvalidInput(
        f"schema, column {name!r}: give (lower, upper) for a number, range(lower, upper + 1) for an integer, "
        "['a', 'b'] for a category, bool for yes or no, or a dict with the keys of a schema file; "
        "bounds are never taken from the data"
    )


def given(schema: Any) -> dict[str, str | None]:
    """Schema for native code: path of a file, or columns as JSON."""
    if isinstance(schema, (str, os.PathLike)):
        return {"file": os.fspath(schema), "columns": None}
    if isinstance(schema, Mapping):
        columns = [_column(str(name), of) for name, of in schema.items()]
        people = [column for column in columns if column.get("kind") == "id"]
        if len(people) > 1:
            names = " and ".join(repr(column["name"]) for column in people[:2])
            raise InvalidInput(f"schema: the columns {names} are ids of people, and a person has one id")
        saved: dict[str, Any] = {"column": [column for column in columns if column not in people]}
        for person in people:
            saved["person"] = {key: value for key, value in person.items() if key != "kind"}
        return {"file": None, "columns": json.dumps(saved)}
    raise InvalidInput(
        "schema: give a dict of columns or the path of a schema file; bounds are never taken from the data"
    )
