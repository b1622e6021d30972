"""Schemas as Python values: public knowledge about each column."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import warnings
from typing import Any, Mapping

from ._errors import InvalidInput


class Draft(str):
    """Draft of a schema as TOML text, which `schema` accepts.

    The bounds and levels of :func:`scumble.draft_schema` are those of the data. After a review, delete the line
    ``draft = true``, and pass the text as ``scumble.Draft(text)`` or as a file.
    """

    def parsed(self) -> dict[str, Any]:
        """Tables of the draft by their names in TOML."""
        try:
            import tomllib
        except ImportError:
            raise InvalidInput(
                "schema: a draft needs Python 3.11; save it as a file, review it, delete `draft = true`, and give its path"
            ) from None
        try:
            return tomllib.loads(self)
        except tomllib.TOMLDecodeError as problem:
            raise InvalidInput(f"schema: the draft is not valid TOML: {problem}") from None

    @property
    def is_of_data(self) -> bool:
        """True until a reviewer deletes ``draft = true``."""
        return self.parsed().get("draft", False) is not False


def plain(value: Any) -> Any:
    """Value for JSON of a value of numpy, pandas, ``datetime`` or ``decimal``."""
    if type(value).__name__ == "datetime64":
        return str(value.astype("datetime64[D]"))
    if isinstance(value, datetime.date):
        return str(value)[:10]
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__float__"):
        return float(value)
    raise InvalidInput(f"a value of type {type(value).__name__} is neither a number, a text, a date nor a list of them")


def _is_date(bound: Any) -> bool:
    return isinstance(bound, datetime.date) or type(bound).__name__ == "datetime64"


def _is_number(level: Any) -> bool:
    return hasattr(level, "__float__") and type(level).__name__ not in ("bool", "bool_")


def _level(level: Any) -> str:
    """Text of a level as in a released table: ``true``, and ``2`` for 2.0."""
    text = str(level)
    if isinstance(level, str):
        return text
    if text in ("None", "nan", "NaT", "<NA>"):
        raise InvalidInput(f"{text} is not a level; to allow missing cells, give a dict with a level as its 'missing'")
    if text in ("True", "False"):
        return text.lower()
    if _is_number(level) and decimal.Decimal(text).is_finite():
        text = format(decimal.Decimal(text), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return text


def _categories(name: str, of: Any) -> dict[str, Any] | None:
    """Column of an array of levels, or of a pandas or Polars type with levels; None for other values."""
    kind = "ordered" if getattr(of, "ordered", None) is True else "category"
    if type(of).__name__ in ("CategoricalDtype", "Categorical", "Enum") and hasattr(of, "categories"):
        of = of.categories
        if of is None or type(of).__name__ == "Categories":
            raise InvalidInput(f"schema, column {name!r}: the type has no categories; give it the public levels")
    elif isinstance(of, (set, frozenset)):
        of = sorted(of)
    elif isinstance(of, (str, bytes, tuple)) or not (hasattr(of, "__len__") and hasattr(of, "__iter__")):
        return None
    if getattr(of, "ndim", 1) != 1:
        raise InvalidInput(f"schema, column {name!r}: the levels must be a list or an array of one dimension")
    try:
        return {"name": name, "kind": kind, "levels": [_level(level) for level in of]}
    except InvalidInput as problem:
        raise InvalidInput(f"schema, column {name!r}: {problem}") from None


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
    if isinstance(of, tuple) and len(of) == 2:
        return {"name": name, "kind": "date" if all(map(_is_date, of)) else "real", "lower": of[0], "upper": of[1]}
    column = _categories(name, of)
    if column is not None:
        return column
    raise InvalidInput(
        f"schema, column {name!r}: give (lower, upper) for a number, range(lower, upper + 1) for an integer, "
        "['a', 'b'] for a category, bool for yes or no, or a dict with the keys of a schema file; "
        "bounds are never taken from the data"
    )


def given(schema: Any) -> dict[str, str | None]:
    """Schema for native code: path of a file, or columns as JSON. Warnings name the caller's caller."""
    if isinstance(schema, Draft):
        tables = {key: table for key, table in schema.parsed().items() if key != "draft"}
        return {"file": None, "columns": json.dumps(tables, default=plain)}
    if isinstance(schema, str) and "\n" in schema:
        raise InvalidInput("schema: a text of several lines is not a path; give scumble.Draft(text), or the path of a file")
    if isinstance(schema, (str, os.PathLike)):
        return {"file": os.fspath(schema), "columns": None}
    if isinstance(schema, Mapping):
        for name, of in schema.items():
            if isinstance(of, list) and len(of) == 2 and all(map(_is_number, of)):
                lower, upper = of
                warnings.warn(
                    f"schema, column {str(name)!r}: [{lower}, {upper}] is a category with two levels; "
                    f"write ({lower}, {upper}) for bounds, or ['{lower}', '{upper}'] for levels without this warning",
                    UserWarning,
                    stacklevel=3,
                )
        columns = [_column(str(name), of) for name, of in schema.items()]
        people = [column for column in columns if column.get("kind") == "id"]
        if len(people) > 1:
            names = " and ".join(repr(column["name"]) for column in people[:2])
            raise InvalidInput(f"schema: the columns {names} are ids of people, and a person has one id")
        saved: dict[str, Any] = {"column": [column for column in columns if column not in people]}
        for person in people:
            saved["person"] = {key: value for key, value in person.items() if key != "kind"}
        return {"file": None, "columns": json.dumps(saved, default=plain)}
    raise InvalidInput(
        "schema: give a dict of columns or the path of a schema file; bounds are never taken from the data"
    )
