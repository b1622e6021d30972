"""What every engine does: check all parts, draw the ticket and charge once, then release each part as often as the engine likes."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable

from ._design import Card, Design, _how, as_ticket, tell
from ._errors import InvalidInput, InvalidRecords, UnknownName
from ._tables import take


def check_part(design: Design, part: Any, id: str, strict: bool) -> str:
    """What a part holds, as its release will be asked for it. What is wrong is said without its value, for it is said in the log of a worker."""
    return design._native.check(take(part)[0], id, strict, True)


def admit(
    design: Design, parts: Iterable[str], ticket: Any, id: str, *, strict: bool, values: str, ledger: Any, dataset: str | None
) -> Card:
    """Draws or reads the ticket for all parts together, charges the ledger once, and says what is clipped: the card of the release.

    It is counted where records are checked: what a task counts that releases them is counted again where it runs again.
    """
    how = _how(strict, values, ledger, dataset)
    card, clipped = design._native.admit(list(parts), as_ticket(ticket), id, how)
    tell(clipped, above=4)
    return Card(json.loads(card))


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
