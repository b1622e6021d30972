"""The suite: comparisons of mechanisms on public data sets."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Iterable

from . import _native
from ._comparison import progress_bar
from ._design import _seed
from .plugins import Mechanism, named, not_by_default


class SuiteResults:
    """Results of the suite: ``markdown``, the table; ``html``, the page; and ``to_json()``, every number."""

    def __init__(self, markdown: str, html: str, text: str) -> None:
        self.markdown, self.html, self._json = markdown, html, text

    def to_json(self) -> dict[str, Any]:
        """All results."""
        return json.loads(self._json)

    def __str__(self) -> str:
        return self.markdown

    def _repr_markdown_(self) -> str:
        return self.markdown


def suite_tasks() -> dict[str, str]:
    """Tasks of the suite, with a description of each. Some need the folder that ``SCUMBLE_DATA`` names."""
    return dict(_native.suite_tasks())


def suite(
    tasks: str | Iterable[str] = (),
    *,
    mechanisms: str | type[Mechanism] | Iterable[str | type[Mechanism]] = (),
    quick: bool = True,
    trials: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    output: str | os.PathLike[str] | None = None,
    published: Iterable[str | os.PathLike[str]] = (),
    progress: bool | None = None,
) -> SuiteResults:
    """Compares mechanisms on tasks of the suite, as ``scumble suite`` does.

    Parameters
    ----------
    tasks : str or iterable of str
        Names of tasks (:func:`suite_tasks`); by default all.
    mechanisms : str, type or iterable of them
        Names or classes of mechanisms, in place of all quick ones.
    quick : bool
        The quick variant: ten trials of at most 2,000 records.
    trials : int, optional
        Number of trials of each cell.
    seed : int
        Seed of splits and noise.
    jobs : int, optional
        Number of threads; by default one per core.
    output : path, optional
        Folder for ``suite.md``, ``suite.html`` and ``suite.json``. Finished trials are kept there, so that a stopped run
        resumes.
    published : iterable of paths, optional
        Files with published results (``suite.json``, also packed as ``.gz``). The tables have their rows beside those of
        this run.
    progress : bool, optional
        Show a progress bar for each task; by default on a terminal and in a notebook.

    Returns
    -------
    SuiteResults
    """
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    classes = [mechanisms] if isinstance(mechanisms, (str, type)) else list(mechanisms)
    mechanism_names = [named(mechanism) for mechanism in classes]
    folder = None if output is None else Path(output)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    call = f"scumble.suite({names}, mechanisms={mechanism_names}, quick={quick}, trials={trials}, seed={seed})"
    made = _native.suite(
        names,
        mechanism_names,
        quick,
        trials,
        _seed(seed) or 0,
        jobs,
        None if folder is None else str(folder),
        call,
        [] if mechanism_names else not_by_default(),
        [os.fspath(file) for file in published],
        progress_bar(progress),
    )
    results = SuiteResults(*made)
    if folder is not None:
        for name, text in (("suite.md", made[0]), ("suite.html", made[1]), ("suite.json", made[2] + "\n")):
            (folder / name).write_text(text, encoding="utf-8")
    return results
