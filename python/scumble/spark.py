"""A release on Spark: tasks that run again, speculate or are lost repeat one release, which is paid for once.

>>> released, card = scumble.spark.release(df, design, ticket="/shared/ticket.json", id="person")  # doctest: +SKIP
"""

from __future__ import annotations

from functools import cache
from typing import Any, Iterator

from . import _native
from ._design import Card, Design
from ._engines import admit, check_id, check_part, path_of, refuse_repeated, release_part
from ._errors import InvalidInput, InvalidRecords, UnknownName

__all__ = ["collect", "release", "with_row_id"]


@cache
def _design(text: str) -> Design:
    """A saved design, read once in a process. (A ticket is read by each task: what Spark pickles, plans and logs holds its path alone.)"""
    return Design(_native.Design.from_json(text))


def with_row_id(df: Any, name: str = "row_id") -> Any:
    """`df`, read from files, with a column of ids: the path of its file and the number of the row in it.

    It is for formats that say so (Parquet), and is to be called on what was read, before any filter or join.
    """
    from pyspark.sql import functions as F

    return df.withColumn(name, F.concat_ws(":", F.col("_metadata.file_path"), F.col("_metadata.row_index")))


def _wanted(df: Any, design: Design, id: str) -> Any:
    names = df.columns
    repeated = sorted({name for name in names if names.count(name) > 1 and name in [*design.columns, id]})
    if repeated:
        raise InvalidInput(f"the table: the column {repeated[0]!r} occurs twice")
    check_id(design, names, id)
    for column in design.columns:
        if column not in names:
            raise UnknownName(f"the table: there is no column {column!r}")
    return df.select(id, *design.columns)


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
    """The records of `df`, released by `design`: a data frame of released columns alone, and its card.

    `id` is a column of unique values, none of them null (:func:`with_row_id` makes one). First all records are checked, in a job of its own; then
    the secret is drawn into the file `ticket`, which executors must be able to read (a shared file system, a mounted secret), and `ledger` is
    charged once for it; then the frame is made, lazily. Run again, in whole or in part, it is the same release. `keep_id` has the ids released
    with their records, in the clear.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    wanted, path, text = _wanted(df, design, id), path_of(ticket), design._native.to_json()

    def checked(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        own, problem = _design(text), None
        parts: list[str] = []
        try:
            parts += [check_part(own, batch, id, strict) for batch in batches]
        except InvalidInput as error:
            problem = str(error)  # a task that fails would be tried again, and its trace written to logs
        yield pa.RecordBatch.from_pydict(
            {"part": pa.array([*parts, None], pa.string()), "problem": pa.array([None] * len(parts) + [problem], pa.string())}
        )

    found = wanted.mapInArrow(checked, "part string, problem string").collect()
    for problem in [row["problem"] for row in found if row["problem"]]:
        raise InvalidRecords(problem)
    parts = [row["part"] for row in found if row["part"]]
    repeated = wanted.groupBy(F.col(f"`{id}`").cast("string")).count().where("count > 1").limit(1000).count()
    refuse_repeated(id, repeated)
    card = admit(design, parts, path, id, strict=strict, values=values, ledger=ledger, dataset=dataset)

    def released(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        own = _design(text)
        for batch in batches:
            table = pa.table(release_part(own, batch, path, id, strict=strict, values=values))
            if keep_id:
                table = table.add_column(0, id, batch.column(id).cast(pa.string()))
            yield from table.combine_chunks().to_batches()

    fields = [StructField(id, StringType(), False)] if keep_id else []
    fields += [
        StructField(name, StringType() if is_text else DoubleType(), False)
        for name, is_text in design._native.released_columns()
    ]
    return wanted.mapInArrow(released, StructType(fields)), card


def collect(reports: Any, design: Design, *, records: int | None = None, seed: int | None = None) -> Any:
    """Records drawn from the reports of many people, as a pyarrow table: the reports are brought to the driver. It is post-processing."""
    return design.collect(reports.toArrow(), records=records, seed=seed)
