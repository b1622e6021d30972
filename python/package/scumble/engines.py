"""Releases of tables in parts, for any engine: chunks of a file, tasks of Ray or Beam, partitions of a frame.

All parts are checked, then admitted together and paid for once. Each part can then be released any number of times. A
part with records that were not admitted is refused. Take the parts from one evaluation of the table, or from a source
that gives the same records each time.

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
from ._typing import LedgerPath, TicketPath, Values

__all__ = ["Admission", "admit", "check_part"]


def check_part(design: Design, part: Any, *, id: str, strict: bool = False) -> str:
    """Checks a part of a table.

    Errors do not contain values, because they are in the log of a worker.

    Parameters
    ----------
    design : Design
        Design of a local mechanism.
    part : table
        Part of the records; it may be empty.
    id : str
        Column of unique values.
    strict : bool
        Refuse numbers outside their bounds.

    Returns
    -------
    str
        Text for :func:`admit`, some 43 bytes a record. It has digests of the records, and is for their owner alone.
    """
    return design._native.check(take(part)[0], id, strict, True)


@dataclass(frozen=True)
class Admission:
    """Admitted and paid records, with the options of their release.

    It can be pickled into tasks. It holds the path and the name of the ticket, but neither its secret nor records.
    """

    #: Card of the release.
    card: Card
    #: Absolute path of the ticket. Tasks must be able to read it, and the file of admitted records beside it.
    ticket: str
    #: Column of ids.
    id: str
    strict: bool
    values: Values
    _design: str = field(repr=False)

    def release(self, part: Any) -> Any:
        """Releases a part of the table.

        Returns
        -------
        object
            Released part with the Arrow C interface, for ``pyarrow.table`` or ``polars.DataFrame``.

        Raises
        ------
        NotAdmitted
            If a record of the part was not admitted, or the file has another ticket.
        """
        design = _read(self._design)
        return release_part(design, part, self.ticket, self.card["ticket"], self.id, strict=self.strict, values=self.values)


@cache
def _read(text: str) -> Design:
    """Reads a saved design, once in each process."""
    return Design(_native.Design.from_json(text))


def admit(
    design: Design,
    parts: Iterable[str],
    ticket: TicketPath,
    *,
    id: str,
    strict: bool = False,
    values: Values = "settled",
    ledger: LedgerPath | None = None,
    dataset: str | None = None,
    stacklevel: int = 1,
) -> Admission:
    """Admits all parts together: draws or reads the ticket, and charges the ledger once.

    A file beside the ticket keeps the admitted records. An id that occurs twice is refused, in any parts. Clipped numbers
    are reported once for each record.

    Parameters
    ----------
    design : Design
        Design of a local mechanism.
    parts : iterable of str
        Results of :func:`check_part`.
    ticket : path or Ticket
        File of the ticket.
    id : str
        Column of unique values.
    strict, values, ledger, dataset
        As in :meth:`scumble.Design.release`.
    stacklevel : int
        Frame that the warning names, as in ``warnings.warn``.

    Returns
    -------
    Admission
        It releases the parts.
    """
    how = _how(strict, values, ledger, dataset)
    card, clipped = design._native.admit(list(parts), as_ticket(ticket), id, how)
    tell(clipped, above=stacklevel + 2)
    return Admission(Card(json.loads(card)), path_of(ticket), id, strict, values, design._native.to_json())


def release_part(
    design: Design, part: Any, ticket: TicketPath, name: str | None, id: str, *, strict: bool, values: Values, hidden: bool = True
) -> Any:
    """Releases a part, as an object with the Arrow C interface.

    `name` is the ticket's name, if it is known. `hidden` keeps values out of errors.
    """
    how = _how(strict, values, None, None)
    return design._native.release_part(take(part)[0], as_ticket(ticket), name, id, how, hidden).table


def released_columns(design: Design, like: Any = None, values: Values = "settled") -> Any:
    """Release of no records, as a pyarrow table.

    It has the columns and types of the release of tables such as `like`, as engines declare them.
    """
    import pyarrow

    return pyarrow.table(design._native.released_columns(like, values))


def check_id(design: Design, columns: Iterable[str], id: str) -> None:
    """Checks that `id` is a column of the table, and not a released column."""
    names = list(columns)
    if id in design.columns:
        raise InvalidInput(f"id: the column {id!r} is released, so it cannot hold ids")
    if id not in names:
        raise UnknownName(f"id: there is no column {id!r}; the columns are {', '.join(map(repr, names[:20]))}")


def path_of(ticket: Any) -> str:
    """Absolute path of a ticket's file."""
    return os.path.abspath(os.fspath(as_ticket(ticket).path))
