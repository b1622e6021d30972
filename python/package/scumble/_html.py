"""HTML of results, for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Sequence


def terms(title: str, pairs: Iterable[tuple[str, Any]]) -> str:
    """Title, and a list of headings with their words."""
    items = "".join(f"<dt><b>{escape(heading)}</b></dt><dd>{escape(str(words))}</dd>" for heading, words in pairs)
    return f"<h4>{escape(title)}</h4><dl>{items}</dl>"


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Table of text and numbers."""

    def row(cells: Sequence[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag} style='text-align: left'>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + row(headings, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"
