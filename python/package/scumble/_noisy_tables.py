"""Noisy tables of a curator's release, and estimates from them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Sequence

from . import _native
from ._estimates import Estimates


class Tables:
    """Noisy tables of counts, with the standard deviation of their noise.

    A release by the mechanism ``tables`` returns them. The card of a release of synthetic rows has the tables from which
    the rows were drawn (:attr:`Card.tables`). :meth:`read` reads a file of ``scumble release --tables``.
    """

    def __init__(self, text: str) -> None:
        _native.check_tables(text)
        self._text = text

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Tables:
        """Reads a file that ``scumble release`` or :meth:`save` wrote."""
        return cls(Path(path).read_text(encoding="utf-8"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tables for ``scumble estimate --tables``."""
        Path(path).write_text(self._text, encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Tables with their columns, levels, counts and deviations."""
        return json.loads(self._text)

    def estimate(
        self,
        column: str | Sequence[str] | None = None,
        *,
        by: str | None = None,
        against: str | None = None,
        quantile: float | Sequence[float] = (),
        counts: bool = False,
        confidence: float = 0.95,
        population: bool = False,
        evenly: bool = False,
    ) -> Estimates:
        """Estimates shares, means and quantiles, each with an interval that counts the noise.

        Parameters
        ----------
        column : str or list of str, optional
            Columns to estimate, by default all.
        by : str, optional
            Column whose levels are groups of people.
        against : str, optional
            Level of `by` with which the other groups are compared.
        quantile : float or list of float
            Orders of quantiles, by default the median.
        counts : bool
            Numbers of people in place of shares and means.
        confidence : float
            Probability that an interval covers the true value.
        population : bool
            Estimates of the population from which the people were sampled at random.
        evenly : bool
            Numbers are assumed to be spread evenly within each level.

        Returns
        -------
        Estimates
            List with a dict for each estimate, with ``group`` if there are groups.
        """
        columns = [column] if isinstance(column, str) else list(column or [])
        orders = [float(quantile)] if isinstance(quantile, (int, float)) else [float(order) for order in quantile]
        made = _native.estimate_tables(
            self._text, columns, by, against, orders, counts, float(confidence), population, evenly
        )
        return Estimates(json.loads(made), float(confidence))

    def __repr__(self) -> str:
        return f"<scumble.Tables of {len(self.to_dict()['tables'])} tables>"
