"""Releases of lazy Polars frames: a query has access to the released columns alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._design import Card, Design
from ._typing import LedgerPath, TicketPath, Values
from .engines import check_id

if TYPE_CHECKING:
    from polars import DataFrame, LazyFrame

__all__ = ["scan_released"]


def scan_released(
    frame: DataFrame | LazyFrame,
    design: Design,
    ticket: TicketPath,
    *,
    id: str,
    ledger: LedgerPath | None = None,
    dataset: str | None = None,
    strict: bool = False,
    values: Values = "settled",
) -> tuple[LazyFrame, Card]:
    """Releases the records of a lazy frame by a ticket.

    The frame is computed once, at the call, so that the checked records are the released ones. Later filters run on
    released values. An expression cannot do this: an optimiser pushes a filter on a raw column below it, and the remaining
    rows disclose the raw value.

    Parameters
    ----------
    frame : polars.LazyFrame or polars.DataFrame
        Records.
    design : Design
        Design of a local mechanism.
    ticket : path or Ticket
        File of the ticket.
    id : str
        Column of unique values.
    ledger, dataset, strict, values
        As in :meth:`scumble.Design.release`.

    Returns
    -------
    tuple
        A lazy frame of the released columns alone, and the card.
    """
    lazy = frame.lazy()
    check_id(design, lazy.collect_schema().names(), id)
    records = lazy.select([id, *design.columns]).collect()
    released, card = design._release(records, ticket, id, None, ledger, dataset, strict, values)
    return released.lazy(), card
