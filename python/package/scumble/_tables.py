"""Conversion of the caller's tables to Arrow and back: a pandas frame returns as a pandas frame."""

from __future__ import annotations

import sys
from typing import Any, Callable

from ._errors import InvalidInput, InvalidRecords

#: Makes a table of the caller's kind from a table with the Arrow C interface.
_Back = Callable[[Any], Any]

#: Engines with many tasks, by the package of the frame's class: name, module here, and call that brings all
#: records to this process.
_ENGINES = {
    "pyspark": ("Spark", "scumble.spark", "df.toArrow()"),
    "dask": ("Dask", "scumble.dask", "df.compute()"),
    "dask_expr": ("Dask", "scumble.dask", "df.compute()"),
}


def _of(package: str, table: Any) -> bool:
    return package in sys.modules and type(table).__module__.split(".")[0] == package


def _pandas_like(frame: Any, taken: Any) -> _Back:
    """Makes frames with the dtypes of `frame`: its categories, and columns of equal Arrow type."""

    def back(arrow: Any) -> Any:
        import pandas
        import pyarrow

        table = pyarrow.table(arrow)
        made = table.to_pandas()
        for name in made.columns.intersection(taken.column_names):
            dtype = frame[name].dtype
            # The Arrow type does not contain categories and their order.
            is_alike = isinstance(dtype, pandas.CategoricalDtype) or table.schema.field(name).type == taken.schema.field(name).type
            if is_alike and made[name].dtype != dtype:
                cast = made[name].astype(dtype)
                if not cast.isna().any():  # such as a level that the frame's categories lack
                    made[name] = cast
        return made

    return back


def _polars_like(frame: Any) -> _Back:
    """Makes frames with the categories of `frame`."""

    def back(arrow: Any) -> Any:
        import polars

        made = polars.DataFrame(arrow)
        of_levels = {
            name: dtype
            for name, dtype in frame.schema.items()
            if made.schema.get(name) not in (None, dtype) and dtype.base_type() in (polars.Categorical, polars.Enum)
        }
        return made.cast(of_levels)

    return back


def _series_like(back: _Back) -> _Back:
    """Makes a series of a table with one column; a table of several columns stays a frame."""

    def series(arrow: Any) -> Any:
        made = back(arrow)
        return made[made.columns[0]] if len(made.columns) == 1 else made

    return series


def _pyarrow(arrow: Any) -> Any:
    import pyarrow

    return pyarrow.table(arrow)


def _plain(arrow: Any) -> Any:
    """Pyarrow table, or without pyarrow the object of native code."""
    try:
        return _pyarrow(arrow)
    except ImportError:
        return arrow


def _unsupported(column: str, kind: Any) -> InvalidRecords:
    return InvalidRecords(
        f'the table: column "{column}" holds values of the type {kind}, which are not supported; '
        "use numbers, text, booleans or dates"
    )


def _arrow(frame: Any) -> Any:
    """Arrow table of a pandas frame without its index, which may identify records."""
    import pyarrow

    try:
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    except pyarrow.ArrowException:
        for name, column in frame.items():
            try:
                pyarrow.array(column, from_pandas=True)
            except pyarrow.ArrowException:
                # Arrow's own message has the value, which must not be in a worker's log.
                kind = str(column.dtype)
                if kind == "object":
                    import pandas

                    kind = f"object ({pandas.api.types.infer_dtype(column, skipna=True)})"
                raise _unsupported(str(name), kind) from None
        raise


def _polars_frame(frame: Any) -> Any:
    """Frame in types that native code reads: a column without values is one of missing cells."""
    import polars

    for name, dtype in frame.schema.items():
        if str(dtype) in ("Int128", "UInt128", "Object"):
            raise _unsupported(name, dtype)
    return frame.cast({name: polars.String for name, dtype in frame.schema.items() if dtype == polars.Null})


def _is_aligned(chunk: Any) -> bool:
    buffers = chunk.buffers()
    if hasattr(chunk, "dictionary"):
        buffers = buffers + chunk.dictionary.buffers()
    return all(buffer is None or buffer.address % 8 == 0 for buffer in buffers)


def _moved(chunk: Any) -> Any:
    """Copy of the values in aligned memory."""
    import pyarrow
    import pyarrow.compute

    if hasattr(chunk, "dictionary"):
        chunk = chunk.dictionary_decode()
    return pyarrow.compute.take(chunk, pyarrow.array(range(len(chunk)), pyarrow.int64()))


def aligned(table: Any) -> Any:
    """Pyarrow table whose buffers are aligned for native code.

    Dask passes frames as bytes within other bytes. Arrow allows this, but native code cannot read numbers from unaligned
    addresses.
    """
    import pyarrow

    table = pyarrow.table(table)
    for at, column in enumerate(table.columns):
        if not all(map(_is_aligned, column.chunks)):
            chunks = [chunk if _is_aligned(chunk) else _moved(chunk) for chunk in column.chunks]
            if len({chunk.type for chunk in chunks}) > 1:
                chunks = [chunk.dictionary_decode() if hasattr(chunk, "dictionary") else chunk for chunk in chunks]
            table = table.set_column(at, table.field(at).name, pyarrow.chunked_array(chunks))
    return table


def _no_table(value: Any) -> InvalidInput:
    kind = type(value).__name__
    return InvalidInput(
        f"{kind} is not a table; give a table of pandas, Polars or pyarrow, or any object with __arrow_c_stream__"
    )


def take(table: Any) -> tuple[Any, _Back]:
    """Converts a table for native code.

    Returns
    -------
    tuple
        The table for native code, and a function that makes a table of the caller's kind from an Arrow table.
    """
    if _of("pandas", table):
        try:
            import pyarrow
        except ImportError:
            raise InvalidInput("pandas frames need pyarrow: pip install pyarrow") from None
        if hasattr(table, "to_frame") and hasattr(table, "index"):
            if table.name is None:
                raise InvalidInput("the Series has no name; give it the name of its column: series.rename(...)")
            taken, back = take(table.to_frame())
            return taken, _series_like(back)
        if not hasattr(table, "columns"):
            raise _no_table(table)
        repeated = table.columns[table.columns.duplicated()]
        if len(repeated):
            raise InvalidInput(f"the table: the column {str(repeated[0])!r} occurs twice")
        taken = aligned(_arrow(table))
        return taken, _pandas_like(table, taken)
    if _of("polars", table):
        if hasattr(table, "to_frame"):
            taken, back = take(table.to_frame())
            return taken, _series_like(back)
        if not hasattr(table, "lazy"):
            raise _no_table(table)
        frame = table.collect() if hasattr(table, "collect") else table
        return _polars_frame(frame), _polars_like(frame)
    if _of("pyarrow", table):
        if hasattr(table, "to_table"):  # a data set or a scanner
            table = table.to_table()
        if not hasattr(table, "schema"):
            raise _no_table(table)
        return (table if hasattr(table, "read_all") else aligned(table)), _pyarrow
    for package, (engine, module, collect) in _ENGINES.items():
        if _of(package, table):
            raise InvalidInput(
                f"the table is a frame of {engine}: release it by {module}.release(df, design, ticket, id=...); "
                f"for any other call, collect its records first by {collect}"
            )
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return table, _plain
    raise _no_table(table)
