"""Errors and warnings. Messages name the file or table, the row, the column and the nearest name."""


class InvalidInput(ValueError):
    """Invalid budget, schema, parameter or design."""


class NotApplicable(InvalidInput):
    """A mechanism that does not apply to the records, the task or the budget."""


class InvalidRecords(InvalidInput):
    """A value that does not fit its column. In an engine, the message does not contain the value."""

    def __str__(self) -> str:
        text = super().__str__()
        if ': "" is not ' not in text:
            return text
        return text + '; for missing cells, give the column a public value in the schema, as missing=... in its dict'


class Overdrawn(InvalidInput):
    """A charge that exceeds an account of the ledger."""


class WrongTicket(InvalidInput):
    """A ticket for another design, another data set or other records."""


class PrivacyWarning(UserWarning):
    """A release or design that protects little or nothing.

    Causes are a seeded release, an ε above 10, a δ near one in the number of people, and a person in several rows. A text
    of the schema that a spreadsheet runs as a formula is another cause.
    """


class NotAdmitted(WrongTicket):
    """Records that a ticket did not admit, or that changed since. Nobody has paid for their release."""


class UnknownName(KeyError):
    """Unknown mechanism, parameter or column. The message has the nearest name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
