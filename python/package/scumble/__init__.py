"""Release data under a stated privacy guarantee, so that models can still be learned from it.

>>> import scumble
>>> design = scumble.design("direct", schema={"age": (0, 100), "smokes": ["no", "yes"]}, epsilon=2.0)
>>> print(design.card)                                                              # doctest: +SKIP
>>> released = design.release(people)                                               # doctest: +SKIP
>>> scumble.compare(people, schema="people.toml", target="smokes", epsilon=[1, 4])  # doctest: +SKIP
"""

from __future__ import annotations

import json as _json
from typing import Any as _Any

from . import _native
from ._comparison import Comparison, compare
from ._design import Card, ClippedWarning, Design, Part, Period, _seed, design
from ._estimates import Estimates
from ._findings import Findings
from ._errors import InvalidInput, InvalidRecords, NotAdmitted, NotApplicable, Overdrawn, PrivacyWarning, UnknownName, WrongTicket
from ._ledger import Ledger
from ._model import Model
from ._native import Ticket
from ._noisy_tables import Tables
from ._schemas import Draft
from ._suite import SuiteResults, suite, suite_tasks
from ._tables import take as _take
from ._typing import Table as _Table
from .plugins import Claim, CuratorMechanism, LocalMechanism, Mechanism, register

__version__ = "0.1.0"

__all__ = [
    "Card",
    "Claim",
    "ClippedWarning",
    "Comparison",
    "CuratorMechanism",
    "Design",
    "Draft",
    "Estimates",
    "Findings",
    "InvalidInput",
    "InvalidRecords",
    "Ledger",
    "LocalMechanism",
    "Model",
    "NotAdmitted",
    "NotApplicable",
    "Overdrawn",
    "Part",
    "Period",
    "PrivacyWarning",
    "SuiteResults",
    "Tables",
    "Ticket",
    "UnknownName",
    "WrongTicket",
    "account",
    "audit",
    "compare",
    "describe",
    "design",
    "draft_schema",
    "mechanisms",
    "register",
    "suite",
    "suite_tasks",
]


def mechanisms() -> list[str]:
    """Names of all mechanisms."""
    return _native.names()


def describe(name: str) -> dict[str, _Any]:
    """Describes a mechanism.

    Parameters
    ----------
    name : str
        Name of the mechanism, as :func:`mechanisms` lists it.

    Returns
    -------
    dict
        Name, summary, source, version, who runs the mechanism, and the JSON schemas of its parameters.

    Raises
    ------
    UnknownName
        If no mechanism has this name.
    """
    return _json.loads(_native.describe(name))


def audit(mechanism: str | type[Mechanism], *, quick: bool = True, seed: int | None = None) -> Findings:
    """Attacks every claim of a mechanism's example.

    Parameters
    ----------
    mechanism : str or type
        Name of the mechanism, or its class. The class need not be registered.
    quick : bool
        Use fewer samples, and ε = 1 alone.
    seed : int, optional
        Random seed: the same seed gives the same audit.

    Returns
    -------
    Findings
        List with a dict for each claim, with its audited lower bound.
    """
    return Findings(_json.loads(_native.audit(mechanism, quick, _seed(seed))))


def account(what: str, *parts: str, **numbers: _Any) -> dict[str, _Any]:
    """Privacy accounting, as ``scumble account`` does it.

    Parameters
    ----------
    what : str
        Name of the account, such as ``"gaussian"`` or ``"dp-sgd"``.
    *parts : str
        Parts of ``"compose"``, such as ``"laplace:epsilon=0.1,count=3"``.
    **numbers
        Options of ``scumble account``. Omit the number to be solved for.

    Returns
    -------
    dict
        Given and computed numbers.

    Examples
    --------
    >>> scumble.account("gaussian", epsilon=1, delta=1e-5, sensitivity=1)["sigma"]  # doctest: +SKIP
    """
    words = [what.replace("_", "-"), *parts]
    for name, value in numbers.items():
        words += ["--" + name.replace("_", "-"), str(value)]
    return _json.loads(_native.account(words))


def draft_schema(table: _Table) -> Draft:
    """Drafts a schema from records, for review.

    The bounds and levels of the draft are those of the data. Replace them by public knowledge before a design.

    Parameters
    ----------
    table : table
        Records as a pandas, Polars or pyarrow table, or an object with ``__arrow_c_stream__``.

    Returns
    -------
    Draft
        The draft as TOML text. :func:`compare` takes it as `schema`; :func:`design` does with a warning.
    """
    return Draft(_native.draft(_take(table)[0]))
