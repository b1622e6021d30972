"""Releases of Dask data frames: repeated partitions repeat one release, which is charged once."""

from __future__ import annotations

from typing import Any

from ._design import Card, Design
from ._tables import take
from ._typing import LedgerPath, TicketPath, Values
from .engines import Admission, admit, check_id, check_part, released_columns

__all__ = ["release"]


def _check(frame: Any, design: Design, id: str, strict: bool) -> Any:
    import pandas

    return pandas.Series([check_part(design, frame, id=id, strict=strict)], dtype=object)


def _with_ids(released: Any, id: str | None, ids: Any) -> Any:
    """Released frame of a partition, with the ids if they are kept."""
    if id is not None:
        released.insert(0, id, ids.astype("str").to_numpy())
    return released


def _release(frame: Any, admission: Admission, keep_id: bool) -> Any:
    arrow, back = take(frame)
    return _with_ids(back(admission.release(arrow)), admission.id if keep_id else None, frame[admission.id])


def release(
    df: Any,
    design: Design,
    ticket: TicketPath,
    *,
    id: str,
    ledger: LedgerPath | None = None,
    dataset: str | None = None,
    strict: bool = False,
    values: Values = "settled",
    keep_id: bool = False,
    persist: bool = True,
) -> tuple[Any, Card]:
    """Releases the records of a Dask data frame by a ticket.

    All records are checked first.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        Records.
    design : Design
        Design of a local mechanism.
    ticket : path or Ticket
        File of the ticket. Workers must be able to read it, and the file of admitted records beside it.
    id : str
        Column of unique values, without nulls.
    ledger : Ledger or path, optional
        Ledger that is charged once.
    dataset : str, optional
        Name of the data set in `ledger`.
    strict : bool
        Refuse numbers outside their bounds instead of clipping them.
    values : {"settled", "clamped", "drawn", "encoded"}
        Treatment of released numbers, as in ``scumble release --values``.
    keep_id : bool
        Release the ids with the records, in the clear.
    persist : bool
        Keep the columns that are read in the workers' memory, so that all tasks read the same records. They stay until
        the returned frame is gone. Without a distributed client, they stay in the memory of this process.

    Returns
    -------
    tuple
        A lazy frame of the released columns alone, and the card.
    """
    import pandas

    check_id(design, df.columns, id)
    wanted = df[[id, *[column for column in design.columns if column in df.columns]]]
    if persist:
        wanted = wanted.persist()
    parts = wanted.map_partitions(_check, design, id, strict, meta=pandas.Series([], dtype=object)).compute()
    admission = admit(
        design, parts, ticket, id=id, strict=strict, values=values, ledger=ledger, dataset=dataset, stacklevel=2
    )
    arrow, back = take(wanted._meta)
    released = back(released_columns(design, arrow, values))
    meta = _with_ids(released, id if keep_id else None, pandas.Series([], dtype="str"))
    return wanted.map_partitions(_release, admission, keep_id, meta=meta).clear_divisions(), admission.card
