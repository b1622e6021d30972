"""Ledgers: spent budgets of data sets, in a file that the command and Python share."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _native
from ._errors import InvalidInput


class Ledger:
    """Ledger in a file: privacy budgets of data sets, and every charge.

    Parameters
    ----------
    path : path
        File of the ledger.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._native = _native.Ledger(os.fspath(path))
        self._group: tuple[str, str] | None = None

    def group(self, by: str, name: object) -> Ledger:
        """Ledger for releases of one group of people, if they are divided into disjoint groups.

        Releases of disjoint groups compose in parallel: of all groups, only the one with the largest sum of charges
        counts. Which group a person belongs to must be public, and must not depend on protected values.

        Parameters
        ----------
        by : str
            Name of the division, such as ``"batch"``.
        name : object
            Name or number of the group.

        Examples
        --------
        >>> design.release(batch, ledger=ledger.group("batch", 17), dataset="survey")  # doctest: +SKIP
        """
        ledger = Ledger(self.path)
        ledger._group = (by, str(name))
        return ledger

    @property
    def path(self) -> str:
        """Path of the file."""
        return os.fspath(self._native.path)

    def open(
        self,
        dataset: str,
        *,
        epsilon: float,
        delta: float = 0.0,
        unit: str = "record",
        target: str | None = None,
        exist_ok: bool = True,
    ) -> None:
        """Opens an account, which limits the total spent on a data set.

        An account with the same numbers stays unchanged, so that a job can run again. Other numbers are refused.

        Parameters
        ----------
        dataset : str
            Name of the data set.
        epsilon, delta : float
            Totals, as the decimals that Python shows.
        unit : str
            Protected unit, as in ``scumble ledger init --unit``.
        target : str, optional
            Name of the label, if `unit` is a label.
        exist_ok : bool
            If false, every existing account is refused.
        """
        self._opened(self._native.open(dataset, float(epsilon), float(delta), unit, target), dataset, exist_ok)

    def open_in_nats(self, dataset: str, *, nats: float, exist_ok: bool = True) -> None:
        """Opens an account in nats of mutual information.

        It is for releases that hide which records were used (``pac-statistics``).

        Parameters
        ----------
        dataset : str
            Name of the data set.
        nats : float
            Total in nats.
        exist_ok : bool
            If false, every existing account is refused.
        """
        self._opened(self._native.open_in_nats(dataset, float(nats)), dataset, exist_ok)

    def _opened(self, is_new: bool, dataset: str, exist_ok: bool) -> None:
        if not (is_new or exist_ok):
            raise InvalidInput(
                f"the ledger {self.path}: {dataset!r} has this account already; pass exist_ok=True to accept it"
            )

    @property
    def information(self) -> list[dict[str, Any]]:
        """All accounts in nats, each with its charges, spent and left."""
        return json.loads(self._native.information())

    @property
    def accounts(self) -> list[dict[str, Any]]:
        """All accounts in ε and δ, each with its charges, spent and left."""
        return json.loads(self._native.accounts())

    def __repr__(self) -> str:
        return f"scumble.Ledger({self.path!r})"
