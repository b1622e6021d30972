"""What can go wrong: sentences that name the file or table, the row, the column and the nearest name."""


class InvalidInput(ValueError):
    """What cannot be used: a budget, a schema, a parameter, a design."""


class InvalidRecords(InvalidInput):
    """A table with a value that does not fit its column. In an engine, the sentence does not hold the value."""


class Overdrawn(InvalidInput):
    """A charge that an account of the ledger cannot bear."""


class WrongTicket(InvalidInput):
    """A ticket for another design, another data set, or other records."""


class PrivacyWarning(UserWarning):
    """What is done protects little or nothing: a seeded release, an ε above 10, a δ near one in the number of people, a person in
    several rows; or a text of the schema that a spreadsheet runs as a formula."""


class NotAdmitted(WrongTicket):
    """Records that a ticket did not admit, or that changed since: nobody has paid for their release."""


class UnknownName(KeyError):
    """A mechanism, a parameter or a column that there is not, with the nearest name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
