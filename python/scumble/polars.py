"""A release of a lazy Polars frame, of which a query sees the released columns alone."""

from __future__ import annotations

from typing import Any

from ._design import Card, Design
from .engines import check_id

__all__ = ["scan_released"]


def scan_released(
    frame: Any,
    design: Design,
    ticket: Any,
    *,
    id: str,
    ledger: Any = None,
    dataset: str | None = None,
    strict: bool = False,
    values: str = "settled",
) -> tuple[Any, Card]:
    """The records of a lazy frame, released by `design`: a lazy frame of released columns alone, and its card.

    The frame is computed once, now: what is checked is what is released, whatever becomes of its source. A filter runs on what was released.
    A release by an expression would not do: a filter on a raw column is pushed below it, and which rows are left tells the raw value.
    """
    lazy = frame.lazy()
    check_id(design, lazy.collect_schema().names(), id)
    records = lazy.select([id, *design.columns]).collect()
    released, card = design._release(records, ticket, id, None, ledger, dataset, strict, values)
    return released.lazy(), card
