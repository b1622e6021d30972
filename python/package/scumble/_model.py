"""Released models and their predictions."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from ._design import Design, tell
from ._errors import InvalidInput
from ._tables import take
from ._typing import Table


def _arrays(table: Any) -> list[Any]:
    """Columns of an Arrow table as NumPy arrays."""
    try:
        import numpy
        import pyarrow
    except ImportError:
        raise InvalidInput("predictions need numpy and pyarrow: pip install numpy pyarrow") from None
    return [numpy.asarray(column.to_pylist()) for column in pyarrow.table(table).columns]


class Model:
    """Model that a design released in place of records, with the interface of scikit-learn's models.

    Make it with ``Model(design.release(people), design)``, or with :meth:`read` from a file.

    Attributes
    ----------
    coef_, intercept_
        Coefficients for encoded records: numbers in [0, 1] by their public bounds, and 0 or 1 for each level.
    feature_names_in_ : array of str
        Names of the encoded columns.
    classes_ : array
        Classes, if the target is a category.
    """

    def __init__(self, released: Table, design: Design) -> None:
        table = take(released)[0]
        self._take(_native.Model.of_table(design._native, table))
        self._source: tuple[Any, Design] | None = (table, design)

    @classmethod
    def read(cls, path: str | os.PathLike[str], design: Design) -> Model:
        """Reads a model that ``scumble release`` wrote by this design, as CSV or Parquet."""
        model = cls.__new__(cls)
        model._take(_native.Model.read(design._native, os.fspath(path)))
        model._source = None
        return model

    def _take(self, native: _native.Model) -> None:
        self._native = native

    def __getattr__(self, name: str) -> Any:
        # Fitted attributes as in scikit-learn; a model of a number has no classes.
        if name not in ("classes_", "coef_", "intercept_", "feature_names_in_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        import numpy

        names, rows = self._native.numbers()
        classes, numbers = self._native.classes, numpy.asarray(rows)
        if name == "feature_names_in_":
            return numpy.asarray([column.removeprefix("coefficient of ") for column in names[1:]], dtype=object)
        if classes:
            return {"classes_": numpy.asarray(classes), "coef_": numbers[:, 1:], "intercept_": numbers[:, 0]}[name]
        if name == "classes_":
            raise AttributeError(f"the model predicts {self.target!r}, a number, and has no classes")
        return numbers[0, 1:] if name == "coef_" else float(numbers[0, 0])

    @property
    def target(self) -> str:
        """Column that is predicted."""
        return self._native.target

    def predict(self, table: Table, *, strict: bool = False) -> Any:
        """Predicts the target of each record.

        A prediction about a record in the clear is not private.

        Parameters
        ----------
        table : table
            Records with the columns of the design's schema except the target; other columns are ignored.
        strict : bool
            Refuse numbers outside their bounds instead of clipping them.

        Returns
        -------
        array (n)
            Classes, or numbers in the target's own unit, in the order of the records.
        """
        return self._predicted(table, False, strict)[0]

    def predict_proba(self, table: Table, *, strict: bool = False) -> Any:
        """Predicts the probability of each class for each record.

        Parameters
        ----------
        table : table
            Records, as in :meth:`predict`.
        strict : bool
            Refuse numbers outside their bounds instead of clipping them.

        Returns
        -------
        array (n × classes)
            Probabilities, in the order of ``classes_``.
        """
        import numpy

        return numpy.column_stack(self._predicted(table, True, strict)[1:])

    def _predicted(self, table: Table, has_probabilities: bool, strict: bool) -> list[Any]:
        predicted = self._native.predict(take(table)[0], has_probabilities, strict)
        tell(predicted.clipped, above=4)
        return _arrays(predicted.table)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._source is None:
            raise TypeError("a model of a file cannot be pickled; read the file again with Model.read")
        return Model, self._source

    def __repr__(self) -> str:
        return f"<scumble.Model of {self.target!r}>"
