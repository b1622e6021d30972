"""Ledgers: spent budgets of data sets, in a file that the command and Python share."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _native
from ._errors import InvalidInput, UnknownName
from ._html import table


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

    def charge(
        self,
        dataset: str,
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        nats: float | None = None,
        what: str = "by hand",
        unit: str = "record",
        target: str | None = None,
    ) -> None:
        """Charges a release made by other means, as ``scumble ledger charge`` does.

        Parameters
        ----------
        dataset : str
            Name of the data set.
        epsilon, delta : float
            Cost of the release, or `nats` for an account in nats.
        nats : float, optional
            Cost in nats of mutual information.
        what : str
            Purpose of the charge.
        unit : str
            Protected unit: ``"record"``, ``"features"``, ``"label"`` or ``"volunteer"``.
        target : str, optional
            Name of the label, if `unit` is a label.

        Raises
        ------
        Overdrawn
            If the account has too little left. Nothing is charged then.
        """
        if (epsilon is None) == (nats is None):
            raise InvalidInput("give epsilon or nats")
        if epsilon is not None:
            self._native.charge(dataset, float(epsilon), float(delta), what, unit, target, self._group)
        elif nats is not None:
            self._native.charge_in_nats(dataset, float(nats), what)

    def left(self, dataset: str) -> dict[str, float]:
        """Remaining ``epsilon`` and ``delta`` of a data set's account, or ``nats``; the least of several accounts."""
        left = [account["left"] for account in self.accounts if account["dataset"] == dataset and account["unit"] != "volunteer"]
        nats = [float(account["left"]) for account in self.information if account["dataset"] == dataset]
        if left:
            return {part: min(float(of[part]) for of in left) for part in ("epsilon", "delta")}
        if nats:
            return {"nats": nats[0]}
        raise UnknownName(f"the ledger {self.path} has no account of {dataset!r}")

    def _charges(self) -> tuple[list[str], list[list[Any]]]:
        names = ["dataset", "unit", "when", "what", "group", "epsilon", "delta", "nats"]

        def cells(account: dict[str, Any], charge: dict[str, Any]) -> list[Any]:
            group = charge.get("group")
            name = None if group is None else f"{group['by']} = {group['name']}"
            amounts = [None if charge.get(of) is None else float(charge[of]) for of in names[5:]]
            return [account["dataset"], account.get("unit"), charge["when"], charge["what"], name, *amounts]

        both = [*self.accounts, *self.information]
        return names, [cells(account, charge) for account in both for charge in account["charges"]]

    def to_frame(self) -> Any:
        """Charges of all accounts as a pandas frame."""
        import pandas

        names, rows = self._charges()
        return pandas.DataFrame(rows, columns=names)

    def _repr_html_(self) -> str:
        names, rows = self._charges()
        return table(names, [["" if cell is None else cell for cell in row] for row in rows])

    @property
    def information(self) -> list[dict[str, Any]]:
        """All accounts in nats, each with its charges, spent and left."""
        return json.loads(self._native.information())

    @property
    def accounts(self) -> list[dict[str, Any]]:
        """All accounts in ε and δ, each with its charges, spent and left."""
        return json.loads(self._native.accounts())

    def __reduce__(self) -> tuple[Any, ...]:
        return Ledger, (self.path,), {"_group": self._group}

    def __repr__(self) -> str:
        return f"scumble.Ledger({self.path!r})"
