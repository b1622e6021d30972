"""Tables as people have them, and back: what comes in as a pandas frame goes out as one."""

from __future__ import annotations

import sys
from typing import Any, Callable

from ._errors import InvalidInput

#: Frames to something with the Arrow C interface, and such back to frames, by the package that a frame's class is of.
_Back = Callable[[Any], Any]


def _of(package: str, table: Any) -> bool:
    return package in sys.modules and type(table).__module__.split(".")[0] == package


def _pandas(arrow: Any) -> Any:
    import pyarrow

    return pyarrow.table(arrow).to_pandas()


def _polars(arrow: Any) -> Any:
    import polars

    return polars.DataFrame(arrow)


def _pyarrow(arrow: Any) -> Any:
    import pyarrow

    return pyarrow.table(arrow)


def take(table: Any) -> tuple[Any, _Back]:
    """What native code reads of `table`, and what makes a table of the same kind of what it gives."""
    if _of("pandas", table):
        try:
            import pyarrow
        except ImportError:
            raise InvalidInput("pandas frames are read by pyarrow: pip install pyarrow") from None
        repeated = table.columns[table.columns.duplicated()]
        if len(repeated):
            raise InvalidInput(f"the table: the column {str(repeated[0])!r} occurs twice")
        # The index is no column, and no index comes back: it may be of the records.
        return pyarrow.Table.from_pandas(table, preserve_index=False), _pandas
    if _of("polars", table):
        return (table.collect() if hasattr(table, "collect") else table), _polars
    if _of("pyarrow", table):
        return table, _pyarrow
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return table, lambda arrow: arrow
    kind = type(table).__name__
    raise InvalidInput(f"a table is needed (pandas, Polars, pyarrow, or whatever has __arrow_c_stream__), and not {kind}")
