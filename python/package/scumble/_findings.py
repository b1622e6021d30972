"""Findings of audits."""

from __future__ import annotations

from typing import Any

from ._html import table


class Findings(list[dict[str, Any]]):
    """Findings of an audit: one dict for each claim, with the audited lower bound and the verdict."""

    @property
    def is_broken(self) -> bool:
        """True if an attack refuted a claim."""
        return any(finding["verdict"] == "broken" for finding in self)

    def __str__(self) -> str:
        return "\n".join(f"{of['mechanism']}: {of['verdict']}: {of['claim']}: {of['because']}" for of in self)

    def _repr_html_(self) -> str:
        names = ("mechanism", "claim", "claimed", "lower_bound", "verdict", "because")
        headings = [name.replace("_", " ") for name in names]
        return table(headings, [[finding[name] for name in names] for finding in self])
