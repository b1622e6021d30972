"""Ledgers: what was spent of which data set, in a file that the command and Python share."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _native
from ._errors import InvalidInput


class Ledger:
    """The ledger in a file: privacy budgets of data sets, and every charge."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._native = _native.Ledger(os.fspath(path))

    @property
    def path(self) -> str:
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
        """Opens an account: no more than `epsilon` and `delta` may be spent of `dataset` in all, as decimals that Python shows.

        An account that exists with the same numbers stays as it is, so that a job can run again; other numbers are refused.
        With `exist_ok=False` every existing account is refused.
        """
        self._opened(self._native.open(dataset, float(epsilon), float(delta), unit, target), dataset, exist_ok)

    def open_in_nats(self, dataset: str, *, nats: float, exist_ok: bool = True) -> None:
        """Opens an account in nats of mutual information, for releases that hide which records were used (`pac-statistics`).

        `exist_ok` is that of `open`.
        """
        self._opened(self._native.open_in_nats(dataset, float(nats)), dataset, exist_ok)

    def _opened(self, is_new: bool, dataset: str, exist_ok: bool) -> None:
        if not (is_new or exist_ok):
            raise InvalidInput(f"the ledger {self.path}: {dataset!r} has this account already, and exist_ok is False")

    @property
    def information(self) -> list[dict[str, Any]]:
        """All accounts in nats, each with its charges, what is spent and what is left."""
        return json.loads(self._native.information())

    @property
    def accounts(self) -> list[dict[str, Any]]:
        """All accounts but those in nats, each with its charges, what is spent and what is left."""
        return json.loads(self._native.accounts())

    def __repr__(self) -> str:
        return f"scumble.Ledger({self.path!r})"
