"""Release data under a stated privacy guarantee, so that models can still be learned from it.

>>> import scumble
>>> design = scumble.design("direct", schema={"age": (0, 100), "smokes": ["no", "yes"]}, epsilon=2.0)
>>> print(design.card)                                                              # doctest: +SKIP
>>> released = design.release(people)                                               # doctest: +SKIP
>>> scumble.compare(people, schema="people.toml", target="smokes", epsilon=[1, 4])  # doctest: +SKIP
"""

from __future__ import annotations

import json
from typing import Any

from . import _native
from ._comparison import Comparison, compare
from ._design import Card, ClippedWarning, Design, _seed, design
from ._errors import InvalidInput, InvalidRecords, NotAdmitted, Overdrawn, PrivacyWarning, UnknownName, WrongTicket
from ._ledger import Ledger
from ._model import Model
from ._native import Ticket
from ._tables import take as _take

__all__ = [
    "Card",
    "ClippedWarning",
    "Comparison",
    "Design",
    "InvalidInput",
    "InvalidRecords",
    "Ledger",
    "Model",
    "NotAdmitted",
    "Overdrawn",
    "PrivacyWarning",
    "Ticket",
    "UnknownName",
    "WrongTicket",
    "account",
    "audit",
    "compare",
    "describe",
    "design",
    "draft_schema",
    "mechanisms",
]


def mechanisms() -> list[str]:
    """The names of all mechanisms."""
    return _native.names()


def describe(name: str) -> dict[str, Any]:
    """What a mechanism does, its source, who runs it, and the JSON schemas of its parameters."""
    return json.loads(_native.describe(name))


def audit(name: str, *, quick: bool = True, seed: int | None = None) -> list[dict[str, Any]]:
    """Attacks every claim of a mechanism's example: what was found, with an audited lower bound of each."""
    return json.loads(_native.audit(name, quick, _seed(seed)))


def account(what: str, **numbers: Any) -> dict[str, Any]:
    """Privacy accounting, as ``scumble account`` does it: ``account("gaussian", epsilon=1, delta=1e-5, sensitivity=1)["sigma"]``.

    Leave out what is to be solved for.
    """
    words = [what.replace("_", "-")]
    for name, value in numbers.items():
        words += ["--" + name.replace("_", "-"), str(value)]
    return json.loads(_native.account(words))


def draft_schema(table: Any) -> str:
    """A schema drafted from records, as TOML, for review: its bounds are those of the data until somebody says what is publicly known."""
    return _native.draft(_take(table)[0])
