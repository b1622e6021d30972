"""Designs, and releases by them."""

from __future__ import annotations

import json
import operator
import os
import warnings
from pathlib import Path
from typing import Any

from . import _native
from ._errors import InvalidInput, PrivacyWarning
from ._schemas import given
from ._tables import take
from ._native import Ticket


class ClippedWarning(UserWarning):
    """Numbers were clipped to their public bounds. It says something of the records: it is for their owner alone."""


def tell(clipped: list[tuple[str, int, str, str]], above: int = 3) -> None:
    """Warns of what was clipped, in the name of the caller so many frames above."""
    if clipped:
        of = ", ".join(f"{cells} of {column!r} to [{lower}, {upper}]" for column, cells, lower, upper in clipped)
        warnings.warn(f"clipped to the public bounds: {of}", ClippedWarning, stacklevel=above)


def _path(file: Any) -> str | None:
    return None if file is None else os.fspath(getattr(file, "path", file))


def _how(strict: bool, values: str, ledger: Any, dataset: str | None) -> dict[str, Any]:
    return {"strict": strict, "values": values, "ledger": _path(ledger), "dataset": dataset}


def _seed(seed: int | None) -> int | None:
    if seed is None:
        return None
    is_whole = hasattr(seed, "__index__") and not isinstance(seed, bool)
    if not (is_whole and 0 <= operator.index(seed) < 2**64):
        raise InvalidInput(f"seed: a whole number from 0 to 2**64 - 1 is needed, and {seed!r} is none")
    return operator.index(seed)


def as_ticket(ticket: Any) -> Ticket:
    """A ticket by its file."""
    return ticket if isinstance(ticket, Ticket) else Ticket(os.fspath(ticket))


class Card(dict[str, Any]):
    """The card of one release: its guarantee, what it discloses and assumes, and the distribution of its noise. All of it is public."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as JSON, as ``scumble release --card`` does."""
        Path(path).write_text(json.dumps(self, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


class Design:
    """What is released of a record, and how. Made by :func:`scumble.design`, or read from a file of the command's.

    ``card`` says what is guaranteed. Each release has a card of its own: :meth:`release_with_card` gives it.
    """

    def __init__(self, native: _native.Design) -> None:
        self._native = native

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Design:
        """A design that ``scumble design`` or :meth:`save` wrote."""
        return cls(_native.Design.from_json(Path(path).read_text(encoding="utf-8")))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it for ``scumble release --design``; a file that exists is not replaced."""
        with open(path, "x", encoding="utf-8") as file:
            file.write(self._native.to_json())

    @property
    def mechanism(self) -> str:
        return self._native.mechanism

    @property
    def columns(self) -> list[str]:
        """The columns of the records that it takes."""
        return self._native.columns

    @property
    def target(self) -> str | None:
        return self._native.target

    @property
    def digest(self) -> str:
        return self._native.digest

    @property
    def needs_view(self) -> bool:
        """Whether a model of a release predicts from :meth:`view` of records, and not from records in the clear."""
        return self._native.needs_view

    @property
    def rounded_columns(self) -> list[str]:
        """The columns of which ``scumble estimate`` tells the mean only from a release with ``values="drawn"``: others round and clamp them."""
        return self._native.rounded_columns

    @property
    def card(self) -> str:
        """What is guaranteed, disclosed and assumed, for people."""
        return self._native.shown_card()

    @property
    def guarantee(self) -> dict[str, Any]:
        """The same for machines."""
        return json.loads(self._native.guarantee())

    def release(
        self,
        table: Any,
        *,
        ticket: Any = None,
        id: str | None = None,
        seed: int | None = None,
        ledger: Any = None,
        dataset: str | None = None,
        strict: bool = False,
        values: str = "settled",
    ) -> Any:
        """The records of `table` (pandas, Polars, pyarrow, or whatever has ``__arrow_c_stream__``), released: a table of the same kind.

        With `ticket`, a file, the noise of each record follows from a secret in it and from the record's `id`, a column of unique values
        (without one, the number of its row): the release may be repeated and is paid for once. Without it, each call is a new release that is
        paid for by itself. `seed` repeats the release of a seed, as ``scumble release --seed`` does, and voids the guarantee.

        `ledger` and `dataset` have the release charged before anything is released. `strict` refuses numbers outside their bounds, which are
        clipped else. `values` is "settled", "clamped" or "drawn", as the command's. Where the design releases a model in place of records, the
        table holds it, and :class:`scumble.Model` predicts by it.
        """
        return self._release(table, ticket, id, seed, ledger, dataset, strict, values)[0]

    def release_with_card(
        self,
        table: Any,
        *,
        ticket: Any = None,
        id: str | None = None,
        seed: int | None = None,
        ledger: Any = None,
        dataset: str | None = None,
        strict: bool = False,
        values: str = "settled",
    ) -> tuple[Any, Card]:
        """The released table of :meth:`release`, and the card of this release."""
        return self._release(table, ticket, id, seed, ledger, dataset, strict, values)

    def _release(
        self,
        table: Any,
        ticket: Any,
        id: str | None,
        seed: int | None,
        ledger: Any,
        dataset: str | None,
        strict: bool,
        values: str,
    ) -> tuple[Any, Card]:
        arrow, back = take(table)
        how = _how(strict, values, ledger, dataset)
        if ticket is None:
            if id is not None:
                raise InvalidInput("id: the ids of records are for a release by a ticket")
            number = _seed(seed)
            if number is not None:
                warnings.warn(
                    "a release with a seed has no guarantee: who knows the seed can take its noise away", PrivacyWarning, stacklevel=3
                )
            released = self._native.release(arrow, number, how)
        else:
            if seed is not None:
                raise InvalidInput("seed and ticket: noise is drawn from one of them")
            released = self._native.release_keyed(arrow, as_ticket(ticket), id, how)
        # In the name of the caller of release, release_with_card or scan_released.
        tell(released.clipped, above=4)
        for warning in released.repeats:
            warnings.warn(warning, PrivacyWarning, stacklevel=3)
        return back(released.table), Card(json.loads(released.card))

    def view(self, table: Any, *, strict: bool = False) -> Any:
        """Where records lie in the space of what is released, without noise, for models that learned from a release (:attr:`needs_view` says
        whether they need it). NOT private."""
        arrow, back = take(table)
        viewed = self._native.view(arrow, strict)
        tell(viewed.clipped)
        return back(viewed.table)

    def collect(self, reports: Any, *, records: int | None = None, seed: int | None = None) -> Any:
        """Records drawn from the reports of many people, where the design releases reports. It is post-processing."""
        arrow, back = take(reports)
        return back(self._native.collect(arrow, records, _seed(seed)).table)

    def audit(self, *, quick: bool = True, seed: int | None = None) -> list[dict[str, Any]]:
        """Attacks every claim of the design: what was found, with an audited lower bound of each."""
        return json.loads(_native.audit_design(self._native, quick, _seed(seed)))

    def __repr__(self) -> str:
        return f"<scumble.Design {self.mechanism} of {', '.join(map(repr, self.columns[:8]))}>"

    def __str__(self) -> str:
        return self.card

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Design, (self._native,))


def design(
    mechanism: str,
    *,
    schema: Any,
    epsilon: float,
    delta: float = 0.0,
    target: str | None = None,
    task: str | None = None,
    protect: str | None = None,
    label_share: float | None = None,
    people: int | None = None,
    volunteers: Any = None,
    volunteers_are: str | None = None,
    shuffled: int | None = None,
    shuffled_delta: float | None = None,
    **parameters: Any,
) -> Design:
    """Designs a mechanism: :func:`mechanisms` lists them, and :func:`describe` says what `parameters` each has.

    `schema` says what is publicly known of the columns: ``{"age": (0, 100), "children": range(0, 21), "smokes": ["no", "yes"]}``, or the path of
    a schema's file. `epsilon` is in nats. `target` is the column to be learned. The others are those of ``scumble design``.
    """
    if (shuffled is None) != (shuffled_delta is None):
        raise InvalidInput("shuffled and shuffled_delta are given together")
    native = _native.design(
        mechanism,
        given(schema),
        target,
        task,
        float(epsilon),
        float(delta),
        json.dumps(parameters or None),
        protect,
        label_share,
        people,
        None if volunteers is None else take(volunteers)[0],
        volunteers_are,
        None if shuffled is None or shuffled_delta is None else (shuffled, shuffled_delta),
    )
    for warning in native.warnings(people):
        warnings.warn(warning, PrivacyWarning, stacklevel=2)
    return Design(native)
