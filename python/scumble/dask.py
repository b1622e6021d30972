"""A release on Dask: partitions that are computed again, on whichever worker, repeat one release, which is paid for once."""

from __future__ import annotations

from typing import Any

from ._design import Card, Design
from ._tables import take
from .engines import Admission, admit, check_id, check_part, released_columns

__all__ = ["release"]


def _check(frame: Any, design: Design, id: str, strict: bool) -> Any:
    import pandas

    return pandas.Series([check_part(design, frame, id=id, strict=strict)], dtype=object)


def _with_ids(released: Any, id: str | None, ids: Any) -> Any:
    """The released frame of a partition, with the ids where they are kept."""
    if id is not None:
        released.insert(0, id, ids.astype("str").to_numpy())
    return released


def _release(frame: Any, admission: Admission, keep_id: bool) -> Any:
    arrow, back = take(frame)
    return _with_ids(back(admission.release(arrow)), admission.id if keep_id else None, frame[admission.id])


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
    persist: bool = True,
) -> tuple[Any, Card]:
    """The records of a Dask data frame, released by `design`: a lazy frame of released columns alone, and its card.

    `id` is a column of unique values, all records are checked first, and workers must be able to read the file `ticket` and the file of admitted
    records beside it. `persist` and `keep_id` are as of :func:`scumble.spark.release`: the columns that are read lie in the workers' memory until
    the frame that is returned is gone; without a distributed client, in that of this process.
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
