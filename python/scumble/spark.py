"""A release on Spark: tasks that run again, speculate or are lost repeat one release, which is paid for once.

>>> released, card = scumble.spark.release(df, design, ticket="/shared/ticket.json", id="person")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Iterator

from ._design import Card, Design
from .engines import _read, admit, check_id, check_part, released_columns
from ._errors import InvalidInput, InvalidRecords, UnknownName

__all__ = ["collect", "release", "with_row_id"]


def with_row_id(df: Any, name: str = "row_id") -> Any:
    """`df`, read from files, with a column of ids: the path of its file and the number of the row in it.

    It is for formats that say so (Parquet), and is to be called on what was read, before any filter or join.
    """
    from pyspark.sql import functions as F

    return df.withColumn(name, F.concat_ws(":", F.col("_metadata.file_path"), F.col("_metadata.row_index")))


def _wanted(df: Any, design: Design, id: str) -> tuple[Any, list[str]]:
    """The ids and the design's columns, under names that Spark reads as they are, and their names."""
    present = df.columns
    names = list(dict.fromkeys([id, *design.columns]))
    repeated = sorted({name for name in names if present.count(name) > 1})
    if repeated:
        raise InvalidInput(f"the table: the column {repeated[0]!r} occurs twice")
    check_id(design, present, id)
    for column in design.columns:
        if column not in present:
            raise UnknownName(f"the table: there is no column {column!r}")
    from pyspark.sql import functions as F

    # A name with a dot would be read as that of a field in a struct, here and by mapInArrow.
    columns = [F.col("`" + name.replace("`", "``") + "`").alias(f"column_{at}") for at, name in enumerate(names)]
    return df.select(*columns), names


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
    """The records of `df`, released by `design`: a data frame of released columns alone, and its card.

    `id` is a column of unique values, none of them null (:func:`with_row_id` makes one). First all records are checked, in a job of its own; then
    the secret is drawn into the file `ticket`, and tags of the records that it admits into a file beside it, both of which executors must be able to
    read (a shared file system, a mounted secret); `ledger` is charged once; then the frame is made, lazily. Run again, in whole or in part, it is the
    same release. `keep_id` has the ids released with their records, in the clear.

    `persist` keeps the columns that are read in the executors' cache, so that the check and all that follows see one evaluation, also of a frame
    that would be another one each time. ``spark.catalog.clearCache()`` empties the cache. A task whose records are not those that were admitted
    fails: after an executor and its cache were lost, or with ``persist=False``, over a source that gives other records each time.
    """
    from pyspark import StorageLevel

    (wanted, names), text = _wanted(df, design, id), design._native.to_json()
    level = df.storageLevel
    keeps = persist and not (level.useMemory or level.useDisk)  # what somebody else has cached stays theirs
    if keeps:
        wanted = wanted.persist(StorageLevel.MEMORY_AND_DISK)

    def checked(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        own, problem = _read(text), None
        parts: list[str] = []
        try:
            parts += [check_part(own, batch.rename_columns(names), id=id, strict=strict) for batch in batches]
        except InvalidInput as error:
            problem = str(error)  # a task that fails would be tried again, and its trace written to logs
        yield pa.RecordBatch.from_pydict(
            {"part": pa.array([*parts, None], pa.string()), "problem": pa.array([None] * len(parts) + [problem], pa.string())}
        )

    try:
        found = wanted.mapInArrow(checked, "part string, problem string").collect()
        for problem in [row["problem"] for row in found if row["problem"]]:
            raise InvalidRecords(problem)
        parts = [row["part"] for row in found if row["part"]]
        admission = admit(
            design, parts, ticket, id=id, strict=strict, values=values, ledger=ledger, dataset=dataset, stacklevel=2
        )
    except BaseException:
        if keeps:
            wanted.unpersist()
        raise

    def released(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            table = pa.table(admission.release(batch.rename_columns(names)))
            if keep_id:
                table = table.add_column(0, id, batch.column(0).cast(pa.string()))
            yield from table.combine_chunks().to_batches()

    return wanted.mapInArrow(released, _schema(wanted, names, design, values, id if keep_id else None)), admission.card


def _schema(wanted: Any, names: list[str], design: Design, values: str, id: str | None) -> Any:
    """The types of the released columns of `wanted`, which stand for these names, after the ids where they are kept."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StringType, StructField, StructType

    ids = [] if id is None else [StructField(id, StringType(), False)]
    like = to_arrow_schema(wanted.schema, timezone=wanted.sparkSession.conf.get("spark.sql.session.timeZone"))
    released = released_columns(design, like.empty_table().rename_columns(names), values)
    return StructType([*ids, *from_arrow_schema(released.schema)])


def collect(reports: Any, design: Design, *, records: int | None = None, seed: int | None = None) -> Any:
    """Records drawn from the reports of many people, as a pyarrow table: the reports are brought to the driver. It is post-processing."""
    return design.collect(reports.toArrow(), records=records, seed=seed)
