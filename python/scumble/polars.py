"""A release of a lazy Polars frame, of which a query sees the released columns alone."""

from __future__ import annotations

from typing import Any, Iterator

from ._design import Card, Design
from ._engines import admit, release_part

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

    A release by an expression would not do: a filter on a raw column is pushed below it, and which rows are left tells the raw value. Here a
    filter runs on what was released, whatever a query asks.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    wanted = frame.lazy().select([id, *design.columns])
    checked = design._native.check(wanted.collect(), id, strict, False)
    card = admit(design, [checked], ticket, id, strict=strict, values=values, ledger=ledger, dataset=dataset)
    schema = {name: pl.String if is_text else pl.Float64 for name, is_text in design._native.released_columns()}

    def source(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        for batch in wanted.collect_batches(maintain_order=True) if hasattr(wanted, "collect_batches") else [wanted.collect()]:
            released = pl.DataFrame(release_part(design, batch, ticket, id, strict=strict, values=values, hidden=False))
            if n_rows is not None:
                released = released.head(n_rows)
                n_rows -= len(released)
            if predicate is not None:
                released = released.filter(predicate)
            yield released if with_columns is None else released.select(with_columns)
            if n_rows == 0:
                return

    return register_io_source(source, schema=schema), card
