"""Releases on Spark: repeated, speculative or lost tasks repeat one release, which is charged once.

>>> released, card = scumble.spark.release(df, design, ticket="/shared/ticket.json", id="person")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from ._design import Card, Design
from .engines import _read, admit, check_id, check_part, released_columns
from ._errors import InvalidInput, InvalidRecords, UnknownName
from ._typing import LedgerPath, TicketPath, Values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["collect", "release", "with_row_id"]


def with_row_id(df: DataFrame, name: str = "row_id") -> DataFrame:
    """Adds a column of ids: the path of the file and the row number in it.

    Call it on a frame that was read from files, before any filter or join. It needs a format with this metadata, such as
    Parquet.
    """
    from pyspark.sql import functions as F

    return df.withColumn(name, F.concat_ws(":", F.col("_metadata.file_path"), F.col("_metadata.row_index")))


def _wanted(df: Any, design: Design, id: str) -> tuple[Any, list[str]]:
    """Selects the ids and the design's columns under safe names, and returns their own names."""
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

    # Spark and mapInArrow read a name with a dot as a field of a struct.
    columns = [F.col("`" + name.replace("`", "``") + "`").alias(f"column_{at}") for at, name in enumerate(names)]
    return df.select(*columns), names


def release(
    df: DataFrame,
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
) -> tuple[DataFrame, Card]:
    """Releases the records of a Spark data frame by a ticket.

    One job checks all records. Then the secret is written to `ticket`, tags of the admitted records to a file beside it,
    the ledger is charged, and the frame is made, lazily. Repeated tasks give the same release.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Records.
    design : Design
        Design of a local mechanism.
    ticket : path or Ticket
        File of the ticket. Executors must be able to read it, and the file of admitted records beside it.
    id : str
        Column of unique values, without nulls; :func:`with_row_id` makes one.
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
        Keep the columns that are read in the executors' cache, so that all tasks read the same records.
        ``spark.catalog.clearCache()`` empties it.

    Returns
    -------
    tuple
        A lazy frame of the released columns alone, and the card.

    Notes
    -----
    A task fails if its records are not the admitted ones. Causes are a lost executor with its cache, or
    ``persist=False``, over a source that gives other records each time.
    """
    from pyspark import StorageLevel

    (wanted, names), text = _wanted(df, design, id), design._native.to_json()
    level = df.storageLevel
    keeps = persist and not (level.useMemory or level.useDisk)  # a frame that the caller cached stays cached
    if keeps:
        wanted = wanted.persist(StorageLevel.MEMORY_AND_DISK)

    def checked(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        own, problem = _read(text), None
        parts: list[str] = []
        try:
            parts += [check_part(own, batch.rename_columns(names), id=id, strict=strict) for batch in batches]
        except InvalidInput as error:
            problem = str(error)  # a failed task would run again, and its trace would be in logs
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


def _schema(wanted: Any, names: list[str], design: Design, values: Values, id: str | None) -> Any:
    """Types of the released columns of `wanted`, named `names`, after the ids if they are kept."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StringType, StructField, StructType

    ids = [] if id is None else [StructField(id, StringType(), False)]
    like = to_arrow_schema(wanted.schema, timezone=wanted.sparkSession.conf.get("spark.sql.session.timeZone"))
    released = released_columns(design, like.empty_table().rename_columns(names), values)
    return StructType([*ids, *from_arrow_schema(released.schema)])


def collect(reports: Any, design: Design, *, records: int | None = None, seed: int | None = None) -> Any:
    """Draws records from the reports of many people, as a pyarrow table.

    The reports are brought to the driver. It is post-processing.
    """
    return design.collect(reports.toArrow(), records=records, seed=seed)
