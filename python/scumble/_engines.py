"""What every engine does: check all parts, draw the ticket and charge once, then release each part as often as the engine likes."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable

from . import _native
from ._design import Card, Design, _how, as_ticket
from ._errors import InvalidInput, InvalidRecords, UnknownName
from ._tables import take


def check_part(design: Design, part: Any, id: str, strict: bool) -> str:
    """The fingerprint of a part. What is wrong is said without its value, for it is said in the log of a worker."""
    return design._native.check(take(part)[0], id, strict, True)


def admit(
    design: Design, parts: Iterable[str], ticket: Any, id: str, *, strict: bool, values: str, ledger: Any, dataset: str | None
) -> Card:
    """Draws or reads the ticket for all parts together, and charges the ledger once: the card of the release."""
    how = _how(strict, values, ledger, dataset)
    return Card(json.loads(design._native.admit(_native.merged(list(parts)), as_ticket(ticket), id, how)))


def release_part(design: Design, part: Any, ticket: Any, id: str, *, strict: bool, values: str, hidden: bool = True) -> Any:
    """A released part, with the Arrow C interface; `hidden` as of :func:`check_part`."""
    how = _how(strict, values, None, None)
    return design._native.release_part(take(part)[0], as_ticket(ticket), id, how, hidden).table


def check_id(design: Design, columns: Iterable[str], id: str) -> None:
    """That there is a column of ids, which is not one that is released."""
    names = list(columns)
    if id in design.columns:
        raise InvalidInput(f"id: {id!r} is a column that is released, and a released value is no id")
    if id not in names:
        raise UnknownName(f"there is no column {id!r} of ids; there are {', '.join(map(repr, names[:20]))}")


def refuse_repeated(id: str, repeated: Any) -> None:
    if repeated:
        raise InvalidRecords(f"column {id!r}: {repeated} ids are those of two records or more; each record needs one of its own")


def path_of(ticket: Any) -> str:
    return os.path.abspath(os.fspath(as_ticket(ticket).path))
