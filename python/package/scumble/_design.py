"""Designs, and releases by them."""

from __future__ import annotations

import datetime
import json
import math
import operator
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

from . import _native
from ._errors import InvalidInput, PrivacyWarning
from ._estimates import Estimates
from ._findings import Findings
from ._html import terms
from ._noisy_tables import Tables
from ._schemas import Draft, given, plain
from ._tables import take
from ._native import Ticket
from ._typing import FilePath, Frame, LedgerPath, Protect, Schema, Table, Task, TicketPath, Values, VolunteersAre
from .plugins import Mechanism, classes_of, named


class ClippedWarning(UserWarning):
    """Numbers were clipped to their public bounds. The warning is for the owner of the records alone."""


def tell(clipped: list[tuple[str, int, str, str]], above: int = 3) -> None:
    """Warns about clipped numbers; the warning names the caller `above` frames up."""
    if clipped:
        of = ", ".join(f"{cells} of {column!r} to [{lower}, {upper}]" for column, cells, lower, upper in clipped)
        warnings.warn(f"clipped to the public bounds: {of}", ClippedWarning, stacklevel=above)


def _path(file: Any) -> str | None:
    return None if file is None else os.fspath(getattr(file, "path", file))


def _key(key: Any, passphrase: str | None) -> tuple[str, str] | None:
    """File of a secret key with its passphrase, by default that of the environment."""
    return None if key is None else (os.fspath(key), _passphrase(passphrase))


def _passphrase(given: str | None) -> str:
    secret = os.environ.get("SCUMBLE_PASSPHRASE") if given is None else given
    if secret is None:
        raise InvalidInput("passphrase: the file is encrypted; give a passphrase, or set SCUMBLE_PASSPHRASE")
    return secret


def _how(
    strict: bool, values: str, ledger: Any, dataset: str | None, key: tuple[str, str] | None = None
) -> dict[str, Any]:
    group = getattr(ledger, "_group", None)
    return {"strict": strict, "values": values, "ledger": _path(ledger), "dataset": dataset, "group": group, "key": key}


def _seed(seed: int | None) -> int | None:
    if seed is None:
        return None
    is_whole = hasattr(seed, "__index__") and not isinstance(seed, bool)
    if not (is_whole and 0 <= operator.index(seed) < 2**64):
        raise InvalidInput(f"seed: {seed!r} is not an integer from 0 to 2**64 - 1")
    return operator.index(seed)


def _voiding(seed: int | None, above: int) -> int | None:
    """Seed of a release, which has no guarantee then; the warning names the caller `above` frames up."""
    number = _seed(seed)
    if number is not None:
        warnings.warn(
            "a release with a seed has no guarantee: whoever knows the seed can subtract the noise",
            PrivacyWarning,
            stacklevel=above,
        )
    return number


def as_ticket(ticket: Any) -> Ticket:
    """Ticket in a file."""
    return ticket if isinstance(ticket, Ticket) else Ticket(os.fspath(ticket))


class Card(dict[str, Any]):
    """Public card of one release.

    It has the guarantee, the disclosures, the assumptions, the distribution of the noise, and the tables of counts from
    which synthetic records were drawn (``counted_tables``). :attr:`tables` has the noisy tables themselves, if a curator
    measured some.
    """

    tables: Tables | None = None

    def _repr_html_(self) -> str:
        lines = _native.card_lines(json.dumps(self["guarantee"]))
        return terms(f"Release by {self['design']['origin']['plugin']}", [*lines, ("records", self["records"])])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the card as JSON, as ``scumble release --card`` does."""
        Path(path).write_text(json.dumps(self, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _deviations(block: dict[str, Any]) -> tuple[int, list[float | None]]:
    """Width of a block of noise, and the standard deviations of its coordinates."""
    kind = block["distribution"]
    if kind == "additive":
        return len(block["variance"]), [math.sqrt(variance) for variance in block["variance"]]
    if kind == "correlated":
        return len(block["covariance"]), [math.sqrt(row[at]) for at, row in enumerate(block["covariance"])]
    if kind == "unbiased":
        return len(block["moments"]), [math.sqrt(moments["constant"]) for moments in block["moments"]]
    width = block["levels"] if kind == "flip" else block["width"]
    return width, [0.0 if kind == "exact" else None] * width


def _unit(column: dict[str, Any]) -> float | None:
    """Width of a column's bounds, which an encoded number has as its unit; None if the scale is not linear."""
    if {"scale", "edges", "zero", "not_before"} & column.keys() or column.get("missing") == "apart":
        return None
    lower, upper = column.get("lower", 0.0), column.get("upper", 1.0)
    if isinstance(lower, str):  # a date
        return float((datetime.date.fromisoformat(upper) - datetime.date.fromisoformat(lower)).days)
    return float(upper) - float(lower)


class Period(NamedTuple):
    """Released period of a design with a horizon: the tables of all periods so far, and those of this period alone."""

    totals: Tables
    alone: Tables
    card: Card


class Design:
    """Mechanism with all its numbers and the schema.

    :func:`scumble.design` makes a design, and :meth:`read` reads one of the command. :attr:`card` is its guarantee. Each
    release has a card of its own (:meth:`release_with_card`).
    """

    def __init__(self, native: _native.Design) -> None:
        self._native = native

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Design:
        """Reads a design that ``scumble design`` or :meth:`save` wrote."""
        return cls(_native.Design.from_json(Path(path).read_text(encoding="utf-8")))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the design for ``scumble release --design``. An existing file is not replaced."""
        with open(path, "x", encoding="utf-8") as file:
            file.write(self._native.to_json())

    @property
    def mechanism(self) -> str:
        """Name of the mechanism."""
        return self._native.mechanism

    @property
    def columns(self) -> list[str]:
        """Columns of the records that the design takes."""
        return self._native.columns

    @property
    def target(self) -> str | None:
        """Column to learn, if the design has one."""
        return self._native.target

    @property
    def digest(self) -> str:
        """SHA-256 of the design, which cards and tickets name."""
        return self._native.digest

    @property
    def needs_view(self) -> bool:
        """True if a model of a release predicts from the :meth:`view` of records."""
        return self._native.needs_view

    @property
    def estimable_only(self) -> dict[str, list[str]]:
        """Columns that ``scumble estimate`` estimates only from a release with these ``values``.

        Other releases round or clamp these columns, or replace the numbers of their levels by a level.
        """
        return self._native.estimable_only

    @property
    def card(self) -> str:
        """Guarantee, disclosures and assumptions, as text."""
        return self._native.shown_card()

    @property
    def guarantee(self) -> dict[str, Any]:
        """The same as :attr:`card`, for programs."""
        return json.loads(self._native.guarantee())

    @overload
    def release(
        self,
        table: Frame,
        *,
        ticket: TicketPath | None = None,
        id: str | None = None,
        seed: int | None = None,
        ledger: LedgerPath | None = None,
        dataset: str | None = None,
        strict: bool = False,
        values: Values = "settled",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> Frame: ...

    @overload
    def release(
        self,
        table: Table,
        *,
        ticket: TicketPath | None = None,
        id: str | None = None,
        seed: int | None = None,
        ledger: LedgerPath | None = None,
        dataset: str | None = None,
        strict: bool = False,
        values: Values = "settled",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> Any: ...

    def release(
        self,
        table: Table,
        *,
        ticket: TicketPath | None = None,
        id: str | None = None,
        seed: int | None = None,
        ledger: LedgerPath | None = None,
        dataset: str | None = None,
        strict: bool = False,
        values: Values = "settled",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> Any:
        """Releases the records of a table.

        Without `ticket`, each call is a new release with a charge of its own. With `ticket`, the noise of a record follows
        from a secret in this file and from the record's id. The release may then be repeated, and is charged once.

        Parameters
        ----------
        table : table
            Records as a pandas, Polars or pyarrow table, or an object with ``__arrow_c_stream__``.
        ticket : path or Ticket, optional
            File of the ticket.
        id : str, optional
            Column of unique values for a release by `ticket`; by default the row numbers.
        seed : int, optional
            Repeats the release of a seed, as ``scumble release --seed`` does, and voids the guarantee.
        ledger : Ledger or path, optional
            Ledger that is charged before the release.
        dataset : str, optional
            Name of the data set in `ledger`.
        strict : bool
            Refuse numbers outside their bounds instead of clipping them.
        values : {"settled", "clamped", "drawn", "encoded"}
            Treatment of released numbers, as in ``scumble release --values``.
        key : path, optional
            New file for the secret key of the release, encrypted, if the design has one.
        passphrase : str, optional
            Passphrase of `key`, by default ``SCUMBLE_PASSPHRASE`` of the environment.

        Returns
        -------
        table
            Released table of the same kind as `table`. If the design releases a model, the table holds it, and
            :class:`scumble.Model` predicts by it. If the design releases noisy tables, they are a
            :class:`scumble.Tables`, and a type checker takes them from the card of :meth:`release_with_card`.

        Raises
        ------
        InvalidRecords
            If a value does not fit its column.
        Overdrawn
            If the ledger has too little left.
        WrongTicket
            If the ticket is for another design, another data set or other records.
        """
        return self._release(table, ticket, id, seed, ledger, dataset, strict, values, _key(key, passphrase))[0]

    @overload
    def release_with_card(
        self,
        table: Frame,
        *,
        ticket: TicketPath | None = None,
        id: str | None = None,
        seed: int | None = None,
        ledger: LedgerPath | None = None,
        dataset: str | None = None,
        strict: bool = False,
        values: Values = "settled",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> tuple[Frame, Card]: ...

    @overload
    def release_with_card(
        self,
        table: Table,
        *,
        ticket: TicketPath | None = None,
        id: str | None = None,
        seed: int | None = None,
        ledger: LedgerPath | None = None,
        dataset: str | None = None,
        strict: bool = False,
        values: Values = "settled",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> tuple[Any, Card]: ...

    def release_with_card(
        self,
        table: Table,
        *,
        ticket: TicketPath | None = None,
        id: str | None = None,
        seed: int | None = None,
        ledger: LedgerPath | None = None,
        dataset: str | None = None,
        strict: bool = False,
        values: Values = "settled",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> tuple[Any, Card]:
        """Releases as :meth:`release` does, and returns the card of this release too."""
        return self._release(table, ticket, id, seed, ledger, dataset, strict, values, _key(key, passphrase))

    def _release(
        self,
        table: Any,
        ticket: TicketPath | None,
        id: str | None,
        seed: int | None,
        ledger: LedgerPath | None,
        dataset: str | None,
        strict: bool,
        values: Values,
        key: tuple[str, str] | None = None,
    ) -> tuple[Any, Card]:
        arrow, back = take(table)
        how = _how(strict, values, ledger, dataset, key)
        if ticket is None:
            if id is not None:
                raise InvalidInput("id: only a release by a ticket uses ids of records; give ticket, or omit id")
            released = self._native.release(arrow, _voiding(seed, 4), how)
        else:
            if seed is not None:
                raise InvalidInput("seed and ticket: the noise is drawn from one of them; omit the other")
            if key is not None:
                raise InvalidInput("key and ticket: a release by a ticket has no secret key; omit one")
            released = self._native.release_keyed(arrow, as_ticket(ticket), id, how)
        # The warning names the caller of release, release_with_card or scan_released.
        tell(released.clipped, above=4)
        for warning in released.repeats:
            warnings.warn(warning, PrivacyWarning, stacklevel=3)
        card = Card(json.loads(released.card))
        card.tables = None if released.tables is None else Tables(released.tables)
        return card.tables if released.table is None else back(released.table), card

    def release_period(
        self,
        table: Table,
        period: int,
        state: str | os.PathLike[str],
        *,
        passphrase: str | None = None,
        seed: int | None = None,
        ledger: LedgerPath | None = None,
        dataset: str | None = None,
        strict: bool = False,
    ) -> Period:
        """Releases the records of one period of a design with a horizon.

        Parameters
        ----------
        table : table
            Records of this period, as in :meth:`release`.
        period : int
            Number of the period, from 1. Each period is released once, in their order.
        state : path
            File for the state between periods, encrypted. The first period creates it. ``scumble release --state`` reads
            and writes the same file.
        passphrase : str, optional
            Passphrase of the state, by default ``SCUMBLE_PASSPHRASE`` of the environment.
        seed, ledger, dataset, strict
            As in :meth:`release`. The ledger is charged in the first period, for all periods together.

        Returns
        -------
        Period
            Tables of all periods so far (``totals``), of this period (``alone``), and the ``card``.

        Raises
        ------
        InvalidInput
            If the period is not the next one, or if the state is missing or of another design.
        Overdrawn
            If the ledger has too little left.
        """
        secret = _passphrase(passphrase)
        how = _how(strict, "settled", ledger, dataset)
        number = operator.index(period)
        if number < 1:
            raise InvalidInput(f"period: {period!r} is not a number from 1")
        released, alone = self._native.release_period(
            take(table)[0], number, os.fspath(state), secret, _voiding(seed, 3), how
        )
        tell(released.clipped)
        card = Card(json.loads(released.card))
        card.tables = Tables(str(released.tables))
        return Period(card.tables, Tables(alone), card)

    @overload
    def view(
        self,
        table: Frame,
        *,
        strict: bool = False,
        values: Values = "drawn",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> Frame: ...

    @overload
    def view(
        self,
        table: Table,
        *,
        strict: bool = False,
        values: Values = "drawn",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> Any: ...

    def view(
        self,
        table: Table,
        *,
        strict: bool = False,
        values: Values = "drawn",
        key: FilePath | None = None,
        passphrase: str | None = None,
    ) -> Any:
        """Maps records into the space of a release, without noise.

        Models of a release need viewed records if :attr:`needs_view` is true. The view is NOT private. Models of
        a release with ``values="encoded"`` need a view with the same ``values``. A release with a secret key is viewed by
        this `key`.
        """
        arrow, back = take(table)
        viewed = self._native.view(arrow, strict, values, _key(key, passphrase))
        tell(viewed.clipped)
        return back(viewed.table)

    @overload
    def collect(self, reports: Frame, *, records: int | None = None, seed: int | None = None) -> Frame: ...

    @overload
    def collect(self, reports: Table, *, records: int | None = None, seed: int | None = None) -> Any: ...

    def collect(self, reports: Table, *, records: int | None = None, seed: int | None = None) -> Any:
        """Draws records from the reports of many people: post-processing."""
        arrow, back = take(reports)
        return back(self._native.collect(arrow, records, _seed(seed)).table)

    def estimate(self, released: Any, *, confidence: float = 0.95, values: str = "settled") -> Estimates:
        """Estimates means and shares of the population from released records, as ``scumble estimate`` does.

        The people of the release must be a random sample of the population. The intervals count the sampling and the
        noise.

        Parameters
        ----------
        released : table
            Release by this design.
        confidence : float
            Probability that an interval covers the true value. For the levels of a column, it is the probability that all
            their intervals do.
        values : {"settled", "clamped", "drawn", "encoded"}
            Treatment of released numbers that the release was made with.

        Returns
        -------
        Estimates
            One for each number and each level.
        """
        made = json.loads(self._native.estimate(take(released)[0], values, float(confidence)))
        if not made["estimates"]:
            raise InvalidInput("nothing can be estimated: " + "; ".join(made["problems"]))
        return Estimates(made["estimates"], float(confidence), made["records"], made["problems"])

    def audit(self, *, quick: bool = True, seed: int | None = None) -> Findings:
        """Attacks every claim of the design, and returns findings with audited lower bounds."""
        return Findings(json.loads(_native.audit_design(self._native, quick, _seed(seed))))

    def expect(self) -> dict[str, dict[str, Any]]:
        """Expected noise of a release by a local mechanism, before anything is released or charged.

        It is that of released numbers as they were drawn (``values="drawn"``).

        Returns
        -------
        dict
            For each released column: ``standard_deviation`` of its noise, in the column's unit, or ``keep``, the probability
            that a category is released unchanged. If the noise depends on the value, the deviation is that of the middle
            of the bounds. None stands for a distribution that is not described.
        """
        noise = json.loads(self._native.noise())
        units = {column["name"]: column for column in json.loads(self._native.to_json())["schema"]["column"]}
        names = [*noise["columns"], *([self.target] if self.target else [])]
        expected: dict[str, dict[str, Any]] = {}
        at = 0
        for block in [*noise["features"], noise["target"]]:
            width, deviations = _deviations(block)
            for name, deviation in zip(names[at : at + width], deviations):
                category = name.rpartition("=")[0]
                unit = _unit(units.get(name, {}))
                if block["distribution"] == "flip":
                    expected[category or name] = {"keep": block["keep"]}
                elif category in units:
                    expected[category] = {"keep": 1.0 if deviation == 0.0 else None}
                else:
                    expected[name] = {"standard_deviation": None if deviation is None or unit is None else deviation * unit}
            at += width
        return expected

    def _repr_html_(self) -> str:
        return terms(self.mechanism, self._native.card_lines())

    def __repr__(self) -> str:
        return f"<scumble.Design {self.mechanism} of {', '.join(map(repr, self.columns[:8]))}>"

    def __str__(self) -> str:
        return self.card

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        text = self._native.to_json()
        return (_unpickled, (text, classes_of(json.loads(text))))


def _unpickled(text: str, classes: list[type[Mechanism]]) -> Design:
    """Design of a saved text, in a process that may not know the classes of its mechanisms yet."""
    for mechanism in classes:
        named(mechanism)
    return Design(_native.Design.from_json(text))


class Part:
    """Mechanism for some columns of a design.

    Parameters
    ----------
    mechanism : str or type
        Name of the mechanism, or its class.
    columns : str or list of str
        Columns that it releases.
    **parameters
        Parameters of the mechanism, as :func:`describe` lists them.

    Examples
    --------
    >>> parts = [scumble.Part("piecewise", ["age", "size"]), scumble.Part("randomized-response", "town")]
    >>> design = scumble.design(parts, schema=schema, epsilon=2.0)  # doctest: +SKIP
    """

    def __init__(self, mechanism: str | type[Mechanism], columns: str | Sequence[str], **parameters: Any) -> None:
        self.mechanism = mechanism
        self.columns = [columns] if isinstance(columns, str) else list(columns)
        self.parameters = parameters
        if not self.columns:
            raise InvalidInput("columns: a part releases at least one column")

    def _given(self) -> dict[str, Any]:
        return {"mechanism": named(self.mechanism), "columns": self.columns, "parameters": self.parameters or None}


def purpose(task_matrix: Table | list[Any] | None, task_weight: Sequence[float] | None) -> list[tuple[float, Any]]:
    """Tasks, each with its weight and its matrix."""
    matrices = task_matrix if isinstance(task_matrix, list) else [task_matrix] if task_matrix is not None else []
    weights = [1.0] * len(matrices) if task_weight is None else [float(weight) for weight in task_weight]
    if len(weights) != len(matrices):
        raise InvalidInput(f"task_weight has {len(weights)} weights for {len(matrices)} tasks; give one for each")
    return [(weight, take(matrix)[0]) for weight, matrix in zip(weights, matrices)]


def design(
    mechanism: str | type[Mechanism] | Sequence[Part],
    *,
    schema: Schema,
    epsilon: float,
    delta: float = 0.0,
    target: str | None = None,
    task: Task | None = None,
    task_matrix: Table | list[Any] | None = None,
    task_weight: Sequence[float] | None = None,
    protect: Protect | None = None,
    label_share: float | None = None,
    people: int | None = None,
    volunteers: Table | None = None,
    volunteers_are: VolunteersAre | None = None,
    shuffled: int | None = None,
    shuffled_delta: float | None = None,
    **parameters: Any,
) -> Design:
    """Designs a mechanism.

    Parameters
    ----------
    mechanism : str, type or list of Part
        Name of the mechanism, as :func:`mechanisms` lists it, or the class of a mechanism in Python. A list of
        :class:`Part` releases columns by several mechanisms, which share ε by their numbers of columns.
    schema : dict, path or Draft
        Public knowledge about the columns, such as
        ``{"age": (0, 100), "children": range(0, 21), "smokes": ["no", "yes"]}``, or the path of a schema file. Bounds may
        be numbers, dates, or scalars of numpy and pandas. Levels may also be an array, a ``pandas.CategoricalDtype`` or
        a ``polars.Enum``.
    epsilon : float
        ε in nats.
    delta : float
        δ.
    target : str, optional
        Column to learn.
    task : str, optional
        ``"classify"`` or ``"regress"``, if the target can be both.
    task_matrix : table or list of tables, optional
        Purpose of the release: a matrix K (m × d) whose columns have the names of the encoded columns. The
        error to minimise is ‖K(x̂ − x)‖². A list is for several tasks, whose errors are added.
    task_weight : sequence of float, optional
        Weight of each task's error in the sum; 1 by default.
    protect : str, optional
        ``"record"``, ``"features"`` or ``"label"``.
    label_share : float, optional
        The label's share of ε, if the label takes noise of its own.
    people : int, optional
        Public number of people.
    volunteers : table, optional
        Records that may shape the design.
    volunteers_are : str, optional
        ``"public"``, ``"consented"`` or ``"private"``.
    shuffled : int, optional
        Least number of reports that a trusted shuffler mixes.
    shuffled_delta : float, optional
        δ of the claim through the shuffler; given together with `shuffled`.
    **parameters
        Parameters of the mechanism, as :func:`describe` lists them.

    Returns
    -------
    Design

    Raises
    ------
    UnknownName
        If no mechanism, parameter or column has the name.
    InvalidInput
        If the budget, the schema or a parameter is invalid.

    Warns
    -----
    PrivacyWarning
        If the design protects little or nothing, or the schema is a draft.
    UserWarning
        If a list of two numbers, which are levels, may be meant as bounds.
    """
    if (shuffled is None) != (shuffled_delta is None):
        raise InvalidInput("shuffled and shuffled_delta must be given together")
    if isinstance(mechanism, (str, type)):
        parts: list[dict[str, Any]] = [{"mechanism": named(mechanism), "columns": [], "parameters": parameters or None}]
    elif parameters:
        raise InvalidInput(f"{next(iter(parameters))}: give the parameters of a mechanism to its Part")
    else:
        parts = [part._given() for part in mechanism]
    native = _native.design(
        json.dumps(parts, default=plain),
        given(schema),
        target,
        task,
        float(epsilon),
        float(delta),
        protect,
        label_share,
        people,
        None if volunteers is None else take(volunteers)[0],
        volunteers_are,
        None if shuffled is None or shuffled_delta is None else (shuffled, shuffled_delta),
        purpose(task_matrix, task_weight),
    )
    if isinstance(schema, Draft) and schema.is_of_data:
        warnings.warn(
            "schema: it is a draft, and its bounds and levels come from the data, so that the design has no guarantee for "
            "them; enter what is publicly known of the columns, and delete `draft = true`",
            PrivacyWarning,
            stacklevel=2,
        )
    if native.left_out:
        warnings.warn(f"not released, because no part takes them: {', '.join(native.left_out)}", UserWarning, stacklevel=2)
    for warning in native.warnings(people):
        warnings.warn(warning, PrivacyWarning, stacklevel=2)
    return Design(native)
