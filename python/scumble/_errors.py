"""What can go wrong: sentences that name the file or table, the row, the column and the nearest name."""


class InvalidInput(ValueError):
    """What cannot be used: a budget, a schema, a parameter, a design."""


class InvalidRecords(InvalidInput):
    """A table with a value that does not fit its column. In an engine, the sentence does not hold the value."""


class Overdrawn(InvalidInput):
    """A charge that an account of the ledger cannot bear."""


class WrongTicket(InvalidInput):
    """A ticket for another design, another data set, or other records."""


class UnknownName(KeyError):
    """A mechanism, a parameter or a column that there is not, with the nearest name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
