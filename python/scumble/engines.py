"""A release of a table in parts, for any engine: chunks of a file, tasks of Ray or Beam, partitions of a frame.

All parts are checked first, then admitted together and paid for once, and then each part is released as often as the engine likes. A part whose
records are not those that were admitted is refused: compute the table once (a snapshot, files), or from a source that gives the same each time.

>>> parts = [scumble.engines.check_part(design, chunk, id="person") for chunk in chunks()]               # doctest: +SKIP
>>> admission = scumble.engines.admit(design, parts, "ticket.json", id="person", ledger=ledger, dataset="survey")  # doctest: +SKIP
>>> released = [admission.release(chunk) for chunk in chunks()]                                          # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Iterable

from . import _native
from ._design import Card, Design, _how, as_ticket, tell
from ._errors import InvalidInput, UnknownName
from ._tables import take

__all__ = ["Admission", "admit", "check_part"]


def check_part(design: Design, part: Any, *, id: str, strict: bool = False) -> str:
    """Checks a part of a table, which may be empty: a text for :func:`admit`, of some 43 bytes a record.

    What is wrong is said without its value, for it is said in the log of a worker. The text has digests of the records: it is for their owner alone.
    """
    return design._native.check(take(part)[0], id, strict, True)


@dataclass(frozen=True)
class Admission:
    """Records that are admitted and paid for, and how they are released.

    It can be pickled into tasks: it holds the path and the name of the ticket, and neither its secret nor records.
    """

    #: The card of the release.
    card: Card
    #: The absolute path of the ticket, which tasks must be able to read, with the file of admitted records beside it.
    ticket: str
    #: The column of ids.
    id: str
    strict: bool
    values: str
    _design: str = field(repr=False)

    def release(self, part: Any) -> Any:
        """A part of the table, released: something with the Arrow C interface, for ``pyarrow.table`` or ``polars.DataFrame``.

        Raises :class:`scumble.NotAdmitted` where a record of the part was not admitted, or another ticket lies in the file by now.
        """
        design = _read(self._design)
        return release_part(design, part, self.ticket, self.card["ticket"], self.id, strict=self.strict, values=self.values)


@cache
def _read(text: str) -> Design:
    """A saved design, read once in a process."""
    return Design(_native.Design.from_json(text))


def admit(
    design: Design,
    parts: Iterable[str],
    ticket: Any,
    *,
    id: str,
    strict: bool = False,
    values: str = "settled",
    ledger: Any = None,
    dataset: str | None = None,
    stacklevel: int = 1,
) -> Admission:
    """Draws or reads the ticket for all parts together, keeps beside it which records it admits, and charges `ledger` once.

    It refuses an id that two records have, in whichever parts. It warns of what is clipped, once for each record, where a task that runs again
    would count it again; `stacklevel` says in whose name, as that of ``warnings.warn``.
    """
    how = _how(strict, values, ledger, dataset)
    card, clipped = design._native.admit(list(parts), as_ticket(ticket), id, how)
    tell(clipped, above=stacklevel + 2)
    return Admission(Card(json.loads(card)), path_of(ticket), id, strict, values, design._native.to_json())


def release_part(
    design: Design, part: Any, ticket: Any, name: str | None, id: str, *, strict: bool, values: str, hidden: bool = True
) -> Any:
    """A released part, with the Arrow C interface. `name` is the ticket's, if it is known; `hidden` keeps values out of errors."""
    how = _how(strict, values, None, None)
    return design._native.release_part(take(part)[0], as_ticket(ticket), name, id, how, hidden).table


def released_columns(design: Design, like: Any = None, values: str = "settled") -> Any:
    """A release of no records, as a pyarrow table: the columns and types of the release of tables `like` this one, as engines declare them."""
    import pyarrow

    return pyarrow.table(design._native.released_columns(like, values))


def check_id(design: Design, columns: Iterable[str], id: str) -> None:
    """Checks that there is a column of ids, which is not one that is released."""
    names = list(columns)
    if id in design.columns:
        raise InvalidInput(f"id: {id!r} is a column that is released, and a released value is no id")
    if id not in names:
        raise UnknownName(f"there is no column {id!r} of ids; there are {', '.join(map(repr, names[:20]))}")


def path_of(ticket: Any) -> str:
    """The absolute path of a ticket's file."""
    return os.path.abspath(os.fspath(as_ticket(ticket).path))
