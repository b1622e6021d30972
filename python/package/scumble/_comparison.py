"""Comparisons: the accuracy that mechanisms cost on given records, and the worth of a release."""

from __future__ import annotations

import html
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from . import _native
from ._design import Design, _seed, design, purpose
from ._errors import InvalidInput
from ._schemas import given, plain
from ._tables import take
from ._typing import Protect, Schema, Table, Task, Trust
from .plugins import Mechanism, named, not_by_default


def progress_bar(wanted: bool | None) -> Callable[[int, int], None] | None:
    """Progress bar: tqdm's if it is installed, else a line on stderr."""
    if wanted is False or (wanted is None and not sys.stderr.isatty() and "ipykernel" not in sys.modules):
        return None
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:

        def line(done: int, total: int) -> None:
            sys.stderr.write(f"\rcomparing: {done}/{total} trials" + ("\n" if done == total else ""))
            sys.stderr.flush()

        return line
    bars: list[Any] = []
    lock = threading.Lock()  # trials finish on several threads

    def tell(done: int, total: int) -> None:
        with lock:
            if not bars:
                bars.append(tqdm(total=total, desc="comparing", unit="trial"))
            bars[0].update()
            if bars[0].n >= total:
                bars.pop().close()

    return tell


class Chart(str):
    """Chart as SVG text, which a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)


#: Results of native code that a pickled comparison keeps.
_KEPT = ("to_json", "designs", "choices", "summary", "to_csv", "to_html", "to_svg")


class Comparison:
    """Result of a comparison.

    It prints as the first screen of ``scumble compare``. A notebook shows its page with charts and cards. A pickled
    comparison keeps all results, but not the records.
    """

    def __init__(self, native: _native.Comparison, schema: Schema) -> None:
        self._native: _native.Comparison | None = native
        self._schema = schema
        self._texts: dict[str, Any] = {}

    def _text(self, result: str) -> Any:
        """Result of native code, computed once."""
        if result not in self._texts:
            self._texts[result] = getattr(self._native, result)()
        return self._texts[result]

    def __getstate__(self) -> dict[str, Any]:
        for result in _KEPT:
            self._text(result)
        return {**self.__dict__, "_native": None}

    def __len__(self) -> int:
        """Number of rows with differential privacy."""
        return len(self.rows)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows with differential privacy: scores, worth and guarantee by model, metric, mechanism and ε."""
        return list(self.to_json()["rows"])

    @property
    def without_dp(self) -> list[dict[str, Any]]:
        """Rows without differential privacy, as at ε = ∞. Do not compare them with :attr:`rows`."""
        return list(self.to_json()["without_dp"])

    def to_frame(self) -> Any:
        """All rows as a pandas frame, with a column ``dp`` that marks those with differential privacy."""
        import io

        import pandas

        return pandas.read_csv(io.StringIO(self._text("to_csv")))

    to_pandas = to_frame

    def best(
        self,
        *,
        epsilon: float,
        protect: Protect = "record",
        trust: Trust = "nobody",
        volunteers: Table | None = None,
        task_matrix: Table | list[Any] | None = None,
        task_weight: Sequence[float] | None = None,
    ) -> Design:
        """Design of the recommended mechanism.

        It is the one with the best mean score among those with evidence against predictions without a release. The
        choice reads private records, and no budget pays for it.

        Parameters
        ----------
        epsilon : float
            One of the comparison's budgets.
        protect : str
            ``"record"``, ``"features"`` or ``"label"``.
        trust : str
            ``"nobody"``, ``"shuffler"``, ``"two-servers"``, ``"curator"`` or ``"model"`` (a curator who releases a model).
        volunteers, task_matrix, task_weight : optional
            As in :meth:`design`.

        Raises
        ------
        InvalidInput
            If there is no such row, or no evidence that any mechanism is better.
        """
        choices = json.loads(self._text("choices"))
        wanted = {"protect": protect, "trust": trust, "epsilon": float(epsilon)}
        choice = next((choice for choice in choices if wanted.items() <= choice.items()), None)
        if choice is None:
            others = "; ".join("{protect}, trust {trust}, epsilon {epsilon}".format(**choice) for choice in choices)
            raise InvalidInput(f"no row protects {protect!r} with trust {trust!r} at epsilon {epsilon}; there are: {others}")
        if choice["row"] is None:
            raise InvalidInput(
                f"no evidence at epsilon {epsilon}: {choice['highest']} with {choice['score']} is the highest, and is not "
                "distinguishable from predictions without a release; try more trials, or design a row by design(row)"
            )
        return self.design(choice["row"], volunteers=volunteers, task_matrix=task_matrix, task_weight=task_weight)

    def design(
        self,
        row: int | Mapping[str, Any],
        *,
        volunteers: Table | None = None,
        task_matrix: Table | list[Any] | None = None,
        task_weight: Sequence[float] | None = None,
    ) -> Design:
        """Design of a row.

        Parameters
        ----------
        row : int or dict
            Place in :attr:`rows`, or a row of :attr:`rows` or :attr:`without_dp`.
        volunteers : table, optional
            Records of consenting volunteers, if the row learned from them. A comparison has none to keep.
        task_matrix, task_weight : optional
            Purpose of the release, if the comparison had one.
        """
        rows = [*self.rows, *self.without_dp]
        place = row if isinstance(row, int) else next((at for at, own in enumerate(rows) if own == row), None)
        if place is None or not -len(rows) <= place < len(rows):
            raise InvalidInput(f"row: the comparison has no such row, but {len(rows)} others")
        call = json.loads(self._text("designs"))[place]
        if call["volunteers_are"] and volunteers is None:
            raise InvalidInput(f"volunteers: {call['mechanism']} learns from volunteers' records; pass a table of them")
        options, by_name = dict(call["options"]), dict(call["parameters"])
        options["epsilon"] = float(options["epsilon"])
        if call["volunteers_are"]:
            options |= {"volunteers": volunteers, "volunteers_are": call["volunteers_are"]}
        if call["has_task_matrix"]:
            if task_matrix is None:
                raise InvalidInput(f"task_matrix: {call['mechanism']} was designed for a task; pass its matrix")
            options |= {"task_matrix": task_matrix, "task_weight": task_weight}
        return design(call["mechanism"], schema=self._schema, **options, **by_name)

    def plot(self) -> Chart | None:
        """Chart of scores by ε; ``None`` if there is nothing to draw."""
        return None if self.svg is None else Chart(self.svg)

    def to_json(self) -> dict[str, Any]:
        """All results, with data, versions, settings and seed.

        Scores of a private table are for its owner alone.
        """
        return json.loads(self._text("to_json"))

    @property
    def html(self) -> str:
        """The page as one HTML text that loads nothing else."""
        return self._text("to_html")

    @property
    def svg(self) -> str | None:
        """Chart of scores by ε."""
        return self._text("to_svg")

    def save(self, path: str | Path) -> None:
        """Writes the page, the chart, the rows or all results.

        Parameters
        ----------
        path : path
            File whose suffix decides: ``.html`` for the page, ``.svg`` for the chart, ``.csv`` for the rows, ``.json`` for all.
        """
        path = Path(path)
        made: dict[str, Callable[[], str]] = {
            ".html": lambda: self.html,
            ".svg": lambda: self.svg or "",
            ".csv": lambda: self._text("to_csv"),
            ".json": lambda: self._text("to_json"),
        }
        if path.suffix not in made:
            raise InvalidInput(
                f"{path}: the file name must end in .html (page), .svg (chart), .csv (rows) or .json (all results)"
            )
        path.write_text(made[path.suffix](), encoding="utf-8")

    def __str__(self) -> str:
        return self._text("summary")

    def __repr__(self) -> str:
        return self._text("summary")

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 80vh; border: 0" title="comparison"></iframe>'


#: Mechanism by name, or its class.
_Mechanism = Union[str, "type[Mechanism]"]


def _with_parameters(
    mechanisms: _Mechanism | Iterable[_Mechanism] | Mapping[_Mechanism, Mapping[str, Any]] | None,
) -> list[tuple[str, Any]]:
    if mechanisms is None:
        return []
    if isinstance(mechanisms, (str, type)):
        return [(named(mechanisms), None)]
    if isinstance(mechanisms, Mapping):
        return [(named(mechanism), dict(parameters) or None) for mechanism, parameters in mechanisms.items()]
    return [(named(mechanism), None) for mechanism in mechanisms]


def compare(
    table: Table,
    *,
    schema: Schema,
    target: str,
    mechanisms: _Mechanism | Iterable[_Mechanism] | Mapping[_Mechanism, Mapping[str, Any]] | None = None,
    epsilon: float | Iterable[float] | None = None,
    delta: float | None = None,
    trials: int | None = None,
    task: Task | None = None,
    metrics: str | Iterable[str] | None = None,
    test_share: float | None = None,
    volunteers: float | None = None,
    unlabelled: bool = False,
    task_matrix: Table | list[Any] | None = None,
    task_weight: Sequence[float] | None = None,
    protect: Protect | None = None,
    label_share: float | None = None,
    shuffler: bool = False,
    release_alone: bool = False,
    seed: int | None = None,
    name: str = "the table",
    cells: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compares mechanisms on the records of a table, as ``scumble compare`` does.

    Parameters
    ----------
    table : table
        Records as a pandas, Polars or pyarrow table, or an object with ``__arrow_c_stream__``.
    schema : dict, path or Draft
        Public knowledge about the columns, as in :func:`scumble.design`. A draft needs no review here.
    target : str
        Column to learn.
    mechanisms : str, type, iterable of them, or dict, optional
        Names or classes of mechanisms, or a dict from them to parameters. All quick mechanisms by default.
    epsilon : float or iterable of float, optional
        Budgets in nats; ``float("inf")`` for no noise.
    delta : float, optional
        δ of every budget.
    trials : int, optional
        Repetitions of each cell.
    task : str, optional
        ``"classify"`` or ``"regress"``, if the target can be both.
    metrics : str or iterable of str, optional
        Metrics in place of the default ones.
    test_share : float, optional
        Share of the records held out for tests.
    volunteers : float, optional
        Share of the other records that volunteer for designs.
    unlabelled : bool
        Volunteers keep their labels.
    task_matrix, task_weight : optional
        Purpose of the releases, as in :func:`scumble.design`.
    protect : str, optional
        ``"record"``, ``"features"`` or ``"label"``.
    label_share : float, optional
        The label's share of ε for mechanisms that protect features alone.
    shuffler : bool
        Also compare local reports through a shuffler.
    release_alone : bool
        Models learn from the release alone, without the volunteers' records.
    seed : int, optional
        Seed of splits and noise.
    name : str
        Title of the comparison.
    cells : path, optional
        File that keeps finished trials, as ``scumble compare --cells``: a stopped comparison resumes from it.
    jobs : int, optional
        Number of threads; by default one per core.
    progress : bool, optional
        Show a progress bar; by default on a terminal and in a notebook.

    Returns
    -------
    Comparison
        Scores, worth and guarantees. Omitted options have the defaults of the command.
    """
    epsilons = epsilon if epsilon is None or isinstance(epsilon, Iterable) else [epsilon]
    options = {
        "mechanisms": _with_parameters(mechanisms),
        "epsilon": None if epsilons is None else [float(e) if abs(float(e)) != float("inf") else "inf" for e in epsilons],
        "delta": delta,
        "trials": trials,
        "metrics": [metrics] if isinstance(metrics, str) else None if metrics is None else list(metrics),
        "test_share": test_share,
        "volunteers": volunteers,
        "unlabelled": unlabelled,
        "protect": protect,
        "label_share": label_share,
        "shuffler": shuffler,
        "release_alone": release_alone,
        "seed": _seed(seed),
        "cells": None if cells is None else os.fspath(cells),
        "jobs": jobs,
        "left_out": not_by_default() if mechanisms is None else [],
    }
    said = {key: value for key, value in options.items() if value not in (None, False, []) and key not in ("cells", "jobs", "left_out")}
    call = ", ".join([f"schema=…, target={target!r}", *(f"{key}={value!r}" for key, value in said.items())])
    call += ", task_matrix=…" if task_matrix is not None else ""
    arrow, _ = take(table)
    native = _native.compare(
        arrow,
        given(schema),
        target,
        task,
        name,
        json.dumps(options, default=plain),
        purpose(task_matrix, task_weight),
        f"scumble.compare({name}, {call})",
        progress_bar(progress),
    )
    return Comparison(native, schema)
