"""Errors of a project's settings and of addresses."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.errors import GoldsmithError, nearest, one_of


@dataclass(eq=False, kw_only=True)
class NoProject(GoldsmithError):
    """There is no project in the given or current folder."""

    looked: str

    def __str__(self) -> str:
        return f"There is no goldsmith.toml in {self.looked}."

    @property
    def hint(self) -> str:
        return (
            "`goldsmith init DIR` makes a project; --project DIR or $GOLDSMITH_PROJECT names "
            "one that is somewhere else."
        )


@dataclass(eq=False, kw_only=True)
class BadSettings(GoldsmithError):
    """The settings of a project are invalid."""

    file: str
    #: Every problem in one sentence, with the file and line or the variable.
    problems: tuple[str, ...]

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return self.problems[0]
        listed = "".join(f"\n  {problem}" for problem in self.problems)
        return f"{len(self.problems)} things are wrong with the settings:{listed}"

    @property
    def hint(self) -> str:
        return f"Correct {self.file}, or the variable that is named."


@dataclass(eq=False, kw_only=True)
class UnknownEnvironment(GoldsmithError):
    """The requested environment is not described in the project."""

    environment: str
    #: Where the name comes from: --env, $GOLDSMITH_ENV or default_environment.
    origin: str
    known: tuple[str, ...]
    file: str

    def __str__(self) -> str:
        return f"{self.file} describes no environment '{self.environment}' ({self.origin})."

    @property
    def hint(self) -> str:
        guess = nearest(self.environment, self.known)
        return (
            (f"Did you mean '{guess}'? " if guess else "")
            + f"Known: {one_of(self.known)}. "
            + "A table [environments.NAME] describes another."
        )


@dataclass(eq=False, kw_only=True)
class UnsafeAddress(GoldsmithError):
    """An address is not a valid s3:// address, or leads out of its bound prefix."""

    address: str
    reason: str

    def __str__(self) -> str:
        return f"The address '{self.address}' cannot be used: {self.reason}."

    @property
    def hint(self) -> str:
        return "Write s3://bucket/prefix/ with plain names between the slashes."
