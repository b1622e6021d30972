"""Writes the API reference of the package as one page of Markdown: ``python reference.py reference.md``."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any, Iterator

MODULES = [
    "scumble",
    "scumble.accounting",
    "scumble.plugins",
    "scumble.engines",
    "scumble.sklearn",
    "scumble.polars",
    "scumble.dask",
    "scumble.spark",
]


def signature(name: str, item: Any) -> str:
    """Call of `item` with its parameters, or its name alone."""
    try:
        text = str(inspect.signature(item))
    except (TypeError, ValueError):
        return name
    # Annotations are strings here, because the modules postpone their evaluation.
    return name + re.sub(r"(: |-> )'([^']*)'", r"\1\2", text).replace("(self, ", "(").replace("(self)", "()")


def members(item: type) -> Iterator[tuple[str, Any, bool]]:
    """Public members that a class or a base class of the package defines: name, member, and if it is called."""
    seen = {"__init__"}
    for owner in item.__mro__:
        if not owner.__module__.startswith("scumble"):
            continue
        for name, member in vars(owner).items():
            if name in seen or name.startswith("_"):
                continue
            seen.add(name)
            function = getattr(item, name, None)
            if isinstance(member, property) or inspect.isgetsetdescriptor(member):
                yield name, member, False
            elif callable(function):
                yield name, function, True


def reference() -> tuple[str, list[str]]:
    """Page, and the names that have no docstring."""
    page = ["# Reference of the Python package", ""]
    missing = []
    for place in MODULES:
        module = importlib.import_module(place)
        page += [f"## {place}", "", inspect.getdoc(module) or "", ""]
        for name in sorted(module.__all__):
            item = getattr(module, name)
            # A description that an exception or a class inherits is not its own.
            text = item.__doc__ if not isinstance(item, type) or "__doc__" in vars(item) else None
            if not text:
                missing.append(f"{place}.{name}")
            page += [f"### {name}", "", "```text", signature(name, item), "```", "", inspect.cleandoc(text or ""), ""]
            for own, member, is_called in members(item) if isinstance(item, type) else ():
                heading = signature(own, member) if is_called else own
                summary = (inspect.getdoc(member) or "").split("\n\n")[0].replace("\n", " ")
                if not summary:
                    missing.append(f"{place}.{name}.{own}")
                page.append(f"- `{heading}`: {summary}")
            page.append("")
    return "\n".join(page), missing


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python reference.py REFERENCE.md")
    page, _ = reference()
    Path(sys.argv[1]).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
