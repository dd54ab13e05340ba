"""Errors for a stage that must not load incrementally, each with the ways out."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.errors import GoldsmithError


@dataclass(eq=False, kw_only=True)
class TargetRenamed(GoldsmithError):
    """A stage's target was renamed: the stage has loaded another dataset so far."""

    stage: str
    old: str
    new: str

    def __str__(self) -> str:
        return (
            f"Stage {self.stage} has loaded '{self.old}' so far and is to write '{self.new}' now,"
            " which would get only what is new."
        )

    @property
    def hint(self) -> str:
        return (
            f"`goldsmith datasets move {self.old} {self.new}` takes the rows along; "
            f"`goldsmith run stage:{self.stage} --full-refresh` loads everything again; or write "
            f"target_id: {self.old} again."
        )


@dataclass(eq=False, kw_only=True)
class TableMoved(GoldsmithError):
    """A target's layer or location changed, so its rows are in another table."""

    stage: str
    target: str
    old: str
    new: str

    def __str__(self) -> str:
        return (
            f"Stage {self.stage} has loaded '{self.target}' into the table {self.old}; by its layer"
            f" and location it is {self.new} now, which would get only what is new."
        )

    @property
    def hint(self) -> str:
        moves = (
            f"`goldsmith datasets move {self.target} {self.target}` takes the rows along; "
            if self.old.startswith("lake.") == self.new.startswith("lake.")
            else ""  # no rows move between the lake and a warehouse
        )
        return (
            f"{moves}`goldsmith run stage:{self.stage} --full-refresh` loads everything again; or"
            " give the stage its old layer, or the target its old type and location. A stage"
            " without `layer` gets it from its name or number."
        )


@dataclass(eq=False, kw_only=True)
class HistoryUnclear(GoldsmithError):
    """It is ambiguous which of several stages has loaded the rows of their target."""

    stage: str
    target: str
    before: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"'{self.target}' was loaded by {', '.join(self.before)}, and nobody can tell which of"
            f" them stage {self.stage} is now: what it has read is not known."
        )

    @property
    def hint(self) -> str:
        return (
            "Give the stages their old numbers, and each a stage_name before they are renumbered; "
            f"or load everything again: `goldsmith run dataset:{self.target} --full-refresh`."
        )
