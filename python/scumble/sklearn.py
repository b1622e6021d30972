"""Releases in pipelines of scikit-learn, and estimators that know of the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from ._design import Card, Design, _how, as_ticket
from ._engines import admit, path_of
from ._errors import InvalidInput
from ._tables import take

__all__ = ["Release"]


class Release(TransformerMixin, BaseEstimator):
    """Releases records by a ticket, so that a search over many models and folds releases each record once.

    ``fit`` looks at no record. ``transform`` takes a pandas frame whose index holds the unique ids of the records, and gives the same released
    values for a record in whichever fold and however often. All records must have been admitted before: :meth:`admit` checks them, draws the ticket
    and charges the ledger, once. A record that was not admitted is refused, for nobody has paid for it: a model of a release is used on
    ``design.view(X)``, or on records in the clear.

    Parameters
    ----------
    design : scumble.Design
        A local mechanism's design, for the columns of the frame. A label is released apart from it: a transformer has no say over ``y``.
    ticket : path or scumble.Ticket
        The file of the ticket. Beside it, ``.admitted.npy`` tells released records from others: hashes of ids with what was released.
    """

    def __init__(self, design: Design | None = None, ticket: Any = None) -> None:
        self.design = design
        self.ticket = ticket

    _ID = "\x01id"

    def _with_ids(self, X: Any) -> Any:
        if not hasattr(X, "index") or not hasattr(X, "columns"):
            raise InvalidInput("a pandas frame is needed, whose index holds the ids of the records")
        if not X.index.is_unique:
            repeated = int(X.index.duplicated().sum())
            raise InvalidInput(f"the index: {repeated} ids are those of a record before; each record needs one of its own")
        return X.assign(**{self._ID: X.index.astype("str")})

    def _design(self) -> Design:
        if self.design is None or self.ticket is None:
            raise InvalidInput("design and ticket are needed")
        return self.design

    def admit(self, X: Any, *, ledger: Any = None, dataset: str | None = None) -> Card:
        """Checks all records, draws the ticket and charges `ledger` once: the card of the release. To be called with all records before a search."""
        design = self._design()
        part = design._native.check(self._arrow(X), self._ID, False, False)
        card = admit(design, [part], self.ticket, self._ID, strict=False, values="settled", ledger=ledger, dataset=dataset)
        with open(self._admitted(), "wb") as file:
            np.save(file, np.sort(self._tags(self._released(X))))
        return card

    def fit(self, X: Any, y: Any = None) -> Release:
        """Looks at the names of columns alone."""
        self._design()
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
            self.n_features_in_ = len(X.columns)
        return self

    def transform(self, X: Any) -> Any:
        """The released records: a frame of released columns, with the index of `X`."""
        self._design()
        try:
            admitted = np.load(self._admitted())
        except FileNotFoundError:
            raise InvalidInput(f"{self._admitted()}: no records were admitted; admit(X) comes first, with all of them") from None
        frame = self._released(X)
        unknown = int((~np.isin(self._tags(frame), admitted)).sum())
        if unknown:
            raise InvalidInput(
                f"{unknown} records were not admitted, or were changed since: nobody has paid for their release; a model of it is used on "
                "design.view(X), or on records in the clear"
            )
        return frame

    def _admitted(self) -> str:
        return path_of(self.ticket) + ".admitted.npy"

    def _arrow(self, X: Any) -> Any:
        return take(self._with_ids(X))[0]

    def _released(self, X: Any) -> Any:
        import pyarrow

        how = _how(False, "settled", None, None)
        released = self._design()._native.release_part(self._arrow(X), as_ticket(self.ticket), self._ID, how, False).table
        frame = pyarrow.table(released).to_pandas()
        frame.index = X.index
        return frame

    @staticmethod
    def _tags(released: Any) -> Any:
        import pandas

        return pandas.util.hash_pandas_object(released, index=True).to_numpy()

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return np.asarray([name for name, _ in self._design()._native.released_columns()], dtype=object)
