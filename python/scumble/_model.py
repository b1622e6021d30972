"""Released models, and what they predict."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from ._design import Design, tell
from ._errors import InvalidInput
from ._tables import take


def _arrays(table: Any) -> list[Any]:
    """The columns of an Arrow table as arrays of NumPy."""
    try:
        import numpy
        import pyarrow
    except ImportError:
        raise InvalidInput("predictions are arrays: pip install numpy pyarrow") from None
    return [numpy.asarray(column.to_pylist()) for column in pyarrow.table(table).columns]


class Model:
    """A model that a design released in place of records: ``Model(design.release(people), design)``, or :meth:`read` from a file.

    It is used as scikit-learn's models are. ``coef_`` and ``intercept_`` are of encoded records, whose columns ``feature_names_in_`` names: numbers on
    [0, 1] by their public bounds, a 0 or 1 for each level.
    """

    def __init__(self, released: Any, design: Design) -> None:
        self._take(_native.Model.of_table(design._native, take(released)[0]))

    @classmethod
    def read(cls, path: str | os.PathLike[str], design: Design) -> Model:
        """A model that ``scumble release`` wrote, as CSV or Parquet, by this design."""
        model = cls.__new__(cls)
        model._take(_native.Model.read(design._native, os.fspath(path)))
        return model

    def _take(self, native: _native.Model) -> None:
        self._native = native

    def __getattr__(self, name: str) -> Any:
        # Those of what is fitted, as scikit-learn has them: a model of a number has no classes.
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
        """The column that is predicted."""
        return self._native.target

    def predict(self, table: Any, *, strict: bool = False) -> Any:
        """The class of each record of `table`, or the number in the target's own unit: an array in the order of the records.

        `table` needs the columns of the design's schema but for the target, and may have others. `strict` refuses numbers outside their bounds,
        which are clipped else. A prediction says what the model makes of a record in the clear: it is not private.
        """
        return self._predicted(table, False, strict)[0]

    def predict_proba(self, table: Any, *, strict: bool = False) -> Any:
        """The probability of each class (n × classes, in the order of ``classes_``) for each record of `table`."""
        import numpy

        return numpy.column_stack(self._predicted(table, True, strict)[1:])

    def _predicted(self, table: Any, has_probabilities: bool, strict: bool) -> list[Any]:
        predicted = self._native.predict(take(table)[0], has_probabilities, strict)
        tell(predicted.clipped, above=4)
        return _arrays(predicted.table)

    def __repr__(self) -> str:
        return f"<scumble.Model of {self.target!r}>"
