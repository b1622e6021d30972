"""Estimates with their intervals."""

from __future__ import annotations

from typing import Any, Iterable

from ._html import table


#: Order of the fields of an estimate.
_ORDER = ("column", "group", "of", "value", "standard_error", "lower", "upper", "unit")


class Estimates(list[dict[str, Any]]):
    """Estimates: a dict for each, with ``column``, ``of``, ``value``, ``standard_error``, ``lower``, ``upper`` and ``unit``.

    Attributes
    ----------
    confidence : float
        Probability that an interval covers the true value.
    records : int, optional
        Number of released records.
    problems : list of str
        Sentences about columns that cannot be estimated.
    """

    def __init__(
        self,
        estimates: Iterable[dict[str, Any]],
        confidence: float = 0.95,
        records: int | None = None,
        problems: Iterable[str] = (),
    ) -> None:
        super().__init__({name: estimate[name] for name in _ORDER if name in estimate} for estimate in estimates)
        self.confidence, self.records, self.problems = confidence, records, list(problems)

    def to_frame(self) -> Any:
        """Estimates as a pandas frame."""
        import pandas

        return pandas.DataFrame(list(self))

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        names = list(dict.fromkeys(name for estimate in self for name in estimate))

        def cell(value: Any) -> str:
            return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)

        return names, [[cell(estimate.get(name)) for name in names] for estimate in self]

    def __str__(self) -> str:
        names, rows = self._cells()
        widths = [max(map(len, column)) for column in zip(names, *rows)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [names, *rows])

    def _repr_html_(self) -> str:
        return table(*self._cells())
