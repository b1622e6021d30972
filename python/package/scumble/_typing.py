"""Types of arguments, for type checkers: tables by their methods, and options by their values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Mapping, Protocol, TypeVar, Union

if TYPE_CHECKING:
    from ._ledger import Ledger
    from ._native import Ticket


class _Pandas(Protocol):
    @property
    def iloc(self) -> Any: ...


class _Polars(Protocol):
    def rechunk(self) -> Any: ...


class _Lazy(Protocol):
    def collect(self, *args: Any, **kwargs: Any) -> Any: ...


class _Pyarrow(Protocol):
    def combine_chunks(self, *args: Any, **kwargs: Any) -> Any: ...


class _Scannable(Protocol):
    def to_table(self, *args: Any, **kwargs: Any) -> Any: ...


class _Stream(Protocol):
    def __arrow_c_stream__(self, *args: Any, **kwargs: Any) -> Any: ...


class _Array(Protocol):
    def __arrow_c_array__(self, *args: Any, **kwargs: Any) -> Any: ...


#: Tables whose release is of the same type.
_Frame = Union[_Pandas, _Polars, _Pyarrow]
Frame = TypeVar("Frame", bound=_Frame)
Table = Union[_Frame, _Lazy, _Scannable, _Stream, _Array]

FilePath = Union[str, "os.PathLike[str]"]
LedgerPath = Union["Ledger", FilePath]
TicketPath = Union["Ticket", FilePath]
Schema = Union[Mapping[str, Any], FilePath]

Protect = Literal["record", "features", "label"]
Task = Literal["classify", "regress"]
Trust = Literal["nobody", "shuffler", "two-servers", "curator", "model"]
Values = Literal["settled", "clamped", "drawn", "encoded"]
VolunteersAre = Literal["public", "consented", "private"]
