"""Why a check cannot be evaluated: its settings, its columns, or another dataset it needs."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.errors import GoldsmithError, nearest, one_of


@dataclass(eq=False, kw_only=True)
class BadCheck(GoldsmithError):
    """A check has an unknown setting, a setting of the wrong type, or lacks a required one."""

    check: str
    problems: tuple[str, ...]
    usage: str

    def __str__(self) -> str:
        return f"The check {self.check} {'; '.join(self.problems)}."

    @property
    def hint(self) -> str:
        return f"Settings of {self.check}: {self.usage}."


@dataclass(eq=False, kw_only=True)
class ColumnNotThere(GoldsmithError):
    """A check names a column that the rows do not have."""

    check: str
    column: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"The check {self.check} looks at '{self.column}', which the rows do not have."

    @property
    def hint(self) -> str:
        guess = nearest(self.column, self.known)
        return (f"Did you mean '{guess}'? " if guess else "") + f"Columns: {one_of(self.known)}."


@dataclass(eq=False, kw_only=True)
class WrongColumnType(GoldsmithError):
    """A check cannot be evaluated on a column of that type."""

    check: str
    column: str
    type: str
    wanted: str

    def __str__(self) -> str:
        return f"The check {self.check} needs {self.wanted}, and '{self.column}' holds {self.type}."

    @property
    def hint(self) -> str:
        return "Check another column, or cast this one first."


@dataclass(eq=False, kw_only=True)
class ValueOfAnotherType(GoldsmithError):
    """A value in a check's settings cannot be compared with the column."""

    check: str
    column: str
    type: str
    value: str

    def __str__(self) -> str:
        return (
            f"The check {self.check} compares '{self.column}', which holds {self.type},"
            f" with {self.value}, which is none."
        )

    @property
    def hint(self) -> str:
        return "Write the value as the column holds it; {sql: …} gives one by an SQL expression."


@dataclass(eq=False, kw_only=True)
class NoSuchDataset(GoldsmithError):
    """A check needs another dataset that does not exist."""

    dataset: str
    known: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"A check asks for the dataset '{self.dataset}', which is not there."

    @property
    def hint(self) -> str:
        guess = nearest(self.dataset, self.known)
        suggestion = f"Did you mean '{guess}'? " if guess else ""
        return (
            f"{suggestion}Known: {one_of(self.known)}."
            if self.known
            else "No other dataset is known."
        )


@dataclass(eq=False, kw_only=True)
class NoSuchParameter(GoldsmithError):
    """A setting uses a {{ parameter }} that has no value."""

    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"A check's setting names the parameter '{self.name}', which nobody gives."

    @property
    def hint(self) -> str:
        return f"Known: {one_of(self.known)}."


@dataclass(eq=False, kw_only=True)
class CheckRaised(GoldsmithError):
    """Spark failed to evaluate a check."""

    exit_code = 1

    check: str
    cause: str

    def __str__(self) -> str:
        return f"The check {self.check} could not be evaluated: {self.cause}"

    @property
    def hint(self) -> str:
        return "Correct the SQL or the pattern of the check; `goldsmith checks show` explains it."
