"""A release on Dask: partitions that are computed again, on whichever worker, repeat one release, which is paid for once."""

from __future__ import annotations

from typing import Any

from ._design import Card, Design
from ._engines import admit, check_id, check_part, path_of, refuse_repeated, release_part

__all__ = ["release"]


def _check(frame: Any, design: Design, id: str, strict: bool) -> Any:
    import pandas

    return pandas.Series([check_part(design, frame, id, strict)], dtype=object)


def _release(frame: Any, design: Design, path: str, id: str, strict: bool, values: str, keep_id: bool) -> Any:
    import pyarrow

    released = pyarrow.table(release_part(design, frame, path, id, strict=strict, values=values)).to_pandas()
    if keep_id:
        released.insert(0, id, frame[id].astype("str").to_numpy())
    return released


def release(
    df: Any,
    design: Design,
    ticket: Any,
    *,
    id: str,
    ledger: Any = None,
    dataset: str | None = None,
    strict: bool = False,
    values: str = "settled",
    keep_id: bool = False,
) -> tuple[Any, Card]:
    """The records of a Dask data frame, released by `design`: a lazy frame of released columns alone, and its card.

    As :func:`scumble.spark.release`: `id` is a column of unique values, all records are checked first, and workers must be able to read the file
    `ticket`.
    """
    import pandas

    check_id(design, df.columns, id)
    path = path_of(ticket)
    wanted = df[[id, *[column for column in design.columns if column in df.columns]]]
    parts = wanted.map_partitions(_check, design, id, strict, meta=pandas.Series([], dtype=object)).compute()
    counts = wanted[id].astype("str").value_counts()
    refuse_repeated(id, int((counts > 1).sum().compute()))
    card = admit(design, parts, path, id, strict=strict, values=values, ledger=ledger, dataset=dataset)
    columns = {name: pandas.Series([], dtype="str" if is_text else "float64") for name, is_text in design._native.released_columns()}
    meta = pandas.DataFrame({id: pandas.Series([], dtype="str"), **columns} if keep_id else columns)
    released = wanted.map_partitions(_release, design, path, id, strict, values, keep_id, meta=meta)
    return released.clear_divisions(), card
